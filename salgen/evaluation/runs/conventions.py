"""The choices of an evaluation that the command line offers too, apart from what needs NumPy to be imported."""

from dataclasses import dataclass
from typing import ClassVar
from salgen.evaluation.attribution.reductions import NATIVE, REDUCTIONS
from salgen.parameters import param

LABEL, PREDICTED = "label", "pred"


@dataclass(frozen=True)
class Conventions:
    """Choices that hold for every method and sample of a run."""

    name: ClassVar[str] = "evaluate"

    limit: int | None = param(None, "only the first N samples of the split", low=1)
    target: str = param(LABEL, "explain the true class (label), the predicted one (pred), or a class by its name")
    mask: str | None = param(None, "region that is the ground truth; by default that of the data set's task")
    reduce: str = param(NATIVE, "one channel reduction for every method", choices=(NATIVE, *REDUCTIONS))
    score: str = param("logit", "explain the target's logit or margin over the best other", choices=("logit", "margin"))
    seed: int = param(0, "seed of the methods' own randomness", low=0)
    redraws: int | None = param(None, "redraws of a sample for its certificate; 8 by default, 59 at scale full", low=1)
    compile: bool = param(False, "let torch.compile speed up passes without gradient; moves scores by 1e-5 at most")
