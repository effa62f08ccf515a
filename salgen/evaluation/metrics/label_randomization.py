"""The dependence of a map on the meaning of the labels."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
import numpy as np
from salgen.evaluation.metrics.inputs.map_similarity import SIMILARITIES, mean_similarity
from salgen.evaluation.metrics.inputs.metric import NON_FINITE_MAP, MaskMetric
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values
from salgen.parameters import param

NAMES = ("label-randomization",)


@dataclass(frozen=True)
class LabelRandomization(MaskMetric):
    """Similarity of the map with that of a model trained on permuted labels: low for a method that needs the labels.

    The second model has the same architecture and learnt the same images under labels in random order. Both maps
    explain the same class. Similarities are those of `parameter-randomization`, over the whole image.

    Ties: tied pixels share their mean rank.
    Undefined: ``constant_map`` and ``non_finite_map`` as in `parameter-randomization`, with the second model as the
    stage.
    """

    name: ClassVar[str] = "label-randomization"
    kind: ClassVar[str] = "pair"
    family: ClassVar[str] = "sanity"
    needs: ClassVar[frozenset[str]] = frozenset({"shuffled_maps"})
    regional: ClassVar[bool] = False
    higher_is_better: ClassVar[bool | None] = False
    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)
    sweep: ClassVar[Mapping[str, tuple[Any, ...]]] = {"similarity": SIMILARITIES}
    ignores_position: ClassVar[bool] = False
    reference: ClassVar[str] = (
        "Adebayo et al. 2018, Sanity checks for saliency maps, data randomization test, doi:10.48550/arXiv.1810.03292"
    )

    similarity: str = param("spearman", "how the two maps are compared", choices=SIMILARITIES)

    def __call__(self, ranking: Ranking, shuffled_map: Values, **_: Any) -> tuple[float, str]:
        """In [-1, 1]."""
        if not (np.isfinite(ranking.saliency).all() and np.isfinite(shuffled_map).all()):
            return math.nan, NON_FINITE_MAP
        return mean_similarity(self.similarity, ranking.saliency, [shuffled_map])
