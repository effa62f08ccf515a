"""`run.json`: how a run was made, on what, and how long it took."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq

from salgen.evaluation.checkpoints import WEIGHTS
from salgen.files import sha256_of, write_text
from salgen.parameters import to_json

if TYPE_CHECKING:
    from salgen.evaluation.checkpoints import Trained
    from salgen.evaluation.plan import Plan, Predictions

RECORD = "run.json"
LIBRARIES = ("salgen", "numpy", "torch", "captum", "zennit", "pyarrow")


def write_run_record(
    plan: Plan,
    predictions: Sequence[Predictions],
    parts: Sequence[Path],
    run: Path,
    seconds: float,
    command: Sequence[str] | None,
) -> None:
    """Write ``run.json``, from which the report and a reader can tell how every number came about."""
    record = {
        "salgen": version("salgen"),
        "command": list(command) if command is not None else None,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **library_versions()},
        "platform": platform.platform(),
        "device": str(next(plan.models[0].classifier.parameters()).device),
        "dataset": _dataset(plan),
        "models": [_model(plan, *pair) for pair in zip(plan.models, predictions, strict=True)],
        "methods": _methods(plan, parts),
        "metrics": list(plan.metrics),
        "variants": list(plan.variants),
        "headline_variant": next(iter(plan.variants)),
        "conventions": to_json(plan.conventions),
        "samples": _samples(plan),
        "timings": {"evaluate_seconds": round(seconds, 3)},
        "notes": _notes(plan),
    }
    write_text(run / RECORD, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


@cache
def library_versions() -> dict[str, str]:
    """Versions of the libraries that a score depends on."""
    return {name: version(name) for name in LIBRARIES}


def _dataset(plan: Plan) -> dict[str, Any]:
    dataset = plan.dataset
    return {
        "name": dataset.name,
        "fingerprint": dataset.fingerprint,
        "generator": dataset.spec.generator,
        "split": dataset.split,
        "image_size": list(dataset.spec.image_size),
        "tasks": {task: list(names) for task, names in dataset.tasks.items()},
        "source": dataset.spec.source,
        "valid_region": dataset.valid_region,
    }


def _model(plan: Plan, trained: Trained, said: Predictions) -> dict[str, Any]:
    return {
        "name": trained.card.model,
        "seed": trained.card.seed,
        "accuracy": said.accuracy,
        "n_images": len(plan.dataset),
        "chance": float(np.bincount(said.labels).max() / len(said.labels)),
        "checkpoint": trained.path.name,
        "weights_sha256": sha256_of(trained.path / WEIGHTS),
        "trained_on": {"name": trained.card.dataset, "fingerprint": trained.card.dataset_fingerprint},
        "settings": trained.card.settings,
        "training_seconds": trained.card.seconds,
    }


def _notes(plan: Plan) -> list[str]:
    """What a reader must know: of the source, and of models that were trained on other data."""
    notes = [plan.dataset.manifest.notes]
    for trained in plan.models:
        if trained.card.dataset_fingerprint != plan.dataset.fingerprint:
            notes.append(
                f"{trained.card.model}, training seed {trained.card.seed}, was trained on another data set: "
                f"{trained.card.dataset}, fingerprint {trained.card.dataset_fingerprint[:12]}."
            )
    return [note for note in notes if note]


def _methods(plan: Plan, parts: Sequence[Path]) -> list[dict[str, Any]]:
    timing = _timings(parts)
    return [
        {
            "call": call,
            "name": method.name,
            "reference": method.reference,
            "reduction": timing[call]["reduction"],
            "signed": method.signed,
            "class_dependent": method.class_dependent,
            "control": method.control,
            "native_resolution": timing[call]["native_resolution"],
            "seconds": round(timing[call]["seconds"], 3),
            "maps": timing[call]["maps"],
        }
        for call, method in plan.methods.items()
    ]


def _timings(parts: Sequence[Path]) -> Mapping[str, dict[str, Any]]:
    """Per method: seconds and maps over all its units, which earlier runs may have made."""
    total: dict[str, dict[str, Any]] = {}
    for part in parts:
        unit = json.loads(pq.read_schema(part).metadata[b"salgen"])
        method = total.setdefault(unit["method"], {**unit, "seconds": 0.0, "maps": 0})
        method["seconds"] += unit["seconds"]
        method["maps"] += unit["maps"]
    return total


def _samples(plan: Plan) -> dict[str, int]:
    scored = len(plan.scored)
    return {
        "split_total": len(plan.dataset),
        "considered": plan.considered,
        "with_mask": scored,
        "without_mask": plan.considered - scored,
    }
