"""`salgen bench`: the frozen benchmark of saliency methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from salgen.cli.groups import Group
from salgen.cli.options import command_line, max_memory
from salgen.cli.verify_command import raise_problems

if TYPE_CHECKING:
    from salgen.evaluation.bench.standing import Standing


@click.group("bench", cls=Group)
def command() -> None:
    """Run salgen-bench, a frozen benchmark: data sets, networks and metrics that stay the same."""


@command.command("list")
def list_entries() -> None:
    """List what salgen-bench consists of: an entry for each data set, network and kind of training."""
    from salgen.evaluation.bench.bench_spec import bench_spec

    spec = bench_spec()
    click.echo(f"salgen-bench {spec.version}, sha256 {spec.digest}")
    click.echo(f"{spec.trainings} trainings of each network, {spec.images} test images, scale {spec.scale}")
    for number, entry in enumerate(spec.entries, start=1):
        scored = ", ".join(entry.data.tests)
        click.echo(f"{number:3d}  {entry.name:40s} {entry.network}; {scored}")
    for family, metric in spec.headlines.items():
        click.echo(f"{family}: {metric}")


@command.command("table")
@click.argument("folder", type=click.Path(exists=True, file_okay=False), default="salgen-bench")
@click.option(
    "--reliance/--no-reliance", default=True, show_default=True, help="Networks trained for reliance, or plainly."
)
@click.option(
    "--samples",
    type=click.Choice(["all", "correct", "certified"]),
    default="all",
    show_default=True,
    help="The samples that count: all, those classified rightly, or those certified.",
)
def table(folder: str, reliance: bool, samples: str) -> None:
    """Rank methods over the data sets in FOLDER: 0 for the best on all of them, 1 for the worst."""
    from pathlib import Path

    from salgen.evaluation.bench.bench_results import read_scores, standing_by
    from salgen.evaluation.bench.bench_spec import bench_spec

    spec = bench_spec()
    click.echo(_table(standing_by(spec, read_scores(spec, Path(folder), reliance=reliance, samples=samples))))


def _table(found: Standing) -> str:
    """A line for each method, the best first."""
    rows = zip(found.methods, found.places, found.low, found.high, found.datasets, found.p_values[0], strict=True)
    lines = [
        f"{method:40s} {place:.3f}  {low:.3f} to {high:.3f}  {count:9d}  {p_value:.3f}"
        for method, place, low, high, count, p_value in rows
    ]
    return "\n".join([f"{'method':40s} place  95 % interval  data sets  p beside the best", *lines])


@command.command("rank")
@click.argument("method", metavar="METHOD")
@click.option("--results", type=click.Path(exists=True, file_okay=False), metavar="FOLDER", default="salgen-bench")
@click.option("--out", type=click.Path(), metavar="FOLDER", default="salgen-bench-rank", show_default=True)
@click.option("--quick", is_flag=True, help="The first 16 images and one training of each network.")
@max_memory
def rank(method: str, results: str, out: str, quick: bool, max_memory: float | None) -> None:
    """Run METHOD, a call or PACKAGE.MODULE:NAME, on the frozen checkpoints, and show its place in the table."""
    from pathlib import Path

    from salgen.evaluation.bench.bench_rank import rank_method
    from salgen.evaluation.bench.bench_spec import bench_spec

    options = {"max_memory": max_memory, "command": command_line()}
    click.echo(_table(rank_method(bench_spec(), method, Path(results), Path(out), quick=quick, **options)))


@command.command("verify")
@click.argument("folder", type=click.Path(exists=True, file_okay=False), default="salgen-bench")
def verify(folder: str) -> None:
    """Check the results in FOLDER, and compute some of their scores again from the frozen weights."""
    from pathlib import Path

    from salgen.evaluation.bench.bench_spec import bench_spec
    from salgen.evaluation.bench.bench_verify import result_problems

    raise_problems(folder, list(result_problems(bench_spec(), Path(folder))))
    click.echo(f"{folder}: verified")


@command.command("run")
@click.option("--out", type=click.Path(), metavar="FOLDER", default="salgen-bench", show_default=True)
@click.option(
    "--part",
    metavar="K/N",
    default="1/1",
    show_default=True,
    help="One of N parts, such as 2/8, for N machines.",
)
@max_memory
def run(out: str, part: str, max_memory: float | None) -> None:
    """Make the data, train or take the checkpoints in FOLDER, and score all methods; goes on where it was stopped."""
    from pathlib import Path

    from salgen.errors import SalgenError
    from salgen.evaluation.bench.bench_run import run_entry
    from salgen.evaluation.bench.bench_spec import bench_spec

    number, slash, of = part.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal()):
        raise SalgenError(f"part {part!r}: write K/N, such as 2/8")
    spec = bench_spec()
    for entry in spec.part(int(number), int(of)):
        for folder in run_entry(spec, entry, Path(out), max_memory=max_memory, command=command_line()):
            click.echo(folder)
