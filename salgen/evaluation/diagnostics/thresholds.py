"""Limits of suspicion, apart from what needs NumPy: the help of the command line states them."""

from dataclasses import dataclass
from typing import ClassVar
from salgen.parameters import param

LOCALIZATION = "pointing-game"
FAITHFULNESS = "insertion-auc:variant=li2020"


@dataclass(frozen=True)
class Thresholds:
    """Limits of suspicion; the paper states no values.

    The set is {f_c > confidence} and {localization < localization} and {faithfulness > faithfulness}. The sign turns
    round for a metric of which less is better.
    """

    name: ClassVar[str] = "find"

    confidence: float = param(0.9, "smallest probability of the class, exclusive", low=0.0, high=1.0)
    localization: float = param(0.5, "largest localisation score (smallest where less is better), exclusive", low=0.0)
    faithfulness: float = param(0.5, "smallest faithfulness score (largest where less is better), exclusive")
