"""FullGrad."""

from dataclasses import dataclass
import torch
from torch import Tensor, nn
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.attribution.reductions import resize
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.network_trace import NetworkTrace


@dataclass(frozen=True)
class FullGrad(Method):
    """The input times its gradient and every bias times its own, as absolute values, summed over every call.

    Biases are those of convolutions and, with its shift by the running mean, of batch norm. Each channel's map is
    resized bilinearly to the input. Dense layers have no place in the image, and are left out. The paper scales each
    channel's map to [0, 1]; here all keep their size.
    """

    name = "full-grad"
    family = "gradient"
    shows_image = True
    reference = (
        "Srinivas and Fleuret 2019, Full-gradient representation for neural network visualization, "
        "doi:10.48550/arXiv.1905.00780"
    )
    signed = False
    version = "2"
    defined_for = "any network; its theory is of ReLU networks"

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse a network with biases outside modules, or for parts of the image beside each other."""
        unknown = next(filter(_may_hide_biases, model.network.modules()), None)
        if unknown is not None:
            raise SalgenError(
                f"{self.name}: {type(unknown).__name__} may hide biases: explain the network before torch.jit or "
                "torch.export, in layers of torch.nn, or choose another method, such as input-x-gradient"
            )
        outputs = NetworkTrace.of(model, image).outputs
        for name in biases(model, image):
            if outputs[name][0] != 1:
                raise SalgenError(
                    f"{self.name}: layer {name!r} runs on {outputs[name][0]} parts of an image by themselves, so its "
                    "bias has no place in it: choose another method, such as input-x-gradient"
                )

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The gradients at the input and at every bias."""
        return PassRequirements(gradients=frozenset(biases(model, image)), input_gradient=True)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w)."""
        inputs = context.inputs
        total = (inputs * context.passes.input_gradient()).abs().sum(dim=1, keepdim=True)
        for layer, bias in biases(context.model, inputs).items():
            for gradient in context.passes.gradients(layer):
                share = (bias.view(-1, 1, 1) * gradient).abs().sum(dim=1, keepdim=True)
                total = total + resize(share, inputs.shape[2:])
        return total


def _may_hide_biases(module: nn.Module) -> bool:
    """True for scripted and exported code, and for what holds a kernel and a bias but is no known module."""
    own = list(module.parameters(recurse=False))
    holds_both = any(p.ndim == 4 and len(p) > 1 for p in own) and any(p.ndim == 1 for p in own)
    exported = type(module) is nn.Module and bool(own)
    return isinstance(module, torch.jit.ScriptModule) or exported or (holds_both and not isinstance(module, BIASED))


BIASED = (nn.Conv2d, nn.ConvTranspose2d, nn.BatchNorm2d)


def biases(view: ModelView, image: Tensor) -> dict[str, Tensor]:
    """The bias (K,) of every convolution and batch norm that runs on images like this one, by layer.

    Of a batch norm that applies its activation too, as timm's, it is the identity within, which runs first.
    """
    ran, found = NetworkTrace.of(view, image).outputs, {}
    for name, module in view.network.named_modules():
        bias = _bias(module) if name in ran else None
        if bias is not None:
            inner = [f"{name}.{child}" for child, own in module.named_children() if type(own) is nn.Identity]
            found[next((place for place in inner if place in ran), name)] = bias
    return found


def _bias(module: nn.Module) -> Tensor | None:
    """The constant that the layer adds to each channel; None if there is none."""
    if not isinstance(module, BIASED):
        return None
    if not isinstance(module, nn.BatchNorm2d) or module.running_mean is None or module.running_var is None:
        return module.bias
    shift = -module.running_mean / torch.sqrt(module.running_var + module.eps)
    return shift * module.weight + module.bias if module.affine else shift
