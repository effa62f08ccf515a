"""DeepLIFT: images and baselines pass together, and every nonlinearity goes back by the rescale rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
import torch
from torch import Tensor
from torch.nn import functional
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method, baselines_param
from salgen.evaluation.attribution.propagation import operations
from salgen.evaluation.attribution.propagation.attnlrp_rules import ACTIVATIONS
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache

SMALLEST = 1e-10  # where an input changes by less, its multiplier is the gradient


@dataclass(frozen=True)
class DeepLift(Method):
    """The contribution of each pixel to the difference from a baseline (black by default), by the rescale rule.

    Attributions sum to that difference. The rule takes any activation of one value, such as SiLU and GELU. It has no
    multiplier for a product of two signals or a norm of the signal's own values. Where a max pool's value is larger
    than the baseline's, the image's winner takes the difference, elsewhere the baseline's winner, as in captum.
    """

    name = "deep-lift"
    family = "relevance"
    reads_gradients = True
    shows_image = True
    reference = (
        "Shrikumar et al. 2017, Learning important features through propagating activation differences, "
        "doi:10.48550/arXiv.1704.02685"
    )
    version = "2"  # rounded otherwise
    defined_for = (
        "networks of affine layers, sums, max pools and activations of one value such as ReLU, SiLU and GELU, without "
        "layer norm, gates or attention"
    )

    baselines: float | str = baselines_param("black")

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other operations."""
        _checked.of(self.name, model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        baselines = context.baselines_of(self.baselines).expand_as(context.inputs)
        network = _RescaledNetwork.forward(self.name, context.model, torch.cat([context.inputs, baselines]))
        logits, start = network.output[: len(baselines)], context.start(context.passes.logits())
        (multipliers,) = torch.autograd.grad(logits, network.leaf, start)
        network.release()
        return multipliers[: len(baselines)] * (context.inputs - baselines)


class _RescaledNetwork(operations.AffineNetwork):
    """A forward pass of n images and then their baselines, (2 n, C, h, w); gradients of the images are multipliers."""

    advice = (
        "it knows affine layers, sums, max pools and activations of one value; choose another method or network "
        f"({operations.ANY_NETWORK})"
    )

    def nonlinear(self, operation: operations.Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """An activation, or a max pool."""
        others = any(tensor.requires_grad for tensor in operations.tensors_in((args[1:], kwargs)))
        if operation in operations.WINNER and not kwargs.get("return_indices"):
            pool = getattr(functional, operations.name_of(operation))
            return _pooled(args[0], *pool(args[0].detach(), *args[1:], **{**kwargs, "return_indices": True}))
        if operation not in ACTIVATIONS | operations.RELU | operations.CLIP or others:
            return None
        leaf = args[0].detach().requires_grad_()
        result = operation(leaf.clone(), *args[1:], **kwargs)  # it may work in place
        (slopes,) = torch.autograd.grad(result.sum(), leaf)
        rise, run = _change(result.detach()), _change(leaf.detach())
        return _linear(result.detach(), torch.where(run.abs() < SMALLEST, slopes, rise / run), args[0])


_checked = NetworkCache(
    lambda method, view, image: _RescaledNetwork.forward(method, view, torch.cat([image, image])).release()
)


def _pooled(signal: Tensor, values: Tensor, winners: Tensor) -> Tensor:
    """The values (2 n, C, ...) of a max pool, by the signal at the winning places of image and baseline."""
    pixels, places, changes = signal.flatten(2), winners.flatten(2), _change(signal.detach().flatten(2))
    found, of_other = values.flatten(2), _swapped(values.flatten(2))
    top = torch.maximum(found, of_other)
    for where, rise, without_change in ((places, top - of_other, 1.0), (_swapped(places), found - top, 0.0)):
        run = changes.gather(2, where)
        multipliers = torch.where(run.abs() < SMALLEST, without_change, rise / run)
        found = _linear(found, multipliers, pixels.gather(2, where))
    return found.view_as(values)


def _linear(values: Tensor, multipliers: Tensor, signal: Tensor) -> Tensor:
    """The values, whose gradient by the signal is its multiplier."""
    return values + multipliers * (signal - signal.detach())


def _change(values: Tensor) -> Tensor:
    """The values (2 n, ...) of images less those of their baselines, in both halves."""
    images, baselines = values.chunk(2)
    return torch.cat([images - baselines] * 2)


def _swapped(values: Tensor) -> Tensor:
    return values.roll(len(values) // 2, dims=0)
