"""Maps that weight a layer's channels by the score's gradient: Grad-CAM and its kin."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, differentiable, together, weighted
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.methods.gradient import normal_noise
from salgen.evaluation.models.inspection.layers import layer_grid
from salgen.parameters import param

_EPSILON = 1e-6


@dataclass(frozen=True)
class GradCam(ClassActivation):
    """A layer's channels, each weighted by its mean gradient, summed and rectified."""

    name = "grad-cam"
    reference = "Selvaraju et al. 2017, Grad-CAM: visual explanations from deep networks, doi:10.1109/ICCV.2017.74"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        return grad_cam(layer, context)


@dataclass(frozen=True)
class GradCamPlusPlus(ClassActivation):
    """A layer's channels, weighted by their positive gradients, each pixel's by the paper's closed form."""

    name = "grad-cam++"
    reference = (
        "Chattopadhay et al. 2018, Grad-CAM++: generalized gradient-based visual explanations, "
        "doi:10.1109/WACV.2018.00097"
    )

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        return grad_cam_plus_plus(layer, context)


@dataclass(frozen=True)
class XGradCam(ClassActivation):
    """A layer's channels, each weighted by its mean gradient over its own activity, summed and rectified."""

    name = "xgrad-cam"
    reference = "Fu et al. 2020, Axiom-based Grad-CAM, doi:10.48550/arXiv.2008.02312"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w); a channel that sums to zero has no weight."""
        activations, gradients = context.activations(layer), context.gradients(layer)
        total = activations.sum(dim=(2, 3), keepdim=True)
        share = torch.where(total == 0, 0, activations / torch.where(total == 0, 1, total))
        return weighted((gradients * share).sum(dim=(2, 3), keepdim=True), activations).clamp(min=0)


@dataclass(frozen=True)
class HiResCam(ClassActivation):
    """A layer's activations times their gradients, summed over channels and rectified."""

    name = "hires-cam"
    reference = "Draelos and Carin 2020, Use HiResCAM instead of Grad-CAM, doi:10.48550/arXiv.2011.08891"

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        return weighted(context.gradients(layer), context.activations(layer)).clamp(min=0)


@dataclass(frozen=True)
class LayerCam(ClassActivation):
    """A layer's activations, each weighted by its own positive gradient, summed over channels and rectified.

    The paper scales the maps of shallow layers.
    """

    name = "layer-cam"
    reference = (
        "Jiang et al. 2021, LayerCAM: exploring hierarchical class activation maps, doi:10.1109/TIP.2021.3089943"
    )

    scale: bool = param(False, "take tanh(2 S / max S) of each layer's map S")

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        values = weighted(context.gradients(layer).clamp(min=0), context.activations(layer)).clamp(min=0)
        if not self.scale:
            return values
        largest = values.amax(dim=(2, 3), keepdim=True)
        return torch.tanh(2 * values / torch.where(largest > 0, largest, 1))


@dataclass(frozen=True)
class SmoothGradCamPlusPlus(ClassActivation):
    """Grad-CAM++ with the means of g, g² and g³ over noisy copies of the input.

    Activations are those of the image itself. The paper prints the mean of g for that of g² in the
    numerator of alpha; the square is what the derivation gives.
    """

    name = "smooth-grad-cam++"
    cost = "25"
    reference = (
        "Omeiza et al. 2019, Smooth Grad-CAM++: an enhanced inference level visualization technique, "
        "doi:10.48550/arXiv.1908.01224"
    )
    own_passes = True
    shares = None
    quick: ClassVar = {"n": 3}

    n: int = param(25, "noisy copies per image", low=1)
    noise: float = param(0.3, "standard deviation of the noise on normalised inputs", low=0.0)

    def attribute(self, context: AttributionContext) -> Tensor:
        """One channel per layer, non-negative (n, L, h, w)."""
        layers, streams = self.layers_of(context.model, context.inputs[:1]), context.streams(self.name)
        moments = {layer: [torch.zeros((), device=context.inputs.device)] * 3 for layer in layers}
        for _ in range(self.n):
            inputs = context.inputs + self.noise * normal_noise(context.inputs, streams)
            noisy = context.again(PassRequirements(gradients=frozenset(layers)), inputs=inputs)
            for layer in layers:
                gradients = noisy.gradients(layer)
                moments[layer] = [m + gradients**k / self.n for k, m in enumerate(moments[layer], start=1)]
        return together([_from_moments(moments[layer], context.activations(layer)) for layer in layers])


def grad_cam(layer: str, context: AttributionContext) -> Tensor:
    """Grad-CAM of a layer, non-negative (n, 1, h, w)."""
    weights = context.gradients(layer).mean(dim=(2, 3), keepdim=True)
    return weighted(weights, context.activations(layer)).clamp(min=0)


def grad_cam_plus_plus(layer: str, context: AttributionContext) -> Tensor:
    """Grad-CAM++ of a layer, non-negative (n, 1, h, w)."""
    gradients = context.gradients(layer)
    return _from_moments([gradients, gradients**2, gradients**3], context.activations(layer))


def _from_moments(moments: Sequence[Tensor], activations: Tensor) -> Tensor:
    """Grad-CAM++ from g, g² and g³, or from their means over noisy inputs.

    All are (n, K, h, w). The weight of channel k is the sum over space of alpha · ReLU(g) (equation 19).
    There alpha = g² / (2 g² + S g³ + 1e-6), and S is the sum of A^k over space.
    """
    first, second, third = moments
    total = activations.sum(dim=(2, 3), keepdim=True)
    denominator = 2 * second + total * third + _EPSILON
    alpha = torch.where(denominator == 0, 0, second / denominator)
    weights = (alpha * first.clamp(min=0)).sum(dim=(2, 3), keepdim=True)
    return weighted(weights, activations).clamp(min=0)


@dataclass(frozen=True)
class FinerCam(ClassActivation):
    """Grad-CAM of the target's logit less `alpha` times those of the classes with the nearest logits.

    The differences are averaged with the classes' probabilities as weights. As in the authors' code these are
    differentiated too. For each layer it costs a forward and a backward pass. A score of margins changes nothing.
    """

    name = "finer-cam"
    reference = (
        "Zhang et al. 2025b, Finer-CAM: spotting the difference for fine-grained visual explanation, "
        "doi:10.48550/arXiv.2501.11309"
    )
    own_passes = True
    in_all = False

    alpha: float = param(1.0, "how much the other classes' logits count", low=0.0)
    classes: int = param(3, "number of classes to compare with, or all others if they are fewer", low=1)

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        logits, output = differentiable(layer, context)
        if logits.shape[1] < 2:
            raise SalgenError("finer-cam compares classes, and this model has one: choose grad-cam")
        own = logits.gather(1, context.targets[:, None])
        distances = (logits - own).detach().abs().scatter(1, context.targets[:, None], torch.inf)
        others = distances.argsort(dim=1, stable=True)[:, : min(self.classes, logits.shape[1] - 1)]
        weights = context.model.probabilities(logits).gather(1, others)
        differences = own - self.alpha * logits.gather(1, others)
        value = (weights * differences).sum(dim=1) / (weights.sum(dim=1) + 1e-9)
        (gradient,) = torch.autograd.grad(value.sum(), output)
        channels = layer_grid(context.model, context.inputs, layer).channels(gradient)
        activations = context.activations(layer)
        return weighted(channels.to(activations).mean(dim=(2, 3), keepdim=True), activations).clamp(min=0)


@dataclass(frozen=True)
class ShapleyCam(ClassActivation):
    """A layer's channels, each weighted by the mean of its gradient less half the Hessian times the layer, rectified.

    The weights approximate Shapley values of the channels by a Taylor expansion of second order. The utility is the
    paper's ReST: the score plus the logarithm of the target's probability. With ``utility=score`` the second-order term
    is zero for most ReLU networks, and the map is Grad-CAM. For each layer it costs a forward pass and two backward
    passes.
    """

    name = "shapley-cam"
    reference = "Cai 2025, CAMs as Shapley value-based explainers, doi:10.48550/arXiv.2501.06261"
    own_passes = True
    in_all = False

    utility: str = param("rest", "what is expanded: ReST, or the score alone", choices=("rest", "score"))

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        logits, output = differentiable(layer, context)
        utility = (logits * context.start(logits)).sum(dim=1)
        if self.utility == "rest":
            probabilities = context.model.log_probabilities(logits)
            utility = utility + probabilities.gather(1, context.targets[:, None])[:, 0]
        (gradient,) = torch.autograd.grad(utility.sum(), output, create_graph=True)
        products = None
        if gradient.requires_grad:
            (products,) = torch.autograd.grad(gradient, output, output.detach(), allow_unused=True)
        second = gradient if products is None else gradient - products / 2
        channels = layer_grid(context.model, context.inputs, layer).channels(second.detach())
        activations = context.activations(layer)
        return weighted(channels.to(activations).mean(dim=(2, 3), keepdim=True), activations).clamp(min=0)
