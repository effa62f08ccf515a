"""`salgen evaluate`: saliency methods scored on a data set."""

from pathlib import Path
from typing import Any
import click
from click.core import ParameterSource
from salgen.cli import options as shared
from salgen.cli.groups import SectionedCommand
from salgen.datasets.execution.executors import EXECUTORS
from salgen.errors import SalgenError
from salgen.evaluation.runs.conventions import Conventions
from salgen.parameters import parse_pairs

ALLOWED_FROM_MAPS = ("dataset", "from_maps", "metrics", "out", "replace", "limit", "scale", "max_memory", "source")


@click.command(
    "evaluate", cls=SectionedCommand, epilog="Example: salgen evaluate lesions -m grad-cam -m rise:n=500 --limit 200"
)
@click.argument("dataset", type=click.Path(), required=False)
@click.option(
    "--from-maps",
    metavar="RUN",
    type=click.Path(),
    help="Score the maps that a run kept, or an archive of it, instead of explaining. DATASET is then needed only "
    "where a metric looks at images that the run does not hold.",
)
@click.option("--keep-maps", is_flag=True, help="Keep the maps in the run, so that --from-maps can score them.")
@click.option(
    "--model",
    metavar="MODEL",
    default=shared.DEFAULT_MODEL,
    help="A registered model, which is trained; or a trained one: a checkpoint's folder, PACKAGE.MODULE:FUNCTION, "
    "torchvision:NAME:weights=FILE, timm:NAME:weights=FILE, huggingface:FOLDER or efficientnet-lite0.",
)
@click.option(
    "--classes",
    metavar="A,B",
    help="Names of a trained network's outputs in order, or for each class of the data set the number of its output "
    "(or several: cat=281+282,dog=151).",
)
@shared.picture_masks
@shared.picture_labels
@shared.methods
@click.option(
    "--maps",
    metavar="[NAME=]PATH",
    multiple=True,
    help="Maps of --model that another tool made, as one more method; repeatable. A file, or a folder with a file for "
    "each sample, named by its id or as the imported image; see docs/maps.md.",
)
@click.option(
    "--methods",
    "method_names",
    metavar="A,B",
    help="Names, all, quick (without those of hundreds of passes an image), or a protocol's name.  [default: "
    "without -m the run's, else all, at scale demo a dozen, with --masks quick]",
)
@click.option(
    "--metrics",
    metavar="A,B",
    help="Names, name:key=value, families (salgen list metrics), all, or [NAME=]PACKAGE.MODULE:FUNCTION of your own. "
    "0.3|0.5 stands for both.  [default: those that rank pixels]",
)
@click.option("--paired-model", metavar="MODEL", help="A second trained model, for metrics that contrast two.")
@click.option("--paired-task", metavar="TASK", help="Train the second model for this task of the data set.")
@shared.max_memory
@click.option(
    "--executor",
    metavar="local|ray",
    type=click.Choice(EXECUTORS),
    default="local",
    help="Work in this process, or in Ray's.",
)
@click.option(
    "--ray-address",
    metavar="HOST:PORT",
    help="A running Ray, or auto. Its machines must share DATASET, RUN and model.  [default: start one]",
)
@click.option("--workers", type=int, metavar="N", help="Processes of that Ray.  [default: one per core]")
@click.option("--source", metavar="PATH", help="The material that DATASET was made from, if not the generator's own.")
@click.option("--split", metavar="SPLIT", help="Split to evaluate on.  [default: test]")
@shared.scale
@shared.settings
@shared.n_trainings
@click.option(
    "--reliance/--no-reliance",
    default=None,
    help="Train on backgrounds that change with every epoch.  [default: where they can be drawn again]",
)
@shared.out
@shared.replace
@shared.from_fields(Conventions)
def command(
    dataset: str | None,
    from_maps: str | None,
    method_calls: tuple[str, ...],
    method_names: str | None,
    metrics: str | None,
    pairs: tuple[str, ...],
    maps: tuple[str, ...],
    classes: str | None,
    masks: tuple[str, ...],
    labels: str | None,
    **options: Any,
) -> None:
    """Explain, score and report on the data set DATASET.

    A registered model is trained first. An interrupted run resumes. Methods and metrics are added to a finished run of
    the same experiment. Controls (random, sobel, oracle and others) are always added. --set takes training settings
    and parameters of the model (salgen train --help), with --masks those of salgen import.
    """
    from salgen.evaluation.runs.running import evaluate

    shared.leave_low_accuracy_to_the_summary()
    if from_maps is not None:
        run = _rescore(from_maps, dataset, shared.split_calls(metrics) or None)
    else:
        if dataset is None:
            raise SalgenError("give the folder or archive of a DATASET, or the maps of a run with --from-maps")
        if labels is not None and not masks:
            raise SalgenError("--labels is for a folder of pictures: give their --masks too")
        chosen = [*method_calls, *shared.split_names(method_names, "--methods")]
        run = evaluate(
            shared.pictures_as_dataset(dataset, masks, options["model"], labels, parse_pairs(pairs)),
            classes=_outputs(classes),
            methods=chosen or (["quick"] if masks and not maps else None),
            maps=maps,
            metrics=shared.split_calls(metrics) or None,
            settings={} if masks else parse_pairs(pairs),
            **options,
        )
    from salgen.evaluation.report import console_summary, report  # here, as it imports for a second

    page = report([run])
    click.echo(console_summary([run]))
    click.echo(f"report: {page}")


def _outputs(text: str | None) -> list[str] | dict[str, list[int]] | None:
    """The value of --classes: names or numbers, or for each class one number or several."""
    pieces = shared.split_names(text, "--classes")
    if not any("=" in piece for piece in pieces):
        return pieces or None
    groups = {name: numbers.split("+") for name, _, numbers in (piece.rpartition("=") for piece in pieces)}
    if not all(number.isdecimal() for numbers in groups.values() for number in numbers):
        raise SalgenError(f"--classes {text}: give names, numbers, or numbers for each class as in cat=281+282,dog=151")
    return {name: list(map(int, numbers)) for name, numbers in groups.items()}


def _rescore(maps: str, dataset: str | None, metrics: list[str] | None) -> Path:
    """The run that scores another run's maps; options that would change the maps are refused."""
    from salgen.evaluation.runs.rescoring import rescore

    ctx = click.get_current_context()
    for option in ctx.command.params:
        stated = ctx.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
        if stated and option.name not in ALLOWED_FROM_MAPS:
            raise SalgenError(f"leave out {option.opts[0]} with --from-maps: the run sets models, methods and options")
    chosen = {name: ctx.params[name] for name in ("out", "replace", "limit", "scale", "max_memory", "source")}
    return rescore(maps, metrics=metrics, dataset=dataset, **chosen)
