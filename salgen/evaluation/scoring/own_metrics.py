"""Metrics of the user's: functions of (map, mask) and metric classes, given or named by a run's record."""

import math
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from salgen.errors import SalgenError, named
from salgen.evaluation.metrics.inputs.metric import MaskMetric, Metric
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.import_paths import imported, is_import_path, split_name
from salgen.parameters import build, call_text, parse_call, python_value
from salgen.registry import METRICS
from salgen.source_code import import_path, in_words, source_digest
from salgen.types import Mask

EXAMPLE = "my_metrics:mine"


@dataclass(frozen=True, kw_only=True)
class OwnMetric(MaskMetric):
    """A metric of the user's own."""

    regional = False

    name: str = field(compare=False)  # type: ignore[misc]
    reference: str = field(compare=False)  # type: ignore[misc]
    # a function of map float (H, W) and mask bool (H, W); None where a record stands for it, which imports nothing
    function: Callable[[Any, Mask], float] | None = field(default=None, compare=False, repr=False)
    higher_is_better: bool | None = field(default=True, compare=False)  # type: ignore[misc]
    bounds: tuple[float, float] = field(default=(-math.inf, math.inf), compare=False)  # type: ignore[misc]
    family: str = field(default="localization", compare=False)  # type: ignore[misc]
    needs: frozenset[str] = field(default=frozenset({"mask"}), compare=False)  # type: ignore[misc]

    def __call__(self, ranking: Ranking) -> tuple[float, str]:
        """The function's value, or NaN, which counts as the map's fault."""
        assert self.function is not None
        try:
            value = float(self.function(ranking.saliency.copy(), ranking.mask.copy()))
        except Exception as error:  # a user's function may fail in any way
            raise SalgenError(f"metric {self.name!r} failed: {named(error)}") from error
        return (value, "") if math.isfinite(value) else (math.nan, "undefined")


@dataclass(frozen=True, kw_only=True)
class MetricRecord:
    """A metric that is not salgen's, or has another name than salgen's, in ``run.json``."""

    call: str  # its name in the tables
    stands_for: str | None  # the metric of salgen that it is, with its parameters; None of the user's own
    reference: str
    family: str
    needs: list[str]
    higher_is_better: bool | None
    bounds: list[float | None]  # None where there is none
    import_path: str | None  # ``module:name``, perhaps with parameters; None if an import does not give it
    sha256: str | None  # digest of its source

    @classmethod
    def of(cls, call: str, metric: Metric) -> "MetricRecord":
        """The record of a run's metric."""
        reference, path, digest = origin_of(metric) if is_own(metric) else (metric.reference, None, None)
        return cls(
            call=call,
            stands_for=None if is_own(metric) else call_text(metric),
            reference=reference,
            family=metric.family,
            needs=sorted(metric.needs),
            higher_is_better=metric.higher_is_better,
            bounds=[bound if math.isfinite(bound) else None for bound in metric.bounds],
            import_path=path,
            sha256=digest,
        )

    @property
    def declared(self) -> OwnMetric:
        """The metric without its code."""
        low, high = ((-math.inf, math.inf)[i] if bound is None else bound for i, bound in enumerate(self.bounds))
        return OwnMetric(
            name=self.call,
            reference=self.reference,
            higher_is_better=self.higher_is_better,
            bounds=(low, high),
            family=self.family,
            needs=frozenset(self.needs),
        )

    @property
    def key(self) -> str:
        """A text that differs wherever values may; a random one where that cannot be told."""
        known = self.stands_for or (self.import_path and self.sha256)
        return f"{self.stands_for} {self.import_path} {self.sha256}" if known else uuid.uuid4().hex


def metric_records(metrics: Mapping[str, Metric]) -> list[MetricRecord]:
    """The records of a run's metrics that are not salgen's under salgen's names."""
    own = {call: m for call, m in metrics.items() if parse_call(call)[0] not in (m.name, *m.aliases) or is_own(m)}
    return [MetricRecord.of(call, metric) for call, metric in own.items()]


def check_metrics_importable(metrics: Mapping[str, Metric]) -> None:
    """Raise a SalgenError if workers of Ray cannot import a metric."""
    for record in metric_records(metrics):
        if not (record.stands_for or record.import_path):
            raise SalgenError(f"metric {record.call!r}: workers cannot import {record.reference}; write {EXAMPLE}")


def is_own(metric: Metric) -> bool:
    """True of a metric that is not salgen's, nor of an installed plug-in."""
    return metric.name not in METRICS.entries or type(metric) is not METRICS.load(metric.name)


def is_path(text: str) -> bool:
    """True of ``[NAME=]package.module:name``."""
    _, call = split_name(text)
    return call.partition(":")[0] not in METRICS.entries and is_import_path(call)


def origin_of(metric: Metric) -> tuple[str, str | None, str | None]:
    """Where a metric of the user's is from: in words, its import path, and the SHA-256 of its source."""
    thing: Any = metric.function if isinstance(metric, OwnMetric) else type(metric)
    stated = thing.keywords if isinstance(thing, partial) and not thing.args else {}
    thing = thing.func if stated else thing
    path, digest = import_path(thing), source_digest(thing)
    if path is None or path.startswith("__main__:"):
        return f"{in_words(thing)}, not re-runnable", None, digest
    path += "".join(f":{key}={value}" for key, value in stated.items())
    return path, path, digest


def own_metric(given: Any) -> tuple[str, Metric]:
    """The name and the metric of a function, a metric class's instance, or ``"[NAME=]package.module:name"`` of one."""
    thing, name = given, None
    values: dict[str, str] = {}
    if isinstance(given, str):
        name, given = split_name(given)
        module, _, rest = given.partition(":")
        attribute, values = parse_call(rest)
        thing = imported(f"{module}:{attribute}", "metric", EXAMPLE)
        if isinstance(thing, type) and hasattr(thing, "needs"):
            thing = build(thing, values)
    if isinstance(thing, type) or not (hasattr(thing, "needs") or callable(thing)):
        raise SalgenError(f"{given!r} is not a metric: give a name, a metric instance or a function of (map, mask)")
    if hasattr(thing, "needs"):
        return name or call_text(thing), thing
    inner = thing.func if isinstance(thing, partial) else thing
    declared = {key: getattr(inner, key) for key in ("higher_is_better", "bounds") if hasattr(inner, key)}
    if values:
        thing = partial(thing, **{key: python_value(text) for key, text in values.items()})
    call = str(name or (rest if isinstance(given, str) else getattr(inner, "__name__", type(inner).__name__)))
    metric = OwnMetric(name=call, reference="", function=thing, **declared)
    return call, replace(metric, reference=origin_of(metric)[0])
