"""Controls that know the architecture or the answer: the floor of learning and the ceilings."""

from dataclasses import dataclass
from typing import Any
import torch
from torch import Tensor
from torch.nn import functional
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext, Control, Method
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import by_parameters, param
from salgen.registry import METHODS

CAM_SIDE = 7  # side of a residual network's last layer, for images of 224x224


def _of_the_method(declaration: str, default: Any) -> Any:
    """What the method declares that an instance of `Untrained` names; `default` on the class."""
    return by_parameters(default)(lambda untrained: getattr(METHODS.load(untrained.of), declaration))


@dataclass(frozen=True)
class Untrained(Method):
    """A method's map of the same network with weights that have learnt nothing.

    Reduction, sign and dependence on the class are the method's; those named here are the gradient's.
    """

    name = "untrained"
    family = "control"
    reference = "Adebayo et al. 2018, Sanity checks for saliency maps, doi:10.48550/arXiv.1810.03292"
    reduction = _of_the_method("reduction", "max_abs")
    signed = _of_the_method("signed", Method.signed)
    class_dependent = _of_the_method("class_dependent", Method.class_dependent)
    resolution = _of_the_method("resolution", Method.resolution)
    defined_for = _of_the_method("defined_for", Method.defined_for)
    shows_image = _of_the_method("shows_image", Method.shows_image)
    control = True
    needs = frozenset({"model", "untrained"})

    of: str = param("gradient", "the method, with its default parameters")

    def __post_init__(self) -> None:
        method = METHODS.load(self.of)
        if "model" not in method.needs or "patterns" in method.needs or self.of == self.name:
            raise SalgenError(
                f"untrained: of={self.of!r} does not explain a model by its weights alone; choose another"
            )

    def check(self, model: ModelView, image: Tensor) -> None:
        """Check as the method does."""
        METHODS.create(self.of).check(model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Raw attributions of the method."""
        method, fresh = METHODS.create(self.of), context.untrained()
        fresh_context = context.again(method.required_passes(fresh, context.inputs[:1]), model=fresh)
        try:
            raw: Tensor = method.attribute(fresh_context)
            return raw
        finally:
            fresh_context.cache.release()


@dataclass(frozen=True)
class Oracle(Control):
    """The ground-truth mask: the ceiling of every localisation metric."""

    name = "oracle"
    reference = "a ceiling"
    needs = frozenset({"mask"})

    def attribute(self, context: AttributionContext) -> Tensor:
        """(n, 1, H, W): 1 inside the mask, else 0."""
        return _mask(context)


@dataclass(frozen=True)
class OracleEdges(Control):
    """The ground-truth mask's contour: what an edge detector that knows the answer would give.

    Its pixels are those of the mask with one of their four neighbours outside it. The image's frame
    is no edge; a mask one pixel wide is its own contour.
    """

    name = "oracle-edges"
    reference = "a ceiling"
    needs = frozenset({"mask"})

    def attribute(self, context: AttributionContext) -> Tensor:
        """(n, 1, H, W): 1 on the contour, else 0."""
        mask = _mask(context)
        above_and_below = functional.max_pool2d(1 - mask, (3, 1), stride=1, padding=(1, 0))
        beside = functional.max_pool2d(1 - mask, (1, 3), stride=1, padding=(0, 1))
        return mask * torch.maximum(above_and_below, beside)


@dataclass(frozen=True)
class Oracle7x7(Control):
    """The ground-truth mask averaged to 7x7: what the best CAM could give."""

    name = "oracle-7x7"
    reference = "a ceiling"
    needs = frozenset({"mask"})

    def attribute(self, context: AttributionContext) -> Tensor:
        """(n, 1, 7, 7) in [0, 1]: the mask's share of each cell."""
        return functional.adaptive_avg_pool2d(_mask(context), CAM_SIDE)


def _mask(context: AttributionContext) -> Tensor:
    assert context.masks is not None  # the method declares that it needs them
    return context.masks[:, None].to(context.pixels)
