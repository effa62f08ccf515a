"""`salgen choose`: the saliency method for one's own network, from a few images with masks."""

import shlex
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
import click
from salgen.cli.options import max_memory, methods, picture_labels, picture_masks, pictures_as_dataset, settings
from salgen.errors import SalgenError, warn
from salgen.parameters import parse_pairs


@click.command("choose", epilog="Example: salgen choose photos --masks masks --model efficientnet-lite0")
@click.argument("images")
@click.option("--model", help="A trained model, as for salgen explain. A finished run has its own.")
@picture_masks
@picture_labels
@settings
@methods
@click.option("--metric", default="average-precision", help="What a good map has a high value of.")
@click.option("--limit", type=click.IntRange(1), default=10, metavar="N", help="Images to explain, at most.")
@click.option("--budget", default=240.0, metavar="SECONDS", help="Time for the maps.")
@max_memory
@click.option("--out", metavar="FILE", type=click.Path(path_type=Path), default="choice.html", help="The page.")
def command(
    images: str,
    model: str | None,
    masks: tuple[str, ...],
    labels: str | None,
    pairs: tuple[str, ...],
    metric: str,
    out: Path,
    **options: Any,
) -> None:
    """Choose the saliency method for a trained network by a few images with masks.

    IMAGES is a folder of pictures with --masks, or a data set. Five images are enough to begin. Every method that
    takes the network explains them; the answer says how far the chosen one may lie below the best.

    Without masks the answer says which images to mark; --masks then takes what salgen annotate made. --set takes
    parameters of salgen import, such as mask_values=1 for trimaps.

    IMAGES may be a finished run, too: its scores are taken.
    """
    from salgen.evaluation.results.run import Run
    from salgen.evaluation.runs.artifacts.run_record import RECORD

    if (Path(images) / RECORD).is_file():
        if model or masks or labels or pairs:
            raise SalgenError(f"{images} is a run, with a model and masks: leave out --model, --masks, --labels, --set")
        click.echo(str(Run(images).choose(metric)))
        return
    if model is None:
        raise SalgenError("a network is missing: give --model, such as --model my_models:network")
    if not out.parent.is_dir():
        raise SalgenError(f"{out}: {out.parent} is no folder")
    with tempfile.TemporaryDirectory() as folder:
        dataset = _as_dataset(images, masks, model, labels, parse_pairs(pairs), Path(folder))
        unmarked = not masks and dataset != images
        of_pictures = ["--labels", labels] if labels else [], [word for pair in pairs for word in ("--set", pair)]
        _choose(dataset, images, model, out, unmarked, *of_pictures, metric=metric, **options)


def _as_dataset(
    images: str, masks: tuple[str, ...], model: str, labels: str | None, parameters: Mapping[str, Any], folder: Path
) -> str:
    """The data set of pictures; without masks, or with drawn ones, which may change, it lies in the given folder."""
    from salgen.datasets.annotation.annotated_dataset import drawn_by
    from salgen.datasets.format.manifest import FILE

    drawn = [str(person) for path in masks for person in drawn_by(path)]
    if (is_dataset := (Path(images) / FILE).exists()) and (labels or parameters):
        raise SalgenError(f"--labels and --set are for a folder of pictures, and {images} is a data set")
    if is_dataset or (masks and not drawn):
        return pictures_as_dataset(images, masks, model, labels, parameters)
    nothing = folder / "nothing.json"
    nothing.write_text('{"images": [], "annotations": [], "categories": []}', encoding="utf-8")
    warnings.filterwarnings("ignore", "no image that can be used has a mask")
    return pictures_as_dataset(images, drawn or [str(nothing)], model, labels, parameters, str(folder))


def _choose(
    path: str,
    images: str,
    model: str,
    out: Path,
    unmarked: bool,
    labelled: list[str],
    stated: list[str],
    *,
    method_calls: tuple[str, ...],
    limit: int,
    **options: Any,
) -> None:
    """Choose by the images of a data set that have a mask, or by all if none has, or masks are not to be used.

    `labelled` and `stated` are the words of --labels and --set.
    """
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
        drawn, numbers = str(target_of(images, None)), chosen[list(choice.to_mark)]
        if path == images:  # salgen annotate writes the images of a data set to files
            items, again = [f"test/{number:06d}.png" for number in numbers], [drawn]
        else:
            items, again = [dataset.file_names[n] for n in numbers], [images, "--masks", drawn, *labelled, *stated]
        only = [word for item in items for word in ("--only", item)]
        click.echo(f"draw:  {shlex.join(['salgen', 'annotate', images, *labelled, *only])}")
        click.echo(f"again: {shlex.join(['salgen', 'choose', *again, '--model', model])}")
    click.echo(f"page: {choice.report(out)}")
