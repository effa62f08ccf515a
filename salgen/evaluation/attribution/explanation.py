"""What methods declare unless they say otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from salgen.evaluation.attribution.passes import PassRequirements
from salgen.evaluation.models.inspection.model_view import ModelView


@dataclass(frozen=True)
class Undemanding:
    """A method that is defined for any model, and reads nothing from the shared pass."""

    defined_for: ClassVar[str] = "any network"
    shares: ClassVar[str | None] = "passes"
    shows_image: ClassVar[bool] = False
    version: ClassVar[str] = "1"
    quick: ClassVar[Mapping[str, Any]] = {}
    scales: ClassVar[Mapping[str, Mapping[str, Any]]] = {}

    def check(self, model: ModelView, image: Tensor) -> None:
        """Any model will do."""

    def required_passes(self, model: ModelView, image: Tensor) -> PassRequirements:
        """Nothing."""
        return PassRequirements()


@dataclass(frozen=True)
class Explanation(Undemanding):
    """A method that explains a model, for a class, by signed attributions at the input."""

    signed: ClassVar[bool] = True
    class_dependent: ClassVar[bool] = True
    control: ClassVar[bool] = False
    resolution: ClassVar[str] = "the input's"
    needs: ClassVar[frozenset[str]] = frozenset({"model"})


@dataclass(frozen=True)
class Control(Undemanding):
    """A floor or a ceiling: one non-negative channel that does not depend on a class."""

    reduction: ClassVar[str] = "sum"  # of one channel
    signed: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = False
    control: ClassVar[bool] = True
    resolution: ClassVar[str] = "the image's"
    needs: ClassVar[frozenset[str]] = frozenset()
