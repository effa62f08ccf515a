"""`salgen find`: images of a run that a person should look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
import click
from salgen.cli.groups import CommandGroup
from salgen.cli.options import from_fields
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.thresholds import FAITHFULNESS, LOCALIZATION, Thresholds
from salgen.parameters import build, parse_call
from salgen.registry import METHODS

if TYPE_CHECKING:
    from salgen.evaluation.diagnostics.clever_hans import Suspect

run_folder = click.argument("run", type=click.Path(exists=True, file_okay=False))
dataset = click.option("--dataset", metavar="PATH", type=click.Path(), help="The run's data set: draw the images too.")
method = click.option("-m", "--method", required=True, help="The method whose maps to use, as the run names it.")


@click.group("find", cls=CommandGroup)
def command() -> None:
    """Find images of a run that deserve a look."""


@command.command("clever-hans", epilog="Example: salgen find clever-hans runs/mine -m grad-cam --dataset lesions")
@run_folder
@method
@click.option("--localization-metric", default=LOCALIZATION)
@click.option("--faithfulness-metric", default=FAITHFULNESS)
@dataset
@from_fields(Thresholds)
def clever_hans(
    run: str, method: str, localization_metric: str, faithfulness_metric: str, dataset: str | None, **limits: Any
) -> None:
    """Find images classified rightly and surely while a faithful map points elsewhere (Li et al. 2020, eq. 19).

    RUN must have been evaluated with both metrics:

    \b
    salgen evaluate DATASET --metrics pointing-game,insertion-auc:variant=li2020
    """
    from salgen.evaluation.diagnostics.clever_hans import clever_hans as find
    from salgen.evaluation.diagnostics.clever_hans import undefined

    suspects = find(run, method, build(Thresholds, limits), localization_metric, faithfulness_metric)
    left_out = undefined(run, method, localization_metric, faithfulness_metric)
    _show(suspects, run, dataset, method, f"clever-hans-{method.replace(':', '-')}.png", left_out)


@command.command("false-positives", epilog="Example: salgen find false-positives runs/mine --dataset lesions")
@run_folder
@click.option("--confidence", type=click.FloatRange(0.0, 1.0), default=Thresholds.confidence)
@click.option("-m", "--method", default="gradient", help="The method whose maps to draw.")
@dataset
def false_positives(run: str, confidence: float, method: str, dataset: str | None) -> None:
    """Find images without a class in which the model surely sees that class."""
    from salgen.evaluation.diagnostics.clever_hans import false_positives as find

    METHODS.create(*parse_call(method))
    suspects = find(run, confidence)
    _show(suspects, run, dataset, method, "false-positives.png", {})


def _show(
    suspects: Sequence[Suspect], run: str, dataset: str | None, method: str, name: str, undefined: Mapping[str, int]
) -> None:
    """Print the suspects, and draw them if the data set is given; raises before anything is printed."""
    from salgen.datasets.format.checksums import FILE
    from salgen.evaluation.report.suspects import save_gallery_of
    from salgen.evaluation.runs.artifacts.run_record import RunRecord

    gallery = None
    if dataset is not None:
        if (Path(run) / FILE).is_file():
            raise SalgenError(f"{run} is published, and a gallery in it would break `salgen verify`: omit --dataset")
        gallery = save_gallery_of(suspects, run, dataset, method, Path(run) / name) if suspects else None
    names = RunRecord.read(Path(run) / "run.json").dataset.class_names
    click.echo(f"{len(suspects)} found")
    for suspect in suspects:
        words = f"  {suspect.sample_id}  {names[suspect.class_number]} {suspect.confidence:.3f}"
        if suspect.method:
            words += f", localised {suspect.localization:.3f}, faithful {suspect.faithfulness:.3f}"
        click.echo(f"{words}  ({suspect.model}, seed {suspect.training_seed})")
    for metric, count in undefined.items():
        if count:
            click.echo(f"left out, because {metric} has no value: {count} of the rightly classified samples")
    if gallery is not None:
        click.echo(f"gallery: {gallery}")
