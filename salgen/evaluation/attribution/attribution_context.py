"""A saliency method, its defaults, and the batch of images that it explains."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar
import torch
from torch import Tensor
from salgen.errors import SalgenError
from salgen.evaluation.attribution.passes import Passes, PassRequirements, TimedCache
from salgen.evaluation.models.inspection.batch_size import MicroBatches
from salgen.evaluation.models.inspection.layers import layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView, score_gradient
from salgen.parameters import param
from salgen.seeding import Stream

if TYPE_CHECKING:
    from salgen.evaluation.attribution.patterns import Patterns


@dataclass(frozen=True)
class AttributionContext:
    """One batch to explain."""

    model: ModelView  # a private view: hook and rewire it freely, and remove what was added
    inputs: Tensor  # normalised images (n, C, h, w), without gradient
    pixels: Tensor  # the images before normalisation (n, C, H, W)
    ids: list[str]  # the samples' names; with `seed` and the method's name they key its random numbers
    seed: int  # any non-negative integer
    score: str  # ``"logit"`` of the target, or ``"margin"`` over the best other class
    masks: Tensor | None  # ground truth, bool (n, H, W), if the method needs it
    passes: Passes  # the forward and backward pass that all methods share
    batches: MicroBatches  # number of images that may pass through the network at once without gradient
    untrained: Callable[[], ModelView]  # makes a view of the same architecture with fresh weights
    patterns: Patterns | None  # the model's patterns, if the method needs them
    baselines: Tensor | None = None  # images (n, C, H, W) that stand for no evidence, if the caller gave them
    references: Tensor | None = None  # other images (m, C, H, W) of the data, if the method needs them

    @property
    def targets(self) -> Tensor:
        """int64 (n,): the class that each map explains."""
        return self.passes.targets()

    @property
    def cache(self) -> TimedCache:
        """The cache of values that several methods need: ``context.cache.get(key, compute)``."""
        return self.passes.cache

    def again(
        self, requirements: PassRequirements, *, model: ModelView | None = None, inputs: Tensor | None = None
    ) -> AttributionContext:
        """The same question to another model or about other normalised inputs, read as `requirements` says."""
        model = self.model if model is None else model
        inputs = self.inputs if inputs is None else inputs
        passes = Passes(model, inputs, requirements, self.targets, self.score)
        return replace(self, model=model, inputs=inputs, passes=passes)

    def baselines_of(self, chosen: float | str) -> Tensor:
        """The normalised baselines (1, C, h, w), or (n, C, h, w) if they were given; see :func:`baselines_param`."""
        if chosen == "zero":
            return torch.zeros_like(self.inputs[:1])
        with torch.no_grad():
            if chosen == "black":
                return self.model.corners(self.pixels)[0].to(self.inputs)
            pixels = self.baselines if chosen == GIVEN else torch.full_like(self.pixels[:1], float(chosen))
            if pixels is None:
                raise SalgenError(f"baselines={GIVEN} stands for an array: give it as baselines= of salgen.explain")
            normalised: Tensor = self.model.normalise(pixels.clone())
            return normalised.to(self.inputs)

    def activations(self, layer: str) -> Tensor:
        """The layer's output (n, K, h, w), in single precision at least."""
        return self.cache.get(("activations", layer), lambda: self._channels(layer, self.passes.output(layer)))

    def gradients(self, layer: str) -> Tensor:
        """The score's gradient at the layer's output, (n, K, h, w), in single precision at least."""
        return self.cache.get(("gradients", layer), lambda: self._channels(layer, self.passes.gradient(layer)))

    def _channels(self, layer: str, values: Tensor) -> Tensor:
        channels = layer_grid(self.model, self.inputs, layer).channels(values)
        if not bool(torch.isfinite(channels).all()):
            raise SalgenError(f"layer {layer!r} has NaN or infinite values: check the weights, or choose another layer")
        return channels.to(torch.promote_types(channels.dtype, torch.float32))

    def streams(self, method: str) -> list[Stream]:
        """One stream of random numbers per sample, the same in whatever batch the sample is."""
        return [Stream(self.seed, method, sample) for sample in self.ids]

    def scores_of(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """The explained value (m,) of any normalised inputs at their targets."""
        return self.model.scores(inputs, targets, self.score)

    def start(self, logits: Tensor) -> Tensor:
        """The score's gradient at the logits, (n, K): +1 at the target, and -1 at the best other class of a margin."""
        return score_gradient(logits.detach(), self.targets, self.score)

    def values(self, output: str) -> Tensor:
        """The target's value of each image, float64 (n,); `output` as in :meth:`values_of`."""
        return self._values(self.passes.logits(), self.targets, output)

    def values_of(self, output: str, owners: Tensor, inputs: Callable[[slice], Tensor]) -> Tensor:
        """The target's value of many changed images, made and run a part at a time: float64 (m,).

        It is the ``"probability"`` of the target, or the ``"score"`` that is explained (a logit, or a margin).
        `owners`, int64 (m,), is the sample of the context that each image was made from. `inputs` makes the normalised
        inputs of a part of ``range(m)``.
        """
        if not len(owners):
            return self.inputs.new_zeros(0, dtype=torch.float64)
        targets = self.targets[owners]

        def value(logits: Tensor, part: slice) -> Tensor:
            return self._values(logits, targets[part], output)

        return self.batches.values(self.model, len(owners), inputs, value)

    def _values(self, logits: Tensor, targets: Tensor, output: str) -> Tensor:
        """In double precision, as the probabilities of a confident network hardly differ in float32."""
        logits = logits.detach().double()
        if output == "score":
            return (logits * score_gradient(logits, targets, self.score)).sum(dim=1)
        return (self.model.probabilities(logits) * score_gradient(logits, targets, "logit")).sum(dim=1)

    def gradient(self, inputs: Tensor) -> Tensor:
        """The gradient of each sample's score at any normalised inputs, (n, C, h, w).

        At `self.inputs` it is ``self.passes.input_gradient()``, which other methods share.
        """
        leaf = inputs.detach().requires_grad_()
        return torch.autograd.grad(self.scores_of(leaf, self.targets).sum(), leaf)[0]


@dataclass(frozen=True)
class Method:
    """A saliency method: a frozen dataclass whose fields are its parameters. It is defined for any model."""

    name: ClassVar[str]  # the registered name
    reference: ClassVar[str]  # the paper
    reduction: ClassVar[str] = "sum"  # the channel reduction that the literature uses with it
    signed: ClassVar[bool] = True  # whether raw attributions may be negative
    class_dependent: ClassVar[bool] = True  # whether the map depends on the target
    control: ClassVar[bool] = False  # whether it is a floor or a ceiling for methods rather than one of the literature
    resolution: ClassVar[str] = "the input's"  # that of the raw maps, in words: `"the input's"`, `"the layer's"`
    # some of `{"model", "mask", "untrained", "patterns", "references"}`
    needs: ClassVar[frozenset[str]] = frozenset({"model"})
    defined_for: ClassVar[str] = "any network"  # the models that it can explain, in words
    # whether it reads gradients other than those that it requires of the shared pass: at the layers that it requires,
    # or else at the input. A network in which these miss a part is refused
    reads_gradients: ClassVar[bool] = False
    # methods with the same word here have passes in common, and a run explains them together: `"passes"` for those that
    # need a few passes; None for one that makes many of its own
    shares: ClassVar[str | None] = "passes"
    family: ClassVar[str] = "other"  # in `salgen list methods`: `"gradient"`, `"CAM"`, `"relevance"`, ...
    # forward passes of an image at default parameters: `"a few"`, a number, or in words: `"1 per channel"`
    cost: ClassVar[str] = "a few"
    # whether a run's ``all`` takes it; others run where they are named, so that what ``all`` costs and means stays
    in_all: ClassVar[bool] = True
    # whether a map shows the image itself, or is a product with it: where images may not be passed on, such maps are
    # not published either
    shows_image: ClassVar[bool] = False
    version: ClassVar[str] = "1"  # changes whenever its maps do
    quick: ClassVar[Mapping[str, Any]] = {}  # parameters that make it fast enough for a test
    # scale name to the parameters in which it differs from the fields' own defaults, which are the paper's
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check(self, model: ModelView, image: Tensor) -> None:
        """Raise a SalgenError if the method is not defined for the model and a normalised image (1, C, h, w)."""

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """The values that the method will read from ``context.passes``, so that one pass serves all methods."""
        return PassRequirements()

    def attribute(self, context: AttributionContext) -> Tensor:
        """Raw attributions (n, C, h, w), at whatever resolution the method has."""
        raise NotImplementedError


@dataclass(frozen=True)
class Perturbation(Method):
    """A method that asks the network about many changed images."""

    family = "perturbation"
    shares = None


@dataclass(frozen=True)
class PathMethod(Method):
    """Attributions by gradients at points of a path that ends at the image."""

    family = "path"
    reads_gradients = True
    shares = None


@dataclass(frozen=True)
class Control(Method):
    """A floor or a ceiling: one non-negative channel that does not depend on a class."""

    family = "control"
    cost = "none"
    signed = False
    class_dependent = False
    control = True
    resolution = "the image's"
    needs = frozenset()


GIVEN = "given"


def baselines_param(default: str) -> Any:
    """The field ``baselines`` of a method that compares an image with another one, see `baselines_of`."""
    meaning = "image to compare with: black, zero after normalisation, a pixel value, or that given to salgen.explain"
    return param(default, meaning, choices=("black", "zero", float, GIVEN))


def output_param() -> Any:
    """The field ``output`` of a perturbation method."""
    return param("probability", "what is compared: the target's probability or score", choices=("probability", "score"))
