"""Maps of several layers together: Fast-CAM, and RefineCAM."""

from dataclasses import dataclass
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, layer_names, together
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.attribution.reductions import resize
from salgen.evaluation.methods.grad_cam import grad_cam, grad_cam_plus_plus
from salgen.evaluation.models.inspection.layers import layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import param

_OFFSET = 1e-7  # the authors', against the logarithm of zero
_SPREAD = 1e-6  # a range below this share of the values is rounding in float32


@dataclass(frozen=True)
class FastCam(ClassActivation):
    """The spread of several layers' activations over channels, times Grad-CAM.

    The spread is the weighted mean of the layers' SMOE scales. Each is squashed by the distribution function of the
    gamma distribution fitted to it, and resized bilinearly to the input. The class activation map is scaled to [0, 1],
    then resized. One that varies by less than 1e-6 of its largest value is rounding: the result is zero. The paper
    weights five layers by 0.18, 0.15, 0.37, 0.40 and 0.72, without a class activation map.
    """

    name = "fast-cam"
    reference = "Mundhenk et al. 2020, Efficient saliency maps for explainable AI, doi:10.48550/arXiv.1911.11293"
    resolution = "the input's"
    defined_for = "networks with layers that end in a ReLU"
    class_map = staticmethod(grad_cam)  # a layer and its context to (n, 1, h, w)

    layers: str | None = param(
        None, "dotted names of rectified layers joined by +; default: the last of each resolution"
    )
    weights: tuple[float, ...] | None = param(None, "of the layers' maps, fine to coarse; equal by default", low=0.0)

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse layers without channels, and weights that do not fit them."""
        super().check(model, image)
        layers = self._rectified(model, image)
        for layer in layers:
            layer_grid(model, image, layer)
        self._shares(layers)

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The rectified layers, and those of the class activation map with their gradients."""
        layers = frozenset(self._rectified(model, image))
        return PassRequirements.together([super().required_passes(model, image), PassRequirements(layers=layers)])

    def attribute(self, context: AttributionContext) -> Tensor:
        """One channel in [0, 1], (n, 1, h, w)."""
        size = context.inputs.shape[2:]
        layers = self._rectified(context.model, context.inputs[:1])
        shares = zip(self._shares(layers), layers, strict=True)
        activity = torch.stack([share * resize(self._smoe_map(layer, context), size) for share, layer in shares])
        cams = [self.class_map(layer, context) for layer in self.layers_of(context.model, context.inputs[:1])]
        class_activation = min_max_scaled(together(cams).sum(dim=1, keepdim=True))
        return activity.sum(dim=0) * resize(class_activation, size)

    def _rectified(self, model: ModelView, image: Tensor) -> tuple[str, ...]:
        return layer_names(self.layers) if self.layers else self.all_layers(model, image)

    def _smoe_map(self, layer: str, context: AttributionContext) -> Tensor:
        """The squashed SMOE scale of a layer, (n, 1, h, w)."""

        def compute() -> Tensor:
            activations = context.activations(layer)
            if bool((activations < 0).any()):
                raise SalgenError(
                    f"{self.name} takes logarithms of activations, and layer {layer!r} gives negative ones: choose "
                    "layers that end in a ReLU with layers="
                )
            return squashed(smoe_scale(activations)).to(activations.dtype)

        return context.cache.get(("smoe scale", layer), compute)

    def _shares(self, layers: tuple[str, ...]) -> list[float]:
        """The weights, scaled to sum to one."""
        weights = (1.0,) * len(layers) if self.weights is None else self.weights
        if len(weights) != len(layers) or not sum(weights) > 0:
            raise SalgenError(
                f"{self.name}: weights = {','.join(f'{w:g}' for w in weights)}: must be {len(layers)}, one for each of "
                f"{'+'.join(layers)}, and not all 0"
            )
        return [weight / sum(weights) for weight in weights]


@dataclass(frozen=True)
class FastCamPlusPlus(FastCam):
    """The spread of several layers' activations over channels, times Grad-CAM++."""

    name = "fast-cam++"
    reference = (
        "Mundhenk et al. 2020, Efficient saliency maps for explainable AI, doi:10.48550/arXiv.1911.11293; "
        "Chattopadhay et al. 2018, Grad-CAM++, doi:10.1109/WACV.2018.00097"
    )

    class_map = staticmethod(grad_cam_plus_plus)


def min_max_scaled(maps: Tensor) -> Tensor:
    """Each map (n, 1, h, w) scaled by its own minimum and maximum; zeros where it is constant to rounding."""
    low, high = maps.amin(dim=(2, 3), keepdim=True), maps.amax(dim=(2, 3), keepdim=True)
    spread = high - low
    flat = spread <= _SPREAD * torch.maximum(high.abs(), low.abs())
    return ((maps - low) / torch.where(flat, 1, spread)).masked_fill(flat, 0)


def smoe_scale(activations: Tensor) -> Tensor:
    """The SMOE scale of activations x (n, K, h, w): m · (log2 m - mean log2 x) with m = mean x, over channels.

    Both are non-negative; the scale is float64 (n, 1, h, w).
    """
    values = activations.double() + _OFFSET
    mean = values.mean(dim=1, keepdim=True)
    scale: Tensor = mean * (mean.log2() - values.log2().mean(dim=1, keepdim=True))
    return scale


def squashed(maps: Tensor) -> Tensor:
    """Maps (n, 1, h, w) through the distribution function of the gamma distribution that is fitted to each.

    Each map is first shifted to a minimum of 1e-7. One that is constant gives zeros.
    """
    values = maps.flatten(1)
    low, high = values.amin(dim=1, keepdim=True), values.amax(dim=1, keepdim=True)
    flat = high - low <= _SPREAD * values.abs().amax(dim=1, keepdim=True)
    shifted = values - low + _OFFSET
    shape, scale = gamma_fit(shifted + _OFFSET)
    share: Tensor = torch.special.gammainc(shape.where(~flat, 1), shifted / scale)
    return share.masked_fill(flat, 0).view_as(maps)


def gamma_fit(values: Tensor) -> tuple[Tensor, Tensor]:
    """Shape and scale, each (n, 1), of the gamma distribution most likely to have given positive values (n, m).

    Ten steps of Newton's method from a closed form that is within 1.5 % (Choi and Wette 1969).
    """
    mean = values.mean(dim=1, keepdim=True)
    s = mean.log() - values.log().mean(dim=1, keepdim=True)
    shape = (3 - s + ((s - 3) ** 2 + 24 * s).sqrt()) / (12 * s)
    for _ in range(10):
        shape = shape - (shape.log() - shape.digamma() - s) / (1 / shape - torch.special.polygamma(1, shape))
    return shape, mean / shape


@dataclass(frozen=True)
class RefineCam(ClassActivation):
    """The product of several layers' Grad-CAM++, each resized bilinearly to the input and scaled to [0, 1].

    This is pytorch-grad-cam's, but for its scaling of the product. By default the layers are the last of each
    resolution. It costs one forward and one backward pass, which all share.
    """

    name = "refine-cam"
    reference = "Domeniconi et al. 2026, How to evaluate and refine your CAM, doi:10.48550/arXiv.2605.14641"
    resolution = "the input's"
    in_all = False

    def layers_of(self, model: ModelView, image: Tensor) -> tuple[str, ...]:
        """The named layers, else the last of each resolution."""
        return super().layers_of(model, image) if self.layer else self.all_layers(model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """One channel in [0, 1], (n, 1, h, w)."""
        size = context.inputs.shape[2:]
        product = context.inputs.new_ones(len(context.inputs), 1, *size)
        for layer in self.layers_of(context.model, context.inputs[:1]):
            product = product * min_max_scaled(resize(grad_cam_plus_plus(layer, context), size))
        return product
