"""Maps of an image with a feature and of its twin without it, by a model that does not need the feature."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.metrics.g_cf import beside, mean_in_mask
from salgen.evaluation.metrics.inputs.metric import MaskMetric, of_param
from salgen.evaluation.metrics.inputs.metric_inputs import OWN, PAIRED
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values
from salgen.parameters import by_parameters, param

NAMES = ("idr", "idr-bam", "iir")

OWN_NEEDS = frozenset({"mask", "twin_maps"})
PAIRED_NEEDS = frozenset({"mask", "paired_maps", "paired_twin_maps"})


@dataclass(frozen=True)
class WithAndWithout(MaskMetric):
    """A metric of an image and its twin, both rightly classified, under one model and one mask."""

    kind: ClassVar[str] = "pair"
    family: ClassVar[str] = "contrast"
    only_correct: ClassVar[bool] = True

    of: str = of_param()

    @by_parameters(OWN_NEEDS)
    def needs(self) -> frozenset[str]:
        """With ``of=paired`` the second model's maps."""
        return PAIRED_NEEDS if self.of == PAIRED else OWN_NEEDS

    def strengths(self, ranking: Ranking, maps: Mapping[str, Values]) -> tuple[float, float]:
        """S_cf with the feature and without it, under the same mask."""
        own = ranking.saliency if self.of == OWN else maps["paired_map"]
        twin = maps["twin_map" if self.of == OWN else "paired_twin_map"]
        return mean_in_mask(beside(ranking, own)), mean_in_mask(beside(ranking, twin))


@dataclass(frozen=True)
class Idr(WithAndWithout):
    """Input dependence rate, Li et al.: how often a feature that the model does not need draws the map.

    1 if S(x_cf) > S(x_not-cf), else 0, with S = S_cf as in ``g-cf``; the mean over samples is the rate. The
    map under test is of the image with the feature, x_cf; the twin's map of the image without it. Meant for a
    model that does not need the feature, such as BAM's scene model: then 1 is a false positive.

    With ``of=paired`` both maps are the run's second model's, each of its own task's class.

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

    def __call__(self, ranking: Ranking, **maps: Values) -> tuple[float, str]:
        """0 or 1."""
        present, absent = self.strengths(ranking, maps)
        return float(present > absent), ""


@dataclass(frozen=True)
class IdrBam(WithAndWithout):
    """Input dependence rate, BAM: how often a feature that the model does not need leaves the map alone.

    1 if S(x_not-cf) > S(x_cf), else 0, with S = S_cf as in ``g-cf``; the mean over samples is the rate. The
    map under test is of the image with the feature, the twin's map of the image without it. Meant for a model
    that does not need the feature: what the feature covers is then worth more than the feature.

    With ``of=paired`` both maps are the run's second model's, each of its own task's class.

    Ties: equal strengths count 0.
    Undefined: ``misclassified`` where the model does not give sample and twin the sample's class, so for a
    task whose class is the feature itself this is defined for samples only on which the model does not see it.
    A constant map has S_cf = 0.
    """

    name: ClassVar[str] = "idr-bam"
    reference: ClassVar[str] = "Yang & Kim 2019, Benchmarking attribution methods, input dependence rate"

    def __call__(self, ranking: Ranking, **maps: Values) -> tuple[float, str]:
        """0 or 1."""
        present, absent = self.strengths(ranking, maps)
        return float(absent > present), ""


@dataclass(frozen=True)
class Iir(WithAndWithout):
    """Input independence rate: how often a patch that changes nothing for the model leaves the map as it was.

    1 if abs(S(x) - S(x + patch)) < t S(x), else 0, with t = 0.1 and S = S_cf as in ``g-cf``; the mean over samples
    is the rate. x is the twin, the image without the feature; x + patch shows, in the feature's place, something
    that looks like the feature but leaves the model's logits as they are without it. The mask is that place.

    A run makes the patches, one for each sample and model, by moving the feature's own pixels
    (`salgen.evaluation.runs.insignificant_patch`), which takes 100 passes forward and back. A patch holds where the
    predicted class stays the twin's, no logit differs from the twin's by more than 1 % of the distance between the
    largest and the smallest of them, and the patch differs from the twin by at least half of what the feature does,
    on average over its pixels. :func:`salgen.score` takes the maps of x and of x + patch as they are given.

    With ``of=paired`` model and maps are the run's second model's, each map of its own task's class.

    Ties: the inequality is strict, so S(x) = 0 counts 0.
    Undefined: ``no_twin``; ``patch_matters`` where no such patch was found, since the class or a logit changes;
    ``patch_vanished`` where what was found can hardly be told from the twin; ``misclassified`` where the model does
    not give the image, its twin and that with the patch the sample's class. A constant map has S_cf = 0.
    """

    name: ClassVar[str] = "iir"
    aliases: ClassVar[tuple[str, ...]] = ("input-independence-rate",)
    reference: ClassVar[str] = "Yang & Kim 2019, Benchmarking attribution methods, input independence rate"
    version: ClassVar[str] = "2"

    tolerance: float = param(0.1, "t: the largest change that counts as none, as a share of S(x)", low=0.0)

    @by_parameters(OWN_NEEDS | {"patched_maps"})
    def needs(self) -> frozenset[str]:
        """With ``of=paired`` the second model's maps."""
        return PAIRED_NEEDS | {"paired_patched_maps"} if self.of == PAIRED else OWN_NEEDS | {"patched_maps"}

    def __call__(self, ranking: Ranking, **maps: Values) -> tuple[float, str]:
        """0 or 1."""
        whose = "" if self.of == OWN else "paired_"
        plain, patched = (mean_in_mask(beside(ranking, maps[f"{whose}{which}_map"])) for which in ("twin", "patched"))
        return float(abs(plain - patched) < self.tolerance * plain), ""
