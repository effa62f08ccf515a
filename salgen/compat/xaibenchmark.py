"""The names that Saliency-Bench's package and its README promise: ``from salgen.compat import xaibenchmark``.

Scores are those of that package, but for the precision of a map that predicts nothing: 0, where the package has NaN for
all images. With ``exact=True`` they are salgen's own. Splits are salgen's: 70, 15 and 15 % of each class, the same at
each call, where the package draws others each time.

References
----------
Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual explanations* (KDD).
"""

from pathlib import Path
from typing import Any
import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor
from torch.utils.data import DataLoader
from salgen.datasets.making import make
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.protocols.saliency_bench import DATASETS, DEFINITIONS
from salgen.evaluation.results.opening import evaluate
from salgen.evaluation.scoring.scoring import score

FOLDER = "Benchmarks"
# The paper's names are salgen's; these are the README's.
NAMES = {
    "scene-xai": "environment-xai",
    "nodule-xai": "disease-xai",
    "tumor-xai": "cancer-xai",
    "prohibited-xai": "security-xai",
    "cat&dog-xai": "pet-xai",
    "pascal": "object-xai",
}
METHODS = {
    "gradcam": "grad-cam",
    "gradcam++": "grad-cam++",
    "ig": "integrated-gradients",
    "ixg": "input-x-gradient",
    "attention": "raw-attention",
}
MEASURES = {measure: calls[measure] for measure, calls in DEFINITIONS.items()}  # as the paper defines them


def iou(maps: ArrayLike, gts: ArrayLike, *, exact: bool = False) -> float:
    """Mean intersection over union.

    Parameters
    ----------
    maps
        Real, (N, H, W).
    gts
        Ground truth (N, H, W), integers: a pixel belongs to the mask where it is not 0. Images with an empty mask are
        left out.
    exact
        Whether pixels count that are above half of the map's range, instead of above 0.
    """
    return _mean("iou", maps, gts, exact)


def precision(maps: ArrayLike, gts: ArrayLike, *, exact: bool = False) -> float:
    """Mean share of the predicted pixels that are in the mask, 0 where nothing is predicted; see :func:`iou`."""
    return _mean("precision", maps, gts, exact)


def recall(maps: ArrayLike, gts: ArrayLike, *, exact: bool = False) -> float:
    """Mean share of the mask that is predicted: above 0.5 on the map itself, above half of its range where `exact`."""
    return _mean("recall", maps, gts, exact)


def hit(maps: ArrayLike, gts: ArrayLike, *, exact: bool = False) -> float:
    """The pointing game: the share of maps with a largest value in the mask; of equal ones their share if `exact`."""
    return _mean("pointing-game", maps, gts, exact)


def _mean(metric: str, maps: ArrayLike, gts: ArrayLike, exact: bool) -> float:
    masks = np.asarray(gts).astype(np.int64) != 0
    shown = masks.any(axis=(1, 2))
    if not shown.any():
        raise SalgenError(f"all {len(masks)} masks are empty: give at least one image with a mask")
    call = metric if exact else f"{metric}:compat=xaibenchmark"
    scores = score(np.asarray(maps)[shown], masks[shown], [call])
    values = scores.worst_case[call] if exact else scores[call]
    return float(np.mean(values))


def load_dataset(name: str, folder: str | Path = FOLDER, classes: str = "", out: str | Path | None = None) -> Dataset:
    """A data set of the benchmark, as salgen's.

    Parameters
    ----------
    name
        The paper's or the README's, in any case, such as ``"Gender-XAI"``.
    folder
        Holds a folder of that name, with ``image/CLASS/`` and ``attention_label/*.csv``.
    classes
        The wanted classes with commas between; all if empty.
    out
        Where it is made, by default `name` in small letters here; what is there already is opened.

    Returns
    -------
    Its test split; ``of_split("train")`` is another one.

    Raises
    ------
    SalgenError
        If the name is unknown, or the folder is not that of a data set.
    """
    plain = name.lower()
    if plain not in (*NAMES, *DATASETS):
        raise unknown_name("data set of Saliency-Bench", name, [*DATASETS, *NAMES])
    source, wanted = str(Path(folder) / name), {"classes": classes} if classes else {}
    made = make(NAMES.get(plain, plain), Path(out or plain), source=source, scale="full", parameters=wanted)
    return open_dataset(made)


def loading(
    dataset: str, class_list: str, folder: str | Path = FOLDER, batch_size: int = 32
) -> tuple[DataLoader[Any], DataLoader[Any], DataLoader[Any]]:
    """Loaders of the training, validation and test images of a data set.

    Parameters
    ----------
    dataset, class_list, folder
        As `name`, `classes` and `folder` of :func:`load_dataset`; a data set of these classes is made here.
    batch_size
        Images of a batch.

    Returns
    -------
    Three loaders of batches of images float32 (B, 3, 224, 224) in [0, 1], attention maps float64 (B, 224, 224), 0 or 1,
    all 0 where nobody drew one, and class numbers int64 (B,) in the order of `class_list`. All are shuffled.
    """
    made = load_dataset(dataset, folder, class_list, out="-".join([dataset.lower(), *class_list.split(",")]))
    task = next(iter(made.tasks))

    def collate(samples: list[dict[str, Any]]) -> tuple[Tensor, Tensor, Tensor]:
        images = torch.from_numpy(np.stack([sample["image"] for sample in samples]))
        attention = torch.from_numpy(np.stack([sample["mask"] for sample in samples]).astype(np.float64))
        return images, attention, torch.tensor([sample[task] for sample in samples])

    def loader(split: str) -> DataLoader[Any]:
        samples: Any = made.of_split(split)
        return DataLoader(samples, batch_size, shuffle=True, collate_fn=collate)

    return loader("train"), loader("val"), loader("test")


def evaluate_method(
    method: str, dataset: Dataset, model: Any = "resnet18", *, scale: str = "small", **options: Any
) -> dict[str, float]:
    """The scores of a method on the images of the test split that have a mask.

    Parameters
    ----------
    method
        The paper's name, such as ``"GradCAM"``, or a call of salgen's.
    dataset
        From :func:`load_dataset`.
    model
        One to train, or one that is trained: see `salgen.evaluate`, which takes `scale` and the `options` too.

    Returns
    -------
    ``mIoU`` (above half of each map's range), ``PG`` and ``iAUC`` (from black), each a mean over images and trainings.
    """
    call = METHODS.get(method.lower().replace("-", ""), method.lower())
    (row,) = select_methods([call], scale).named  # the run may hold the method with other parameters too
    run = evaluate(dataset.path, model=model, methods=[call], metrics=list(MEASURES.values()), scale=scale, **options)
    means = run.means.loc[row].to_dict()
    return {measure: float(means[metric]) for measure, metric in MEASURES.items()}
