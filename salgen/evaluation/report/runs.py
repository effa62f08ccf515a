"""Run folders as the report reads them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError
from salgen.evaluation.score_cube import ScoreCube, read_scores
from salgen.evaluation.statistics import near_chance
from salgen.evaluation.summary import ALL_SEEDS, SummaryRow, summarise
from salgen.parameters import parse_call
from salgen.registry import METRICS

RECORD = "run.json"
METHOD, CEILING, FLOOR = "method", "ceiling", "floor"

Key = tuple[str, str]  # a method's call and the reduction of its maps


@dataclass(frozen=True)
class Model:
    """A trained model: how well it does on the run's split, and what guessing would do."""

    name: str
    seed: int
    accuracy: float
    count: int
    chance: float

    @property
    def near_chance(self) -> bool:
        """Whether its maps mean nothing."""
        return near_chance(self.accuracy, self.count, self.chance)


@dataclass(frozen=True)
class Run:
    """A run folder.

    Attributes
    ----------
    label
        What the page calls it: the data set's name, with the folder's where two runs share it.
    record
        What ``run.json`` holds.
    higher_is_better
        For each metric.
    """

    path: Path
    label: str
    record: Mapping[str, Any]
    cube: ScoreCube
    rows: list[SummaryRow]
    higher_is_better: Mapping[str, bool]

    @cached_property
    def models(self) -> list[Model]:
        """The trained models, one for each training seed."""
        return [
            Model(m["name"], m["seed"], float(m["accuracy"]), int(m["n_images"]), float(m["chance"]))
            for m in self.record["models"]
        ]

    @property
    def split(self) -> str:
        """The split that was evaluated."""
        return str(self.record["dataset"]["split"])

    @cached_property
    def notes(self) -> list[str]:
        """What the data set's source says of itself."""
        notes = self.record.get("notes") or []
        return [notes] if isinstance(notes, str) else list(notes)

    @cached_property
    def model_names(self) -> list[str]:
        """The architectures that have scores."""
        return list(dict.fromkeys(model for model, _, _ in self.cube.series))

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that have scores, in the run's order; the first is the headline."""
        return [name for name in self.record["metrics"] if name in self.cube.metrics]

    @cached_property
    def variants(self) -> list[str]:
        """The variants that have scores, the headline first."""
        headline = self.record["headline_variant"]
        return sorted(self.cube.variants, key=lambda variant: variant != headline)

    @cached_property
    def methods(self) -> dict[str, Mapping[str, Any]]:
        """What ``run.json`` says of each method, by its call."""
        return {method["call"]: method for method in self.record["methods"]}

    def trained(self, model: str) -> list[Model]:
        """The trainings of one architecture."""
        return [trained for trained in self.models if trained.name == model]

    def role(self, call: str) -> str:
        """Whether a method is under test, a floor or a ceiling."""
        if not self.methods[call]["control"]:
            return METHOD
        return CEILING if self.methods[call]["name"].startswith("oracle") else FLOOR

    def keys(self, model: str) -> list[Key]:
        """The methods that have scores for a model."""
        return [(call, reduction) for name, call, reduction in self.cube.series if name == model]

    def missing(self, model: str) -> int:
        """How many scores of a model are not there at all, as opposed to undefined."""
        scored = self.cube.scored[self.cube.members(model)][:, :, :, self.cube.seeds_of(model)]
        return int((~scored & scored.any(axis=(0, 1, 2, 3))).sum())

    def method_label(self, model: str, key: Key) -> str:
        """The method's call, with the reduction where one call was reduced in several ways."""
        several = Counter(call for call, _ in self.keys(model))[key[0]] > 1
        return f"{key[0]} [{key[1]}]" if several else key[0]

    def row(self, model: str, key: Key, metric: str, variant: str, seed: str = ALL_SEEDS) -> SummaryRow:
        """The summary of one method's scores."""
        return self._rows[model, *key, metric, variant, seed]

    @cached_property
    def _rows(self) -> dict[tuple[str, ...], SummaryRow]:
        return {(r.model, r.method, r.reduction, r.metric, r.variant, r.training_seed): r for r in self.rows}


@contextmanager
def content_faults(paths: Sequence[Path | str]) -> Iterator[None]:
    """Turn what strange content of run files leads to into one line that names the runs.

    Files are checked as they are read; whatever passes those checks and still cannot be a run's, such as
    a number where a list belongs, is caught here.
    """
    from jinja2 import TemplateError

    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, TemplateError) as error:
        names = ", ".join(map(str, paths))
        raise SalgenError(
            f"a file of {names} holds what `salgen evaluate` does not write ({type(error).__name__}: {error}): "
            "evaluate again"
        ) from error


def read_runs(paths: Sequence[Path | str]) -> list[Run]:
    """Read run folders, with a label of its own for each.

    Raises
    ------
    SalgenError
        If no folder is given, or a file of a run is missing, damaged or incomplete.
    """
    if not paths:
        raise SalgenError("no run folder was given: name at least one that `salgen evaluate` wrote")
    runs = [_read_run(Path(path)) for path in paths]
    shared = Counter(run.label for run in runs)
    return [replace(run, label=f"{run.label} ({run.path.name})") if shared[run.label] > 1 else run for run in runs]


def _read_run(path: Path) -> Run:
    if not path.is_dir():
        raise SalgenError(f"{path} is not a run folder: name one that `salgen evaluate` wrote")
    record = _read_record(path / RECORD)
    cube = read_scores(path)
    unknown = [call for _, call, _ in cube.series if call not in {m["call"] for m in record["methods"]}]
    if unknown:
        raise SalgenError(f"{path / RECORD} says nothing of method {unknown[0]!r}, which has scores: evaluate again")
    if not set(record["metrics"]) & set(cube.metrics):
        raise SalgenError(f"{path / RECORD} names no metric that has scores: evaluate again")
    better = {metric: _higher_is_better(metric) for metric in record["metrics"]}
    return Run(path, record["dataset"]["name"], record, cube, summarise(cube), better)


REQUIRED: Mapping[str, tuple[str, ...]] = {
    "dataset": ("name", "fingerprint", "split", "tasks", "image_size"),
    "models": ("name", "seed", "accuracy", "n_images", "chance"),
    "methods": ("call", "name", "reference", "reduction", "signed", "native_resolution", "seconds", "control"),
    "samples": ("split_total", "considered", "with_mask", "without_mask"),
}


def _read_record(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise SalgenError(
            f"{path} is missing: {path.parent} is not a run folder, or `salgen evaluate` has not finished"
        )
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SalgenError(f"{path} is not JSON ({error}): evaluate again") from None
    for entry in ("salgen", "created", "versions", "device", "metrics", "headline_variant", *REQUIRED):
        _require(path, record, entry, entry)
    for entry, keys in REQUIRED.items():
        for item in record[entry] if isinstance(record[entry], list) else [record[entry]]:
            for key in keys:
                _require(path, item, key, f"{entry}.{key}")
    return dict(record)


def _require(path: Path, item: Any, key: str, name: str) -> None:
    if not isinstance(item, dict) or key not in item:
        raise SalgenError(f"{path} has no entry {name!r}: evaluate again with this version")


def _higher_is_better(metric: str) -> bool:
    return bool(METRICS.load(parse_call(metric)[0]).higher_is_better)
