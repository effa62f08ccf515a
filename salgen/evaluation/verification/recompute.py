"""Scores of a run's first samples, computed again from the maps that it kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK
from salgen.evaluation.runs.rescoring import rescore
from salgen.evaluation.statistics.score_cube import SCORES, ScoreCube, read_scores
from salgen.evaluation.verification.checked_run import CheckedRun

TOLERANCE = 1e-9  # by which a score may differ


def recompute_problems(run: CheckedRun, samples: int) -> Iterator[str]:
    """Scores of the first samples that do not follow from maps, masks and images.

    Metrics that train or ask a model are left out, as are those of whole data sets where not all samples are taken.
    """
    if run.plan is None or not samples:
        return
    scored, given = run.plan.scored[:samples], {*OF_THE_MASK, "target", "correct", *run.plan.kinds}
    if run.plan.dataset.manifest.pixels:
        given.add("image")
    chosen = [call for call, metric in run.metrics.items() if metric.needs <= given]
    if len(scored) < len(run.plan.scored):
        chosen = [call for call in chosen if not hasattr(run.metrics[call], "aggregate")]
    if not chosen:
        return
    with TemporaryDirectory(prefix="salgen-verify-") as place:
        out, limit = Path(place) / "run", scored[-1] + 1
        again = read_scores(rescore(run.folder, metrics=chosen, out=out, limit=limit, source=run.source))
    if wrong := _differences(again, run.cube):
        yield f"{run.folder / SCORES}: {len(wrong)} scores do not follow from the maps, the first that of {wrong[0]}"


def _differences(again: ScoreCube, cube: ScoreCube) -> list[str]:
    """The scores of one cube that differ from those of another one, in words.

    Worst cases are not compared: they may depend on samples that the first one does not have.
    """
    axes = ("series", "metrics", "variants", "seeds", "samples")
    place = np.ix_(*([getattr(cube, axis).index(name) for name in getattr(again, axis)] for axis in axes))
    reasons = [np.array(one.reason_names)[one.reason] for one in (again, cube)]
    same = np.isclose(again.value, cube.value[place], rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    wrong = np.argwhere((again.scored | cube.scored[place]) & ~(same & (reasons[0] == reasons[1][place])))
    return [
        f"{again.series[s][1]} under {again.metrics[m]} in {again.variants[v]} on {again.samples[i]} "
        f"({again.series[s][0]}, seed {again.seeds[t]})"
        for s, m, v, t, i in wrong
    ]
