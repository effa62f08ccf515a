"""A paper's table: its printed numbers, and the means of this study's runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple
import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.report.grid import cell_entry, model_in
from salgen.evaluation.report.runs import LoadedRun, read_runs
from salgen.evaluation.report.study import StudyTable, TableRow
from salgen.evaluation.runs.artifacts.predictions import FILE
from salgen.evaluation.statistics.jackknife import Estimate, averaged
from salgen.parameters import parse_call

Place = tuple[str, str, str, str, Path]  # experiment, data set, network, split, run folder


class RunFolders(NamedTuple):
    """The run folders of a protocol, below the folder `out`."""

    out: Path
    places: Sequence[Place]

    def of(self, experiment: str) -> dict[tuple[str, str], dict[str, Path]]:
        """(data set, network) to split to run folder; empty where there are none."""
        found: dict[tuple[str, str], dict[str, Path]] = {}
        for name, dataset, model, split, folder in self.places:
            if name == experiment:
                found.setdefault((dataset, model), {})[split] = folder
        return found


class Row(NamedTuple):
    """A row of a paper's table."""

    label: str
    metric: str  # the metric's call
    # the numbers that the paper prints, one for each of the table's methods; one such text for each of its networks
    printed: Sequence[str] = ()
    experiment: str = ""  # the experiment of its scores, if not the table's
    # whether only one sample counts of each image: that of the class that the model finds likeliest
    likeliest_class: bool = False
    otherwise: str = ""  # the experiment for methods that the row's experiment does not have


@dataclass(frozen=True)
class PaperTable:
    """A table of a paper."""

    title: str
    caption: str
    experiment: str  # the experiment of its scores
    methods: Sequence[str]  # the columns, as calls
    rows: Sequence[Row]
    # the paper's networks, if it has rows for each; else means are over data sets and networks
    networks: Sequence[str] = ()

    def filled(self, runs: RunFolders, scale: str) -> StudyTable:
        """The table with the means of this study, in which a map that failed counts as the worst."""
        calls = tuple(select_methods(self.methods, scale).named)
        networks = dict.fromkeys(model for _, model in runs.of(self.experiment)) if self.networks else ("",)
        read = cache(lambda folder: read_runs([folder])[0])
        rows = tuple(self._filled(row, network, calls, runs, read) for network in networks for row in self.rows)
        return StudyTable(self.title, self.caption, calls, rows)

    def _filled(
        self, row: Row, network: str, calls: Sequence[str], runs: RunFolders, read: Callable[[Path], LoadedRun]
    ) -> TableRow:
        estimates: dict[str, list[Estimate]] = {call: [] for call in calls}
        experiments = [row.experiment or self.experiment, *([row.otherwise] if row.otherwise else [])]
        for dataset, model in runs.of(experiments[0]):
            if network in ("", model):
                found = [read(runs.of(experiment)[dataset, model]["test"]) for experiment in experiments]
                for call in calls:
                    run, own = _run_with(call, found)
                    metric = _call_in(run, row.metric)
                    counted = likeliest_class(run, runs.out / dataset) if row.likeliest_class else None
                    estimates[call].append(cell_entry([(run, model_in(run, model))], own, metric, counted).estimate)
        texts = dict(zip(self.networks, row.printed, strict=False))
        columns = zip(*(text.split() for text in ([texts[network]] if network in texts else row.printed)), strict=True)
        printed = [" / ".join(numbers).replace("-", "\N{MINUS SIGN}") for numbers in columns]
        return TableRow(
            label=row.label,
            estimates={call: averaged(of_cells) for call, of_cells in estimates.items()},
            printed=dict(zip(calls, printed, strict=False)),
            higher_is_better=run.higher_is_better[metric],
            network=network,
        )


def _run_with(call: str, runs: Sequence[LoadedRun]) -> tuple[LoadedRun, str]:
    """The first run with a method, or else the first, and its call there, which may have other parameters."""
    for run in runs:
        calls = [own for _, own, _ in run.cube.series]
        for own in calls:
            if own == call or (call not in calls and parse_call(own)[0] == parse_call(call)[0]):
                return run, own
    return runs[0], call


def _call_in(run: LoadedRun, metric: str) -> str:
    """The call of a metric in a run, which may have further parameters from the scale."""
    if metric in run.cube.metrics:  # ``g-cf`` is not ``g-cf:of=paired``
        return metric
    name, stated = parse_call(metric)
    parsed = {call: parse_call(call) for call in run.cube.metrics}
    return next(call for call, (own, all_of) in parsed.items() if own == name and stated.items() <= all_of.items())


def likeliest_class(run: LoadedRun, data: Path) -> NDArray[np.bool_]:
    """Bool (S, N) over a run's seeds and samples: True for each image's sample of the class likeliest to that model."""
    dataset, table = open_dataset(data, run.split), pq.read_table(run.path / FILE).to_pandas()
    table = table[table["sample_id"].isin(run.cube.samples)]
    own = [probabilities[label] for label, probabilities in zip(table["label"], table["probabilities"], strict=True)]
    images = dict(zip(dataset.ids, dataset.column("image"), strict=True))
    table = table.assign(own=own, image=table["sample_id"].map(images)).sort_values(["own", "sample_id"])
    last = table.drop_duplicates(["training_seed", "image"], keep="last")
    kept = set(zip(last["training_seed"], last["sample_id"], strict=True))
    return np.array([[(seed, name) in kept for name in run.cube.samples] for seed in run.cube.seeds])
