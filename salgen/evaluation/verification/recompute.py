"""Check of a run's scores: those of its first samples are recomputed from the saved maps."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK
from salgen.evaluation.runs.rescoring import rescore
from salgen.evaluation.statistics.score_cube import SCORES, ScoreCube, read_scores
from salgen.evaluation.verification.checked_run import CheckedRun

TOLERANCE = 1e-9  # for a score


def recompute_problems(run: CheckedRun, samples: int) -> Iterator[str]:
    """Scores of the first samples that do not follow from maps, masks and images.

    Metrics that train or query a model are left out, and data set metrics too unless all samples are taken.
    """
    if run.plan is None or not samples:
        return
    scored, inputs = run.plan.scored[:samples], {*OF_THE_MASK, "target", "correct", *run.plan.kinds}
    if run.plan.dataset.manifest.pixels:
        inputs.add("image")
    chosen = [call for call, metric in run.metrics.items() if metric.needs <= inputs]
    if len(scored) < len(run.plan.scored):
        chosen = [call for call in chosen if not hasattr(run.metrics[call], "aggregate")]
    if not chosen:
        return
    with TemporaryDirectory(prefix="salgen-verify-") as folder:
        out, limit = Path(folder) / "run", scored[-1] + 1
        recomputed = read_scores(rescore(run.folder, metrics=chosen, out=out, limit=limit, source=run.source))
    if wrong := _differences(recomputed, run.cube):
        yield f"{run.folder / SCORES}: {len(wrong)} scores do not follow from the maps, the first that of {wrong[0]}"


def _differences(recomputed: ScoreCube, cube: ScoreCube) -> list[str]:
    """Descriptions of the recomputed scores that differ from those of a cube.

    Worst cases are not compared: they may depend on samples that were not recomputed.
    """
    axes = ("series", "metrics", "variants", "seeds", "samples")
    place = np.ix_(*([getattr(cube, axis).index(name) for name in getattr(recomputed, axis)] for axis in axes))
    reasons = [np.array(scores.reason_names)[scores.reason] for scores in (recomputed, cube)]
    same = np.isclose(recomputed.value, cube.value[place], rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    wrong = np.argwhere((recomputed.scored | cube.scored[place]) & ~(same & (reasons[0] == reasons[1][place])))
    return [
        f"{recomputed.series[s][1]} under {recomputed.metrics[m]} in {recomputed.variants[v]} "
        f"on {recomputed.samples[i]} ({recomputed.series[s][0]}, seed {recomputed.seeds[t]})"
        for s, m, v, t, i in wrong
    ]
