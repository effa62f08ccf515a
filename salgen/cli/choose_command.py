"""`salgen choose`: the saliency method for one's own network, from a few images with masks."""

import tempfile
import warnings
from pathlib import Path
from typing import Any
import click
from salgen.cli.options import max_memory, methods, picture_masks, pictures_as_dataset
from salgen.errors import SalgenError, warn


@click.command("choose", epilog="Example: salgen choose photos --masks masks --model efficientnet-lite0")
@click.argument("images")
@click.option("--model", help="A trained model, as for salgen explain. A finished run has its own.")
@picture_masks
@methods
@click.option("--metric", default="average-precision", show_default=True, help="What a good map has a high value of.")
@click.option(
    "--limit", type=click.IntRange(1), default=10, show_default=True, metavar="N", help="Images to explain, at most."
)
@click.option("--budget", default=240.0, show_default=True, metavar="SECONDS", help="Time for the maps.")
@max_memory
@click.option(
    "--out", metavar="FILE", type=click.Path(path_type=Path), default="choice.html", show_default=True, help="The page."
)
def command(images: str, model: str | None, masks: tuple[str, ...], metric: str, out: Path, **options: Any) -> None:
    """Choose the saliency method for a trained network by a few images with masks.

    IMAGES is a folder of pictures with --masks, or a data set. Five images are enough to begin. Every method that
    takes the network explains them; the answer says how far the chosen one may lie below the best.

    Without masks the answer says which images to mark; --masks then takes what salgen annotate made.

    IMAGES may be a finished run, too: its scores are taken.
    """
    from salgen.evaluation.results.run import Run
    from salgen.evaluation.runs.artifacts.run_record import RECORD

    if (Path(images) / RECORD).is_file():
        if model or masks:
            raise SalgenError(f"{images} is a run, which has its model and masks: leave --model and --masks out")
        click.echo(str(Run(images).choose(metric)))
        return
    if model is None:
        raise SalgenError("a network is missing: give --model, such as --model my_models:network")
    if not out.parent.is_dir():
        raise SalgenError(f"{out}: {out.parent} is no folder")
    with tempfile.TemporaryDirectory() as folder:
        dataset = _as_dataset(images, masks, model, Path(folder))
        unmarked = not masks and dataset != images
        _choose(dataset, images, model, out, unmarked, metric=metric, **options)


def _as_dataset(images: str, masks: tuple[str, ...], model: str, folder: Path) -> str:
    """The data set of pictures; without masks, or with drawn ones, which may change, it lies in the given folder."""
    from salgen.datasets.annotation.annotated_dataset import drawn_by
    from salgen.datasets.format.manifest import FILE
    from salgen.datasets.importing import import_images
    from salgen.evaluation.runs.given_models import given_inputs

    drawn = [person for path in masks for person in drawn_by(path)]
    if (Path(images) / FILE).exists() or (masks and not drawn):
        return pictures_as_dataset(images, masks, model)
    nothing = folder / "nothing.json"
    nothing.write_text('{"images": [], "annotations": [], "categories": []}', encoding="utf-8")
    parameters = {"shares": (0, 0, 1), **given_inputs(model)}
    warnings.filterwarnings("ignore", "no image that can be used has a mask")
    return str(import_images(images, folder / "pictures", masks=drawn or [nothing], parameters=parameters))


def _choose(
    path: str,
    images: str,
    model: str,
    out: Path,
    unmarked: bool,
    *,
    method_calls: tuple[str, ...],
    limit: int,
    **options: Any,
) -> None:
    """Choose by the images of a data set that have a mask, or by all if none has, or masks are not to be used."""
    import numpy as np
    from salgen.datasets.annotation.annotated_dataset import target_of
    from salgen.datasets.reading.reader import open_dataset
    from salgen.evaluation.choosing.choice import choose
    from salgen.evaluation.models.own_networks import places_called
    from salgen.evaluation.runs.given_models import trained_network

    network, labels = trained_network(model)
    dataset = open_dataset(path, "test")
    marked = np.flatnonzero(dataset.present(dataset.manifest.targets[dataset.manifest.default_task]))
    unmarked = unmarked or not len(marked)
    usable = np.arange(len(dataset)) if unmarked else marked
    chosen = usable[np.unique(np.linspace(0, len(usable) - 1, limit).round().astype(int))]
    samples = [dataset[int(number)] for number in chosen]
    task, names = next(iter(dataset.tasks.items()))
    places = [places_called(name, labels) for name in names]
    targets = None
    if all(len(found) == 1 for found in places):
        targets = [places[sample[task]][0] for sample in samples]
    else:
        warn(f"{model} has no output for every class ({', '.join(names)}): its predicted classes are explained")
    choice = choose(
        network,
        np.stack([sample["image"] for sample in samples]),
        None if unmarked else np.stack([sample["mask"] for sample in samples]),
        targets=targets,
        methods=list(method_calls) or None,
        groups=[dataset.clusters[number] for number in chosen],
        **options,
    )
    click.echo(str(choice))
    if choice.to_mark:
        files, drawn = dataset.file_names or dataset.ids, target_of(images, None)
        click.echo(f"these are: {', '.join(files[chosen[number]] for number in choice.to_mark)}")
        again = str(drawn) if path == images else f"{images} --masks {drawn}"
        click.echo(f"draw:  salgen annotate {images}\nagain: salgen choose {again} --model {model}")
    click.echo(f"page: {choice.report(out)}")
