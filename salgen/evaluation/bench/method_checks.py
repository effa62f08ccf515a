"""What a method's page shows beside its places: the faintest cause that it finds, and sanity checks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any
import pandas as pd
import torch
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.attribution.patterns import fit_patterns
from salgen.evaluation.bench.published import stated_in_rows
from salgen.evaluation.bench.run_entry import CHECKPOINTS, DATA, RESULTS
from salgen.evaluation.bench.versions import BenchSpec
from salgen.evaluation.models.inspection.flops import Flops
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.logits import learn
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.statistics.score_cube import ALL
from salgen.evaluation.statistics.summary import ALL_SEEDS
from salgen.evaluation.sweeps.sweep import sweep
from salgen.evaluation.training.checkpoints import load_checkpoint
from salgen.files import read_csv, write_text

CHECKS = "checks.csv"
THRESHOLD, PASSES = "threshold", "passes"
COSTED = 4  # images
FITTED_ON = 200  # images at each dose, for methods that are fitted to the training images
COLUMNS = ["subject", "measure", "outcome", "value", "low", "high"]


def run_checks(spec: BenchSpec, out: Path, *, methods: Sequence[str] = ("all",), **options: Any) -> Path:
    """Compute ``checks.csv`` beside the results of an entry that is done; goes on where it was stopped.

    `subject` is a method or the network. `measure` is a metric, ``threshold``, or ``passes``, a map's cost in forward
    passes. `outcome` is a threshold's. `value` has its 95 % interval. Seed, version and digest follow.
    """
    entry = spec.entry(spec.checks.entry)
    trained = sorted((out / CHECKPOINTS / entry.name).glob("*-seed0"))
    if not trained:
        raise SalgenError(f"{out} has no checkpoint of {entry.name}: salgen bench run trains it")
    folder, images = out / "checks", spec.checks.images
    how: dict[str, Any] = {"model": str(trained[0]), "methods": list(methods), "limit": images, "scale": spec.scale}
    metrics = list(spec.checks.metrics)
    checked = Run(evaluate(out / DATA / entry.data.name, metrics=metrics, out=folder / "sanity", **how, **options))
    swept = sweep(
        entry.data.name,
        spec.checks.dose,
        folder / "doses",
        splits={"train": FITTED_ON, "test": images},
        parameters=entry.data.parameters,
        seed=spec.seed,
        **how,
        **options,
    )
    found = read_csv(swept / "thresholds.csv").rename(columns={"threshold": "value"})
    costs = _passes(trained[0], open_dataset(out / DATA / entry.data.name, "test"), checked)
    rows = pd.concat([found.assign(measure=THRESHOLD)[COLUMNS], _means(checked), costs])
    path = out / RESULTS / entry.name / CHECKS
    rows = rows.assign(training_seeds=0, **stated_in_rows(spec))
    write_text(path, rows.to_csv(index=False, float_format="%.6g", lineterminator="\n"))
    return path


def _means(run: Run) -> pd.DataFrame:
    """The means of a run's metrics that are of no region, with their intervals."""
    rows = run.summary[(run.summary["training_seed"] == ALL_SEEDS) & (run.summary["samples"] == ALL)]
    names = {"method": "subject", "metric": "measure", "mean": "value", "ci_low": "low", "ci_high": "high"}
    return rows.rename(columns=names).assign(outcome="")[COLUMNS].drop_duplicates(["subject", "measure"])


def _passes(checkpoint: Path, dataset: Dataset, run: Run) -> pd.DataFrame:
    """What maps of a run's methods cost, in forward passes, predictions and the measurement of memory included."""
    view = ModelView.of(load_checkpoint(checkpoint).classifier)
    images = torch.as_tensor(next(iter(dataset.batches(COSTED))).images)
    with torch.no_grad():
        inputs = view.normalise(images)
        learn(view.network, inputs)
        with Flops() as forward:
            view.logits(inputs)
    patterns, rows = fit_patterns(view, images), []
    for method in run.record.methods:
        if not method.control:
            with Flops() as own:
                explain(view, images, method=method.call, patterns=patterns)
            rows.append([method.call, PASSES, "", own.count / forward.count, math.nan, math.nan])
    return pd.DataFrame(rows, columns=COLUMNS)


def read_checks(spec: BenchSpec, results: Path) -> pd.DataFrame:
    """The checks in a folder of results; no rows where they are not there."""
    path = results / spec.checks.entry / CHECKS
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    return read_csv(path, keep_default_na=False, na_values={"value": "", "low": "", "high": ""})
