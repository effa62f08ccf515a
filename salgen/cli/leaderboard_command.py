"""`salgen leaderboard`: a static site from runs."""

import click


@click.command("leaderboard", epilog="Example: salgen leaderboard runs/a runs/b --out site")
@click.argument("runs", nargs=-1, required=True, type=click.Path())
@click.option(
    "--out",
    type=click.Path(),
    metavar="SITE",
    default="leaderboard",
    help="Folder to write; an existing leaderboard is replaced.",
)
def command(runs: tuple[str, ...], out: str) -> None:
    """Write a static site about runs.

    It has a table to sort and filter, and a page for each run. Of a folder with results of salgen-bench: the order of
    methods, and a page for each method and data set.
    """
    from salgen.evaluation.bench.benchmark import leaderboard

    click.echo(f"leaderboard: {leaderboard(runs, out)}")
