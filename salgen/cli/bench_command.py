"""`salgen bench`: the frozen benchmark of saliency methods."""

import click
from salgen.cli.groups import CommandGroup
from salgen.cli.options import max_memory
from salgen.cli.verify_command import raise_problems


@click.group("bench", cls=CommandGroup)
def command() -> None:
    """Rank methods on salgen-bench, a frozen benchmark of many worlds.

    A world is a data set whose cause is known, and a network that was trained to use it.
    """


@command.command("list", epilog="Example: salgen bench list")
def list_worlds() -> None:
    """List the worlds of salgen-bench: a data set with its parameters, and the network that is trained on it."""
    from salgen.evaluation.bench.worlds import world_spec

    spec = world_spec()
    click.echo(f"salgen-bench 2, sha256 {spec.digest}")
    click.echo(f"{len(spec.worlds)} worlds, {len(spec.methods)} methods, metrics {', '.join(spec.metrics)}")
    for world in spec.worlds:
        recipe = world.recipes[0]
        kept = "; weights kept" if world.name in spec.kept else ""
        parameters = ", ".join(f"{name}={value}" for name, value in recipe.parameters.items())
        click.echo(f"{world.name:20s} {recipe.generator} ({parameters}); {recipe.model}{kept}")


results_folder = click.option(
    "--results",
    type=click.Path(exists=True, file_okay=False),
    metavar="FOLDER",
    default="salgen-bench/results",
    help="Folder of results.",
)


@command.command("table", epilog="Example: salgen bench table --network resnet18")
@results_folder
@click.option("--network", metavar="NAME", help="Worlds with this network alone, such as resnet18.")
@click.option("--cause", metavar="KIND", help="Worlds with this kind of cause alone: object or mark.")
def table(results: str, network: str | None, cause: str | None) -> None:
    """Show what to expect of methods in a new world, and which the worlds tell apart."""
    from salgen.evaluation.bench import benchmark

    click.echo(benchmark.table(results, network=network, cause=cause))


@command.command("judges", epilog="Example: salgen bench judges")
@results_folder
def judges(results: str) -> None:
    """Show how well metrics and rough masks choose a method.

    regret: how far the chosen method lies below the best, in average precision, with a 95 % interval over families.
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
@click.option("--out", type=click.Path(), metavar="FOLDER", default="salgen-bench-rank")
@click.option("--quick", is_flag=True, help="One world of each family, by average precision alone.")
@max_memory
def rank(method: str, results: str, out: str, quick: bool, max_memory: float | None) -> None:
    """Run METHOD, a call or PACKAGE.MODULE:NAME, in the worlds whose networks are kept, and show its place."""
    from pathlib import Path
    from salgen.evaluation.bench.rank_method import rank_method
    from salgen.evaluation.bench.worlds import world_spec

    asked = world_spec(), method, Path(results), Path(out)
    call, found = rank_method(*asked, quick=quick, max_memory=max_memory)
    click.echo(found.text(call))


@command.command("fetch", epilog="Example: salgen bench fetch salgen-bench.tar")
@click.argument("source", metavar="SOURCE")
@click.option("--out", type=click.Path(), metavar="FOLDER", default="salgen-bench/results")
def fetch(source: str, out: str) -> None:
    """Copy published results and weights from SOURCE: a folder, an archive, or the address of one."""
    from salgen.evaluation.bench import benchmark

    click.echo(f"{out}: {len(benchmark.fetch(source, out))} worlds")


@command.command("verify", epilog="Example: salgen bench verify --seed 1")
@results_folder
@click.option("--seed", type=click.IntRange(min=1), help="Chooses what is computed again; at random by default.")
def verify(results: str, seed: int | None) -> None:
    """Compute some scores of some worlds again from their frozen weights."""
    from salgen.evaluation.bench import benchmark

    raise_problems(results, benchmark.verify(results, seed=seed))
    click.echo(f"{results}: verified")


@command.command("run", epilog="Example: salgen bench run --part 1/8")
@click.option("--out", type=click.Path(), metavar="FOLDER", default="salgen-bench/results/worlds")
@click.option("--part", metavar="K/N", default="1/1", help="One of N parts, such as 2/8, for N machines.")
@max_memory
def run(out: str, part: str, max_memory: float | None) -> None:
    """Make, train, explain and score the worlds of salgen-bench; goes on where it was stopped."""
    import json
    from pathlib import Path
    from salgen.evaluation.bench.worlds import RECORD, run_world, world_spec

    spec = world_spec()
    for world in spec.part(part):
        record = json.loads((run_world(spec, world, Path(out), max_memory=max_memory) / RECORD).read_text())
        tried = [
            one.get("impossible") or f"{one['accuracy']:.0%} right, {one['certified']:.0%} certified"
            for one in record["attempts"]
        ]
        click.echo(f"{world.name}: {'; '.join(tried)}: {'scored' if record['passed'] else 'left out'}")
