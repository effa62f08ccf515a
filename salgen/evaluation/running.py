"""Evaluate: every method on every sample under every metric, in one pass over the data.

The unit of work is (model, chunk of samples, method). Each unit leaves a file named by the digest of
all that its scores depend on, so a stopped run goes on where it was, and a run with one more method
computes that method only.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from salgen.datasets.reader import Batch, Dataset, open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.checkpoints import Card, Trained, check_fits, load_checkpoint
from salgen.evaluation.conventions import Conventions
from salgen.evaluation.gallery import save_gallery
from salgen.evaluation.metrics import Metric
from salgen.evaluation.model_view import ModelView
from salgen.evaluation.plan import Plan, Predictions
from salgen.evaluation.run_record import library_versions, write_run_record
from salgen.evaluation.score_cube import SCORES
from salgen.evaluation.scoring import choose_metrics
from salgen.evaluation.scoring import score as score_maps
from salgen.evaluation.selection import create_methods
from salgen.evaluation.summary import write_summary
from salgen.evaluation.training import train_seeds
from salgen.files import atomic_path, remove_temporaries, sha256_of
from salgen.parameters import build, call_text, canonical_json, to_json
from salgen.progress import progress
from salgen.registry import MODELS
from salgen.types import ResultRow, SaliencyMap, Scores

CHUNK = 64
HEADLINE = "roc-auc"
PARTS = "parts"

ARROW_TYPES = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bool | None: pa.bool_()}
RESULT_COLUMNS = {name: ARROW_TYPES[kind] for name, kind in get_type_hints(ResultRow).items()}


def evaluate(
    path: str | Path,
    *,
    model: str | Path = "lesion-cnn",
    methods: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    out: str | Path | None = None,
    split: str | None = None,
    scale: str = "small",
    settings: Mapping[str, Any] | None = None,
    seeds: int = 1,
    command: Sequence[str] | None = None,
    **conventions: Any,
) -> Path:
    """Train where no checkpoint is given, explain, score, and write a run folder.

    Parameters
    ----------
    path
        A data set folder.
    model
        A registered model, which is trained first, or the folder of a checkpoint.
    methods, metrics
        Calls such as ``"lrp-alpha-beta:alpha=1,beta=0"``; None for all. The controls are always added.
    out
        The run folder; ``runs/<data set>-<model>`` by default.
    split
        ``"test"`` by default.
    scale, settings, seeds
        How to train, see :func:`salgen.evaluation.training.train_seeds`.
    command
        What to record as the command.
    conventions
        `limit`, `target`, `reduce`, `score` and `seed`, see
        :class:`~salgen.evaluation.conventions.Conventions`.

    Returns
    -------
    The run folder, with ``scores.parquet``, ``summary.csv``, ``run.json`` and ``gallery.npz``.

    Raises
    ------
    SalgenError
        If a name, a number, the data set or the checkpoint is not what it must be.
    """
    started = time.monotonic()
    dataset = open_dataset(path, split)
    chosen = create_methods(methods), _metrics(metrics), build(Conventions, conventions)
    run = Path(out) if out is not None else default_run(path, model)
    models = _models(dataset, model, run, scale, settings, seeds)
    plan = Plan(dataset, models, *chosen)
    if not plan.scored:
        raise SalgenError(
            f"none of the {plan.considered} samples has a ground-truth mask to score against: raise --limit"
        )
    (run / PARTS).mkdir(parents=True, exist_ok=True)
    remove_temporaries(run / PARTS)
    predictions = [_predict(dataset, trained, plan.task) for trained in models]
    units = [unit for pair in zip(models, predictions, strict=True) for unit in _model_units(plan, *pair, run)]
    _merge(units, run / SCORES, dataset.name)
    save_gallery(plan, models[0], predictions[0], run)
    write_run_record(plan, predictions, [unit.path for unit in units], run, time.monotonic() - started, command)
    write_summary(run)
    return run


def default_run(path: str | Path, model: str | Path) -> Path:
    """Where a run goes when no folder is given."""
    checkpoint = Path(model).resolve()
    name = str(model) if str(model) in MODELS.entries else f"{checkpoint.parent.name}-{checkpoint.name}"
    return Path("runs") / f"{Path(path).resolve().name}-{name}"


def _metrics(calls: Sequence[str] | None) -> dict[str, Metric]:
    """Metrics by their calls; all of them by default, the headline first."""
    return {call_text(metric): metric for metric in choose_metrics(calls or [HEADLINE, "all"]).values()}


def _models(
    dataset: Dataset, model: str | Path, run: Path, scale: str, settings: Mapping[str, Any] | None, seeds: int
) -> list[Trained]:
    if str(model) in MODELS.entries:
        return train_seeds(dataset.path, run, model=str(model), scale=scale, settings=settings, seeds=seeds)
    if not Path(model).exists():
        MODELS.load(str(model))  # raises with the nearest registered name
    if settings or seeds != 1:
        raise SalgenError(f"{model} is a checkpoint: training settings and more than one seed take a model to train")
    trained = load_checkpoint(Path(model))
    check_fits(trained, dataset)
    return [trained]


def _predict(dataset: Dataset, trained: Trained, task: str) -> Predictions:
    """Predictions for the whole split, in order."""
    classifier = trained.classifier.eval()
    device = next(classifier.parameters()).device
    predicted = []
    with torch.inference_mode():
        for batch in dataset.batches(256):
            logits = classifier(torch.from_numpy(batch.images).to(device))
            if not bool(torch.isfinite(logits).all()):
                raise SalgenError(
                    f"model {trained.path} returns NaN or infinite logits: train it with a lower learning rate"
                )
            predicted.append(logits.argmax(1).cpu().numpy())
    return Predictions(np.asarray(dataset.column(task)), np.concatenate(predicted))


@dataclass(frozen=True)
class Unit:
    """A chunk of samples under one method, and the file of their scores."""

    call: str
    indices: tuple[int, ...]
    path: Path


def _model_units(plan: Plan, trained: Trained, said: Predictions, run: Path) -> list[Unit]:
    """All units of one model, their files made where they are missing."""
    weights = sha256_of(trained.path / "weights.safetensors")
    chunks = [tuple(plan.scored[start : start + CHUNK]) for start in range(0, len(plan.scored), CHUNK)]
    device = next(trained.classifier.parameters()).device.type
    units = [
        [
            Unit(call, chunk, run / PARTS / f"{_key(plan, weights, device, call, chunk)}.parquet")
            for call in plan.methods
        ]
        for chunk in chunks
    ]
    missing = [[unit for unit in group if not unit.path.exists()] for group in units]
    total = len(plan.scored) * len(plan.methods)
    done = total - sum(len(unit.indices) for group in missing for unit in group)
    model = ModelView.of(trained.classifier)
    label = f"explain and score, {trained.card.model} seed {trained.card.seed}"
    with progress(label, total, "maps", done=done) as advance:
        for chunk, todo in zip(chunks, missing, strict=True):
            for batch in plan.dataset.batches(CHUNK, chunk) if todo else ():
                for unit in todo:
                    _write_part(plan, trained.card, model, said, unit, batch)
                    advance(len(chunk))
    return [unit for group in units for unit in group]


def _key(plan: Plan, weights: str, device: str, call: str, chunk: Sequence[int]) -> str:
    """A digest of all that a unit's scores depend on."""
    method = plan.methods[call]
    config = {
        "dataset": [plan.dataset.fingerprint, plan.dataset.split, list(chunk)],
        "weights": weights,
        "by": [device, library_versions()],
        "method": [call, to_json(method), method.version],
        "metrics": [[name, to_json(metric), metric.version] for name, metric in plan.metrics.items()],
        "variants": list(plan.variants),
        "conventions": {**to_json(plan.conventions), "limit": None},  # the chunk says which samples
    }
    return hashlib.sha256(canonical_json(config).encode()).hexdigest()[:32]


def _write_part(plan: Plan, card: Card, model: ModelView, said: Predictions, unit: Unit, batch: Batch) -> None:
    """Explain and score one unit, and keep the rows with the time that the maps took."""
    targets = plan.targets(said, batch, unit.indices)
    started = time.monotonic()
    maps = plan.explain(model, unit.call, batch, targets)
    record = {
        "method": unit.call,
        "seconds": time.monotonic() - started,
        "maps": len(batch.ids),
        "reduction": maps.reduction,
        "native_resolution": "x".join(map(str, maps.native_resolution)),
    }
    shared = _shared_columns(plan, card, record)
    shared |= {"target": targets, "correct": said.predicted[list(unit.indices)] == batch.labels}
    tables = [
        _table(shared, variant, batch.ids, _scores(plan, maps, batch, region))
        for variant, region in plan.variants.items()
    ]
    table = pa.concat_tables(tables).replace_schema_metadata({"salgen": json.dumps(record)})
    with atomic_path(unit.path) as temporary:
        pq.write_table(table, temporary)


def _scores(plan: Plan, maps: SaliencyMap, batch: Batch, region: str | None) -> Scores:
    valid = None if region is None else batch.regions[region]
    return score_maps(maps.values, batch.masks, plan.metrics, valid=valid)


def _shared_columns(plan: Plan, card: Card, record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "dataset": plan.dataset.name,
        "dataset_fingerprint": plan.dataset.fingerprint,
        "split": plan.dataset.split,
        "task": plan.task,
        "certified": None,
        "model": card.model,
        "training_seed": card.seed,
        "method": record["method"],
        "method_parameters": canonical_json(to_json(plan.methods[record["method"]])),
        "reduction": record["reduction"],
        "native_resolution": record["native_resolution"],
    }


def _table(shared: Mapping[str, Any], variant: str, ids: Sequence[str], scores: Scores) -> pa.Table:
    """One row per metric and sample; a shared value is one for all rows, or one per sample."""
    count, metrics = len(ids), list(scores)
    columns: dict[str, Any] = {
        name: np.tile(value, len(metrics)) if isinstance(value, np.ndarray) else [value] * (count * len(metrics))
        for name, value in shared.items()
    }
    columns |= {
        "sample_id": list(ids) * len(metrics),
        "metric": np.repeat(metrics, count),
        "variant": [variant] * (count * len(metrics)),
        "value": np.concatenate([scores[name] for name in metrics]),
        "value_worst_case": np.concatenate([scores.worst_case[name] for name in metrics]),
        "reason": [reason for name in metrics for reason in scores.reasons[name]],
    }
    return pa.table({name: pa.array(columns[name], type=kind) for name, kind in RESULT_COLUMNS.items()})


def _merge(units: Sequence[Unit], path: Path, dataset: str) -> None:
    """All units' rows in one file, a unit at a time, under the name that the data set has now."""
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, pa.schema(RESULT_COLUMNS)) as writer:
        for unit in units:
            rows = _read_part(unit)
            name = pa.array([dataset] * len(rows), pa.string())
            writer.write_table(rows.set_column(rows.column_names.index("dataset"), "dataset", name))


def _read_part(unit: Unit) -> pa.Table:
    """The rows of a unit's file, if it is the one that was written for it."""
    try:
        table = pq.read_table(unit.path)
        record = json.loads((table.schema.metadata or {}).get(b"salgen", b"{}"))
        rows = table.replace_schema_metadata(None)
        if record.get("method") != unit.call or not rows.schema.equals(pa.schema(RESULT_COLUMNS)):
            raise ValueError("it holds other rows")
    except (pa.ArrowException, OSError, ValueError) as error:
        raise SalgenError(f"{unit.path} is damaged ({error}): remove it and run the same command again") from None
    return rows
