"""A paper's protocol as data, and the engine by which `salgen reproduce` runs it."""

import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple
import torch
from salgen.datasets.execution.executors import processors
from salgen.datasets.execution.pool import side_by_side
from salgen.datasets.making import make
from salgen.datasets.preview.contact_sheet import contact_sheet
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, SalgenWarning, unknown_name, warn
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.models.inspection.batch_size import memory_budget
from salgen.evaluation.protocols.claims import Claim, judge
from salgen.evaluation.protocols.paper_table import PaperTable, Place, RunFolders
from salgen.evaluation.report import report
from salgen.evaluation.report.study import Finding, Study, StudyCell, StudyTable, Variants
from salgen.evaluation.runs.running import evaluate
from salgen.generators.factory import generator, plugin_class
from salgen.generators.interfaces import Redrawable
from salgen.parameters import param
from salgen.progress import labelled
from salgen.registry import MODELS

Networks = Mapping[str, tuple[str, ...]]  # scale to the models that are trained
OUT = "{out}"  # in the texts of a protocol: the folder of the study
ADAM: Mapping[str, Any] = {  # without weight decay AdamW is Adam; no stop but that of the epochs
    "optimiser": "adamw",
    "weight_decay": 0.0,
    "schedule": "constant",
    "stop_loss": None,
    "patience": None,
}


class Reproduction(NamedTuple):
    """Result of a protocol: the run folders, the report, the paper's tables with this study's means, and its claims."""

    runs: list[Path]
    page: Path
    tables: tuple[StudyTable, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Experiment:
    """One evaluation, which is run for each network on each of its data sets."""

    name: str
    datasets: Sequence[str]
    methods: Sequence[str]
    # further arguments of `salgen.evaluate`; ``metrics`` default to those that the paper's tables take from this
    # experiment
    arguments: Mapping[str, Any]
    splits: Sequence[str] = ("test",)  # with a run each; those that the data set lacks are skipped
    # the experiment whose networks are scored; by default they are trained, in the first split's run
    trained_in: str = ""
    folder: str = "runs/{data}{split}-{model}"
    networks: Sequence[str] = ()  # the networks that take part; by default all of the data set
    first_only: bool = False  # whether only the first network on the first data set is scored
    extra_methods: bool = True  # whether the user's own methods are added


@dataclass(frozen=True)
class Cell:
    """One network on one data set. Cells run in any order, but for those that take another one's network."""

    data: Path
    model: str
    experiments: Sequence[Experiment]
    extra_methods: Sequence[str]
    options: Mapping[str, Any]  # for `salgen.evaluate`
    reliance: bool  # whether the network is trained for reliance


@dataclass(frozen=True)
class Protocol(ABC):
    """A paper's experiments, tables and claims."""

    name: ClassVar[str]
    reference: ClassVar[str]
    methods: ClassVar[tuple[str, ...]]
    networks: ClassVar[Networks]
    title: ClassVar[str] = ""  # title of the page's section with the tables and claims, if there are any
    metric: ClassVar[str] = ""  # the metric of a grid of data sets and networks
    cells: ClassVar[str] = ""  # the experiment whose runs are the grid's cells
    variants: ClassVar[str] = ""  # the experiment whose splits, such as ``test_moved``, show one sample in variants
    marked: ClassVar[frozenset[str]] = frozenset()  # the variants whose scores rank methods
    tables: ClassVar[tuple[PaperTable, ...]] = ()
    claims: ClassVar[tuple[Claim, ...]] = ()
    notes: ClassVar[tuple[str, ...]] = ()
    papers: ClassVar[tuple[str, ...]] = ()  # the paper's data sets in whose place others may be drawn

    seed: int = param(0, "seed of the data sets and of the methods' randomness", low=0)

    def __post_init__(self) -> None:
        for name, value in ((f.name, getattr(self, f.name)) for f in fields(self)):
            if isinstance(value, tuple) and len(set(value)) < len(value):
                raise SalgenError(f"{self.name}: {name} = {','.join(map(str, value))}: name each once")

    @abstractmethod
    def datasets(self) -> Mapping[str, Mapping[str, Any]]:
        """The data sets in order, with arguments of `make`; ``{out}`` in a source is the study's folder."""

    @abstractmethod
    def experiments(self, scale: str) -> Sequence[Experiment]:
        """All experiments, in the report's order."""

    def stand_ins(self) -> Sequence[str]:
        """The data sets that are drawn in place of the paper's: whose `source` could be a user's own copy."""
        return [name for name, how in self.datasets().items() if how.get("source", name) is None]

    def in_place_of(self, dataset: str) -> str:
        """The paper's name of a data set, by which claims call it: that of the one that a stand-in is for."""
        return {stand_in_of(name): name for name in self.papers}.get(dataset, dataset)

    def networks_on(self, dataset: str, scale: str) -> Sequence[str]:
        """The networks that are evaluated on a data set: by the parameter `models` where there is one, or the scale."""
        return getattr(self, "models", ()) or self.networks[scale]

    def methods_for(self, model: str, experiment: Experiment, scale: str) -> Sequence[str]:
        """The methods of an experiment, as calls, for one network."""
        return experiment.methods

    def trained_network(self, dataset: str, model: str) -> str | None:
        """A network as ``package.module:function``, or a designed one, if it is not trained; ``{out}`` as above."""
        return None

    def settings(self, dataset: str, model: str, scale: str) -> Mapping[str, Any] | None:
        """Training settings of a network, or None for its defaults."""
        return None

    def filled_tables(self, runs: RunFolders, scale: str) -> tuple[StudyTable, ...]:
        """The paper's tables with this study's means."""
        return tuple(table.filled(runs, scale) for table in self.tables)

    def check(self, scale: str, extra_methods: Sequence[str]) -> None:
        """Raise a SalgenError for mistakes that would otherwise show after hours of work."""
        calls = [call for experiment in self.experiments(scale) for call in experiment.methods]
        select_methods([*calls, *extra_methods], scale)
        for dataset, how in self.datasets().items():
            for model in self.networks_on(dataset, scale):
                MODELS.load(model)
            if how.get("source") is not None and OUT not in how["source"]:
                generator(how.get("name", dataset), how["source"], scale)

    def run(
        self,
        out: Path,
        scale: str,
        extra_methods: Sequence[str] = (),
        max_memory: float | None = None,
        replace: bool = False,
        reliance: Sequence[str] = (),
    ) -> Reproduction:
        """Make the data sets, train, explain and score, and write ``report.html``.

        Finished parts are kept, unless they are to be replaced. On the data sets named by `reliance` every network is
        trained for reliance too, in folders whose names say so. The paper's tables and claims are of its own training.
        """
        self.check(scale, extra_methods)
        for name in reliance:
            if name not in self.datasets():
                raise unknown_name(f"data set of {self.name}", name, self.datasets())
        common = {"scale": scale, "seed": self.seed, "max_memory": max_memory, "replace": replace}
        experiments = self.experiments(scale)
        cells: list[Cell] = []
        seen: set[str] = set()
        for dataset, how in self.datasets().items():
            given = {"source": how["source"].replace(OUT, str(out))} if how.get("source") else {}
            arguments = {"name": dataset, **how, **given}
            data = make(**arguments, out=out / dataset, scale=scale, seed=self.seed)
            _show(data, out / f"{dataset}-sheet.png")
            options = {**common, **(given if issubclass(plugin_class(arguments["name"]), Redrawable) else {})}
            for model in self.networks_on(dataset, scale):
                taking_part = [
                    experiment
                    for experiment in experiments
                    if dataset in experiment.datasets and model in (experiment.networks or (model,))
                    if not (experiment.first_only and experiment.name in seen)
                ]
                seen |= {experiment.name for experiment in taking_part}
                for trained_so in (False, True):
                    if not trained_so or (dataset in reliance and self.trained_network(dataset, model) is None):
                        cells.append(Cell(data, model, taking_part, extra_methods, options, trained_so))
        # these take a network that another cell trains
        waiting = [cell for cell in cells if OUT in (self.trained_network(cell.data.name, cell.model) or "")]
        own = [cell for cell in cells if cell not in waiting]
        found = [*self._run_cells(out, own, max_memory), *self._run_cells(out, waiting, max_memory)]
        done = list(zip([*own, *waiting], found, strict=True))
        runs, reliant = (
            RunFolders(out, [place for cell, places in done for place in places if cell.reliance is trained_so])
            for trained_so in (False, True)
        )
        study = self._study(runs, scale) if self.title else None
        reported = dict.fromkeys(e.name for e in experiments if e.name != self.variants)
        by_split = [splits for kind in (runs, reliant) for name in reported for splits in kind.of(name).values()]
        folders = [folder for splits in by_split for folder in splits.values()]
        page = report(folders, out / "report.html", study=study)
        return Reproduction(folders, page, *((study.tables, study.findings) if study else ()))

    def _run_cells(self, out: Path, cells: Sequence[Cell], max_memory: float | None) -> list[list[Place]]:
        """The runs of each cell: one after the other on a GPU, else in a process for each processor."""
        at_once = 1 if torch.cuda.is_available() else min(len(cells), processors())
        if at_once < 2:
            return [self.run_cell(out, cell) for cell in cells]
        share = memory_budget(torch.device("cpu"), max_memory) / 1e9 / at_once
        cells = [replace(cell, options={**cell.options, "max_memory": share}) for cell in cells]
        found: dict[int, list[Place]] = {}
        work = partial(_run_beside_others, self, out, cells)
        for number, (places, told) in side_by_side(work, range(len(cells)), at_once, processors() // at_once):
            found[number] = places
            for text in told:
                warn(text)
        return [found[number] for number in range(len(cells))]

    def run_cell(self, out: Path, cell: Cell) -> list[Place]:
        """Run the experiments of one network on one data set, once for each split."""
        rows = [(table, row) for table in self.tables for row in table.rows]
        splits, scale = open_dataset(cell.data).spec.splits, cell.options["scale"]
        given, places = self.trained_network(cell.data.name, cell.model), list[Place]()
        runs = RunFolders(out, places)
        for experiment in cell.experiments:
            metrics = [row.metric for table, row in rows if experiment.name == (row.experiment or table.experiment)]
            extra = cell.extra_methods if experiment.extra_methods else ()
            for split in (split for split in experiment.splits if split in splits):
                earlier = runs.of(experiment.trained_in or experiment.name).get((cell.data.name, cell.model), {})
                trained = list(earlier.values())
                if given is not None:
                    subject: str | Path = given.replace(OUT, str(out))
                else:
                    subject = trained[0] / f"{cell.model}-seed0" if trained else cell.model
                is_trained = given is None and subject == cell.model
                part = split.removeprefix("test").removeprefix("_")
                folder = experiment.folder.format(
                    data=cell.data.name, model=cell.model, split=f"-{part}" if part else ""
                )
                run = evaluate(
                    cell.data,
                    model=subject,
                    methods=[*self.methods_for(cell.model, experiment, scale), *extra],
                    settings=self.settings(cell.data.name, cell.model, scale) if is_trained else None,
                    reliance=cell.reliance if is_trained else None,
                    split=split,
                    out=out / (f"{folder}-reliance" if cell.reliance else folder),
                    **{"metrics": metrics or None, **experiment.arguments, **cell.options},
                )
                places.append((experiment.name, cell.data.name, cell.model, split, run))
        return places

    def _study(self, runs: RunFolders, scale: str) -> Study:
        """The tables, figures and judged claims of finished runs."""
        papers = {name: self.in_place_of(name) for name in self.stand_ins()}
        stand_ins = ", ".join(name if name == paper else f"{name} for {paper}" for name, paper in papers.items())
        drawn = [f"Drawn stand-ins, not the paper's images: {stand_ins}."] if stand_ins else []
        study = Study(
            title=self.title,
            reference=self.reference,
            metric=self.metric,
            methods=tuple(select_methods(self.methods, scale).named),
            cells=tuple(StudyCell(*place, tuple(splits.values())) for place, splits in runs.of(self.cells).items()),
            variants=tuple(
                Variants(model, {name.removeprefix("test_"): run for name, run in splits.items()}, self.marked)
                for (_, model), splits in runs.of(self.variants).items()
            ),
            tables=self.filled_tables(runs, scale),
            notes=(*drawn, *self.notes),
        )
        as_in_paper = [replace(cell, dataset=self.in_place_of(cell.dataset)) for cell in study.cells]
        return replace(study, findings=judge(self.claims, replace(study, cells=tuple(as_in_paper))))


def _show(data: Path, sheet: Path) -> None:
    """Draw a contact sheet and say so, unless there is one."""
    if not sheet.exists():
        contact_sheet(data).save(sheet)
        print(f"{sheet} shows samples of {data.name} with their masks", file=sys.stderr, flush=True)


def _run_beside_others(
    protocol: Protocol, out: Path, cells: Sequence[Cell], number: int
) -> tuple[list[Place], list[str]]:
    """The runs of a cell in a process of its own, and what it warns of."""
    cell = cells[number]
    name = f"{cell.data.name} {cell.model}{' for reliance' if cell.reliance else ''}"
    with labelled(name), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SalgenWarning)
        places = protocol.run_cell(out, cell)
    return places, [f"{name}: {warning.message}" for warning in caught if issubclass(warning.category, SalgenWarning)]


def stand_in_of(dataset: str) -> str:
    """The generator that draws images in place of a data set."""
    return str(plugin_class(dataset).stand_in)
