"""`salgen evaluate`: saliency methods scored on a data set."""

from pathlib import Path
from typing import Any
import click
from click.core import ParameterSource
from salgen.cli.options import (
    DEFAULT_MODEL,
    command_line,
    from_fields,
    help_with,
    leave_low_accuracy_to_the_summary,
    max_memory,
    methods,
    out,
    replace,
    scale,
    seeds,
    settings,
    split_calls,
    split_names,
    training_tables,
)
from salgen.datasets.execution.executors import EXECUTORS
from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts.run_record import Conventions
from salgen.parameters import parse_pairs

ALLOWED_FROM_MAPS = ("path", "from_maps", "metrics", "out", "replace", "limit", "scale", "max_memory", "source")


@click.command("evaluate", add_help_option=False)
@click.argument("path", type=click.Path(), required=False)
@click.option(
    "--from-maps",
    metavar="RUN",
    type=click.Path(),
    help="Score the maps that a run kept, its folder or an archive of it, instead of explaining. PATH is then needed "
    "only where a metric looks at images that the run does not hold.",
)
@click.option(
    "--keep-maps", is_flag=True, help="Keep the maps in the run folder, so that others can score them with --from-maps."
)
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    is_eager=True,
    show_default=True,
    help="A registered model, which is trained; or one that is: a checkpoint's folder, PACKAGE.MODULE:FUNCTION that "
    "returns a torch module, torchvision:NAME:weights=FILE, timm:NAME:weights=FILE or huggingface:FOLDER.",
)
@click.option(
    "--classes",
    metavar="A,B",
    help="Where a trained network's outputs are not the data set's classes: the names of its outputs in order, or for "
    "each class of the data set the number of its output.",
)
@methods
@click.option(
    "--maps",
    metavar="[NAME=]PATH",
    multiple=True,
    help="Maps of these images that another tool made, as one more method; repeatable. A folder with a .npy, .npz, "
    ".safetensors or .png file for each sample, named by its id or as the image that was imported, or one file; see "
    "docs/maps.md. They explain the model given with --model, for the class that --target states.",
)
@click.option(
    "--methods",
    "method_names",
    metavar="A,B",
    help="Names and groups: all methods defined for the model, or a protocol's.  [default, if there is no -m: those of "
    "the run in --out, else all, at scale demo a dozen, and with --maps none]",
)
@click.option(
    "--metrics",
    metavar="A,B",
    help="Metrics as name or name:key=value; families (ranking, localization, faithfulness, contrast, sensitivity, "
    "sanity, diagnostic, attribution); or all. A value 0.3|0.5 stands for both.  [default: those that rank pixels]",
)
@click.option(
    "--paired-model",
    metavar="MODEL",
    help="A second trained model, as a checkpoint or PACKAGE.MODULE:FUNCTION, for metrics that contrast two.",
)
@click.option(
    "--paired-task",
    metavar="TASK",
    help="Another task of the data set: a second model is trained for it like the first, and contrasted with that.",
)
@max_memory
@click.option(
    "--executor",
    type=click.Choice(EXECUTORS),
    default="local",
    show_default=True,
    help="Where to explain and score: in this process, or in workers of Ray, with a GPU each where there are any.",
)
@click.option(
    "--ray-address",
    metavar="ADDRESS",
    help="HOST:PORT of a running Ray, or auto; all its machines must share PATH, RUN and the model, under one path.  "
    "[default: start Ray here]",
)
@click.option("--workers", type=int, metavar="N", help="Processes of a Ray that starts here.  [default: one per core]")
@click.option("--source", metavar="PATH", help="The material that PATH was made from, if not the generator's own.")
@click.option("--split", help="Split to evaluate on.  [default: test]")
@scale
@settings
@seeds
@click.option(
    "--reliance/--no-reliance",
    default=None,
    help="Train the model on backgrounds that change with every epoch, so that it relies on the feature.  "
    "[default: where the data set's backgrounds can be drawn again]",
)
@out
@replace
@from_fields(Conventions)
@help_with(training_tables)
def command(
    path: str | None,
    from_maps: str | None,
    method_calls: tuple[str, ...],
    method_names: str | None,
    metrics: str | None,
    pairs: tuple[str, ...],
    maps: tuple[str, ...],
    classes: str | None,
    **options: Any,
) -> None:
    """Explain, score and report on the data set PATH.

    Without a checkpoint a model is trained first; an interrupted run resumes where it stopped, and methods and metrics
    are added to a finished run of the same experiment.

    Controls (random, sobel, oracle and others) are always added: no table without floors and
    ceilings. --set takes training settings and parameters of the model.
    """
    from salgen.evaluation.runs.running import evaluate

    leave_low_accuracy_to_the_summary()

    if from_maps is not None:
        run = _rescore(from_maps, path, split_calls(metrics) or None)
    else:
        if path is None:
            raise SalgenError("give the PATH of a data set, or the maps of a run with --from-maps")
        chosen = [*method_calls, *split_names(method_names, "--methods")]
        run = evaluate(
            path,
            classes=split_names(classes, "--classes") or None,
            methods=chosen or None,
            maps=maps,
            metrics=split_calls(metrics) or None,
            settings=parse_pairs(pairs),
            command=command_line(),
            **options,
        )
    from salgen.evaluation.report import console_summary, report  # here, as it imports for a second

    page = report([run])
    click.echo(console_summary([run]))
    click.echo(f"report: {page}")


def _rescore(maps: str, path: str | None, metrics: list[str] | None) -> Path:
    """The run that scores another run's maps; options that would change the maps are refused."""
    from salgen.evaluation.runs.rescoring import rescore

    ctx = click.get_current_context()
    for option in ctx.command.params:
        stated = ctx.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
        if stated and option.name not in ALLOWED_FROM_MAPS:
            raise SalgenError(
                f"{option.opts[0]} cannot be combined with --from-maps: the run sets models, methods and conventions"
            )
    chosen = {name: ctx.params[name] for name in ("out", "replace", "limit", "scale", "max_memory", "source")}
    return rescore(maps, metrics=metrics, path=path, command=command_line(), **chosen)
