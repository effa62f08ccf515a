"""Metrics of the order of pixels and of the share of relevance in the mask."""

import math
from dataclasses import dataclass
from salgen.evaluation.metrics.inputs.metric import TOO_FEW_NEGATIVES, ZERO_ENERGY, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Cut, Ranking, hits_of_the_largest
from salgen.parameters import param


@dataclass(frozen=True)
class RocAuc(MaskMetric):
    """Chance that a mask pixel ranks above a pixel outside the mask.

    (#{S_i > S_j} + #{S_i = S_j} / 2) / (p n), the Mann-Whitney statistic. Its pairs are one of p mask pixels i and one
    of n others j.

    Ties: a tied pair counts half, the expectation over a random order. A constant map has 0.5.
    Undefined: ``trivial_full_mask`` when no pixel lies outside the mask.
    """

    name = "roc-auc"
    family = "ranking"
    aliases = ("auroc",)
    needs = frozenset({"mask", "negatives"})
    reference = (
        "Fawcett 2006, An introduction to ROC analysis, doi:10.1016/j.patrec.2005.10.010; Budding et al. 2021, "
        "doi:10.48550/arXiv.2112.04882"
    )

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]: counted in whole numbers and divided once."""
        # twice the number of pixels outside the mask that a mask pixel beats, those tied with it counting half
        beaten = ranking.over_positives(lambda levels: 2 * levels.negatives_below + levels.negatives_tied)
        return beaten / (2 * ranking.p * ranking.n), ""


@dataclass(frozen=True)
class AveragePrecision(MaskMetric):
    """Mean precision over the mask pixels, each at its own value as the threshold.

    AP = sum over thresholds t, descending, of (R_t - R_before) P_t, without interpolation. P_t and R_t are precision
    and recall of the pixels S >= t. Its mean is the mAP of Budding et al.

    Ties: a group of tied pixels is one threshold, as in scikit-learn. A constant map has the mask's share of the
    region.
    Undefined: never.
    """

    name = "average-precision"
    family = "ranking"
    aliases = ("ap",)
    reference = "Budding et al. 2021, doi:10.48550/arXiv.2112.04882; scikit-learn's average_precision_score"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In (0, 1]."""
        total = ranking.over_positives(lambda at: at.positives_from / (at.positives_from + at.negatives_from))
        return total / ranking.p, ""


@dataclass(frozen=True)
class Prec99(MaskMetric):
    """Precision at the lowest threshold whose specificity is strictly above 0.99.

    TP / (TP + FP*). FP* = ceil(n / 100) - 1 is the largest number of false positives below 1 % of the n pixels outside
    the mask. TP is the mask pixels above the threshold.

    Ties: a tied group that FP* falls into is entered in proportion. A constant map has the mask's share of the region.
    Undefined: ``too_few_negatives`` when FP* = 0 and no mask pixel lies above all others, so nothing is selected. A
    better map has 1 on the same mask. A full mask has 1.
    Errata: the authors' code enters tied groups whole or not at all (``compat=authors_exact``). Where the topmost group
    alone breaks the limit it gives 1, or 0 for a constant map.
    """

    name = "prec99"
    family = "ranking"
    reference = "Budding et al. 2021, PREC99, doi:10.48550/arXiv.2112.04882"

    compat: str | None = param(
        None, "`authors_exact` keeps the authors' false 1.0 for a large plateau at the top", choices=("authors_exact",)
    )

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, ceiling]."""
        if ranking.n == 0:
            return 1.0, ""
        allowed = allowed_false_positives(ranking.n)
        cut = ranking.cut(ranking.negatives[ranking.n - 1 - allowed])  # the first negative too many
        if self.compat:
            return _whole_groups(ranking, cut), ""
        # Both terms times n_tied, so that they are integers and divided once.
        true = cut.positives_above * cut.negatives_tied + (allowed - cut.negatives_above) * cut.positives_tied
        selected = true + allowed * cut.negatives_tied
        return (true / selected, "") if selected else (math.nan, TOO_FEW_NEGATIVES)


def allowed_false_positives(n: int) -> int:
    """FP*: the largest integer below n / 100, or 0."""
    return max(n - 1, 0) // 100


def _whole_groups(ranking: Ranking, cut: Cut) -> float:
    selected = cut.positives_above + cut.negatives_above
    if selected:
        return cut.positives_above / selected
    constant = cut.positives_tied + cut.negatives_tied == ranking.p + ranking.n
    return 0.0 if constant else 1.0


@dataclass(frozen=True)
class MGt(MaskMetric):
    """Share of the p largest values that lie in the mask of p pixels (relevance rank accuracy).

    (#{S > t in M} + (p - #{S > t}) #{S = t in M} / #{S = t}) / p. t is the p-th largest value. Of several acceptable
    masks the best counts, each with its own p.

    Ties: the formula is the expectation over a random order of the pixels tied at t. A constant map has the mask's
    share of the region.
    Undefined: never.
    """

    name = "m-gt"
    family = "ranking"
    aliases = ("relevance-rank-accuracy",)
    reference = (
        "Szczepankiewicz et al. 2023, m_GT, doi:10.1038/s41598-023-42946-w; Arras et al. 2022, relevance rank "
        "accuracy, doi:10.1016/j.inffus.2021.11.008"
    )

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]: counted in integers and divided once."""
        hits, tied = hits_of_the_largest(ranking)
        return hits / (ranking.p * tied), ""


@dataclass(frozen=True)
class RelevanceMass(MaskMetric):
    """Share of the map's positive part that lies in the mask (relevance mass accuracy).

    sum of max(S, 0) over the mask / sum of max(S, 0) over the scored region.

    Ties: a constant positive map has the mask's share of the region.
    Undefined: ``zero_energy`` when no value is positive.
    """

    name = "relevance-mass"
    family = "ranking"
    aliases = ("relevance-mass-accuracy",)
    reference = "Arras et al. 2022, relevance mass accuracy, on the positive part, doi:10.1016/j.inffus.2021.11.008"

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """In [0, 1]; the sums are float64."""
        inside, outside = ranking.masses
        total = inside + outside
        return (inside / total, "") if total else (math.nan, ZERO_ENERGY)
