"""Methods that explain one group of images after another, as long as they may be the best."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
import numpy as np
import torch
from numpy.typing import NDArray
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.attribution.attribution_context import Method
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.attribution.method_selection import check_methods_given, select_methods
from salgen.evaluation.choosing import regret as regrets
from salgen.evaluation.choosing.judges import Judge
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.probe import probing
from salgen.progress import Advance, progress
from salgen.types import Explained, SaliencyMap

SCALE = "small"  # whose methods salgen-bench measured: full ones take up to eight times as long
HABIT = "grad-cam"  # the method that most papers show; it is shown beside the chosen one
RACE = 0.01  # a method whose chance of being best is lower is not computed for further images
CEILING = "oracle"
MANY_PASSES = "takes many passes, and without masks only methods of a few are compared"
LACKING = dict.fromkeys(
    ("patterns", "references"), "is fitted to training images: evaluate a data set with salgen evaluate"
)


class Race:
    """Methods by their scores on groups of images so far, the maps, and the reasons of those that are left out."""

    def __init__(
        self,
        view: ModelView,
        pixels: torch.Tensor,
        targets: NDArray[np.int64],
        clusters: Sequence[NDArray[np.int64]],
        judge: Judge,
        budget: float,
        **options: Any,
    ) -> None:
        self.view, self.pixels, self.targets = view, pixels, targets
        self.clusters, self.judge, self.budget, self.options = clusters, judge, budget, options
        self.methods: dict[str, Method] = {}
        self.left_out: dict[str, str] = {}
        self.scores: dict[str, list[float]] = {}  # by method, the mean of each group so far
        self.parts: dict[str, list[SaliencyMap]] = {}  # by method, the maps of each group so far
        self.spent: dict[str, float] = {}  # by method, seconds of all its maps
        self.unspent: dict[str, float] = {}  # by method without time, seconds that its maps would take
        self.rivals: set[str] = set()  # methods that may still be the best, as far as is known
        self.started = time.perf_counter()

    def run(self, wanted: Any) -> None:
        """Explain and score by the methods that are wanted, or by all that the network takes."""
        selected = select_methods(None if wanted is None else check_methods_given(wanted), SCALE)
        self.methods, self.left_out = selected.defined_for(self.view, self.pixels[:1], LACKING)
        self.methods = {call: m for call, m in self.methods.items() if not call.startswith(CEILING)}
        cheap = [call for call, method in self.methods.items() if method.control or method.shares == "passes"]
        dear = [call for call in self.methods if call not in cheap]
        if self.judge.cheap_alone:
            self.left_out |= dict.fromkeys(dear, MANY_PASSES)
            dear, cheap = [], [call for call in cheap if not self.methods[call].control]
        costs = self._costs(dear)
        self.rivals = {call for call in (*cheap, *costs) if not self.methods[call].control}
        with progress(self.standing, len(self.clusters) * (len(cheap) + len(costs)), "maps") as advance:
            self._race(cheap, advance)
            for call in sorted(costs, key=costs.__getitem__):
                self._race([call], advance, costs[call])
        if not any(len(self.scores[call]) == len(self.clusters) for call in self._known()):
            whys = [f"{call} {why}" for call, why in self.left_out.items() if call in self.methods]
            raise SalgenError(f"no method can be chosen: {'; '.join(whys[:3])}")

    @property
    def images(self) -> Mapping[str, int]:
        """By method, the number of images that it has explained."""
        return {call: sum(map(len, self.clusters[: len(of)])) for call, of in self.scores.items()}

    @property
    def floors(self) -> list[str]:
        """The controls."""
        return [call for call in self.scores if self.methods[call].control]

    @property
    def share_of_cost(self) -> float:
        """The time of the maps, as a share of what all maps of all methods would take."""
        images, count = self.images, len(self.pixels)
        whole = sum(count * spent / images[call] for call, spent in self.spent.items())
        whole += sum(spent for call, spent in self.unspent.items() if call not in self.spent)
        return sum(self.spent.values()) / whole

    def maps(self, calls: Sequence[str]) -> Explained:
        """The maps of methods that have explained all images, in the order of these."""
        order, whole = np.argsort(np.concatenate(self.clusters)), {}
        for call in calls:
            values = torch.cat([part.values for part in self.parts[call]])[order]
            whole[call] = replace(self.parts[call][0], values=values, images=self.pixels, ids=None)
        return Explained(whole)

    def standing(self) -> str:
        """What is shown beside the progress; ahead is the best of those with the most images."""
        so_far = {call: (len(self.scores[call]), np.mean(self.scores[call])) for call in self._known()}
        known = [call for call in so_far if call in self.rivals]
        ahead = f", {max(known, key=so_far.__getitem__)} is ahead" if known else ""
        return f"choose a method, {len(self.rivals)} may be the best{ahead}"

    def chances(self) -> dict[str, float]:
        """By method, its chance to be the best, given what is known so far."""
        known = self._known()
        if not known:
            return {}
        draws = self.judge.draws({call: self.scores[call] for call in known})
        return dict(zip(known, regrets.chances_of_best(draws).tolist(), strict=True))

    def _known(self) -> list[str]:
        return [call for call in list(self.scores) if not self.methods[call].control]

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
        running, kept = list(calls), {HABIT, *(call for call in calls if self.methods[call].control)}
        for number, cluster in enumerate(self.clusters):
            if number and not self.judge.cheap_alone:
                chances = self.chances()
                running = [call for call in running if call in kept or chances[call] >= RACE]
            rest = sum(map(len, self.clusters[number:]))
            if cost and running and cost * rest > self.budget - (time.perf_counter() - self.started):
                self.unspent[calls[0]] = total = cost * len(self.pixels)
                self.left_out[calls[0]] = f"takes about {total:.0f} s for these images: give a longer budget (--budget)"
                running = []
            self.rivals -= set(calls) - set(running)
            advance(len(calls) - len(running))
            if running:
                self._explain(running, cluster)
            advance(len(running))

    def _explain(self, calls: Sequence[str], cluster: NDArray[np.int64]) -> None:
        pixels, targets, ids = self.pixels[cluster], self.targets[cluster], [str(number) for number in cluster]
        methods = [self.methods[call] for call in calls]
        explained: Explained = explain(self.view, pixels, targets, method=methods, ids=ids, **self.options)
        for call, (name, maps) in zip(calls, explained.items(), strict=True):
            mean = float(self.judge.scores(maps, cluster).mean())  # first: the progress looks at the scores meanwhile
            self.scores.setdefault(call, []).append(mean)
            self.parts.setdefault(call, []).append(maps)
            self.spent[call] = self.spent.get(call, 0.0) + explained.seconds[name]
