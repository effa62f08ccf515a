"""The reliance certificates of runs, and the difference that training for reliance makes."""

import math
from collections.abc import Iterable, Sequence
from itertools import combinations, permutations
from typing import Any
from salgen.evaluation.report.runs import LoadedRun
from salgen.evaluation.report.verdicts import Verdict, verdict
from salgen.evaluation.statistics.comparison_groups import Key

LOW_COVERAGE = 0.5


def reliance_lines(run: LoadedRun) -> list[dict[str, Any]]:
    """The fields of each `CertificateSummary` of a run, NaN where unknown, with those of the run.

    `low` is true if most samples are not certified, and `fault` is the part that fails more often, in words.
    """
    lines: list[dict[str, Any]] = []
    for entry in run.record.certificates.models:
        line = {name: math.nan if value is None else value for name, value in vars(entry).items()}
        by_background = line["ignores_background"] < line["uses_feature"]
        line |= {
            "run": run.label,
            "redraws": run.record.certificates.redraws,
            "low": not line["coverage"] >= LOW_COVERAGE,
            "fault": "the background mostly moves the model's answer"
            if by_background
            else "the prediction mostly stays when the feature is removed",
        }
        lines.append(line)
    return lines


def by_model(lines: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines of each run and model together: the least and the largest share of each kind."""

    def ends(shares: Iterable[float | None]) -> tuple[float, float]:
        known = [share for share in shares if share is not None and not math.isnan(share)]
        return min(known, default=math.nan), max(known, default=math.nan)

    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault((line["run"], line["name"]), []).append(line)
    return [
        {
            "run": run,
            "name": name,
            "seeds": [line["seed"] for line in group],
            "coverage": ends(line["coverage"] for line in group),
            "fault": min(group, key=lambda line: line["coverage"])["fault"],
            "needed": {feature: ends(line["needed"].get(feature) for line in group) for feature in group[0]["needed"]},
        }
        for (run, name), group in groups.items()
    ]


def certified_share(run: LoadedRun, model: str) -> float:
    """The share of a model's scored samples that are certified, over its trainings; NaN if that is not known."""
    shares = [line["coverage"] for line in reliance_lines(run) if line["name"] == model]
    return sum(shares) / len(shares) if shares else math.nan


def mostly_uncertified(run: LoadedRun, model: str) -> bool:
    """True if over its trainings fewer than half of a model's scored samples are certified."""
    return certified_share(run, model) < LOW_COVERAGE


def reliance_effects(models: Sequence[tuple[LoadedRun, str]]) -> list[dict[str, Any]]:
    """A comparison for each network and data set among these runs and models that was trained in both ways."""

    def subject(run: LoadedRun, model: str) -> tuple[str, str, str, str | None]:
        return run.record.dataset.fingerprint, run.split, model, run.headline

    return [
        _effect(verdict(*plain, plain[0].headline), verdict(*reliant, plain[0].headline))
        for plain, reliant in permutations(models, 2)
        if plain[0].headline is not None and subject(*plain) == subject(*reliant)
        if not plain[0].reliant and reliant[0].reliant
    ]


def _effect(plain: Verdict, reliant: Verdict) -> dict[str, Any]:
    from scipy.stats import kendalltau  # takes half a second

    def better(outcome: Verdict, a: Key, b: Key) -> Key | None:
        test = outcome.test(a, b)
        return test.better if test is not None and test.significant() else None

    run, model = reliant.run, reliant.model
    shared = [key for key in plain.run.under_test(model) if key in run.under_test(model)]
    orders = [(better(plain, *pair), better(reliant, *pair)) for pair in combinations(shared, 2)]
    decided = [order for order in orders if None not in order]
    same = sum(first == second for first, second in decided)
    opposite, undecided = len(decided) - same, len(orders) - len(decided)
    ends = [same - opposite - undecided, same - opposite + undecided]
    means = [[outcome.mean(key) for key in shared] for outcome in (plain, reliant)]
    return {
        "plain": plain,
        "reliant": reliant,
        "tau": float(kendalltau(*means, nan_policy="omit").statistic),  # tau-b; NaN with fewer than two methods
        # pairs of methods whose order is significant with both trainings: the same, or the opposite; and all others
        "same": same,
        "reversed": opposite,
        "undecided": undecided,
        "pairs": len(orders),
        "tau_bounds": [end / len(orders) for end in ends] if orders else [],  # whatever the order of undecided pairs
        # whether the network trained for reliance has learnt, and most images are certified
        "answers": reliant.best is not None and not run.unlearnt(model) and certified_share(run, model) >= LOW_COVERAGE,
    }
