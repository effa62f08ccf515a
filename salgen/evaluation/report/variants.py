"""The variants figure: one sample in several variants, the maps of each method, and the score under each map."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.errors import SalgenError
from salgen.evaluation.report.cell_scores import Member, scores, series
from salgen.evaluation.report.gallery import Picture, explained, image_url, map_url, outline
from salgen.evaluation.report.grid import VariantGrid, read_grid
from salgen.evaluation.report.grid_pictures import kept_maps, method_numbers
from salgen.evaluation.report.runs import Run
from salgen.evaluation.report.study import Study, StudyCell, Variants

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class VariantRow:
    """One variant of the sample."""

    variant: str
    id: str
    image: Picture
    contour: str  # the outline of the mask that was scored
    cells: list[tuple[Picture, float]]  # for each method its map, and this sample's score; NaN where it is undefined


@dataclass(frozen=True)
class VariantsFigure:
    """The variants of one model: the figure, and the means over all samples."""

    model: str
    # means, unmarked: a row for each variant, and the variants whose scores rank no method, so that they have no places
    means: VariantGrid
    unmarked: list[str]
    explained: str = ""  # the trained model whose maps are shown
    height: int = 0
    width: int = 0
    # (method, True if negative values are shown) of each column
    columns: list[tuple[str, bool]] = field(default_factory=list)
    # empty where no sample could be shown; `fault` gives the reason
    rows: list[VariantRow] = field(default_factory=list)
    fault: str = ""


def variants_figure(variants: Variants, study: Study, loaded: Sequence[Run] = ()) -> VariantsFigure:
    """The figure of one model, whose runs are read unless they are among those already `loaded`."""
    cells = [StudyCell(name, variants.model, (path,)) for name, path in variants.runs.items()]
    grid = read_grid(cells, study.methods, study.metric, loaded)
    rows = [row if variants.ranks(row.cell.dataset) else replace(row, places={}) for row in grid.rows]
    unmarked = [name for name in variants.runs if not variants.ranks(name)]
    figure = VariantsFigure(variants.model, replace(grid, rows=rows), unmarked)
    members = {row.cell.dataset: row.members[0] for row in rows}
    try:
        kept = {name: kept_maps(member) for name, member in members.items()}
    except SalgenError as fault:
        return replace(figure, fault=str(fault))
    galleries = {name: data for name, data in kept.items() if data is not None}
    if len(galleries) < len(members):
        return replace(figure, fault="a run holds no maps of this model")
    number = _representative(members, galleries, study.metric)
    if number is None:
        return replace(figure, fault="no sample was kept and scored in all variants")
    return _with_maps(figure, members, galleries, number)


def number_of(sample: str) -> str:
    """The number that the ids of one sample's variants share, such as ``000001`` of ``test_moved-000001``."""
    return sample.rpartition("-")[2]


def _representative(members: dict[str, Member], galleries: dict[str, Arrays], metric: str) -> str | None:
    """The number of the first sample that was scored, and whose maps were kept, in all variants."""
    scored = []
    for run, model in members.values():
        present = run.cube.samples_of(model, metric, run.variant_of(metric))[_seed(run)]
        scored.append({number_of(run.cube.samples[i]) for i in np.flatnonzero(present)})
    kept = [{number_of(str(name)) for name in data["ids"]} for data in galleries.values()]
    return min(set.intersection(*scored, *kept), default=None)


def _seed(run: Run) -> int:
    """The index on the seed axis of the training whose maps are kept."""
    return run.cube.seeds.index(run.models[0].seed)


def _with_maps(
    figure: VariantsFigure, members: dict[str, Member], galleries: dict[str, Arrays], number: str
) -> VariantsFigure:
    """The figure of the sample with a number."""
    places = {
        name: [number_of(str(sample)) for sample in data["ids"]].index(number) for name, data in galleries.items()
    }
    methods = [m for m in figure.means.methods if any(method_numbers(data, [m]) for data in galleries.values())]
    columns = [(method, _signed(method, galleries, places)) for method in methods]
    height, width = next(iter(galleries.values()))["masks"].shape[1:]
    return replace(
        figure,
        explained=explained(next(iter(members.values()))[0]),
        height=height,
        width=width,
        columns=columns,
        rows=[
            _row(name, member, galleries[name], places[name], columns, figure.means.metric)
            for name, member in members.items()
        ],
    )


def _signed(method: str, galleries: dict[str, Arrays], places: dict[str, int]) -> bool:
    """True if any shown map of a method has negative values, so that all get the signed colours."""
    maps = (
        data["maps"][m, places[name]]
        for name, data in galleries.items()
        for m in method_numbers(data, [method]).values()
    )
    return any(bool((values < 0).any()) for values in maps)


def _row(
    variant: str, member: Member, data: Arrays, place: int, columns: list[tuple[str, bool]], metric: str
) -> VariantRow:
    sample = str(data["ids"][place])
    numbers = method_numbers(data, [method for method, _ in columns])
    cells = []
    for method, signed in columns:
        url = map_url(data["maps"][numbers[method], place].astype(np.float32), signed) if method in numbers else ""
        picture = Picture(url, f"{method}, {variant}")
        cells.append((picture, _score(member, method, metric, sample)))
    image = Picture(image_url(data["images"][place]), f"image, {variant}", contour=False)
    return VariantRow(variant, sample, image, outline(data["masks"][place]), cells)


def _score(member: Member, method: str, metric: str, sample: str) -> float:
    """One sample's own score under one method; NaN where it is undefined or was not scored."""
    run, model = member
    place = series(run, model, method)
    if place is None:
        return float("nan")
    return float(scores(run, place, metric)[0][_seed(run), run.cube.samples.index(sample)])
