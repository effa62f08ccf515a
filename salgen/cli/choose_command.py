"""`salgen choose`: the saliency method for one's own network, from a few images with masks."""

from pathlib import Path
from typing import Any
import click
from salgen.cli.options import max_memory, methods, picture_masks, pictures_as_dataset, trained_model
from salgen.errors import SalgenError, warn


@click.command("choose", epilog="Example: salgen choose photos --masks masks --model efficientnet-lite0")
@click.argument("images")
@trained_model
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
def command(
    images: str,
    model: str,
    masks: tuple[str, ...],
    method_calls: tuple[str, ...],
    limit: int,
    out: Path,
    **options: Any,
) -> None:
    """Choose the saliency method for a trained network by a few images with masks.

    IMAGES is a data set, or a folder of pictures with --masks. Five images are enough to begin. Every method that
    takes the network explains them; the answer says how far the chosen one may lie below the best.
    """
    import numpy as np
    from salgen.datasets.reading.reader import open_dataset
    from salgen.evaluation.choosing.choice import choose
    from salgen.evaluation.models.own_networks import places_called
    from salgen.evaluation.runs.given_models import trained_network

    if not out.parent.is_dir():
        raise SalgenError(f"{out}: {out.parent} is no folder")
    network, labels = trained_network(model)
    dataset = open_dataset(pictures_as_dataset(images, masks, model), "test")
    target = dataset.manifest.targets[dataset.manifest.default_task]
    marked = np.flatnonzero(dataset.present(target))
    if not len(marked):
        raise SalgenError(f"no image of {dataset.path} has a mask: draw some with salgen annotate, or give --masks")
    chosen = marked[np.unique(np.linspace(0, len(marked) - 1, limit).round().astype(int))]
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
        np.stack([sample["mask"] for sample in samples]),
        targets=targets,
        methods=list(method_calls) or None,
        groups=[dataset.clusters[number] for number in chosen],
        **options,
    )
    click.echo(str(choice))
    click.echo(f"page: {choice.report(out)}")
