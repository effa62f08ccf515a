"""Maps in a study: a few samples of each cell, and one sample in several variants with the score under each map."""

from collections.abc import Sequence
from types import SimpleNamespace
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.report.gallery import (
    GALLERY,
    GalleryArrays,
    explained,
    image_url,
    make_gallery,
    map_url,
    outline,
    picture,
    read_gallery,
)
from salgen.evaluation.report.grid import Member, read_grid, series
from salgen.evaluation.report.runs import METHOD, LoadedRun
from salgen.evaluation.report.study import Study, StudyCell, Variants

ROWS = 4  # samples of an image grid


def image_grid(row: SimpleNamespace, methods: Sequence[str]) -> SimpleNamespace:
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
    return SimpleNamespace(dataset=row.cell.dataset, model=row.cell.model, gallery=gallery, fault=fault)


def _kept_maps(member: Member) -> GalleryArrays | None:
    """The arrays of a run's gallery; None where there is none, or it is of another model."""
    run, model = member
    path = run.path / GALLERY
    return read_gallery(path) if run.models[0].name == model and path.exists() else None


def _method_numbers(data: GalleryArrays, methods: Sequence[str]) -> dict[str, int]:
    """Method to its index in a gallery, for those that the gallery has."""
    available = data["methods"].tolist()
    return {method: available.index(method) for method in methods if method in available}


def variants_figure(variants: Variants, study: Study, loaded: Sequence[LoadedRun] = ()) -> SimpleNamespace:
    """One sample in the variants of one model, or the `fault` that there is none, and the `means` over all samples.

    The runs are read unless they are among those already `loaded`. Scores of `unmarked` variants rank no method.
    """
    cells = [StudyCell(name, variants.model, (path,)) for name, path in variants.runs.items()]
    means = read_grid(cells, study.methods, study.metric, loaded)
    unmarked = [name for name in variants.runs if not variants.ranks(name)]
    for row in means:
        row.places = {} if row.cell.dataset in unmarked else row.places
    figure = SimpleNamespace(model=variants.model, means=means, unmarked=unmarked, explained="", fault="")
    try:
        vars(figure).update(_with_maps({row.cell.dataset: row.members[0] for row in means}, study))
    except SalgenError as fault:
        figure.fault = str(fault)
    return figure


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


def _with_maps(members: dict[str, Member], study: Study) -> dict[str, object]:
    """The maps of one sample; a method with negative values in any variant has the signed colours."""
    galleries = {name: data for name, member in members.items() if (data := _kept_maps(member)) is not None}
    if len(galleries) < len(members):
        raise SalgenError("a run holds no maps of this model")
    number = _representative(members, galleries, study.metric)
    places = {name: [number_of(str(one)) for one in data["ids"]].index(number) for name, data in galleries.items()}
    shown = {
        name: {method: data["maps"][m, places[name]] for method, m in _method_numbers(data, study.methods).items()}
        for name, data in galleries.items()
    }
    columns = {  # method to whether it has negative values
        method: any((maps[method] < 0).any() for maps in shown.values() if method in maps)
        for method in study.methods
        if any(method in maps for maps in shown.values())
    }
    rows = []
    for name, member in members.items():
        data, place, cells = galleries[name], places[name], []
        sample = str(data["ids"][place])
        for method, signed in columns.items():
            values = shown[name].get(method)
            url = "" if values is None else map_url(values.astype(np.float32), signed)
            cells.append((picture(url, f"{method}, {name}"), _score(member, method, study.metric, sample)))
        row = SimpleNamespace(
            variant=name,
            id=sample,
            image=picture(image_url(data["images"][place]), f"image, {name}", contour=False),
            contour=outline(data["masks"][place]),
            cells=cells,  # for each method its map, and this sample's score; NaN where it is undefined
        )
        rows.append(row)
    height, width = next(iter(galleries.values()))["masks"].shape[1:]
    model = explained(next(iter(members.values()))[0])
    return {"explained": model, "height": height, "width": width, "columns": list(columns.items()), "rows": rows}


def _score(member: Member, method: str, metric: str, sample: str) -> float:
    """One sample's own score under one method; NaN where it is undefined or was not scored."""
    run, model = member
    number = series(run, model, method)
    if number is None:
        return float("nan")
    return float(run.scores(number, metric)[0][_seed(run), run.cube.samples.index(sample)])
