"""``salgen.choose``: the saliency method to believe for one network, from a few images with masks."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from salgen.errors import SalgenError
from salgen.evaluation.attribution import arguments
from salgen.evaluation.attribution.attribution_context import Method
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.choosing.judges import ByFaithfulness, ByMasks, Judge
from salgen.evaluation.choosing.race import HABIT, RACE, Race
from salgen.evaluation.choosing.recommendation import MASKS_MARK_OBJECTS, Recommendation, wrong_class
from salgen.evaluation.choosing.regret import Regret, covariance_of
from salgen.evaluation.metrics.inputs.batched_predictor import logits_of
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.reliance import composites
from salgen.evaluation.report.formatting import STYLE, page_text
from salgen.evaluation.report.gallery import png_url
from salgen.files import write_text
from salgen.types import Explained, plot_maps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HEADLINE = "average-precision"
BUDGET = 240.0  # seconds, so that all is done within five minutes
# Of choices by ROAD on the networks of salgen-bench, in average precision: mean, and 95 % quantile,
# from `python -m benchmarks.regret`, which a test repeats.
WITHOUT_MASKS = Regret(0.15, 0.54)
ON_PHOTOGRAPHS = 0.02  # the same of one network and 19 photographs
WITH_FIVE = 0.01
TO_MARK = 5
GRID = 14  # maps are compared at this many places along each side


@dataclass(frozen=True, eq=False)
class Choice(Recommendation):
    """A recommendation with the network and the images that it is made from.

    Attributes
    ----------
    to_mark
        Numbers of the images whose masks would tell most, if there are no masks yet: those on which the methods that
        may be the best disagree most.
    """

    to_mark: tuple[int, ...]
    chosen: Method = field(repr=False)
    view: ModelView = field(repr=False)
    images: Any = field(repr=False)
    masks: NDArray[np.bool_] | None = field(repr=False)
    maps: Explained = field(repr=False)  # those of the chosen method, the habit and the worst

    def __str__(self) -> str:
        """The answer and the notes; without masks first what such a choice is worth."""
        if self.masks is not None:
            return super().__str__()
        worth = (
            f"Without masks a choice lies about {self.regret.expected:.2f} average precision below the best method, at "
            f"most {self.regret.bound:.2f} for 95 % of small networks, and {ON_PHOTOGRAPHS:.2f} on photographs; with "
            f"five masks about {WITH_FIVE:.2f}."
        )
        count = len(self.images)
        answer = (
            f"Until then take {self.method}, the best of {len(self.probability)} methods by ROAD on your {count} "
            f"image{'s' * (count > 1)}: without the pixels that its maps mark the network loses most of its class."
        )
        return "\n".join([worth, answer, *self.notes])

    def explain(self, images: Any, targets: Any = None, **options: Any) -> Any:
        """Maps of more images by the chosen method, see :func:`salgen.explain`."""
        return explain(self.view, images, targets, method=self.chosen, **options)

    def report(self, out: str | os.PathLike[str] = "choice.html") -> Path:
        """Write the answer, the pictures and the table as one HTML page."""
        import matplotlib.pyplot as plt

        picture, figure = io.BytesIO(), self.plot()
        figure.savefig(picture, format="png", dpi=100)
        plt.close(figure)
        values = {"choice": self, "sentences": str(self).splitlines(), "picture": png_url(picture.getvalue())}
        known = {"style": STYLE.read_text(encoding="utf-8"), "version": version("salgen")}
        write_text(Path(out), page_text([Path(__file__).parent], "choice.html.j2", **values, **known))
        return Path(out)

    def plot(self, max_images: int = 5) -> Figure:
        """The images with their masks beside the maps of the chosen method, of the habit and of the worst."""
        figure, columns = plot_maps([self.maps], max_images), 1 + len(self.maps)
        if self.masks is not None:
            for ax, mask in zip(figure.axes[::columns], self.masks, strict=False):
                ax.contour(mask, levels=[0.5], colors="#d81b60", linewidths=1.5)
            figure.axes[0].set_title("image and mask", fontsize="small")
        return figure


def choose(
    network: nn.Module | ModelView,
    images: Any,
    masks: Any = None,
    *,
    targets: Any = None,
    methods: Any = None,
    metric: str = HEADLINE,
    groups: Sequence[Any] | None = None,
    preprocess: Any = None,
    budget: float = BUDGET,
    seed: int = 0,
    max_memory: float | None = None,
) -> Choice:
    """Choose the saliency method for a network by a few images with masks.

    Every method explains every image, cheap ones first. One whose chance of being the best has fallen below 1 % is not
    computed for further images. The chosen one has the largest mean. How far it may lie below the best follows from the
    means and their covariance, which salgen-bench measured (:mod:`salgen.evaluation.choosing.regret`).

    Without masks, methods of a few passes are compared by ROAD: how much more the network loses of its class with a
    map's largest pixels than with its smallest. Such a choice is worth less, as the answer says first, and it ends with
    the images to mark.

    Parameters
    ----------
    network
        Images to logits (N, K), as :func:`salgen.explain` takes it.
    images
        Floating-point array or tensor (N, C, H, W), in [0, 1] if `preprocess` or a ``Normalize`` follows.
    masks
        bool (N, H, W): what a right map marks; None if there are none yet.
    targets
        The class to explain of each image, integers (N,); by default the predicted one.
    methods
        As :func:`salgen.explain` takes several; by default all that the network takes, but those with patterns.
        Parameters that a call leaves open are those of scale small, as in salgen-bench.
    metric
        ``"average-precision"``, ``"roc-auc"`` or ``"relevance-mass"``; of masks.
    groups
        The subject or scene of each image, of any type: images of one group count as one.
    preprocess
        How images in [0, 1] become the network's inputs, see :func:`salgen.explain`.
    budget
        Seconds for the maps. A method that would not finish is left out, with its reason.
    seed
        Seed of stochastic methods.
    max_memory
        GB that may be used on the network's device.

    Returns
    -------
    Choice
        It prints as the answer.

    Raises
    ------
    SalgenError
        If an argument is wrong, or no method can explain the network.

    Examples
    --------
    >>> choice = choose(network, images, masks)  # doctest: +SKIP
    >>> print(choice)  # doctest: +SKIP
    For this network take full-grad: average-precision 0.83 on your 5 images; about 0.02 below ...
    """
    pixels = arguments.check_images(images)
    truth = None if masks is None else arguments.check_masks(masks, pixels).numpy()
    if truth is not None and (not truth.any(axis=(1, 2)).all() or truth.all(axis=(1, 2)).any()):
        raise SalgenError("a mask is empty or covers its whole image: give images whose mask says where the cause is")
    if truth is None and metric != HEADLINE:
        raise SalgenError(f"metric {metric!r} needs masks: give masks, or leave metric out")
    covariance_of(metric, [])  # raises for a metric without one
    view = ModelView.of(network).prepared(preprocess, pixels.shape[1])
    arguments.check_range(pixels, view.unit_pixels)
    predicted = view.logits(view.normalise(view.like(pixels))).argmax(dim=1).cpu().numpy()
    stated = arguments.check_targets(targets, len(pixels))
    classes = predicted if stated is None else stated.numpy()
    judge: Judge = ByFaithfulness(view, pixels, classes) if truth is None else ByMasks(metric, truth)
    clusters = _clusters(groups, len(pixels))
    race = Race(view, pixels, classes, clusters, judge, budget, seed=seed, max_memory=max_memory)
    race.run(methods)
    notes = wrong_class(int((classes != predicted).sum()), len(pixels))
    if truth is not None:
        notes += [MASKS_MARK_OBJECTS, *_composite_note(view, pixels, truth, clusters, classes, max_memory)]
    return _choice(race, truth, notes, metric)


def _composite_note(
    view: ModelView,
    pixels: Tensor,
    masks: NDArray[np.bool_],
    clusters: Sequence[NDArray[np.int64]],
    classes: NDArray[np.int64],
    max_memory: float | None,
) -> list[str]:
    """A note on how many images have composite evidence, if there are enough images in [0, 1] for it."""
    if len(clusters) <= composites.FEWEST or not view.unit_pixels:
        return []
    names = np.empty(len(pixels), dtype=object)
    for number, members in enumerate(clusters):
        names[members] = str(number)
    images, ask = pixels.float().cpu().numpy(), logits_of(view, max_memory)
    evidence = composites.composite_evidence(images, masks, names.tolist(), classes, classes, ask)
    relied_on = sum(all(one.certified for one in of_image.values()) for of_image in evidence)
    return [
        f"By composite evidence the network relies on the masked object on {relied_on} of {len(pixels)} images. Do not "
        "rely on this: it agrees only moderately with certificates where these are known."
    ]


def _choice(race: Race, masks: NDArray[np.bool_] | None, notes: Sequence[str], metric: str) -> Choice:
    """What the race says, with the maps to show."""
    counts = race.images
    found = Recommendation.of(
        race.scores,
        race.judge.draws(race.scores),
        race.floors,
        images=counts,
        seconds={call: spent / counts[call] for call, spent in race.spent.items()},
        notes=notes,
        left_out=race.left_out,
        metric=race.judge.metric,
        bounds=race.judge.bounds,
    )
    finished = [call for call in found.table.index if counts[call] == len(race.pixels) and call not in race.floors]
    shown = [call for call in dict.fromkeys([found.method, HABIT, finished[-1]]) if call in finished]
    seconds = sum(race.spent.values())
    cost = f"The maps took {seconds:.0f} s, {race.share_of_cost:.0%} of what all methods take on all images."
    values = {**vars(found), "notes": (*found.notes, cost)}
    to_mark: tuple[int, ...] = ()
    if masks is None:
        rivals = [call for call in finished if found.probability[call] >= RACE]
        to_mark = most_disputed(race.maps(rivals))
        numbers = ", ".join(map(str, to_mark))
        ask = (
            f"Draw masks on the images {numbers} (counted from 0) and choose again: on these the methods that may be "
            "best disagree most."
        )
        values |= {"regret": WITHOUT_MASKS, "notes": (*notes, cost, ask)}
    return Choice(
        **values,
        to_mark=to_mark,
        chosen=race.methods[found.method],
        view=race.view,
        images=race.pixels,
        masks=masks,
        maps=race.maps(shown),
    )


def most_disputed(maps: Explained) -> tuple[int, ...]:
    """The numbers of the images on which maps differ most: the least mean correlation of their ranks."""
    values = torch.stack([nn.functional.adaptive_avg_pool2d(of.values, GRID).flatten(1) for of in maps.values()])
    ranks = values.argsort(dim=2).argsort(dim=2).double().cpu()
    agreement = [float(torch.corrcoef(of_image).mean()) for of_image in ranks.unbind(dim=1)]
    return tuple(np.argsort(agreement, kind="stable")[:TO_MARK].tolist())


def _clusters(groups: Sequence[Any] | None, count: int) -> list[NDArray[np.int64]]:
    """The numbers of the images of each group, in order of appearance."""
    if groups is None:
        return [np.array([number]) for number in range(count)]
    if len(groups) != count:
        raise SalgenError(f"groups has {len(groups)} entries for {count} images: give one for each")
    by_group: dict[Any, list[int]] = {}
    for number, group in enumerate(groups):
        by_group.setdefault(group, []).append(number)
    return [np.array(numbers) for numbers in by_group.values()]
