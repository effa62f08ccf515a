"""Base of data sets that are made from the images of another one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from numpy.typing import NDArray

from salgen.datasets.importers.derived.salgen_data import SalgenData
from salgen.generators.interfaces import Edit, Rendered
from salgen.parameters import param


@dataclass(frozen=True)
class Derived:
    """Base: its source is a data set of salgen whose images show one class, and each split draws on the same split."""

    name: ClassVar[str]
    default_source: ClassVar[str] = ""
    stand_in: ClassVar[str] = ""
    takes: ClassVar[str] = "DATA, a data set of salgen"
    valid_region: ClassVar[str | None] = None
    exact: ClassVar[bool] = True

    image_size: tuple[int, int] = param((0, 0), "height and width in pixels: they follow from the source", low=0)
    bit_depth: int = param(0, "bits per channel: the source's", choices=(0, 8, 16))
    classes: tuple[str, ...] = param((), "the classes of the source")

    def open_source(self, source: str | None) -> SalgenData:
        """The data set at a path."""
        return SalgenData.open(type(self), source)

    def prepare(self, source: SalgenData) -> SalgenData:
        """The source itself, which reads a split when it is first asked for."""
        return source

    def available(self, material: SalgenData) -> Mapping[str, int]:
        """The number of images of each split of the source."""
        return material.sizes

    def counterfactual(self, parameters: Mapping[str, Any]) -> Edit:
        """The edit that gives the twin."""
        raise NotImplementedError

    def render(self, parameters: Mapping[str, Any], material: SalgenData, edit: Edit) -> Rendered:
        """The sample that the choices describe, with the edit applied."""
        raise NotImplementedError

    def render_pairs(
        self, batch: Sequence[Mapping[str, Any]], material: SalgenData, twins: bool
    ) -> list[tuple[Rendered, NDArray[Any] | None]]:
        """Samples and their twins' images."""
        return [
            (
                self.render(parameters, material, Edit()),
                self.render(parameters, material, self.counterfactual(parameters)).image if twins else None,
            )
            for parameters in batch
        ]
