"""`run.json`: how a run was made, on what, and how long it took; written, read and checked here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from salgen.datasets.format.manifest import RUN
from salgen.errors import SalgenError, reason
from salgen.evaluation.scoring.metric_selection import remember
from salgen.evaluation.scoring.own_metrics import MetricRecord
from salgen.evaluation.statistics.accuracy import accuracy_interval, near_chance, too_few_to_tell
from salgen.files import strict_json, write_text
from salgen.parameters import parse_call
from salgen.registry import METHODS
from salgen.typed_json import from_json

RECORD = RUN
CHUNK = 64  # samples that are read, explained and scored together


@dataclass(frozen=True, kw_only=True)
class DatasetRecord:
    """The split that was evaluated."""

    name: str
    fingerprint: str
    generator: str | None = None
    split: str
    image_size: list[int]
    tasks: dict[str, list[str]]
    multi_label: list[str] = field(default_factory=list)
    source: str | None = None
    valid_region: str | None = None
    redistributable: bool | None = None

    @property
    def class_names(self) -> list[str]:
        """The classes of the default task."""
        return next(iter(self.tasks.values()))


@dataclass(frozen=True, kw_only=True)
class ModelOrigin:
    """Where a model is from."""

    name: str
    seed: int
    checkpoint: str | None = None
    trained_on: dict[str, str] | None = None
    settings: dict[str, Any] | None = None
    training_seconds: float | None = None


@dataclass(frozen=True, kw_only=True)
class ModelRecord(ModelOrigin):
    """An evaluated model, its accuracy on the split, and that of guessing."""

    accuracy: float  # the share of images that it classifies correctly
    n_images: int
    chance: float
    weights_sha256: str = ""
    patterns: dict[str, int] | None = None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of its accuracy."""
        return accuracy_interval(self.accuracy, self.n_images)

    @property
    def unlearnt(self) -> bool:
        """True if its accuracy is less than halfway from chance to 1, so that no method can be judged by its maps."""
        return near_chance(self.accuracy, self.chance)

    @property
    def fault(self) -> str:
        """The accuracy of an `unlearnt` model in words: near chance only where its interval holds chance."""
        low, high = self.interval
        if low > self.chance:
            return "above chance, but less than halfway to 100\N{NO-BREAK SPACE}%"
        return "below chance" if high < self.chance else "near chance"

    @property
    def worth(self) -> str:
        """What the maps of an `unlearnt` model are worth, in words."""
        return "little" if self.interval[0] > self.chance else "nothing"

    @property
    def too_few(self) -> bool:
        """True if it seems to have learnt the task, but on too few images to tell."""
        return too_few_to_tell(self.accuracy, self.n_images, self.chance)


@dataclass(frozen=True, kw_only=True)
class PairedModelRecord(ModelOrigin):
    """The second model for a training seed; its accuracy is known only from a checkpoint."""

    task: str | None = None
    accuracy: float | None = None
    n_images: int | None = None
    chance: float | None = None


@dataclass(frozen=True, kw_only=True)
class ForeignRecord:
    """Where a method that is not salgen's is from."""

    import_path: str | None  # ``module:name``; None if it cannot be run again from what is recorded
    parameters: dict[str, Any]  # what it was called or made with
    library: str | None  # the distribution that it is from, and its version
    sha256: str | None  # digest of its source


@dataclass(frozen=True, kw_only=True)
class MethodRecord:
    """A method: its declarations, and the time that its maps took; if it is not salgen's, where it is from."""

    call: str  # its name in the tables, with its parameters unless it was renamed
    stands_for: str | None = None  # the call of salgen's that was renamed
    name: str
    reference: str
    reduction: str | None
    signed: bool
    class_dependent: bool = True
    control: bool
    native_resolution: str
    seconds: float
    maps: int = 0
    files: dict[str, str] | None = None  # `path` of the files that its maps were read from, and `sha256` of the maps
    foreign: ForeignRecord | None = None

    @property
    def created(self) -> Any:
        """The method, one of salgen's."""
        return METHODS.create(*parse_call(self.stands_for or self.call))


@dataclass(frozen=True, kw_only=True)
class CertificateSummary:
    """The shares of a model's scored samples for which each part of the reliance certificate holds."""

    name: str
    seed: int
    samples: int
    coverage: float | None
    uses_feature: float | None
    ignores_background: float | None
    needed: dict[str, float | None]
    by_tolerance: dict[str, float | None] = field(default_factory=dict)  # the share certified at one such as "0.5"
    holds_elsewhere: float | None = None  # mean share of backgrounds on which the feature elsewhere is recognised
    held_effect: float | None = None  # median of the backgrounds' effect while the feature is held


@dataclass(frozen=True, kw_only=True)
class CertificatesRecord:
    """The certificates of all models, or the reason why there are none."""

    models: list[CertificateSummary]
    reason: str
    version: str = "5"
    redraws: int = 8


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The contents of ``run.json``, in its order; an entry with a default may be missing in a file."""

    salgen: str
    command: list[str] | None = None
    created: str
    versions: dict[str, str]
    platform: str = ""
    device: str
    dataset: DatasetRecord
    models: list[ModelRecord]
    paired_model: list[PairedModelRecord] | None = None
    # the models that were trained on permuted labels: their names, seeds and origins
    permuted_labels: list[dict[str, Any]] | None = None
    methods: list[MethodRecord]
    # methods that are not defined for the model, or are not salgen's and failed, with the reasons
    left_out: dict[str, str] = field(default_factory=dict)
    metrics: list[str]
    own_metrics: list[MetricRecord] = field(default_factory=list)  # those that are not salgen's, or renamed
    variants: list[str] = field(default_factory=list)
    headline_variant: str
    conventions: dict[str, Any] = field(default_factory=dict)
    # `split_total`, `considered`, and of these `with_mask`, which are scored, and `without_mask`
    samples: dict[str, int]
    certificates: CertificatesRecord
    # for imported images: of each model the shares of samples with composite evidence
    composites: list[dict[str, Any]] = field(default_factory=list)
    timings: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    # files of maps that the run keeps, each with the digest of everything that its maps depend on
    maps: dict[str, str] = field(default_factory=dict)
    # `record_sha256`, `created`, `device` and `versions` of the run whose maps were scored, if that is another run
    scored_from: dict[str, Any] | None = None
    maps_left_out: list[str] | None = None  # in a published record, the methods whose maps are not published

    @classmethod
    def read(cls, path: Path) -> RunRecord:
        """The record in a file."""
        if not path.is_file():
            raise SalgenError(f"{path} is missing: {path.parent} is not a run folder, or the run has not finished")
        try:
            return cls.from_json(strict_json(path.read_text(encoding="utf-8")))
        except (SalgenError, OSError, ValueError, RecursionError) as error:
            raise SalgenError(f"{path} is no record of a run ({reason(error)}): evaluate again") from None

    @classmethod
    def from_json(cls, entries: Any) -> RunRecord:
        """The record of some entries; its own metrics are known by their names from now on."""
        record: RunRecord = from_json(entries, cls)
        remember(record.own_metrics)
        return record

    def to_text(self) -> str:
        """The contents of ``run.json``."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def write(self, run: Path) -> None:
        """Write ``run.json`` into a run folder."""
        write_text(run / RECORD, self.to_text())


def in_groups(left_out: Mapping[str, str]) -> str:
    """Methods that are left out, those with the same reason together, in one line."""
    by_reason: dict[str, list[str]] = {}
    for call, why in left_out.items():
        name = call.partition(":")[0]
        own = why.removeprefix(name).lstrip(": ")
        by_reason.setdefault(why if own == why else own.partition(": ")[0].partition("; ")[0], []).append(call)
    return "; ".join(f"{', '.join(calls)} ({why})" for why, calls in by_reason.items())
