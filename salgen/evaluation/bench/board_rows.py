"""The rows of the board: methods and floors by the results of some networks, and where a method beats a floor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
import numpy as np
import pandas as pd
from salgen.evaluation.bench.method_checks import PASSES, read_checks
from salgen.evaluation.bench.published import SAMPLE, read_rows, score_array
from salgen.evaluation.bench.rankings import main_entries, mean_scores, method_scores, standing_by, uncertified_data
from salgen.evaluation.bench.standing import ALPHA, Standing, defined_mean, student_interval
from salgen.evaluation.bench.versions import BenchEntry, BenchSpec
from salgen.evaluation.choosing.race import HABIT
from salgen.evaluation.report.runs import FLOOR, METHOD
from salgen.evaluation.scoring.metric_selection import bounds
from salgen.evaluation.statistics.mean_intervals import mean_intervals
from salgen.evaluation.statistics.score_cube import ALL, SUBSETS
from salgen.parameters import parse_call
from salgen.registry import GENERATORS, METHODS
from salgen.types import Float64

DIGITS = 6  # significant digits in rows
COSTS = {3.0: "up to 3 passes", 100.0: "up to 100 passes", np.inf: "more than 100 passes"}
UNMEASURED = "not measured"
FIRST, TIED, WORSE, UNTESTED = "first", "not told apart", "worse", "not tested"
ABOVE, ALIKE, BELOW = "better", "not told apart", "worse"


class BoardGroup(NamedTuple):
    """Methods by some of the networks, on some of the images."""

    kind: str  # what the group is chosen by, such as `"architecture"`
    title: str
    samples: str
    standing: Standing  # methods without floors
    datasets: list[str]
    uncertified: list[str]  # data sets on fewer than half of whose samples the networks use the cause, if all count
    rows: pd.DataFrame  # methods and floors as `board_rows` orders them


def read_groups(spec: BenchSpec, results: Path) -> Iterator[BoardGroup]:
    """The groups that have results, first all data sets by networks trained for reliance on all images."""
    checks = read_checks(spec, results)
    passes = checks[checks["measure"] == PASSES]
    costs = dict(zip(passes["subject"], passes["value"], strict=True))
    every = {samples: method_scores(spec, results, spec.entries, samples=samples, floors=True) for samples in SUBSETS}
    for kind, title, samples, entries in _choices(spec):
        scores = {entry.name: every[samples][entry.name] for entry in entries if entry.name in every[samples]}
        if scores:  # perhaps no image is certified
            known = [entry for entry in entries if entry.name in scores]
            doubtful = uncertified_data(spec, results, known) if samples == ALL else []
            standing, rows = board_rows(spec, scores, costs)
            yield BoardGroup(kind, title, samples, standing, [entry.data.name for entry in known], doubtful, rows)


def _choices(spec: BenchSpec) -> Iterator[tuple[str, str, str, list[BenchEntry]]]:
    """Kind, title, samples and entries of each group."""
    for reliance in (True, False):
        for samples in SUBSETS:
            title = f"Networks trained {'for reliance' if reliance else 'plainly'}, {samples} images"
            yield "training and images", title, samples, main_entries(spec, reliance=reliance)
    trained = [entry for entry in spec.entries if entry.reliance or entry.data.designed]
    by_network = {parse_call(entry.network)[0]: entry for entry in trained}
    for name in by_network:
        yield "architecture", name, ALL, [entry for entry in trained if parse_call(entry.network)[0] == name]
    for cause in dict.fromkeys(cause_of(entry) for entry in trained):
        yield "kind of cause", cause, ALL, [entry for entry in main_entries(spec) if cause_of(entry) == cause]


def cause_of(entry: BenchEntry) -> str:
    """The kind of cause of a data set: the room of generators that draws it, such as ``"traffic signs"``."""
    return GENERATORS.entries[entry.data.name].origin.split(".")[2].replace("_", " ")


def board_rows(
    spec: BenchSpec, scores: Mapping[str, pd.DataFrame], costs: Mapping[str, float]
) -> tuple[Standing, pd.DataFrame]:
    """The order of methods, and a row for each method and floor; a method that lacks a data set stands last.

    The place of a floor is the share of methods ahead of it, so it does not move theirs. Regret is in the first metric
    that methods are ranked by: how far the method's mean lies below the best method's, over trainings and data sets.
    """
    standing = standing_by(spec, {name: rows[~rows["floor"]] for name, rows in scores.items()})
    floors = sorted({call for rows in scores.values() for call in rows.loc[rows["floor"], "method"].unique()})
    names, count = [*standing.methods, *floors], len(standing.methods)
    values = np.stack([mean_scores(spec, rows, [*spec.headlines.values()], names) for rows in scores.values()])
    shares = _shares_ahead(values[..., :count], values[..., count:])
    floor_place = student_interval(defined_mean(defined_mean(shares, axis=1), axis=1))
    first_metric = values[:, 0]
    best = np.where(np.isnan(first_metric[..., :count]), -np.inf, first_metric[..., :count]).max(axis=-1, keepdims=True)
    regret = student_interval(defined_mean(best - first_metric, axis=1))
    ahead = np.full(len(names), np.nan)
    if HABIT in names:
        habit = first_metric[..., [names.index(HABIT)]]
        won = np.where(np.isnan(first_metric + habit), np.nan, np.sign(first_metric - habit) / 2 + 0.5)
        ahead = defined_mean(defined_mean(won, axis=1), axis=0)
        ahead[names.index(HABIT)] = np.nan
    tied = [FIRST, *(UNTESTED if np.isnan(p) else TIED if p > ALPHA else WORSE for p in standing.p_values[0][1:])]
    passes = np.array([costs.get(name, np.nan) for name in names])
    missing = np.full(len(floors), np.nan)
    rows = pd.DataFrame(
        {
            "method": names,
            "role": [METHOD] * count + [FLOOR] * len(floors),
            "family": [*map(family_of, standing.methods), *[FLOOR] * len(floors)],
            "passes": passes,
            "cost": [next((COSTS[most] for most in COSTS if value <= most), UNMEASURED) for value in passes],
            "place": [*standing.places, *floor_place[0]],
            "place_low": [*standing.low, *np.maximum(floor_place[1], 0.0)],
            "place_high": [*standing.high, *np.minimum(floor_place[2], 1.0)],
            "verdict": [*tied, *[""] * len(floors)],
            "p_value": [*standing.p_values[0], *missing],
            "regret": regret[0],
            "regret_low": np.maximum(regret[1], 0.0),
            "regret_high": regret[2],
            "ahead_of_grad_cam": ahead,
            "datasets": np.isfinite(values).any(axis=(1, 2)).sum(axis=0),
            "best_in_draws": [*standing.share_first, *missing],
            "rank_low": [*standing.rank_low, *missing],
            "rank_high": [*standing.rank_high, *missing],
        }
    )
    lacking = rows["datasets"] < len(scores)
    order = np.lexsort((rows["role"] == FLOOR, rows["place"], lacking & (rows["role"] == METHOD)))
    return standing, rows.iloc[order].reset_index(drop=True).round(DIGITS)


def family_of(method: str) -> str:
    """The family of a method: the file that has it, such as ``"grad cam"``."""
    return METHODS.entries[parse_call(method)[0]].origin.rpartition(".")[2].replace("_", " ")


def _shares_ahead(methods: Float64, floors: Float64) -> Float64:
    """The share of methods (D, F, T, M) that have more than each floor (D, F, T, K), ties as halves: (D, F, T, K)."""
    defined = ~np.isnan(methods)
    more = np.sign(methods[..., None, :] - floors[..., None]) / 2 + 0.5
    total = np.where(defined[..., None, :], more, 0.0).sum(axis=-1)
    count = defined.sum(axis=-1, keepdims=True)
    return np.asarray(total / np.where(count > 0, count, np.nan))


def against_floors(spec: BenchSpec, results: Path) -> pd.DataFrame:
    """For each method and data set: its mean less that of the strongest floor, with its 95 % interval.

    The metric is the first that methods are ranked by, the networks are those trained for reliance. `outcome` is
    ``"better"`` or ``"worse"`` where the interval lies on one side of 0. Nothing is corrected for many comparisons.
    """
    metric, tables = next(iter(spec.headlines.values())), []
    low, high = bounds(metric)
    every = method_scores(spec, results, main_entries(spec), metrics=[metric], floors=True)
    for entry in main_entries(spec):
        if entry.name not in every:
            continue
        rows = every[entry.name].rename(columns={"better": "signed"}).assign(value=lambda of: of["signed"])
        clusters = read_rows(spec, results / entry.name).drop_duplicates(SAMPLE)[[*SAMPLE, "cluster"]]
        scores = score_array(rows.merge(clusters, on=SAMPLE))
        floors = rows.loc[rows["floor"], ["method", "value"]].groupby("method", observed=True).mean()["value"]
        if floors.empty:
            continue
        strongest = str(floors.idxmax())
        chosen = [name for name in scores.methods if name not in floors.index]
        differences = scores.values - scores.values[..., [scores.methods.index(strongest)]]
        differences = differences[..., [scores.methods.index(name) for name in chosen]]
        width = np.full(len(chosen), high - low)
        least, most = mean_intervals(differences, scores.clusters, -width, width)
        tables.append(
            pd.DataFrame(
                {
                    "method": chosen,
                    "dataset": entry.data.name,
                    "floor": strongest,
                    "difference": np.nanmean(differences, axis=(0, 1)),
                    "low": least,
                    "high": most,
                    "outcome": np.select([least > 0, most < 0], [ABOVE, BELOW], ALIKE),
                }
            )
        )
    return pd.concat(tables) if tables else pd.DataFrame(columns=["method", "dataset", "floor", "outcome"])
