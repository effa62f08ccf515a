"""Strength of a map on a common feature, compared between images with it and without it, and between models."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
import numpy as np
from salgen.evaluation.metrics.inputs.metric import ZERO_ENERGY, MaskMetric, of_param
from salgen.evaluation.metrics.inputs.metric_inputs import OWN, PAIRED
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values
from salgen.parameters import by_parameters, param
from salgen.types import Float64

TOP_PERCENTILE = 99


def by_model(own: frozenset[str], paired: frozenset[str]) -> Any:
    """What a metric needs, by its field `of`: the model's own maps, or those of the second model."""
    return by_parameters(own)(lambda metric: paired if metric.of == PAIRED else own)


@dataclass(frozen=True)
class GCf(MaskMetric):
    """Mean strength of a map on the mask, S_cf; its mean over rightly classified samples is G_cf.

    S_cf = sum of E over the mask / p, for a mask of p pixels and BAM's map E. E is max(S, 0), clipped at its 99th
    percentile over the scored region (linear interpolation). It is then scaled to [0, 1] by its smallest and largest
    value there. A diagnostic: high is right for a model that needs the feature, low for one that does not. BAM sums the
    positive parts of the channels: ``reduce=sum_pos``.

    Undefined: never. A map that is constant after clipping has 0, as has one with fewer than about 1 % positive pixels.
    """

    name = "g-cf"
    family = "contrast"
    only_correct = True
    higher_is_better = None
    reference = (
        "Yang & Kim 2019, Benchmarking attribution methods, doi:10.48550/arXiv.1907.09701; Li et al. 2020, eq. 11, "
        "doi:10.48550/arXiv.2012.15616"
    )

    of: str = of_param()

    needs = by_model(MaskMetric.needs, frozenset({"mask", "paired_maps"}))

    def __call__(self, ranking: Ranking, paired_map: Values | None = None) -> tuple[float, str]:
        """In [0, 1]."""
        return mean_in_mask(ranking if paired_map is None else beside(ranking, paired_map)), ""


def beside(ranking: Ranking, second_map: Values) -> Ranking:
    """A second map under the same mask, in the same region."""
    return Ranking(second_map, ranking.mask, ranking.valid)


def mean_in_mask(ranking: Ranking) -> float:
    """S_cf, in [0, 1]."""
    return float(bam_map(ranking)[ranking.truth].mean())


def bam_map(ranking: Ranking) -> Float64:
    """E: the positive part without its top percent, float64 (H, W) in [0, 1] over the scored region; 0 outside it."""
    values = np.maximum(ranking.saliency[ranking.region].astype(np.float64), 0.0)
    low, high = float(values.min()), float(np.percentile(values, TOP_PERCENTILE))
    result = np.zeros(ranking.saliency.shape)
    if high > low:
        result[ranking.region] = (np.minimum(values, high) - low) / (high - low)
    return result


OWN_NEEDS = frozenset({"mask", "twin_maps"})
PAIRED_NEEDS = frozenset({"mask", "paired_maps", "paired_twin_maps"})


@dataclass(frozen=True)
class WithAndWithout(MaskMetric):
    """A metric of an image and its twin, both rightly classified, under one model and one mask."""

    kind = "pair"
    family = "contrast"
    only_correct = True

    of: str = of_param()

    needs = by_model(OWN_NEEDS, PAIRED_NEEDS)

    def strengths(self, ranking: Ranking, maps: Mapping[str, Values]) -> tuple[float, float]:
        """S_cf with the feature and without it, under the same mask."""
        own = ranking.saliency if self.of == OWN else maps["paired_map"]
        twin = maps["twin_map" if self.of == OWN else "paired_twin_map"]
        return mean_in_mask(beside(ranking, own)), mean_in_mask(beside(ranking, twin))


@dataclass(frozen=True)
class Idr(WithAndWithout):
    """Input dependence rate, Li et al.: how often a feature that the model does not need draws the map.

    1 if S(x_cf) > S(x_not-cf), else 0, with S = S_cf as in `g-cf`. Its mean is the rate. x_cf is the image with the
    feature, x_not-cf its twin without it. For a model that does not need the feature, such as BAM's scene model, 1 is a
    false positive. With ``of=paired`` each map explains its own task's class.

    Ties: equal strengths count 0. A constant map has S_cf = 0.
    Undefined: ``misclassified`` unless the model gives sample and twin the sample's class. Where that class is the
    feature itself, only samples remain on which the model does not see it.
    Errata: eq. 14's sum and indicator are garbled. BAM's rate of the same name counts the good event: `idr-bam`. The
    two and the share of ties sum to 1.
    """

    name = "idr"
    aliases = ("input-dependence-rate",)
    higher_is_better = False
    reference = "Li et al. 2020, eq. 14, doi:10.48550/arXiv.2012.15616"

    def __call__(self, ranking: Ranking, **maps: Values) -> tuple[float, str]:
        """0 or 1."""
        present, absent = self.strengths(ranking, maps)
        return float(present > absent), ""


@dataclass(frozen=True)
class IdrBam(WithAndWithout):
    """Input dependence rate, BAM: how often a feature that the model does not need leaves the map alone.

    1 if S(x_not-cf) > S(x_cf), else 0, with all terms as in `idr`. 1 is right for a model that does not need the
    feature.

    Ties: equal strengths count 0. A constant map has S_cf = 0.
    Undefined: ``misclassified`` as in `idr`.
    """

    name = "idr-bam"
    reference = (
        "Yang & Kim 2019, Benchmarking attribution methods, input dependence rate, doi:10.48550/arXiv.1907.09701"
    )

    def __call__(self, ranking: Ranking, **maps: Values) -> tuple[float, str]:
        """0 or 1."""
        present, absent = self.strengths(ranking, maps)
        return float(absent > present), ""


@dataclass(frozen=True)
class Iir(WithAndWithout):
    """Input independence rate: how often a patch that changes nothing for the model leaves the map as it was.

    1 if abs(S(x) - S(x + patch)) < t S(x), else 0, with t = `tolerance` and S = S_cf as in `g-cf`. Its mean is the
    rate. x is the twin, the image without the feature. x + patch shows something like the feature in its place, the
    mask, but leaves the logits as they are.

    A run moves the feature's own pixels to make a patch for each sample and model, in 100 passes forward and back. A
    patch holds if

    - the predicted class stays the twin's;
    - no logit differs from the twin's by more than 1 % of the distance between the largest and the smallest logit;
    - it differs from the twin by at least half of what the feature does, on average over its pixels.

    `salgen.score` takes the maps of x and x + patch as given. ``of=paired`` is as in `idr`.

    Ties: the inequality is strict, so S(x) = 0 counts 0. A constant map has S_cf = 0.
    Undefined: ``no_twin``; ``patch_matters`` where the class or a logit changes; ``patch_vanished`` where the patch can
    hardly be told from the twin. ``misclassified`` unless the model gives the image, its twin and the patched twin the
    sample's class.
    """

    name = "iir"
    aliases = ("input-independence-rate",)
    reference = (
        "Yang & Kim 2019, Benchmarking attribution methods, input independence rate, doi:10.48550/arXiv.1907.09701"
    )
    version = "2"

    tolerance: float = param(0.1, "t: the largest change that counts as none, as a share of S(x)", low=0.0)

    needs = by_model(OWN_NEEDS | {"patched_maps"}, PAIRED_NEEDS | {"paired_patched_maps"})

    def __call__(self, ranking: Ranking, **maps: Values) -> tuple[float, str]:
        """0 or 1."""
        whose = "" if self.of == OWN else "paired_"
        plain, patched = (mean_in_mask(beside(ranking, maps[f"{whose}{which}_map"])) for which in ("twin", "patched"))
        return float(abs(plain - patched) < self.tolerance * plain), ""


@dataclass(frozen=True)
class Contrasted(MaskMetric):
    """A metric of one image under two models, both of which classify it rightly."""

    kind = "pair"
    family = "contrast"
    needs = frozenset({"mask", "paired_maps"})
    only_correct = True
    bounds = (-1.0, 1.0)


@dataclass(frozen=True)
class Mcs(Contrasted):
    """Model contrast score: how much stronger the feature is for the model that needs it.

    S_cf(f_o) - S_cf(f_s), with S_cf as in `g-cf` on the feature's mask. The map under test explains f_o, the model that
    needs the feature (BAM's object model). The paired map explains f_s, the model that does not (the scene model).
    Where the models know different classes, each map explains its own model's class.

    Undefined: never. A constant map has S_cf = 0.
    Errata: two equations restrict the images to different sets. Here both models must be right.
    """

    name = "mcs"
    aliases = ("model-contrast-score",)
    reference = (
        "Yang & Kim 2019, Benchmarking attribution methods, doi:10.48550/arXiv.1907.09701; Li et al. 2020, MCS, "
        "doi:10.48550/arXiv.2012.15616"
    )

    def __call__(self, ranking: Ranking, paired_map: Values, **_: Any) -> tuple[float, str]:
        """In [-1, 1]."""
        return mean_in_mask(ranking) - mean_in_mask(beside(ranking, paired_map)), ""


@dataclass(frozen=True)
class Mcr(Contrasted):
    """Model contrast ratio: how much larger the feature's share of the map is for the model that needs it.

    share(E_o) - share(E_s), with share(E) = sum of E over the mask / sum of E, and E as in `g-cf`. E_o is the map under
    test, of the model f_o that needs the feature. E_s is the paired map, of the model f_s that does not.

    Undefined: ``zero_energy`` where E is 0 everywhere in one of the two maps, as in a constant map. Two equal maps have
    0.
    Errata: eq. 18 prints f_o in both terms; here the second term is f_s's. Both are shares of the whole: with the mean
    of eq. 11 the paper's table would be some p times smaller.
    """

    name = "mcr"
    aliases = ("model-contrast-ratio",)
    reference = "Li et al. 2020, eq. 18, corrected, doi:10.48550/arXiv.2012.15616"

    def __call__(self, ranking: Ranking, paired_map: Values, **_: Any) -> tuple[float, str]:
        """In [-1, 1]."""
        difference = _share(ranking) - _share(beside(ranking, paired_map))
        return difference, ZERO_ENERGY if math.isnan(difference) else ""


def _share(ranking: Ranking) -> float:
    """The mask's share of E; NaN where there is none."""
    energy = bam_map(ranking)
    total = float(energy.sum())
    return min(float(energy[ranking.truth].sum()) / total, 1.0) if total else math.nan
