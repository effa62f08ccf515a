"""RefineCAM: the product of several layers' class activation maps."""

from dataclasses import dataclass
from typing import ClassVar
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation
from salgen.evaluation.attribution.reductions import resize
from salgen.evaluation.methods.fast_cam import min_max_scaled
from salgen.evaluation.methods.grad_cam import grad_cam_plus_plus
from salgen.evaluation.models.inspection.model_view import ModelView

NAMES = ("refine-cam",)


@dataclass(frozen=True)
class RefineCam(ClassActivation):
    """The product of several layers' Grad-CAM++, each resized bilinearly to the input and scaled to [0, 1].

    This is pytorch-grad-cam's, but for its scaling of the product. By default the layers are the last of each
    resolution. It costs one forward and one backward pass, which all share.
    """

    name: ClassVar[str] = "refine-cam"
    reference: ClassVar[str] = (
        "Domeniconi et al. 2026, How to evaluate and refine your CAM, doi:10.48550/arXiv.2605.14641"
    )
    resolution: ClassVar[str] = "the input's"
    in_all: ClassVar[bool] = False

    def layers_of(self, model: ModelView, image: Tensor) -> tuple[str, ...]:
        """The named layers, else the last of each resolution."""
        return super().layers_of(model, image) if self.layer else self.all_layers(model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """One channel in [0, 1], (n, 1, h, w)."""
        size = (context.inputs.shape[2], context.inputs.shape[3])
        product = context.inputs.new_ones(len(context.inputs), 1, *size)
        for layer in self.layers_of(context.model, context.inputs[:1]):
            product = product * min_max_scaled(resize(grad_cam_plus_plus(layer, context), size))
        return product
