"""Colour images made of a scene and the feature of the class, which is painted on it last."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.generators.generator import to_levels
from salgen.generators.interfaces import Edit, GeneratorPlugin, Rendered
from salgen.parameters import param
from salgen.sources import Nothing, Source
from salgen.types import Float64


@dataclass(frozen=True)
class Painted(GeneratorPlugin):
    """Base of generators of colour images: one scene for a sample and its twin, and the feature on top of it.

    A subclass says what the `scene` is, how the feature is `paint`-ed on it, and what there is to `describe`.
    Nothing may touch the canvas after the feature, so that image and twin are equal outside its support.
    """

    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32)}

    image_size: tuple[int, int] = param((64, 64), "height and width in pixels", low=16)
    bit_depth: int = param(8, "bits per channel", choices=(8,))

    def scene(self, parameters: Mapping[str, Any], material: Any) -> Float64:
        """Everything but the feature: a new float64 (H, W, 3) in [0, 1]."""
        raise NotImplementedError

    def paint(self, canvas: Float64, parameters: Mapping[str, Any], material: Any, edit: Edit) -> None:
        """Paint the feature, with the edit applied, on a canvas (H, W, 3) in place."""
        raise NotImplementedError

    def describe(self, image: NDArray[Any], parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The image, uint8 (H, W, 3), with its labels and regions."""
        raise NotImplementedError

    def render(self, parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        """The sample that the choices describe, with the edit applied."""
        return self._finish(self.scene(parameters, material), parameters, material, edit)

    def render_pairs(
        self, batch: Sequence[Mapping[str, Any]], material: Any, twins: bool
    ) -> list[tuple[Rendered, NDArray[Any] | None]]:
        """Samples and their twins' images from one scene each."""
        pairs = []
        for parameters in batch:
            scene = self.scene(parameters, material)
            sample = self._finish(scene.copy(), parameters, material, Edit())
            edit = self.counterfactual(parameters) if twins else None
            pairs.append((sample, None if edit is None else self._finish(scene, parameters, material, edit).image))
        return pairs

    def _finish(self, canvas: Float64, parameters: Mapping[str, Any], material: Any, edit: Edit) -> Rendered:
        self.paint(canvas, parameters, material, edit)
        return self.describe(to_levels(canvas, self.bit_depth), parameters, material, edit)


@dataclass(frozen=True)
class Drawn(Painted):
    """Base of painted images for which there is no outside material.

    `takes_no_source` is what is said to whoever gives some, after the generator's name.
    """

    takes_no_source: ClassVar[str] = "takes none"

    def open_source(self, source: str | None) -> Source:
        """There is no outside material."""
        if source:
            raise SalgenError(f"source = {source!r}: {self.name} {self.takes_no_source}")
        return Nothing()


def check_edit(edit: Edit, features: Sequence[str], values: Mapping[str, Sequence[Any]]) -> None:
    """Raise a SalgenError if an edit omits, or changes to, what a generator does not have: features, and values."""
    wrong = [name for name in edit.omit if name not in features]
    wrong += [f"{name} = {value!r}" for name, value in (edit.change or {}).items() if value not in values.get(name, ())]
    if wrong:
        changes = "; ".join(f"{name} to {', '.join(map(str, known))}" for name, known in values.items())
        raise SalgenError(f"edit {wrong[0]}: omits {', '.join(features)}, and changes {changes or 'nothing'}")
