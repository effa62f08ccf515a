"""Guided backpropagation, DeconvNet and Guided Grad-CAM: the gradient with another rule at every ReLU."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
import torch
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
from salgen.evaluation.attribution.class_activation import ClassActivation, together
from salgen.evaluation.attribution.propagation import operations
from salgen.evaluation.attribution.propagation.operations import AffineNetwork, Operation
from salgen.evaluation.attribution.reductions import resize
from salgen.evaluation.methods.grad_cam import grad_cam
from salgen.evaluation.models.inspection.gradient_check import check_gradient
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache


@dataclass(frozen=True)
class ModifiedBackprop(Method):
    """The gradient with another rule at every ReLU."""

    family = "gradient"
    reduction = "max_abs"
    defined_for = "networks whose only activation is ReLU, or ReLU6"

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks with other activations, products and the like."""
        _check_relu_network(self.name, model, image)


@dataclass(frozen=True)
class GuidedBackprop(ModifiedBackprop):
    """The gradient, passing a ReLU only where both its input and the gradient are positive.

    A ReLU6 passes nothing above its ceiling either, as in the gradient itself.
    """

    name = "guided-backprop"
    reference = "Springenberg et al. 2015, Striving for simplicity, doi:10.48550/arXiv.1412.6806"

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        return _guided_gradient(context)


@dataclass(frozen=True)
class DeconvNet(ModifiedBackprop):
    """The gradient, passing a ReLU where the gradient is positive, whatever went forward."""

    name = "deconvnet"
    reference = (
        "Zeiler and Fergus 2014, Visualizing and understanding convolutional networks, doi:10.1007/978-3-319-10590-1_53"
    )

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        from zennit.rules import ReLUDeconvNet

        return _gradient(context, self.name, ReLUDeconvNet())


@dataclass(frozen=True)
class GuidedGradCam(ClassActivation):
    """Guided backpropagation times Grad-CAM, resized bilinearly to the input; of several layers, times their sum."""

    name = "guided-grad-cam"
    reference = "Selvaraju et al. 2017, Grad-CAM: visual explanations from deep networks, doi:10.1109/ICCV.2017.74"
    reduction = "max_abs"
    signed = True
    resolution = "the input's"
    defined_for = ModifiedBackprop.defined_for

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse layers without channels, and networks with other activations than ReLU."""
        super().check(model, image)
        _check_relu_network(self.name, model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        guided = _guided_gradient(context)
        layers = self.layers_of(context.model, context.inputs[:1])
        cam = together([grad_cam(layer, context) for layer in layers]).sum(dim=1, keepdim=True)
        return guided * resize(cam, guided.shape[2:])


def _guided_gradient(context: AttributionContext) -> Tensor:
    """Guided backpropagation, signed (n, C, h, w), computed once for all methods that use it."""
    from zennit.rules import ReLUGuidedBackprop

    name = GuidedBackprop.name
    return context.cache.get(name, lambda: _gradient(context, name, ReLUGuidedBackprop()))


def _gradient(context: AttributionContext, method: str, rule: Any) -> Tensor:
    """The score's gradient at the input, (n, C, h, w), by a zennit rule at every ReLU."""
    network = context.cache.get(
        _ReluNetwork, lambda: _ReluNetwork.forward(method, context.model, context.inputs, context.passes.logits)
    )
    network.rule, start = rule, context.start(network.output)
    return torch.autograd.grad(network.output, network.leaf, start, retain_graph=True)[0]


class _ReluNetwork(AffineNetwork):
    """A forward pass whose ReLUs go back by a rule that is chosen for each backward pass."""

    advice = (
        "its rule is for networks of ReLU and affine operations, and elsewhere it would be the gradient; choose "
        f"another method or network ({operations.ANY_NETWORK})"
    )
    rule: Any = None

    def nonlinear(self, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """A ReLU or a max pool."""
        if operation in operations.WINNER:
            return operation(*args, **kwargs)
        relu = operations.rectifier(operation, args, kwargs)
        return None if relu is None else self.run(relu, lambda: self.rule, args[0])


def _check_relu_network(method: str, view: ModelView, image: Tensor) -> None:
    """Refuse networks that hold anything but ReLU, max pools and affine operations, in the name of `method`."""
    _checked.of(method, view, image)
    check_gradient(method, view, image)


_checked = NetworkCache(lambda method, view, image: _ReluNetwork.forward(method, view, image).release())
