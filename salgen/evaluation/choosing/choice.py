"""``salgen.choose``: the saliency method to believe for one network, from a few images with masks."""

from __future__ import annotations

import io
import os
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import nn
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.attribution import arguments
from salgen.evaluation.attribution.attribution_context import Method
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.attribution.method_selection import check_methods_given, select_methods
from salgen.evaluation.choosing import regret as regrets
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.probe import probing
from salgen.evaluation.report.formatting import STYLE, page_text
from salgen.evaluation.report.gallery import png_url
from salgen.evaluation.scoring.scoring import score
from salgen.files import write_text
from salgen.progress import Advance, progress
from salgen.types import Explained, Float64, SaliencyMap, plot_maps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALE = "small"  # whose methods salgen-bench measured: full ones take up to eight times as long
RACE = 0.01  # a method whose chance of being best is lower is not computed for further images
SURE = 0.95
FEW = {  # by the number of clusters; docs/which_method.md has the regrets
    1: "One independent image is too few to be sure: with five the regret is about a sixth.",
    2: "Two independent images are too few to be sure: with five the regret is about a third.",
}
BUDGET = 240.0  # seconds, so that all is done within five minutes
HABIT = "grad-cam"
CEILING = "oracle"


@dataclass(frozen=True, eq=False)
class Choice:
    """The method for a network, how sure that is, and what it is compared with.

    Attributes
    ----------
    method
        The call of the chosen method.
    regret
        How far its mean score may lie below that of the best method on such images: `expected`, and `bound`, which 95 %
        of choices stay within.
    table
        A row for each method, the best first: ``mean``, ``low`` and ``high`` (95 %), ``chance`` of being the best,
        ``images``, ``seconds`` of a map, and ``floor`` for maps that ignore the network.
    left_out
        By method, why it has no row.
    notes
        What to know before the method is believed.
    """

    method: str
    regret: regrets.Regret
    table: pd.DataFrame
    left_out: dict[str, str]
    notes: tuple[str, ...]
    metric: str
    chosen: Method = field(repr=False)
    view: ModelView = field(repr=False)
    images: Any = field(repr=False)
    masks: NDArray[np.bool_] = field(repr=False)
    maps: Explained = field(repr=False)  # those of the chosen method, the habit and the worst

    @property
    def probability(self) -> dict[str, float]:
        """The chance of each method to be the best on such images."""
        return dict(self.table.loc[~self.table["floor"], "chance"])

    @cached_property
    def avoid(self) -> list[str]:
        """Methods that are surely no better than a map that ignores the network."""
        rows = self.table[~self.table["floor"]]
        return list(rows.index[rows["beats_floor"] < 1 - SURE])

    def __str__(self) -> str:
        """The answer, in two sentences, and the notes."""
        count, mean = len(self.images), float(self.table["mean"][self.method])
        answer = (
            f"For this network take {self.method}: {self.metric} {mean:.2f} on your {count} image{'s' * (count > 1)}; "
            f"about {self.regret.expected:.2f} below the best of {len(self.probability)} methods, at most "
            f"{self.regret.bound:.2f} with 95 %."
        )
        if self.avoid:
            answer += f" Surely no better than a map that ignores the network: {', '.join(self.avoid)}."
        return "\n".join([answer, *self.notes])

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
        for ax, mask in zip(figure.axes[::columns], self.masks, strict=False):
            ax.contour(mask, levels=[0.5], colors="#d81b60", linewidths=1.5)
        figure.axes[0].set_title("image and mask", fontsize="small")
        return figure


def choose(
    network: nn.Module,
    images: Any,
    masks: Any,
    *,
    targets: Any = None,
    methods: Any = None,
    metric: str = "average-precision",
    groups: Sequence[Any] | None = None,
    preprocess: Any = None,
    budget: float = BUDGET,
    seed: int = 0,
    max_memory: float | None = None,
) -> Choice:
    """Choose the saliency method for a network by a few images with masks.

    Every method explains every image, cheap ones first. One whose chance of being the best has fallen below 1 % is not
    computed for further images. The chosen one has the largest mean. How far it may lie below the best follows from
    the means and from how scores of methods vary together over images, which salgen-bench measured
    (:mod:`salgen.evaluation.choosing.regret`).

    Parameters
    ----------
    network
        Images to logits (N, K), as :func:`salgen.explain` takes it.
    images
        Floating-point array or tensor (N, C, H, W), in [0, 1] if `preprocess` or a ``Normalize`` follows.
    masks
        bool (N, H, W): what a right map marks.
    targets
        The class to explain of each image, integers (N,); by default the predicted one.
    methods
        As :func:`salgen.explain` takes several; by default all that the network takes, but those with patterns.
        Parameters that a call leaves open are those of scale small, as in salgen-bench.
    metric
        ``"average-precision"``, ``"roc-auc"``, ``"m-gt"``, ``"relevance-mass"`` or ``"prec99"``.
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
    truth = arguments.check_masks(masks, pixels).numpy()
    if not truth.any(axis=(1, 2)).all() or truth.all(axis=(1, 2)).any():
        raise SalgenError("a mask is empty or covers its whole image: give images whose mask says where the cause is")
    view = ModelView.of(network).prepared(preprocess, pixels.shape[1])
    arguments.check_range(pixels, view.unit_pixels)
    predicted = view.logits(view.normalise(view.like(pixels))).argmax(dim=1).cpu().numpy()
    stated = arguments.check_targets(targets, len(pixels))
    classes = predicted if stated is None else stated.numpy()
    race = _Race(view, pixels, truth, classes, _clusters(groups, len(pixels)), metric, budget, seed, max_memory)
    race.run(methods)
    return race.choice(int((classes == predicted).sum()))


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


class _Race:
    """Methods that explain one group of images after another, as long as they may be the best."""

    def __init__(
        self, view: ModelView, pixels: torch.Tensor, masks: NDArray[np.bool_], targets: NDArray[np.int64],
        clusters: list[NDArray[np.int64]], metric: str, budget: float, seed: int, max_memory: float | None,
    ) -> None:  # fmt: skip
        self.view, self.pixels, self.masks, self.targets = view, pixels, masks, targets
        self.clusters, self.metric, self.budget = clusters, metric, budget
        self.options = {"seed": seed, "max_memory": max_memory}
        self.methods: dict[str, Method] = {}
        self.left_out: dict[str, str] = {}
        self.scores: dict[str, list[float]] = {}  # by method, the mean of each group so far
        self.maps: dict[str, list[SaliencyMap]] = {}  # by method, those of each group so far
        self.seconds: dict[str, float] = {}  # by method, of all its maps
        self.started = time.perf_counter()

    def run(self, wanted: Any) -> None:
        """Explain and score; the table and the reasons are then there."""
        regrets.covariance_of(self.metric, [])  # raises for a metric without one
        given = None if wanted is None else check_methods_given(wanted)
        selected = select_methods(given, SCALE)
        lacking = {"patterns": "is fitted to training images: evaluate a data set with salgen evaluate"}
        self.methods, self.left_out = selected.defined_for(self.view, self.pixels[:1], lacking)
        self.methods = {call: m for call, m in self.methods.items() if not call.startswith(CEILING)}
        cheap = [call for call, method in self.methods.items() if method.control or method.shares == "passes"]
        costs = self._costs([call for call in self.methods if call not in cheap])
        work = len(self.clusters) * (len(cheap) + len(costs))
        with progress("choose a method", work, "methods and images") as advance:
            self._race(cheap, advance)
            for call in sorted(costs, key=costs.__getitem__):
                self._race([call], advance, costs[call])

    def _costs(self, calls: Sequence[str]) -> dict[str, float]:
        """Seconds of the first image by each method; most passes are counted and not run."""
        found = {}
        for call in calls:
            with probing() as probe, warnings.catch_warnings(action="ignore", category=SalgenWarning):
                explain(self.view, self.pixels[:1], self.targets[:1], method=[self.methods[call]], **self.options)
            found[call] = probe.seconds
        return found

    def _race(self, calls: Sequence[str], advance: Advance, cost: float = 0.0) -> None:
        """Explain group after group by these methods; those that cannot be the best any more drop out.

        `cost` is the time in seconds that one dear method takes for an image; cheap ones always have time.
        """
        running = list(calls)
        for number, cluster in enumerate(self.clusters):
            if number and self._known():
                chances = dict(zip(self._known(), regrets.chances_of_best(self._draws()), strict=True))
                running = [call for call in running if self.methods[call].control or chances[call] >= RACE]
            rest = sum(map(len, self.clusters[number:]))
            if cost and running and cost * rest > self.budget - (time.perf_counter() - self.started):
                total = cost * len(self.pixels)
                self.left_out[calls[0]] = f"takes about {total:.0f} s for these images: give a longer budget (--budget)"
                running = []
            advance(len(calls) - len(running))
            if running:
                self._explain(running, cluster)
            advance(len(running))

    def _explain(self, calls: Sequence[str], cluster: NDArray[np.int64]) -> None:
        explained: Explained = explain(
            self.view, self.pixels[cluster], self.targets[cluster], method=[self.methods[call] for call in calls],
            ids=[str(number) for number in cluster], **self.options,
        )  # fmt: skip
        for call, maps in zip(calls, explained.values(), strict=True):
            found = score(maps, self.masks[cluster], [self.metric]).worst_case[self.metric]
            self.scores.setdefault(call, []).append(float(found.mean()))
            self.maps.setdefault(call, []).append(maps)
            self.seconds[call] = self.seconds.get(call, 0.0) + explained.seconds[call]

    def _known(self) -> list[str]:
        return [call for call in self.scores if not self.methods[call].control]

    def _draws(self, calls: Sequence[str] | None = None) -> Float64:
        """Draws (D, M) of the true means of methods, by default of all but controls."""
        calls = self._known() if calls is None else calls
        means, counts = (np.array([of(self.scores[call]) for call in calls]) for of in (np.mean, len))
        return regrets.draw_means(means, counts, regrets.covariance_of(self.metric, calls))

    def choice(self, correct: int) -> Choice:
        """The method with the largest mean of those that were not given up."""
        known = self._known()
        if not known:
            raise SalgenError(
                f"no method could be computed within {self.budget:g} s: give a longer budget, or fewer images"
            )
        every = list(self.scores)
        draws = self._draws(every)
        of_methods = draws[:, [every.index(call) for call in known]]
        means = {call: float(np.mean(values)) for call, values in self.scores.items()}
        finished = [call for call in known if len(self.scores[call]) == len(self.clusters)]
        best = max(finished, key=means.__getitem__)
        floors = [call for call in every if self.methods[call].control]
        strongest = max(floors, key=means.__getitem__)
        low, high = np.clip(np.quantile(draws, [(1 - SURE) / 2, (1 + SURE) / 2], axis=0), 0, 1)
        chances = dict(zip(known, regrets.chances_of_best(of_methods), strict=True))
        above = (draws > draws[:, [every.index(strongest)]]).mean(axis=0)
        images = [sum(map(len, self.clusters[: len(self.scores[call])])) for call in every]
        table = pd.DataFrame(
            {
                "mean": [means[call] for call in every],
                "low": low,
                "high": high,
                "chance": [chances.get(call, np.nan) for call in every],
                "beats_floor": above,
                "images": images,
                "seconds": [self.seconds[call] / count for call, count in zip(every, images, strict=True)],
                "floor": [call in floors for call in every],
            },
            index=pd.Index(every, name="method"),
        ).sort_values("mean", ascending=False)
        worst = min(finished, key=means.__getitem__)
        shown = [call for call in dict.fromkeys([best, HABIT, worst]) if call in finished]
        return Choice(
            method=best,
            regret=regrets.regret_of(of_methods, known.index(best)),
            table=table,
            left_out=self.left_out,
            notes=self._notes(best, strongest, float(above[every.index(best)]), correct),
            metric=self.metric,
            chosen=self.methods[best],
            view=self.view,
            images=self.pixels,
            masks=self.masks,
            maps=Explained({call: self._in_order(call) for call in shown}),
        )

    def _in_order(self, call: str) -> SaliencyMap:
        """A method's maps in the order of the images."""
        maps, places = self.maps[call], np.argsort(np.concatenate(self.clusters))
        return replace(maps[0], values=torch.cat([part.values for part in maps])[places], images=self.pixels, ids=None)

    def _notes(self, best: str, strongest: str, above: float, correct: int) -> tuple[str, ...]:
        count, clusters, notes = len(self.pixels), len(self.clusters), []
        if above < SURE:
            notes.append(
                f"{best} is not surely better than {strongest}, a map that ignores the network: give more images, or "
                "believe none of these methods."
            )
        if clusters in FEW:
            notes.append(FEW[clusters])
        if correct < count:
            notes.append(
                f"The network predicts another class on {count - correct} of {count} images. Maps explain the class "
                "that was given, so its reason may lie outside the mask there."
            )
        notes.append(
            "A mask marks the object, and nobody knows whether the network uses that: a method may be right where it "
            "misses the mask."
        )
        return tuple(notes)
