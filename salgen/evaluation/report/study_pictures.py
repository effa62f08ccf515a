"""Maps in a study: a few samples of each cell, and one sample in several variants with the score under each map."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.evaluation.report.gallery import (
    GALLERY,
    Gallery,
    GalleryArrays,
    Picture,
    explained,
    image_url,
    make_gallery,
    map_url,
    outline,
    read_gallery,
)
from salgen.evaluation.report.grid import GridRow, Member, VariantGrid, read_grid, series
from salgen.evaluation.report.runs import METHOD, LoadedRun
from salgen.evaluation.report.study import Study, StudyCell, Variants

ROWS = 4  # samples of an image grid


class ImageGrid(NamedTuple):
    """The pictures of a cell, or why there are none."""

    dataset: str
    model: str
    gallery: Gallery | None
    fault: str = ""


def image_grid(row: GridRow, methods: Sequence[str]) -> ImageGrid:
    """The first samples with a mask, their classes alternating, from the first run of a cell that has some."""
    gallery, fault = None, "its runs hold none"
    try:
        for run, model in row.members:
            data = _kept_maps((run, model))
            if data is not None and data["masks"].any():
                labels, masked = data["labels"], np.flatnonzero(data["masks"].any(axis=(1, 2)))
                order = sorted(masked.tolist(), key=lambda i: int((labels[masked[masked < i]] == labels[i]).sum()))
                columns = [(method, METHOD) for method in _method_numbers(data, methods)]
                gallery, fault = make_gallery(run.label, explained(run), data, columns, order[:ROWS]), ""
                break
    except SalgenError as error:
        fault = str(error)
    return ImageGrid(row.cell.dataset, row.cell.model, gallery, fault)


def _kept_maps(member: Member) -> GalleryArrays | None:
    """The arrays of a run's gallery; None where there is none, or it is of another model."""
    run, model = member
    path = run.path / GALLERY
    return read_gallery(path) if run.models[0].name == model and path.exists() else None


def _method_numbers(data: GalleryArrays, methods: Sequence[str]) -> dict[str, int]:
    """Method to its index in a gallery, for those that the gallery has."""
    available = data["methods"].tolist()
    return {method: available.index(method) for method in methods if method in available}


class VariantRow(NamedTuple):
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
    means: VariantGrid  # a row for each variant
    unmarked: list[str]  # the variants whose scores rank no method, so that they have no places
    explained: str = ""  # the trained model whose maps are shown
    height: int = 0
    width: int = 0
    columns: list[tuple[str, bool]] = field(default_factory=list)  # (method, True if it has negative values)
    rows: list[VariantRow] = field(default_factory=list)  # empty where no sample could be shown
    fault: str = ""  # why no sample could be shown


def variants_figure(variants: Variants, study: Study, loaded: Sequence[LoadedRun] = ()) -> VariantsFigure:
    """The figure of one model, whose runs are read unless they are among those already `loaded`."""
    cells = [StudyCell(name, variants.model, (path,)) for name, path in variants.runs.items()]
    grid = read_grid(cells, study.methods, study.metric, loaded)
    rows = [row if variants.ranks(row.cell.dataset) else replace(row, places={}) for row in grid.rows]
    unmarked = [name for name in variants.runs if not variants.ranks(name)]
    figure = VariantsFigure(variants.model, replace(grid, rows=rows), unmarked)
    try:
        return _with_maps(figure, {row.cell.dataset: row.members[0] for row in rows})
    except SalgenError as fault:
        return replace(figure, fault=str(fault))


def number_of(sample: str) -> str:
    """The number that the ids of one sample's variants share, such as ``000001`` of ``test_moved-000001``."""
    return sample.rpartition("-")[2]


def _representative(members: dict[str, Member], galleries: dict[str, GalleryArrays], metric: str) -> str:
    """The number of the first sample that was scored, and whose maps were kept, in all variants."""
    common = [{number_of(str(name)) for name in data["ids"]} for data in galleries.values()]
    for run, model in members.values():
        present = run.cube.samples_of(model, metric, run.variant_of(metric))[_seed(run)]
        common.append({number_of(run.cube.samples[i]) for i in np.flatnonzero(present)})
    if not (numbers := set.intersection(*common)):
        raise SalgenError("no sample was kept and scored in all variants")
    return min(numbers)


def _seed(run: LoadedRun) -> int:
    """The index on the seed axis of the training whose maps are kept."""
    return run.cube.seeds.index(run.models[0].seed)


def _with_maps(figure: VariantsFigure, members: dict[str, Member]) -> VariantsFigure:
    """The figure of one sample; a method with negative values in any variant has the signed colours."""
    galleries = {name: data for name, member in members.items() if (data := _kept_maps(member)) is not None}
    if len(galleries) < len(members):
        raise SalgenError("a run holds no maps of this model")
    number = _representative(members, galleries, figure.means.metric)
    places: dict[str, int] = {}
    shown: dict[str, dict[str, NDArray[Any]]] = {}
    for name, data in galleries.items():
        place = places[name] = [number_of(str(one)) for one in data["ids"]].index(number)
        numbers = _method_numbers(data, figure.means.methods)
        shown[name] = {method: data["maps"][m, place] for method, m in numbers.items()}
    columns, rows = [], []
    for method in figure.means.methods:
        if maps := [of_variant[method] for of_variant in shown.values() if method in of_variant]:
            columns.append((method, any(bool((one < 0).any()) for one in maps)))
    for name, member in members.items():
        data, place, cells = galleries[name], places[name], []
        sample = str(data["ids"][place])
        for method, signed in columns:
            values = shown[name].get(method)
            url = "" if values is None else map_url(values.astype(np.float32), signed)
            score = _score(member, method, figure.means.metric, sample)
            cells.append((Picture(url, f"{method}, {name}"), score))
        image = Picture(image_url(data["images"][place]), f"image, {name}", contour=False)
        rows.append(VariantRow(name, sample, image, outline(data["masks"][place]), cells))
    height, width = next(iter(galleries.values()))["masks"].shape[1:]
    model = explained(next(iter(members.values()))[0])
    return replace(figure, explained=model, height=height, width=width, columns=columns, rows=rows)


def _score(member: Member, method: str, metric: str, sample: str) -> float:
    """One sample's own score under one method; NaN where it is undefined or was not scored."""
    run, model = member
    number = series(run, model, method)
    if number is None:
        return float("nan")
    return float(run.scores(number, metric)[0][_seed(run), run.cube.samples.index(sample)])
