"""``salgen.bench``: salgen-bench, the frozen benchmark of saliency methods."""

import os
import secrets
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
import pandas as pd
from salgen.errors import SalgenError, warn
from salgen.evaluation.bench import fetch_results, judge_metrics
from salgen.evaluation.bench.board import board, is_results
from salgen.evaluation.bench.questions import WorldAnswers
from salgen.evaluation.bench.rank_method import rank_method
from salgen.evaluation.bench.rankings import main_entries, method_scores, standing_by, uncertified_data
from salgen.evaluation.bench.standing import Standing
from salgen.evaluation.bench.verify_results import result_problems
from salgen.evaluation.bench.versions import bench_spec
from salgen.evaluation.bench.worlds import WORLDS, world_scores, world_spec
from salgen.evaluation.leaderboard import site

__all__ = ["Standing", "fetch", "judge", "judges", "rank", "table", "verify", "worlds"]

StrPath = str | os.PathLike[str]
RESULTS = "salgen-bench/results"


def fetch(source: str, out: StrPath = RESULTS) -> list[Path]:
    """Copy published results and checkpoints, and return their folders.

    Parameters
    ----------
    source
        A folder, an archive, or the address of one.
    out
        The new folder.
    """
    return fetch_results.fetch(bench_spec(), source, Path(out))


def table(results: StrPath = RESULTS, *, reliance: bool = True, samples: str = "all") -> Standing:
    """Rank methods over all data sets: 0 for the best on all of them, 1 for the worst. Print it for a table.

    Parameters
    ----------
    results
        The folder of results.
    reliance
        Take the networks that were trained for reliance, not those trained plainly.
    samples
        The samples that count: ``"all"``, those classified rightly (``"correct"``), or ``"certified"`` ones.
    """
    spec, folder = bench_spec(), Path(results)
    entries = main_entries(spec, reliance=reliance)
    scores = method_scores(spec, folder, entries, samples=samples)
    if not scores:
        raise SalgenError(f"no image of these results is {samples}: choose other samples (samples=, --samples)")
    doubtful = uncertified_data(spec, folder, [entry for entry in entries if entry.name in scores])
    if doubtful and samples != "certified":
        warn(f"the networks use the cause on fewer than half of the images of {', '.join(doubtful)}")
    return standing_by(spec, scores)


def rank(
    method: str,
    results: StrPath = RESULTS,
    out: StrPath | None = None,
    *,
    quick: bool = False,
    max_memory: float | None = None,
) -> Standing:
    """Run a method on the frozen checkpoints, and rank it among those that have results.

    Parameters
    ----------
    method
        A call such as ``"grad-cam:layer=features"``, or ``"package.module:name"``.
    results
        The folder of results.
    out
        The folder of the method's runs, ``salgen-bench-rank`` by default, with ``-quick`` after it if `quick`. It goes
        on where it was stopped.
    quick
        Compare on the first 16 images and one training of each network.
    max_memory
        Memory in GB that explaining may use; half of what is free by default.
    """
    folder = Path(out or ("salgen-bench-rank-quick" if quick else "salgen-bench-rank"))
    return rank_method(bench_spec(), method, Path(results), folder, quick=quick, max_memory=max_memory)


def worlds(results: StrPath = RESULTS) -> WorldAnswers:
    """What the worlds of salgen-bench 2 say of methods. Print it for a table.

    Parameters
    ----------
    results
        The folder of results, which holds those of worlds in ``worlds``.
    """
    return WorldAnswers.of(world_scores(world_spec(), Path(results) / WORLDS))


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
    return list(result_problems(bench_spec(), Path(results), seed=drawn))


def judges(results: StrPath = RESULTS) -> pd.DataFrame:
    """How well metrics that need no mask choose a method.

    Each judge scored maps of ten images by the methods of a few passes, on the first training for reliance of each
    network. Masks as people draw them are among the judges: exact, loose outlines, and bounding boxes.

    Parameters
    ----------
    results
        The folder of results.

    Returns
    -------
    pandas.DataFrame
        A row for each judge, the least ``regret`` first: how far the method with its highest mean lies below the best
        one, in average precision. ``rank_correlation`` (Spearman) and ``pairs`` (share ordered rightly) are with the
        true order. Each has a 95 % interval over data sets, ``_low`` and ``_high``. ``networks`` and ``passes`` (of
        the network for a map) are counts, ``worst`` is the data set with the largest regret, ``worst_kind`` the kind of
        network.
    """
    return judge_metrics.standing_of_judges(judge_metrics.stored_agreements(Path(results)))


def judge(metric: Any, results: StrPath = RESULTS) -> pd.DataFrame:
    """How well a metric that needs no mask chooses a method, on the frozen networks of salgen-bench.

    Parameters
    ----------
    metric
        As :func:`salgen.score` takes one: ``"road"``, an instance, or a function.
    results
        The folder of results, with its checkpoints.

    Returns
    -------
    pandas.DataFrame
        A row for each network: ``data``, ``kind``, and ``regret``, ``rank_correlation``, ``pairs`` and ``passes`` as
        :func:`judges` has them.

    Examples
    --------
    >>> salgen.judge("saco", "results")["regret"].mean()  # doctest: +SKIP
    """
    return judge_metrics.judge_metric(bench_spec(), metric, Path(results))


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
        return board(bench_spec(), folders[0], Path(out))
    return site.leaderboard(folders, Path(out))
