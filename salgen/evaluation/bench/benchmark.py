"""``salgen.bench``: salgen-bench, the frozen benchmark of saliency methods."""

import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
import pandas as pd
from salgen.errors import unknown_name
from salgen.evaluation.bench import fetch_results, judge_metrics
from salgen.evaluation.bench.board import board, is_results
from salgen.evaluation.bench.rank_method import rank_method
from salgen.evaluation.bench.standing import Standing, read_costs
from salgen.evaluation.bench.verify_results import result_problems
from salgen.evaluation.bench.worlds import KINDS, WORLDS, read_worlds, world_spec
from salgen.evaluation.leaderboard import site

__all__ = ["Standing", "fetch", "judge", "judges", "rank", "table", "verify"]

StrPath = str | os.PathLike[str]
RESULTS = "salgen-bench/results"


def fetch(source: str, out: StrPath = RESULTS) -> list[Path]:
    """Copy published results with the weights that are kept, and return the worlds' folders.

    Parameters
    ----------
    source
        A folder, an archive, or the address of one.
    out
        The new folder.
    """
    return fetch_results.fetch(world_spec(), source, Path(out))


def table(results: StrPath = RESULTS, *, network: str | None = None, cause: str | None = None) -> Standing:
    """What to expect of methods in a new world, by the worlds that have results. Print it for a table.

    Parameters
    ----------
    results
        The folder of results.
    network
        Count worlds with this network alone, such as ``"resnet18"``.
    cause
        Count worlds with this kind of cause alone: ``"object"`` or ``"mark"``.
    """
    spec, folder = world_spec(), Path(results)
    worlds = read_worlds(spec, folder / WORLDS)
    for given, what, of in (
        (network, "network", lambda w: w.recipe.model),
        (cause, "kind of cause", lambda w: KINDS[w.family]),
    ):
        if given is not None:
            if given not in (known := {of(world) for world in worlds}):
                raise unknown_name(what, given, known)
            worlds = [world for world in worlds if of(world) == given]
    return Standing.of(worlds, spec.metrics[0], read_costs(folder))


def rank(
    method: str,
    results: StrPath = RESULTS,
    out: StrPath = "salgen-bench-rank",
    *,
    quick: bool = False,
    max_memory: float | None = None,
) -> Standing:
    """Run a method in the worlds whose networks are kept, and rank it among those that have results there.

    Parameters
    ----------
    method
        A call such as ``"grad-cam:layer=features"``, or ``"package.module:name"``.
    results
        The folder of results.
    out
        The folder of the method's results. It goes on where it was stopped.
    quick
        Take one world of each family.
    max_memory
        Memory in GB that explaining may use; half of what is free by default.
    """
    return rank_method(world_spec(), method, Path(results), Path(out), quick=quick, max_memory=max_memory)[1]


def verify(results: StrPath = RESULTS, *, seed: int | None = None) -> list[str]:
    """Compute some of the results' scores again from the frozen weights, and return a line for each problem.

    Parameters
    ----------
    results
        The folder of results.
    seed
        Chooses what is computed again. By default it is random, and printed.
    """
    drawn = 1 + secrets.randbelow(2**31) if seed is None else seed
    print(f"seed {drawn}", file=sys.stderr)
    return list(result_problems(world_spec(), Path(results), seed=drawn))


def judges(results: StrPath = RESULTS) -> pd.DataFrame:
    """How well metrics that need no mask choose a method.

    Each judge scored maps of ten images by the methods of a few passes, in the worlds whose networks are kept. Masks as
    people draw them are among the judges: exact, loose outlines, and bounding boxes.

    Parameters
    ----------
    results
        The folder of results.

    Returns
    -------
    pandas.DataFrame
        A row for each judge, the least ``regret`` first: how far the method with its highest mean lies below the best
        one, in average precision. ``rank_correlation`` (Spearman) and ``pairs`` (share ordered rightly) are with the
        true order. ``passes`` are of the network for a map. All are means over families; ``regret_low`` to
        ``regret_high`` is the 95 % interval. ``networks`` is their number, ``worst`` the family with the largest
        regret, ``worst_kind`` the kind of network.
    """
    return judge_metrics.standing_of_judges(judge_metrics.stored_agreements(Path(results)))


def judge(metric: Any, results: StrPath = RESULTS) -> pd.DataFrame:
    """How well a metric that needs no mask chooses a method, in the worlds of salgen-bench whose networks are kept.

    Parameters
    ----------
    metric
        As :func:`salgen.score` takes one: ``"road"``, an instance, or a function.
    results
        The folder of results, with its weights.

    Returns
    -------
    pandas.DataFrame
        A row for each world: ``data``, ``kind``, and ``regret``, ``rank_correlation``, ``pairs`` and ``passes`` as
        :func:`judges` has them.

    Examples
    --------
    >>> salgen.judge("saco", "results")["regret"].mean()  # doctest: +SKIP
    """
    return judge_metrics.judge_metric(world_spec(), metric, Path(results))


def leaderboard(runs: StrPath | Sequence[StrPath], out: StrPath = "leaderboard") -> Path:
    """Write a static site about runs, and return its first page, ``index.html``: a table to sort and filter.

    Parameters
    ----------
    runs
        Run folders, each of which gets a page; or one folder with results of salgen-bench. Its site has the order of
        methods, and a page for each method and data set.
    out
        The folder of the site. An existing leaderboard is replaced once the new one is complete.
    """
    folders = [Path(run) for run in ([runs] if isinstance(runs, (str, os.PathLike)) else runs)]
    if len(folders) == 1 and is_results(folders[0]):
        return board(world_spec(), folders[0], Path(out))
    return site.leaderboard(folders, Path(out))
