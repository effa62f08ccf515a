"""A new method on the frozen checkpoints of salgen-bench, and its place among those that have results."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from salgen.evaluation.bench.bench_results import headline_scores, main_entries, read_scores, standing_by
from salgen.evaluation.bench.bench_run import CHECKPOINTS, RESULTS, run_entry
from salgen.evaluation.bench.bench_spec import BenchSpec
from salgen.evaluation.bench.standing import Standing
from salgen.evaluation.runs.run_snapshot import copy_checkpoint
from salgen.evaluation.training.checkpoints import CARD

QUICK_IMAGES = 16
SAMPLES = ["sample_id", "training_seed"]


def rank_method(
    spec: BenchSpec,
    method: str,
    folder: Path,
    out: Path,
    *,
    quick: bool = False,
    **options: Any,
) -> Standing:
    """Explain and score by one method what the benchmark's methods have explained, and rank it among them.

    Parameters
    ----------
    method
        A call, or ``package.module:name``, as for `salgen evaluate`.
    folder
        The folder that holds ``results``, with their checkpoints.
    out
        A folder of the same kind for this method, which goes on where it was stopped.
    quick
        Whether the first 16 images and one training of each network are enough. Methods are then compared on these.
    options
        Further ones of :func:`~salgen.evaluation.bench.bench_run.run_entry`.

    Raises
    ------
    SalgenError
        If there are no results, or the method fails.
    """
    import pandas as pd

    asked = dataclasses.replace(spec, images=QUICK_IMAGES, trainings=1) if quick else spec
    stated = read_scores(spec, folder)
    combined = {}
    for entry in main_entries(spec):
        if entry.name not in stated:
            continue
        for card in (folder / RESULTS / entry.name).glob(f"*/{CARD}"):
            copy_checkpoint(card.parent, out / CHECKPOINTS / entry.name / card.parent.name)
        plain_test = dataclasses.replace(entry, data=dataclasses.replace(entry.data, tests=("test",)))
        (results,) = run_entry(asked, plain_test, out, methods=[method], recipes_only=True, **options)
        own, scores = headline_scores(spec, results), stated[entry.name]
        alike = scores.merge(own[SAMPLES].drop_duplicates(), on=SAMPLES)
        combined[entry.name] = pd.concat([alike[~alike["method"].isin(own["method"])], own])
    return standing_by(asked, combined)
