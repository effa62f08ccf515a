"""Maps in a study: a few samples of each cell, and one sample in several variants with the score under each map."""

from collections.abc import Sequence
from types import SimpleNamespace
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.report.gallery import GALLERY, GalleryArrays, explained, make_gallery, picture, read_gallery
from salgen.evaluation.report.grid import Member, read_grid, series
from salgen.evaluation.report.runs import METHOD, LoadedRun
from salgen.evaluation.report.study import Study, StudyCell, Variants

ROWS = 4  # samples of an image grid


def image_grid(row: SimpleNamespace, methods: Sequence[str]) -> SimpleNamespace:
    """The first samples with a mask, their classes alternating, from the first run of a cell that has some."""
    gallery, fault = None, "its runs hold none"
    try:
        for member in row.members:
            data = _kept_maps(member)
            if data is not None and data["masks"].any():
                labels, masked = data["labels"], np.flatnonzero(data["masks"].any(axis=(1, 2)))
                order = sorted(masked.tolist(), key=lambda i: int((labels[masked[masked < i]] == labels[i]).sum()))
                gallery, fault = _gallery(member[0], data, methods, order[:ROWS]), ""
                break
    except SalgenError as error:
        fault = str(error)
    return SimpleNamespace(dataset=row.cell.dataset, model=row.cell.model, gallery=gallery, fault=fault)


def _kept_maps(member: Member) -> GalleryArrays | None:
    """The arrays of a run's gallery; None where there is none, or it is of another model."""
    run, model = member
    path = run.path / GALLERY
    return read_gallery(path) if run.models[0].name == model and path.exists() else None


def _gallery(run: LoadedRun, data: GalleryArrays, methods: Sequence[str], samples: Sequence[int]) -> SimpleNamespace:
    columns = [(method, METHOD) for method in methods if method in data["methods"].tolist()]
    return make_gallery(run.label, explained(run), data, columns, samples)


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
    return str(sample).rpartition("-")[2]


def _with_maps(members: dict[str, Member], study: Study) -> dict[str, object]:
    """The maps of the first sample that was scored, and whose maps were kept, in all variants."""
    data = {name: arrays for name, member in members.items() if (arrays := _kept_maps(member)) is not None}
    if len(data) < len(members):
        raise SalgenError("a run holds no maps of this model")
    ids = {name: list(map(number_of, arrays["ids"])) for name, arrays in data.items()}
    common = [set(of_variant) for of_variant in ids.values()]
    for run, model in members.values():
        present = run.cube.samples_of(model, study.metric, run.variant_of(study.metric))[_seed(run)]
        common.append({number_of(run.cube.samples[i]) for i in np.flatnonzero(present)})
    if not (numbers := set.intersection(*common)):
        raise SalgenError("no sample was kept and scored in all variants")
    shown = {
        name: _gallery(run, data[name], study.methods, [ids[name].index(min(numbers))])
        for name, (run, _) in members.items()
    }
    signed = {method: sign for one in shown.values() for method, _, sign in one.columns}
    rows = []
    for name, one in shown.items():
        (row,), known = one.rows, [method for method, _, _ in one.columns]
        image, _, *maps = row.pictures
        of_methods = dict(zip(known, maps, strict=True))
        row.variant, row.image = name, image
        row.cells = [  # for each method its map, and this sample's score; NaN where it is undefined
            (of_methods.get(method, picture("", method)), _score(members[name], method, study.metric, row.id))
            for method in signed
        ]
        rows.append(row)
    first = next(iter(shown.values()))
    size = {"explained": first.model, "height": first.height, "width": first.width}
    return {**size, "columns": list(signed.items()), "rows": rows}


def _seed(run: LoadedRun) -> int:
    """The index on the seed axis of the training whose maps are kept."""
    return run.cube.seeds.index(run.models[0].seed)


def _score(member: Member, method: str, metric: str, sample: str) -> float:
    """One sample's own score under one method; NaN where it is undefined or was not scored."""
    run, model = member
    number = series(run, model, method)
    if number is None:
        return float("nan")
    return float(run.scores(number, metric)[0][_seed(run), run.cube.samples.index(sample)])
