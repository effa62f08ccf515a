"""The definition of a version of salgen-bench, from the file that this package holds."""

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from salgen.parameters import parse_call

VERSION = 1


@dataclass(frozen=True)
class BenchData:
    """A data set of the benchmark."""

    # name, fingerprint: a registered generator, and the fingerprint of the data set that it makes of the rest
    name: str
    fingerprint: str
    # splits, parameters: its numbers of samples, and where they differ from the generator's defaults its parameters
    splits: Mapping[str, int]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    networks: Sequence[str] = ()  # calls of registered models that are trained on it
    designed: str = ""  # the network with weights in closed form that it is made for; "" where networks are trained
    tests: Sequence[str] = ("test",)  # the splits that are scored


@dataclass(frozen=True)
class BenchEntry:
    """One network on one data set, trained in one way: the part of the benchmark that one machine computes."""

    data: BenchData  # the data set
    network: str  # the call of a registered model
    reliance: bool = False  # whether it is trained for reliance on the feature

    @property
    def name(self) -> str:
        """The entry's name, and that of its folders: data set, model, and the kind of training, if there is one."""
        kind = [] if self.data.designed else ["reliance" if self.reliance else "plain"]
        return "-".join([self.data.name, parse_call(self.network)[0], *kind])


@dataclass(frozen=True)
class BenchChecks:
    """What a method's page shows beside its places, under the first training of one entry."""

    entry: str  # its name
    images: int  # the number of test images, of the entry and at each dose
    dose: str  # the parameter of the data that is swept, as `sweep` takes it
    metrics: Sequence[str]  # calls of metrics that need no mask


@dataclass(frozen=True)
class BenchSpec:
    """A version of the benchmark."""

    # version, digest: its number, and the SHA-256 of the file that defines it
    version: int
    digest: str
    # of the data sets, and of the methods' randomness
    seed: int
    trainings: int  # the number of trainings of each network
    images: int  # the number of test images that count
    scale: str  # the scale of methods that are estimates
    # metrics, attribution_metrics: calls; the latter where the exact attribution is known
    metrics: Sequence[str]
    attribution_metrics: Sequence[str]
    headlines: Mapping[str, str]  # family of metrics to the one by which methods are ranked
    checks: BenchChecks  # what methods are not ranked by
    data: Sequence[BenchData]  # the data sets

    @property
    def stated(self) -> dict[str, Any]:
        """What results say of the version that they are of."""
        return {"version": self.version, "sha256": self.digest}

    @property
    def entries(self) -> list[BenchEntry]:
        """All entries: each trained network plainly and for reliance, each designed one as it is."""
        return [
            entry
            for data in self.data
            for entry in (
                *(BenchEntry(data, network, reliance) for network in data.networks for reliance in (False, True)),
                *([BenchEntry(data, data.designed)] if data.designed else []),
            )
        ]

    @property
    def tests(self) -> list[tuple[BenchEntry, str]]:
        """Each entry with each split that it is scored on."""
        return [(entry, split) for entry in self.entries for split in entry.data.tests]

    def entry(self, name: str) -> BenchEntry:
        """The entry of a name."""
        return next(entry for entry in self.entries if entry.name == name)

    @property
    def all_metrics(self) -> list[str]:
        """The metrics of any data set."""
        return [*self.metrics, *self.attribution_metrics]

    def metrics_on(self, data: BenchData) -> list[str]:
        """The metrics of a data set."""
        return [*(self.attribution_metrics if data.designed else ()), *self.metrics]


@cache
def bench_spec() -> BenchSpec:
    """The benchmark's present version."""
    content = Path(__file__).with_name(f"salgen-bench-{VERSION}.toml").read_bytes()
    values = tomllib.loads(content.decode())
    data = [BenchData(**entry) for entry in values.pop("data")]
    checks = BenchChecks(**values.pop("checks"))
    return BenchSpec(digest=hashlib.sha256(content).hexdigest(), checks=checks, data=data, **values)
