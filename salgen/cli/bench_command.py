"""`salgen bench`: the frozen benchmark of saliency methods."""

import click
from salgen.cli.groups import CommandGroup
from salgen.cli.options import max_memory
from salgen.cli.verify_command import raise_problems


@click.group("bench", cls=CommandGroup)
def command() -> None:
    """Rank methods on salgen-bench, a frozen benchmark.

    Its data sets, networks and metrics stay the same.
    """


@command.command("list", epilog="Example: salgen bench list")
def list_entries() -> None:
    """List what salgen-bench consists of: an entry for each data set, network and kind of training."""
    from salgen.evaluation.bench.versions import bench_spec

    spec = bench_spec()
    click.echo(f"salgen-bench {spec.version}, sha256 {spec.digest}")
    click.echo(f"{spec.trainings} trainings of each network, {spec.images} test images, scale {spec.scale}")
    for number, entry in enumerate(spec.entries, start=1):
        scored = ", ".join(entry.data.tests)
        click.echo(f"{number:3d}  {entry.name:40s} {entry.network}; {scored}")
    for family, metric in spec.headlines.items():
        click.echo(f"{family}: {metric}")


results_folder = click.option(
    "--results",
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    default="salgen-bench/results",
    show_default=True,
    help="Folder of results.",
)


@command.command("table", epilog="Example: salgen bench table --samples certified")
@results_folder
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
def table(results: str, reliance: bool, samples: str) -> None:
    """Rank methods over all data sets: 0 for the best on all of them, 1 for the worst."""
    from salgen.evaluation.bench import benchmark

    click.echo(benchmark.table(results, reliance=reliance, samples=samples))


@command.command("worlds", epilog="Example: salgen bench worlds")
@results_folder
def worlds(results: str) -> None:
    """Show what to expect of methods in a new world, by the worlds of salgen-bench 2 that are computed."""
    from salgen.evaluation.bench import benchmark

    click.echo(benchmark.worlds(results))


@command.command("judges", epilog="Example: salgen bench judges")
@results_folder
def judges(results: str) -> None:
    """Show how well metrics and rough masks choose a method.

    regret: how far the chosen method lies below the best, in average precision, with a 95 % interval over data sets.
    order: Spearman's correlation with the true order. pairs: the share of pairs in the right order. passes: of the
    network for a map. photos: regret on a network of photographs.
    """
    from salgen.evaluation.bench import benchmark

    table = benchmark.judges(results).reset_index()
    ends = zip(table["regret_low"], table["regret_high"], strict=True)
    table["95 %"] = [f"{low:.2f} to {high:.2f}" for low, high in ends]
    table["passes"] = ["" if passes != passes else f"{passes:,.0f}" for passes in table["passes"]]
    names = {"judge": "choice by", "regret": "regret", "95 %": "95 %", "rank_correlation": "order", "pairs": "pairs",
             "passes": "passes", "photographs": "photos"}  # fmt: skip
    shown = table[list(names)].rename(columns=names)
    click.echo(shown.to_string(index=False, na_rep="", float_format="{:.2f}".format))


@command.command("rank", epilog="Example: salgen bench rank my_methods:mine --quick")
@click.argument("method", metavar="METHOD")
@results_folder
@click.option("--out", type=click.Path(), metavar="FOLDER", help="By default salgen-bench-rank, with -quick after it.")
@click.option("--quick", is_flag=True, help="The first 16 images and one training of each network.")
@max_memory
def rank(method: str, results: str, out: str | None, quick: bool, max_memory: float | None) -> None:
    """Run METHOD, a call or PACKAGE.MODULE:NAME, on the frozen checkpoints, and show its place."""
    from salgen.evaluation.bench import benchmark
    from salgen.evaluation.bench.rank_method import ranked_call
    from salgen.evaluation.bench.versions import bench_spec

    found = benchmark.rank(method, results, out, quick=quick, max_memory=max_memory)
    click.echo(found.text(ranked_call(method, bench_spec().scale)))


@command.command("fetch", epilog="Example: salgen bench fetch salgen-bench.tar")
@click.argument("source", metavar="SOURCE")
@click.option("--out", type=click.Path(), metavar="FOLDER", default="salgen-bench/results", show_default=True)
def fetch(source: str, out: str) -> None:
    """Copy published results and checkpoints from SOURCE: a folder, an archive, or the address of one."""
    from salgen.evaluation.bench import benchmark

    click.echo(f"{out}: {len(benchmark.fetch(source, out))} results")


@command.command("verify", epilog="Example: salgen bench verify --seed 1")
@results_folder
@click.option("--seed", type=click.IntRange(min=1), help="Chooses what is computed again; at random by default.")
def verify(results: str, seed: int | None) -> None:
    """Compute some of the results' scores again from the frozen weights."""
    from salgen.evaluation.bench import benchmark

    raise_problems(results, benchmark.verify(results, seed=seed))
    click.echo(f"{results}: verified")


@command.command("run", epilog="Example: salgen bench run --part 1/8")
@click.option("--out", type=click.Path(), metavar="FOLDER", default="salgen-bench/results/worlds", show_default=True)
@click.option(
    "--part", metavar="K/N", default="1/1", show_default=True, help="One of N parts, such as 2/8, for N machines."
)
@max_memory
def run(out: str, part: str, max_memory: float | None) -> None:
    """Make, train, explain and score the worlds of salgen-bench 2; goes on where it was stopped."""
    import json
    from pathlib import Path
    from salgen.evaluation.bench.worlds import RECORD, run_world, world_spec

    spec = world_spec()
    for world in spec.part(part):
        record = json.loads((run_world(spec, world, Path(out), max_memory=max_memory) / RECORD).read_text())
        tried = [f"{one['accuracy']:.0%} right, {one['certified']:.0%} certified" for one in record["attempts"]]
        click.echo(f"{world.name}: {'; '.join(tried)}: {'scored' if record['passed'] else 'left out'}")
