"""How well a number tells two groups of trained models apart: AUROC, its interval, and the trainings that it takes."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm
from salgen.evaluation.statistics.mean_intervals import LEVEL
from salgen.types import Float64

MOST = 10_000  # trainings that are tried


@dataclass(frozen=True)
class Discrimination:
    """The AUROC of m positive and n negative models, of S training seeds."""

    # the share of pairs in which the positive model has the larger value; equal ones count half. NaN if a group is
    # empty
    auroc: float
    # positives, negatives, seeds: m, n and S
    positives: int
    negatives: int
    seeds: int
    design_effect: float  # how many times larger the variance is than if all models were independent; 1 or more

    @classmethod
    def of(cls, values: Float64, positive: NDArray[np.bool_], seeds: NDArray[np.int64]) -> Discrimination:
        """Of models (N,): a value each, whether it is of the positive group, and its seed's number.

        Models with one seed begin with the same weights, so their values may go together. The design effect is the
        variance by seeds (Obuchowski 1997) over the variance by models; with one seed it is 1.
        """
        above, below = values[positive][:, np.newaxis], values[~positive]
        wins = (above > below) + 0.5 * (above == below)  # float64 (m, n)
        members = np.unique(seeds, return_inverse=True)[1].reshape(-1)
        count = int(members.max(initial=-1)) + 1
        positives, negatives = wins.shape
        if not wins.size:
            return cls(np.nan, positives, negatives, count, 1.0)
        auroc = float(wins.mean())
        parts = ((wins.mean(axis=1) - auroc, members[positive]), (wins.mean(axis=0) - auroc, members[~positive]))
        of_models = sum(float((part**2).sum()) / max(len(part) - 1, 1) / len(part) for part, _ in parts)
        of_seeds = sum(np.bincount(of, part, count) / len(part) for part, of in parts)
        clustered = float(np.square(of_seeds).sum()) * count / max(count - 1, 1)
        effect = clustered / of_models if of_models > 0 and count > 1 else 1.0
        return cls(auroc, positives, negatives, count, max(effect, 1.0))

    def interval(self, times: float = 1.0) -> tuple[float, float]:
        """The confidence interval, with so many times the models; NaN where there is no AUROC.

        Notes
        -----
        All θ with (auroc - θ)² <= z² D V(θ), with D the design effect (Newcombe 2006, method 5, has D = 1). V is
        Hanley and McNeil's variance, with m and n replaced by their mean. It does not shrink to a point where the
        groups are apart. Simulated coverage is in docs/thresholds.md.

        References
        ----------
        Newcombe 2006, *Confidence intervals for an effect size measure based on the Mann-Whitney statistic. Part 2*,
        Statistics in Medicine 25(4); Obuchowski 1997, *Nonparametric analysis of clustered ROC curve data*, Biometrics
        53(2).
        """
        if np.isnan(self.auroc):
            return np.nan, np.nan
        m, n = times * self.positives, times * self.negatives
        more, z = max((m + n) / 2 - 1, 0.0), norm.ppf((1 + LEVEL) / 2)

        def beyond(theta: float) -> float:
            shape = 1 + more * (1 - theta) / (2 - theta) + more * theta / (1 + theta)
            return float((self.auroc - theta) ** 2 - z**2 * self.design_effect * theta * (1 - theta) * shape / (m * n))

        low, high = 1e-9 * self.auroc, 1e-9 * (1 - self.auroc)  # 0 and 1 are roots where the groups are apart
        return (
            0.0 if self.auroc == 0 else float(brentq(beyond, 0.0, self.auroc - low)),
            1.0 if self.auroc == 1 else float(brentq(beyond, self.auroc + high, 1.0)),
        )

    def trainings(self, half_width: float, now: int) -> int | None:
        """The least number of trainings of each dose, now `now`, that gives this half width; None beyond `MOST`."""

        def is_enough(count: int) -> bool:
            low, high = self.interval(times=count / now)
            return (high - low) / 2 <= half_width

        if np.isnan(self.auroc) or not is_enough(MOST):
            return None
        first = -(-now // min(self.positives, self.negatives))
        return first + bisect_left(range(first, MOST), True, key=is_enough)
