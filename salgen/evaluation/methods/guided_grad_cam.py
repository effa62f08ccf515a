"""Guided Grad-CAM: guided backpropagation where Grad-CAM looks."""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, together
from salgen.evaluation.attribution.reductions import resize
from salgen.evaluation.methods.grad_cam import grad_cam
from salgen.evaluation.methods.guided_backprop_deconvnet import ModifiedBackprop, check_relu_network, guided_gradient
from salgen.evaluation.models.inspection.model_view import ModelView

NAMES = ("guided-grad-cam",)


@dataclass(frozen=True)
class GuidedGradCam(ClassActivation):
    """Guided backpropagation times Grad-CAM, resized bilinearly to the input; of several layers, times their sum."""

    name: ClassVar[str] = "guided-grad-cam"
    reference: ClassVar[str] = "Selvaraju et al. 2017, Grad-CAM: visual explanations from deep networks"
    reduction: ClassVar[str] = "max_abs"
    signed: ClassVar[bool] = True
    resolution: ClassVar[str] = "the input's"
    defined_for: ClassVar[str] = ModifiedBackprop.defined_for

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse layers without channels, and networks with other activations than ReLU."""
        super().check(model, image)
        check_relu_network(self.name, model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        guided = guided_gradient(context)
        layers = self.layers_of(context.model, context.inputs[:1])
        cam = together([grad_cam(layer, context) for layer in layers]).sum(dim=1, keepdim=True)
        return guided * resize(cam, (guided.shape[2], guided.shape[3]))
