"""Maps of an image with a feature and of its twin without it, by a model that does not need the feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from salgen.evaluation.metrics.declarations import MaskMetric
from salgen.evaluation.metrics.g_cf import mean_in_mask
from salgen.evaluation.metrics.model_contrast import beside
from salgen.evaluation.ranking import Ranking, Values
from salgen.parameters import param

NAMES = ("idr", "idr-bam", "iir")


@dataclass(frozen=True)
class WithAndWithout(MaskMetric):
    """A metric of an image and its twin, both rightly classified, under one model and one mask."""

    kind: ClassVar[str] = "pair"
    family: ClassVar[str] = "contrast"
    needs: ClassVar[frozenset[str]] = frozenset({"mask", "twin_maps"})
    only_correct: ClassVar[bool] = True
    counts_hits: ClassVar[bool] = True

    def strengths(self, ranking: Ranking, twin_map: Values) -> tuple[float, float]:
        """S_cf with the feature and without it, under the same mask."""
        return mean_in_mask(ranking), mean_in_mask(beside(ranking, twin_map))


@dataclass(frozen=True)
class Idr(WithAndWithout):
    """Input dependence rate, Li et al.: how often a feature that the model does not need draws the map.

    1 if S(x_cf) > S(x_not-cf), else 0, with S = S_cf as in ``g-cf``; the mean over samples is the rate. The
    map under test is of the image with the feature, x_cf; the twin's map of the image without it. Meant for a
    model that does not need the feature, such as BAM's scene model: then 1 is a false positive.

    Ties: equal strengths count 0.
    Undefined: ``misclassified`` where the model does not give sample and twin the sample's class, so for a
    task whose class is the feature itself this is defined for samples only on which the model does not see it.
    A constant map has S_cf = 0.
    Errata: eq. 14's sum and indicator are garbled. The rate counts the bad event; BAM's, under the same name,
    counts the good one and is ``idr-bam``. The two and the share of ties sum to 1.
    """

    name: ClassVar[str] = "idr"
    aliases: ClassVar[tuple[str, ...]] = ("input-dependence-rate",)
    higher_is_better: ClassVar[bool | None] = False
    reference: ClassVar[str] = "Li et al. 2020, eq. 14"

    def __call__(self, ranking: Ranking, twin_map: Values, **_: Any) -> tuple[float, str]:
        """0 or 1."""
        present, absent = self.strengths(ranking, twin_map)
        return float(present > absent), ""


@dataclass(frozen=True)
class IdrBam(WithAndWithout):
    """Input dependence rate, BAM: how often a feature that the model does not need leaves the map alone.

    1 if S(x_not-cf) > S(x_cf), else 0, with S = S_cf as in ``g-cf``; the mean over samples is the rate. The
    map under test is of the image with the feature, the twin's map of the image without it. Meant for a model
    that does not need the feature: what the feature covers is then worth more than the feature.

    Ties: equal strengths count 0.
    Undefined: ``misclassified`` where the model does not give sample and twin the sample's class, so for a
    task whose class is the feature itself this is defined for samples only on which the model does not see it.
    A constant map has S_cf = 0.
    """

    name: ClassVar[str] = "idr-bam"
    reference: ClassVar[str] = "Yang & Kim 2019, Benchmarking attribution methods, input dependence rate"

    def __call__(self, ranking: Ranking, twin_map: Values, **_: Any) -> tuple[float, str]:
        """0 or 1."""
        present, absent = self.strengths(ranking, twin_map)
        return float(absent > present), ""


@dataclass(frozen=True)
class Iir(WithAndWithout):
    """Input independence rate: how often a patch that changes nothing for the model leaves the map as it was.

    1 if abs(S(x) - S(x + patch)) < t S(x), else 0, with t = 0.1 and S = S_cf as in ``g-cf``; the mean over samples
    is the rate. The map under test is of the image with the patch, x + patch; the twin's map of the image
    without it, x. The mask is the patch's place. Meant for a patch that the model ignores; the metric
    does not check this.

    Ties: the inequality is strict, so S(x) = 0 counts 0.
    Undefined: ``misclassified`` where the model does not give sample and twin the sample's class, so for a
    task whose class is the feature itself this is defined for samples only on which the model does not see it.
    A constant map has S_cf = 0.
    """

    name: ClassVar[str] = "iir"
    aliases: ClassVar[tuple[str, ...]] = ("input-independence-rate",)
    reference: ClassVar[str] = "Yang & Kim 2019, Benchmarking attribution methods, input independence rate"

    tolerance: float = param(0.1, "t: the largest change that counts as none, as a share of S(x)", low=0.0)

    def __call__(self, ranking: Ranking, twin_map: Values, **_: Any) -> tuple[float, str]:
        """0 or 1."""
        patched, plain = self.strengths(ranking, twin_map)
        return float(abs(plain - patched) < self.tolerance * plain), ""
