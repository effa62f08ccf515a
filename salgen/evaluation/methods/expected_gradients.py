"""Expected gradients: integrated gradients with images of the data as baselines."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
import torch
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext, Explanation
from salgen.parameters import param

NAMES = ("expected-gradients",)


@dataclass(frozen=True)
class ExpectedGradients(Explanation):
    """The mean gradient at random points between other images and the image, times the difference from them.

    Each draw takes one of the references, with replacement, and a uniform point on the straight line from it. So
    attributions sum to about the score's difference from its mean over the references. captum's GradientShap without
    noise is the same. It costs `n` forward and backward passes.
    """

    name: ClassVar[str] = "expected-gradients"
    family: ClassVar[str] = "path"
    cost: ClassVar[str] = "200"
    reads_gradients: ClassVar[bool] = True
    shows_image: ClassVar[bool] = True
    reference: ClassVar[str] = (
        "Erion et al. 2021, Improving performance of deep learning models with axiomatic attribution priors and "
        "expected gradients, doi:10.1038/s42256-021-00343-w"
    )
    reduction: ClassVar[str] = "sum"
    shares: ClassVar[str | None] = None
    in_all: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"model", "references"})
    quick: ClassVar[Mapping[str, Any]] = {"n": 3}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {"small": {"n": 50}, "demo": {"n": 20}}

    n: int = param(200, "draws per image", low=1)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        inputs, streams = context.inputs, context.streams(self.name)
        assert context.references is not None, "checked before"
        with torch.no_grad():
            references = context.model.normalise(context.references.clone()).to(inputs)
        total = torch.zeros_like(inputs)
        for _ in range(self.n):
            drawn = [int(stream.integers(len(references), 1)[0]) for stream in streams]
            positions = inputs.new_tensor([float(stream.uniform(1)[0]) for stream in streams]).view(-1, 1, 1, 1)
            path = inputs - references[drawn]
            total += path * context.gradient(inputs - (1 - positions) * path)
        return total / self.n
