"""What a saliency method is asked, and what a saliency method is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor

from salgen.evaluation.model_view import ModelView, score_gradient
from salgen.seeding import Stream


@dataclass(frozen=True)
class Request:
    """One batch to explain.

    Attributes
    ----------
    model
        A private view: hook and rewire it freely, and remove what was added.
    inputs
        Normalised images (n, C, h, w), without gradient.
    pixels
        The images before normalisation (n, C, H, W).
    targets
        int64 (n,): the class that each map explains.
    ids
        The samples' names; with `seed` and the method's name they key its random numbers.
    seed
        Any non-negative integer.
    score
        ``"logit"`` of the target, or ``"margin"`` over the best other class.
    layer
        The module of ``model.network`` asked for, if any.
    masks
        Ground truth, bool (n, H, W), if the method needs it.
    untrained
        Makes a view of the same architecture with fresh weights.
    """

    model: ModelView
    inputs: Tensor
    pixels: Tensor
    targets: Tensor
    ids: list[str]
    seed: int
    score: str
    layer: str | None
    masks: Tensor | None
    untrained: Callable[[], ModelView]

    def streams(self, method: str) -> list[Stream]:
        """One stream of random numbers per sample, the same in whatever batch the sample is."""
        return [Stream(self.seed, method, sample) for sample in self.ids]

    def scores_of(self, inputs: Tensor, targets: Tensor) -> Tensor:
        """The explained value (m,) of any normalised inputs at their targets."""
        return self.model.scores(inputs, targets, self.score)

    def scores(self, inputs: Tensor) -> Tensor:
        """The explained value (n,) of normalised inputs, in the request's order."""
        return self.scores_of(inputs, self.targets)

    def start(self, logits: Tensor) -> Tensor:
        """Where a backward pass starts, (n, K): +1 at the target, and -1 at the best other class of a margin."""
        return score_gradient(logits.detach(), self.targets, self.score)

    def gradient(self, inputs: Tensor) -> Tensor:
        """The gradient of each sample's score at its input, (n, C, h, w)."""
        leaf = inputs.detach().requires_grad_()
        return torch.autograd.grad(self.scores(leaf).sum(), leaf)[0]


class Method(Protocol):
    """A saliency method: a frozen dataclass whose fields are its parameters.

    Attributes
    ----------
    name, reference
        The registered name, and the paper.
    reduction
        The channel reduction that the literature uses with it.
    signed
        Whether raw attributions may be negative.
    class_dependent
        Whether the map depends on the target.
    control
        Whether it is a floor or a ceiling for the others rather than a method of the literature.
    needs
        Of ``{"model", "mask", "untrained"}``.
    version
        Changes whenever its maps do.
    quick
        Parameters that make it fast enough for a test.
    """

    name: ClassVar[str]
    reference: ClassVar[str]
    reduction: ClassVar[str]
    signed: ClassVar[bool]
    class_dependent: ClassVar[bool]
    control: ClassVar[bool]
    needs: ClassVar[frozenset[str]]
    version: ClassVar[str]
    quick: ClassVar[Mapping[str, Any]]

    def attribute(self, request: Request) -> Tensor:
        """Raw attributions (n, C, h, w), at whatever resolution the method has."""
        ...
