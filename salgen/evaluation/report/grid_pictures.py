"""Image grids: a few samples with their ground truth and the map of each method."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.report.cell_scores import Member
from salgen.evaluation.report.gallery import GALLERY, Gallery, make_gallery, read_gallery
from salgen.evaluation.report.grid import GridRow
from salgen.evaluation.report.runs import METHOD

ROWS = 4  # samples of an image grid


@dataclass(frozen=True)
class ImageGrid:
    """The pictures of a cell, or why there are none."""

    dataset: str
    model: str
    gallery: Gallery | None
    fault: str = ""


def image_grid(row: GridRow, methods: Sequence[str]) -> ImageGrid:
    """The pictures of a cell from the first of its runs that has some, a column for each method in the given order."""
    name = row.cell.dataset, row.cell.model
    try:
        gallery = next((g for member in row.members if (g := _pictures(member, methods)) is not None), None)
    except SalgenError as fault:
        return ImageGrid(*name, None, str(fault))
    return ImageGrid(*name, gallery, "" if gallery is not None else "its runs hold none")


def kept_maps(member: Member) -> dict[str, NDArray[Any]] | None:
    """The arrays of a run's gallery; None where there is none, or it is of another model."""
    run, model = member
    path = run.path / GALLERY
    if run.models[0].name != model or not path.exists():
        return None
    return read_gallery(path)


def method_numbers(data: dict[str, NDArray[Any]], methods: Sequence[str]) -> dict[str, int]:
    """Method to its index in a gallery, for those that the gallery has."""
    available = data["methods"].tolist()
    return {method: available.index(method) for method in methods if method in available}


def _pictures(member: Member, methods: Sequence[str]) -> Gallery | None:
    data = kept_maps(member)
    if data is None or not data["masks"].any():
        return None
    columns = [(method, METHOD) for method in method_numbers(data, methods)]
    return make_gallery(member[0], data, columns, _alternating(data))


def _alternating(data: dict[str, NDArray[Any]]) -> list[int]:
    """The numbers of the first samples with a mask, their classes alternating."""
    labels, masked = data["labels"], np.flatnonzero(data["masks"].any(axis=(1, 2)))
    order = sorted(masked.tolist(), key=lambda i: int((labels[masked[masked < i]] == labels[i]).sum()))
    return order[:ROWS]
