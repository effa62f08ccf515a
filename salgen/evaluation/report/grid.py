"""A study: the mean of one metric for every data set, model and method, which of them stand out, and their maps."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.evaluation.report.formatting import DIGITS
from salgen.evaluation.report.gallery import GALLERY, GalleryArrays, explained, make_gallery, picture, read_gallery
from salgen.evaluation.report.runs import METHOD, LoadedRun, accuracy_of, read_runs
from salgen.evaluation.report.study import Study, StudyCell, Variants
from salgen.evaluation.statistics.jackknife import Estimate, RunScores, mean_estimate
from salgen.types import Float64

CEILING_CALL = "oracle"
CONTROLS = ("random", CEILING_CALL)
MARKED = 3  # the best and the next two
ROWS = 4  # samples of an image grid

Member = tuple[LoadedRun, str]  # a run and the name that it gives the model


@dataclass(frozen=True)
class CellEntry:
    """The scores of one method in a cell, over all its runs."""

    # float64 (n,): of all samples and training seeds, in which a map that failed has the worst value; empty where the
    # method was not scored in all runs of the cell, or is undefined for every sample
    values: Float64
    failed: int = 0  # number of them that are of failed maps
    scores: tuple[RunScores, ...] = ()  # the same of each run

    @cached_property
    def mean(self) -> float:
        """The mean of the values; NaN where it is undefined."""
        return float(self.values.mean()) if self.values.size else float("nan")

    @cached_property
    def estimate(self) -> Estimate:
        """The mean, with what it would be without each cluster and training."""
        return mean_estimate(self.scores)


def cell_entry(
    members: Sequence[Member], call: str, metric: str, counted: NDArray[np.bool_] | None = None
) -> CellEntry:
    """The scores of a method in the runs of a cell, pooled; of one run perhaps those of the `counted` samples alone."""
    numbers = [(run, series(run, model, call)) for run, model in members]
    arrays = [run.scores(number, metric) for run, number in numbers if number is not None]
    if len(arrays) < len(members):
        return CellEntry(np.empty(0))
    if counted is not None:
        arrays = [(value, np.where(counted, worst, np.nan)) for value, worst in arrays]
    value, worst = (np.concatenate([array.ravel() for array in parts]) for parts in zip(*arrays, strict=True))
    defined = np.isfinite(worst)
    if not np.isfinite(value[defined]).any():
        return CellEntry(np.empty(0))
    scores = []
    for (run, model), (_, of_run) in zip(members, arrays, strict=True):
        clusters = np.array([name.removeprefix(f"{run.split}-") for name in run.cube.cluster_names])
        where = run.record.dataset.name, run.split.partition("_")[0], model
        scores.append(RunScores(of_run, clusters[run.cube.clusters], np.array(run.cube.seeds), *where))
    return CellEntry(worst[defined], int((~np.isfinite(value[defined])).sum()), tuple(scores))


def model_in(run: LoadedRun, name: str) -> str:
    """The name of a cell's model in a run: the same, or any name if it is the only model."""
    if name in run.model_names or len(run.model_names) == 1:
        return name if name in run.model_names else run.model_names[0]
    raise SalgenError(f"{run.path} has no scores of model {name!r}: it has {', '.join(run.model_names)}")


def series(run: LoadedRun, model: str, call: str) -> int | None:
    """The index of a method on the first axis of a run's cube; None if the run has no scores of it."""
    return next((i for i, (*named, _) in enumerate(run.cube.series) if named == [model, call]), None)


def read_grid(cells: Sequence[StudyCell], methods: Sequence[str], metric: str) -> list[SimpleNamespace]:
    """A row for each cell under all methods."""
    return [_row(cell, read_runs(cell.runs), methods, metric) for cell in cells]


def grid_estimates(
    cells: Sequence[StudyCell], methods: Sequence[str], metric: str
) -> dict[tuple[str, str], dict[str, Estimate]]:
    """The means that a report's grid shows, in which a failed map is the worst: (data set, model) to method to mean."""
    return {
        (row.cell.dataset, row.cell.model): {method: row.entries[method].estimate for method in methods}
        for row in read_grid(cells, methods, metric)
    }


def _row(cell: StudyCell, runs: Sequence[LoadedRun], methods: Sequence[str], metric: str) -> SimpleNamespace:
    for run in runs:
        if metric not in run.metrics:
            raise SalgenError(f"{run.path} has no scores of {metric}: evaluate it with that metric")
    members = [(run, model_in(run, cell.model)) for run in runs]
    entries = {call: cell_entry(members, call, metric) for call in dict.fromkeys((*methods, *CONTROLS))}
    masks = [run.cube.samples_of(model, metric, run.variant_of(metric)) for run, model in members]
    # the models on the first run's split alone, as another split may be the training data
    trained = [one for run, model in members if run.split == runs[0].split for one in run.trained(model)]
    return SimpleNamespace(
        cell=cell,
        members=members,
        samples=int(sum(scored.any(axis=0).sum() for scored in masks)),
        entries=entries,  # each method's scores, then the controls'
        places=places({method: entries[method].mean for method in methods}, runs[0].higher_is_better[metric]),
        accuracy=accuracy_of(trained),
        splits=list(dict.fromkeys(run.split for run in runs)),
        seeds=len({one.seed for one in trained}),
        fault=next((one.fault for one in trained if one.unlearnt), ""),
        too_few=any(one.too_few for one in trained),
    )


def places(means: dict[str, float], higher_is_better: bool | None) -> dict[str, int]:
    """Method to its place, 1 to 3, by means as printed; empty for a diagnostic, or for a single method."""
    sign = 1 if higher_is_better else -1
    rounded = {method: sign * round(mean, DIGITS) for method, mean in means.items() if np.isfinite(mean)}
    if higher_is_better is None or len(rounded) < 2:
        return {}
    ranks = {method: 1 + sum(better > mean for better in rounded.values()) for method, mean in rounded.items()}
    return {method: rank for method, rank in ranks.items() if rank <= MARKED}


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


def variants_figure(variants: Variants, study: Study) -> SimpleNamespace:
    """One sample in the variants of one model, or the `fault` that there is none, and the `means` over all samples.

    Scores of `unmarked` variants rank no method.
    """
    cells = [StudyCell(name, variants.model, (path,)) for name, path in variants.runs.items()]
    means = read_grid(cells, study.methods, study.metric)
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
