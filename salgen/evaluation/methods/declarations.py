"""What methods declare unless they say otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Explanation:
    """A method that explains a model, for a class, by signed attributions."""

    signed: ClassVar[bool] = True
    class_dependent: ClassVar[bool] = True
    control: ClassVar[bool] = False
    needs: ClassVar[frozenset[str]] = frozenset({"model"})
    version: ClassVar[str] = "1"
    quick: ClassVar[Mapping[str, Any]] = {}


@dataclass(frozen=True)
class Control:
    """A floor or a ceiling: one non-negative channel that does not depend on a class."""

    reduction: ClassVar[str] = "sum"  # of one channel
    signed: ClassVar[bool] = False
    class_dependent: ClassVar[bool] = False
    control: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset()
    version: ClassVar[str] = "1"
    quick: ClassVar[Mapping[str, Any]] = {}
