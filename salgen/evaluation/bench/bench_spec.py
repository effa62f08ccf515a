"""The definition of a version of salgen-bench, from the file that this package holds."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError
from salgen.parameters import parse_call

VERSIONS = (1,)


@dataclass(frozen=True)
class BenchData:
    """A data set of the benchmark.

    Attributes
    ----------
    name, fingerprint
        A registered generator, and the fingerprint of the data set that it makes of the rest.
    splits, parameters
        Its numbers of samples, and where they differ from the generator's defaults its parameters.
    networks
        Calls of registered models that are trained on it.
    designed
        The network with weights in closed form that it is made for; "" where networks are trained.
    tests
        The splits that are scored.
    """

    name: str
    fingerprint: str
    splits: Mapping[str, int]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    networks: Sequence[str] = ()
    designed: str = ""
    tests: Sequence[str] = ("test",)


@dataclass(frozen=True)
class Entry:
    """One network on one data set, trained in one way: the part of the benchmark that one machine computes.

    Attributes
    ----------
    data
        The data set.
    network
        The call of a registered model.
    reliance
        Whether it is trained for reliance on the feature.
    """

    data: BenchData
    network: str
    reliance: bool = False

    @property
    def name(self) -> str:
        """The entry's name, and that of its folders: data set, model, and the kind of training, if there is one."""
        kind = [] if self.data.designed else ["reliance" if self.reliance else "plain"]
        return "-".join([self.data.name, parse_call(self.network)[0], *kind])


@dataclass(frozen=True)
class BenchChecks:
    """What a method's page shows beside its places, under the first training of one entry.

    Attributes
    ----------
    entry
        Its name.
    images
        The number of test images, of the entry and at each dose.
    dose
        The parameter of the data that is swept, as :func:`~salgen.evaluation.sweeps.sweep.sweep` takes it.
    metrics
        Calls of metrics that need no mask.
    """

    entry: str
    images: int
    dose: str
    metrics: Sequence[str]


@dataclass(frozen=True)
class BenchSpec:
    """A version of the benchmark.

    Attributes
    ----------
    version, digest
        Its number, and the SHA-256 of the file that defines it.
    seed
        Of the data sets, and of the methods' randomness.
    trainings
        The number of trainings of each network.
    images
        The number of test images that count.
    scale
        The scale of methods that are estimates.
    metrics, attribution_metrics
        Calls; the latter where the exact attribution is known.
    headlines
        Family of metrics to the one by which methods are ranked.
    checks
        What methods are not ranked by.
    data
        The data sets.
    """

    version: int
    digest: str
    seed: int
    trainings: int
    images: int
    scale: str
    metrics: Sequence[str]
    attribution_metrics: Sequence[str]
    headlines: Mapping[str, str]
    checks: BenchChecks
    data: Sequence[BenchData]

    @property
    def stated(self) -> dict[str, Any]:
        """What results say of the version that they are of."""
        return {"version": self.version, "sha256": self.digest}

    @property
    def entries(self) -> list[Entry]:
        """All entries: each trained network plainly and for reliance, each designed one as it is."""
        return [
            entry
            for data in self.data
            for entry in (
                *(Entry(data, network, reliance) for network in data.networks for reliance in (False, True)),
                *([Entry(data, data.designed)] if data.designed else []),
            )
        ]

    def part(self, number: int, of: int) -> list[Entry]:
        """The entries of one of several parts, counted from 1, which together have each entry once."""
        if not 1 <= number <= of:
            raise SalgenError(f"part {number}/{of}: must be K/N with K from 1 to N")
        return [entry for place, entry in enumerate(self.entries) if _dealt(place, of) == number - 1]

    def entry(self, name: str) -> Entry:
        """The entry of a name."""
        return next(entry for entry in self.entries if entry.name == name)

    @property
    def all_metrics(self) -> list[str]:
        """The metrics of any data set."""
        return [*self.metrics, *self.attribution_metrics]

    def metrics_on(self, data: BenchData) -> list[str]:
        """The metrics of a data set."""
        return [*(self.attribution_metrics if data.designed else ()), *self.metrics]


def _dealt(place: int, of: int) -> int:
    """The part that a place belongs to, dealt forth and back: so that no part has all trainings for reliance."""
    turn, position = divmod(place, of)
    return of - 1 - position if turn % 2 else position


@cache
def bench_spec(version: int = VERSIONS[-1]) -> BenchSpec:
    """A version of the benchmark."""
    if version not in VERSIONS:
        raise SalgenError(f"salgen-bench has no version {version}: there are {', '.join(map(str, VERSIONS))}")
    content = Path(__file__).with_name(f"salgen-bench-{version}.toml").read_bytes()
    values = tomllib.loads(content.decode())
    data = [BenchData(**entry) for entry in values.pop("data")]
    checks = BenchChecks(**values.pop("checks"))
    return BenchSpec(digest=hashlib.sha256(content).hexdigest(), checks=checks, data=data, **values)
