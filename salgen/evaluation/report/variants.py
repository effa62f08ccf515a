"""The variants figure: one sample in several variants, the maps of each method, and the score under each map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.report.cell_scores import Member, scores, series
from salgen.evaluation.report.gallery import Picture, image_url, map_url, outline
from salgen.evaluation.report.grid import Grid, read_grid
from salgen.evaluation.report.grid_pictures import explained, kept_maps, method_numbers
from salgen.evaluation.report.runs import Run
from salgen.evaluation.report.study import Cell, Study, Variants

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class VariantRow:
    """One variant of the sample.

    Attributes
    ----------
    contour
        The outline of the mask that was scored.
    cells
        For each method its map, and this sample's score; NaN where it is undefined.
    """

    variant: str
    id: str
    image: Picture
    contour: str
    cells: list[tuple[Picture, float]]


@dataclass(frozen=True)
class VariantsFigure:
    """The variants of one model: the figure, and the means over all samples.

    Attributes
    ----------
    explained
        The trained model whose maps are shown.
    columns
        (method, whether negative values are shown) of each column.
    rows
        Empty where no sample could be shown, for the reason that `fault` gives.
    means
        A row for each variant; one whose scores rank no method has no places.
    unmarked
        The variants of those rows.
    """

    model: str
    explained: str
    height: int
    width: int
    columns: list[tuple[str, bool]]
    rows: list[VariantRow]
    means: Grid
    fault: str = ""
    unmarked: list[str] = field(default_factory=list)


def variants_figure(variants: Variants, study: Study, known: Sequence[Run] = ()) -> VariantsFigure:
    """The figure of one model, from runs that are read unless they are `known`.

    Raises
    ------
    SalgenError
        If a run cannot be read, or lacks the metric's scores.
    """
    cells = [Cell(name, variants.model, (path,)) for name, path in variants.runs.items()]
    means = _marked(read_grid(cells, study.methods, study.metric, known), variants)
    members = {row.cell.dataset: row.members[0] for row in means.rows}
    try:
        kept = {name: kept_maps(member) for name, member in members.items()}
    except SalgenError as fault:
        return _without(variants, means, str(fault))
    galleries = {name: data for name, data in kept.items() if data is not None}
    if len(galleries) < len(members):
        return _without(variants, means, "a run holds no maps of this model")
    number = _representative(members, galleries, study.metric)
    if number is None:
        return _without(variants, means, "no sample was kept and scored in all variants")
    return _figure(variants, means, galleries, number)


def _marked(means: Grid, variants: Variants) -> Grid:
    """The means with places in those variants alone whose scores rank methods."""
    rows = [row if variants.ranks(row.cell.dataset) else replace(row, places={}) for row in means.rows]
    return replace(means, rows=rows)


def _unmarked(variants: Variants) -> list[str]:
    return [name for name in variants.runs if not variants.ranks(name)]


def _without(variants: Variants, means: Grid, fault: str) -> VariantsFigure:
    return VariantsFigure(variants.model, "", 0, 0, [], [], means, fault, _unmarked(variants))


def number_of(sample: str) -> str:
    """What the ids of one sample's variants share, such as ``000001`` of ``test_moved-000001``."""
    return sample.rpartition("-")[2]


def _representative(members: dict[str, Member], galleries: dict[str, Arrays], metric: str) -> str | None:
    """The first sample that was scored in all variants and whose maps were kept in all."""
    scored = [_scored(member, metric) for member in members.values()]
    kept = [{number_of(str(name)) for name in data["ids"]} for data in galleries.values()]
    return min(set.intersection(*scored, *kept), default=None)


def _scored(member: Member, metric: str) -> set[str]:
    run, model = member
    there = run.cube.samples_of(model, metric, run.variant_of(metric))[_seed(run)]
    return {number_of(name) for name, scored in zip(run.cube.samples, there, strict=True) if scored}


def _seed(run: Run) -> int:
    """Which entry of the seed axis the kept maps are of."""
    return run.cube.seeds.index(run.models[0].seed)


def _figure(variants: Variants, means: Grid, galleries: dict[str, Arrays], number: str) -> VariantsFigure:
    methods = [method for method in means.methods if any(method_numbers(data, [method]) for data in galleries.values())]
    places = {name: _place(data, number) for name, data in galleries.items()}
    columns = [(method, _signed(method, galleries, places)) for method in methods]
    rows = [
        _row(row.cell.dataset, row.members[0], galleries[row.cell.dataset], places[row.cell.dataset], columns, means)
        for row in means.rows
    ]
    height, width = next(iter(galleries.values()))["masks"].shape[1:]
    run = means.rows[0].members[0][0]
    return VariantsFigure(variants.model, explained(run), height, width, columns, rows, means, "", _unmarked(variants))


def _place(data: Arrays, number: str) -> int:
    return [number_of(str(name)) for name in data["ids"]].index(number)


def _signed(method: str, galleries: dict[str, Arrays], places: dict[str, int]) -> bool:
    """Whether any shown map of a method has negative values, so that all get the signed colours."""
    maps = (
        data["maps"][m, places[name]]
        for name, data in galleries.items()
        for m in method_numbers(data, [method]).values()
    )
    return any(bool((one < 0).any()) for one in maps)


def _row(
    variant: str, member: Member, data: Arrays, place: int, columns: list[tuple[str, bool]], means: Grid
) -> VariantRow:
    sample = str(data["ids"][place])
    numbers = method_numbers(data, [method for method, _ in columns])
    cells = []
    for method, signed in columns:
        url = map_url(data["maps"][numbers[method], place].astype(np.float32), signed) if method in numbers else ""
        picture = Picture(url, f"{method}, {variant}")
        cells.append((picture, _score(member, method, means.metric, sample)))
    image = Picture(image_url(data["images"][place]), f"image, {variant}", contour=False)
    return VariantRow(variant, sample, image, outline(data["masks"][place]), cells)


def _score(member: Member, method: str, metric: str, sample: str) -> float:
    """One sample's own score under one method; NaN where it is undefined or was not scored."""
    run, model = member
    place = series(run, model, method)
    if place is None:
        return float("nan")
    value, _ = scores(run, place, metric)
    shape = len(run.cube.seeds), len(run.cube.samples)
    return float(value.reshape(shape)[_seed(run), run.cube.samples.index(sample)])
