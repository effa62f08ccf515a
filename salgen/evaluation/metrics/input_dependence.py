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

    1 if S(x_cf) > S(x_not-cf), else 0, with S = S_cf as in `g-cf`. Its mean is the rate. x_cf is the image with the
    feature, x_not-cf its twin without it. For a model that does not need the feature, such as BAM's scene model, 1 is a
    false positive. With ``of=paired`` each map explains its own task's class.

    Ties: equal strengths count 0. A constant map has S_cf = 0.
    Undefined: ``misclassified`` unless the model gives sample and twin the sample's class. Where that class is the
    feature itself, only samples remain on which the model does not see it.
    Errata: eq. 14's sum and indicator are garbled. BAM's rate of the same name counts the good event: `idr-bam`. The
    two and the share of ties sum to 1.
    """

    name: ClassVar[str] = "idr"
    aliases: ClassVar[tuple[str, ...]] = ("input-dependence-rate",)
    higher_is_better: ClassVar[bool | None] = False
    reference: ClassVar[str] = "Li et al. 2020, eq. 14, doi:10.48550/arXiv.2012.15616"

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

    name: ClassVar[str] = "idr-bam"
    reference: ClassVar[str] = (
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

    name: ClassVar[str] = "iir"
    aliases: ClassVar[tuple[str, ...]] = ("input-independence-rate",)
    reference: ClassVar[str] = (
        "Yang & Kim 2019, Benchmarking attribution methods, input independence rate, doi:10.48550/arXiv.1907.09701"
    )
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
