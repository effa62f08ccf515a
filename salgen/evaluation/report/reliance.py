"""The reliance certificates of a run, in the parts of a sentence."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, NamedTuple
from salgen.evaluation.report.curves import COLOURS, Curve, CurvePlots
from salgen.evaluation.report.runs import METHOD, LoadedRun

LOW_COVERAGE = 0.5
OLDER = "this version of salgen wrote none: evaluate again to have them"


@dataclass(frozen=True)
class RelianceLine:
    """One trained model, with the shares of its `CertificateSummary`, NaN where they are not known."""

    run: str
    version: str
    redraws: int
    model: str
    seed: int
    samples: int
    coverage: float  # share that is certified: correctly classified, and both parts hold
    uses_feature: float
    ignores_background: float
    needed: Mapping[str, float]  # empty where there is one feature or none
    by_tolerance: Mapping[str, float]
    holds_elsewhere: float
    held_effect: float

    @property
    def moved(self) -> bool:
        """True if the feature was shown elsewhere."""
        return not math.isnan(self.holds_elsewhere)

    @property
    def low(self) -> bool:
        """True if most samples are not certified."""
        return not self.coverage >= LOW_COVERAGE

    @property
    def fault(self) -> str:
        """The part of the certificate that fails more often, in words."""
        if self.ignores_background < self.uses_feature:
            return "the background mostly moves the model's answer"
        return "the prediction mostly stays when the feature is removed"


def reliance_lines(run: LoadedRun) -> list[RelianceLine]:
    """A line for each trained model of a run that has certificates."""

    def defined(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: defined(share) for key, share in value.items()}
        return math.nan if value is None else value

    certificates = run.record.certificates
    if certificates is None:
        return []
    of_run = run.label, certificates.version, certificates.redraws
    return [RelianceLine(*of_run, *map(defined, astuple(entry))) for entry in certificates.models]


def tolerance_curves(lines: Sequence[RelianceLine]) -> CurvePlots:
    """The share certified against the tolerance, a curve for each training whose certificate says it."""
    shown = [line for line in lines if line.by_tolerance]
    tolerances = [float(tolerance) for tolerance in shown[0].by_tolerance]
    curves = []
    for number, line in enumerate(shown):
        label, shares = f"{line.run}, {line.model} seed {line.seed}", list(line.by_tolerance.values())
        curves.append(Curve(label, METHOD, shares, number if number < COLOURS else None))
    title = "share certified against the tolerance"
    return CurvePlots(title, "share certified", "tolerance", tolerances, curves)


def mostly_uncertified(run: LoadedRun, model: str) -> bool:
    """True if over its trainings fewer than half of a model's scored samples are certified."""
    return certified_share(run, model) < LOW_COVERAGE


def certified_share(run: LoadedRun, model: str) -> float:
    """The share of a model's scored samples that are certified, over its trainings; NaN if that is not known."""
    # version 1 of the certificate cannot tell: it fails models that read the feature alone
    shares = [line.coverage for line in reliance_lines(run) if line.model == model and line.version != "1"]
    return sum(shares) / len(shares) if shares else math.nan


class RelianceOfModel(NamedTuple):
    """The trainings of one model together: the least and the largest share of each kind."""

    run: str
    model: str
    seeds: list[int]
    coverage: tuple[float, float]
    fault: str
    needed: Mapping[str, tuple[float, float]]


def by_model(lines: Iterable[RelianceLine]) -> list[RelianceOfModel]:
    """The lines of each run and model, merged."""

    def ends(shares: Iterable[float]) -> tuple[float, float]:
        defined = [share for share in shares if not math.isnan(share)]
        return (min(defined), max(defined)) if defined else (math.nan, math.nan)

    groups: dict[tuple[str, str], list[RelianceLine]] = {}
    for line in lines:
        groups.setdefault((line.run, line.model), []).append(line)
    return [
        RelianceOfModel(
            *(run, model, [line.seed for line in group], ends(line.coverage for line in group)),
            fault=min(group, key=lambda line: line.coverage).fault,
            needed={
                feature: ends(line.needed.get(feature, math.nan) for line in group)
                for feature in dict.fromkeys(feature for line in group for feature in line.needed)
            },
        )
        for (run, model), group in groups.items()
    ]


def uncertified(run: LoadedRun) -> str:
    """The reason that a run has no certificates; empty if it has some."""
    certificates = run.record.certificates
    if certificates is None:
        return OLDER
    return "" if certificates.models else certificates.reason or "no reason was given"
