"""The counterparts of salgen's methods in captum and pytorch-grad-cam, with the same settings.

Where a library would take all draws at once, its passes are no larger than salgen's largest (`AT_ONCE` images). What
fails there, such as captum's DeepLIFT on a network that uses a ReLU twice, is said in the table.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
import captum.attr as ca
import pytorch_grad_cam
import torch
from captum._utils.models.linear_model import SkLearnRidge
from pytorch_grad_cam.ablation_layer import AblationLayer, AblationLayerVit
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
from torch import Tensor, nn
from benchmarks.saliency import CAMS
from salgen.evaluation.attribution.batch_explainer import BATCH_SIZE as AT_ONCE
from salgen.evaluation.methods.lime_kernel_shap import grid
from salgen.evaluation.models.inspection.model_view import ModelView

GRAD_CAM = CAMS | {
    "xgrad-cam": pytorch_grad_cam.XGradCAM,
    "hires-cam": pytorch_grad_cam.HiResCAM,
    "score-cam": pytorch_grad_cam.ScoreCAM,
    "ablation-cam": pytorch_grad_cam.AblationCAM,
}


@dataclass(frozen=True)
class Asked:
    """A network as users of the libraries have it, and the images that it explains.

    Attributes
    ----------
    layer
        The module at which class activation maps are made.
    inputs, targets
        Normalised images (n, C, H, W), and int64 (n,), both on the device.
    """

    network: nn.Module
    layer: nn.Module
    inputs: Tensor
    targets: Tensor

    @classmethod
    def of(cls, view: ModelView, images: Tensor, targets: Tensor) -> Asked:
        """A copy of the network, as torch lays out weights, whose activations keep their inputs as hooks need them."""
        network = copy.deepcopy(view.network).to(memory_format=torch.contiguous_format)
        for module in network.modules():
            if isinstance(module, nn.ReLU):
                module.inplace = False
        network.requires_grad_(True)
        with torch.no_grad():
            inputs = view.normalise(images).contiguous()
        return cls(network, network.get_submodule(str(view.cam_layer)), inputs, targets)

    @property
    def is_convolutional(self) -> bool:
        """Whether the network is made of convolutions and ReLUs rather than of attention."""
        return any(isinstance(module, nn.ReLU) for module in self.network.modules())

    def attribute(self, method: Any, **options: Any) -> Tensor:
        """captum's maps."""
        found: Tensor = method.attribute(self.inputs.clone().requires_grad_(), target=self.targets, **options)
        return found

    def probabilities(self, inputs: Tensor) -> Tensor:
        """Of all classes, without gradients."""
        with torch.no_grad():
            return self.network(inputs).softmax(dim=1)

    def class_activation(self, kind: Any) -> Any:
        """pytorch-grad-cam's maps, on the processor as it gives them."""
        options: dict[str, Any] = {} if self.is_convolutional else {"reshape_transform": _as_grid}
        if kind is pytorch_grad_cam.AblationCAM:
            options["ablation_layer"] = AblationLayer() if self.is_convolutional else AblationLayerVit()
        targets = [ClassifierOutputTarget(target) for target in self.targets.tolist()]
        with kind(model=self.network, target_layers=[self.layer], **options) as cam:
            return cam(input_tensor=self.inputs, targets=targets)


def _smoothgrad(method: Any, asked: Asked) -> Tensor:
    at_once = max(1, AT_ONCE // len(asked.inputs))
    noise = method.noise * float(asked.inputs.max() - asked.inputs.min())  # one number for all images
    tunnel = ca.NoiseTunnel(ca.Saliency(asked.network))
    return asked.attribute(
        tunnel, nt_type="smoothgrad", nt_samples=method.n, nt_samples_batch_size=at_once, stdevs=noise, abs=False
    )


def _gradient_shap(method: Any, asked: Asked) -> Tensor:
    """Draw by draw, as captum would take all draws at once."""
    shap, black = ca.GradientShap(asked.network), torch.zeros_like(asked.inputs)
    return sum(
        (asked.attribute(shap, n_samples=1, stdevs=method.noise, baselines=black) for _ in range(method.n)), start=black
    )


def _occlusion(method: Any, asked: Asked) -> Tensor:
    (height, _, down), (width, _, across) = method._axes(asked.inputs)
    channels = asked.inputs.shape[1]
    return asked.attribute(
        ca.Occlusion(asked.probabilities),
        sliding_window_shapes=(channels, height, width),
        strides=(channels, down, across),
        perturbations_per_eval=max(1, AT_ONCE // len(asked.inputs)),
    )


def _surrogate(kind: Callable[..., Any], method: Any, asked: Asked) -> Tensor:
    height, width = asked.inputs.shape[2:]
    regions = grid(height, width, method.cells).to(asked.inputs.device)
    return asked.attribute(
        kind(asked.probabilities), feature_mask=regions[None, None], n_samples=method.n, perturbations_per_eval=AT_ONCE
    )


def _integrated(method: Any, asked: Asked) -> Tensor:
    return asked.attribute(
        ca.IntegratedGradients(asked.network), n_steps=method.steps, internal_batch_size=len(asked.inputs)
    )


CAPTUM: Mapping[str, Callable[[Any, Asked], Tensor]] = {
    "gradient": lambda _, asked: asked.attribute(ca.Saliency(asked.network), abs=False),
    "input-x-gradient": lambda _, asked: asked.attribute(ca.InputXGradient(asked.network)),
    "smoothgrad": _smoothgrad,
    "integrated-gradients": _integrated,
    "gradient-shap": _gradient_shap,
    "deep-lift": lambda _, asked: asked.attribute(ca.DeepLift(asked.network)),
    "occlusion": _occlusion,
    "lime": partial(_surrogate, lambda value: ca.Lime(value, SkLearnRidge(alpha=1.0))),
    "kernel-shap": partial(_surrogate, ca.KernelShap),
}
GRAD_CAM_OF_CONVOLUTIONS = {"full-grad": pytorch_grad_cam.FullGrad}
CAPTUM_OF_CONVOLUTIONS: Mapping[str, Callable[[Any, Asked], Tensor]] = {
    "guided-backprop": lambda _, asked: asked.attribute(ca.GuidedBackprop(asked.network)),
    "deconvnet": lambda _, asked: asked.attribute(ca.Deconvolution(asked.network)),
    "grad-cam": lambda _, asked: asked.attribute(ca.LayerGradCam(asked.network, asked.layer), relu_attributions=True),
    "guided-grad-cam": lambda _, asked: asked.attribute(
        ca.GuidedGradCam(asked.network, asked.layer), interpolate_mode="bilinear"
    ),
}


def counterparts(method: Any, asked: Asked) -> dict[str, Callable[[], object]]:
    """What does the same in other libraries, by the library's name."""
    found: dict[str, Callable[[], object]] = {}
    of_captum, of_grad_cam = dict(CAPTUM), dict(GRAD_CAM)
    if asked.is_convolutional:
        of_captum |= CAPTUM_OF_CONVOLUTIONS
        of_grad_cam |= GRAD_CAM_OF_CONVOLUTIONS
    if method.name in of_captum:
        found["captum"] = partial(of_captum[method.name], method, asked)
    if method.name in of_grad_cam:
        found["pytorch-grad-cam"] = partial(asked.class_activation, of_grad_cam[method.name])
    return found


def _as_grid(tokens: Tensor) -> Tensor:
    """A transformer's tokens (n, 1 + s * s, C) as (n, C, s, s), without the class token."""
    side = round((tokens.shape[1] - 1) ** 0.5)
    return tokens[:, 1:].transpose(1, 2).unflatten(2, (side, side))
