"""`salgen report`: one page from one or more runs."""

from pathlib import Path
import click


@click.command("report", epilog="Example: salgen report runs/a runs/b --out page.html")
@click.argument("runs", nargs=-1, required=True, type=click.Path())
@click.option(
    "--out",
    type=click.Path(),
    metavar="HTML",
    help="Where to write the page.  [default: report.html in RUN, or in the folder of several or published RUNs]",
)
def command(runs: tuple[str, ...], out: str | None) -> None:
    """Write one self-contained page about one or more RUNS."""
    from salgen.evaluation.report import console_summary, report

    folders = [Path(run) for run in runs]
    page = report(folders, Path(out) if out else None)
    click.echo(console_summary(folders))
    click.echo(f"report: {page}")
