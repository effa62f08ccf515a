"""`salgen reproduce`: a paper's experiment as one command."""

from pathlib import Path
import click
from salgen.cli.options import (
    help_with,
    leave_low_accuracy_to_the_summary,
    max_memory,
    methods,
    parameters_of,
    plugin_name,
    replace,
    required_name,
    scale,
    settings,
    split_names,
)
from salgen.parameters import build, parse_pairs
from salgen.registry import PROTOCOLS


@click.command("reproduce", add_help_option=False, epilog="Example: salgen reproduce budding2021 --scale demo")
@plugin_name
@scale
@methods
@settings
@max_memory
@click.option(
    "--reliance",
    metavar="A,B",
    help="Data sets on which the same networks, trained for reliance, are shown beside the paper's.",
)
@click.option("--out", type=click.Path(), metavar="RUN", help="Folder for data, models and report.  [default: ./NAME]")
@replace
@help_with(parameters_of(PROTOCOLS))
def command(
    name: str | None,
    scale: str,
    method_calls: tuple[str, ...],
    pairs: tuple[str, ...],
    max_memory: float | None,
    reliance: str | None,
    out: str | None,
    replace: bool,
) -> None:
    """Run a paper's protocol from data to report.

    -m adds methods to the paper's own.
    """
    from salgen.datasets.format.output_folder import sole_writer
    from salgen.evaluation.report import console_summary
    from salgen.evaluation.report.study import findings_text, tables_text

    leave_low_accuracy_to_the_summary()
    name = required_name(name, PROTOCOLS)
    reliant = split_names(reliance, "--reliance")
    protocol = build(PROTOCOLS.load(name), parse_pairs(pairs))
    folder = Path(out or name)
    with sole_writer(folder):
        done = protocol.run(folder, scale, method_calls, max_memory, replace, reliant)
    click.echo(console_summary(done.runs))
    if done.tables:
        click.echo(f"\n{tables_text(done.tables)}\n")
    if done.findings:
        click.echo(f"\nwhat the paper found:\n\n{findings_text(done.findings)}\n")
    click.echo(f"report: {done.page}")
