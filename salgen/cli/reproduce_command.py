"""`salgen reproduce`: a paper's experiment as one command."""

from pathlib import Path
from typing import Any
import click
from salgen.cli import options as shared
from salgen.evaluation.protocols.demo_times import demo_times
from salgen.parameters import build, parse_pairs
from salgen.registry import PROTOCOLS

HELP = """Run a paper's protocol from data to report.

-m adds methods to the paper's own.

\b
Processor time at --scale demo; on two cores the wait is at least half of it:
""" + "\n".join(f"  {name:<21}{time}" for name, time in demo_times().items())


@click.command(
    "reproduce", help=HELP, add_help_option=False, epilog="Example: salgen reproduce budding2021 --scale demo"
)
@shared.plugin_name
@shared.scale
@shared.methods
@shared.settings
@shared.max_memory
@click.option(
    "--reliance",
    metavar="A,B",
    help="Data sets on which the same networks, trained for reliance, are shown beside the paper's.",
)
@click.option("--out", type=click.Path(), metavar="RUN", help="Folder for data, models and report.  [default: ./NAME]")
@shared.replace
@shared.help_with(
    lambda params: {f"Parameters of {name}": PROTOCOLS.load(name) for name in [params.get("name")] if name}
)
def command(
    name: str | None,
    method_calls: tuple[str, ...],
    pairs: tuple[str, ...],
    reliance: str | None,
    out: str | None,
    **options: Any,
) -> None:
    """Run a paper's protocol from data to report."""
    from salgen.datasets.format.output_folder import sole_writer
    from salgen.evaluation.report import console_summary
    from salgen.evaluation.report.study import findings_text, tables_text

    shared.leave_low_accuracy_to_the_summary()
    name = shared.required_name(name, PROTOCOLS)
    reliant = shared.split_names(reliance, "--reliance")
    protocol = build(PROTOCOLS.load(name), parse_pairs(pairs))
    folder = Path(out or name)
    with sole_writer(folder):
        done = protocol.run(folder, extra_methods=method_calls, reliance=reliant, **options)
    click.echo(console_summary(done.runs))
    if done.tables:
        click.echo(f"\n{tables_text(done.tables)}\n")
    if done.findings:
        click.echo(f"\nwhat the paper found:\n\n{findings_text(done.findings)}\n")
    click.echo(f"report: {done.page}")
