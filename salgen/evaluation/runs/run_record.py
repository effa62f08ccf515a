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

from salgen.datasets.format.manifest import RUN
from salgen.files import write_text
from salgen.parameters import to_json

if TYPE_CHECKING:
    from salgen.evaluation.attribution.patterns import Patterns
    from salgen.evaluation.runs.artifacts.chunk_files import ScoreChunk
    from salgen.evaluation.runs.artifacts.predictions import Predictions
    from salgen.evaluation.runs.certificate import Certification
    from salgen.evaluation.runs.evaluated_models import EvaluatedModel
    from salgen.evaluation.runs.plan import Plan

RECORD = RUN
LIBRARIES = ("salgen", "numpy", "torch", "captum", "zennit", "pyarrow")


def write_run_record(
    plan: Plan,
    predictions: Sequence[Predictions],
    patterns: Sequence[Patterns | None],
    certificates: Certification,
    units: Sequence[ScoreChunk],
    kept: Mapping[str, str],
    run: Path,
    seconds: float,
    command: Sequence[str] | None,
) -> None:
    """Write ``run.json``, from which the report and a reader can tell how every number came about.

    `kept` are the files of maps that the run keeps, each with the digest of what its maps depend on.
    """
    record = {
        "salgen": version("salgen"),
        "command": list(command) if command is not None else None,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **library_versions()},
        "platform": platform.platform(),
        "device": plan.device or str(plan.models[0].device),
        "dataset": _dataset(plan),
        "models": [_model(plan, *found) for found in zip(plan.models, predictions, patterns, strict=True)],
        **_second_models(plan),
        "methods": _methods(plan, units),
        "left_out": plan.left_out,
        "metrics": list(plan.metrics),
        "variants": list(plan.variants),
        "headline_variant": next(iter(plan.variants)),
        "conventions": to_json(plan.conventions),
        "samples": _samples(plan),
        "certificates": {"models": list(certificates.summary), "reason": certificates.reason},
        "timings": {"evaluate_seconds": round(seconds, 3)},
        "notes": _notes(plan, certificates.reason),
        "maps": dict(kept),
        "scored_from": _given(plan),
    }
    write_text(run / RECORD, record_text(record))


def record_text(record: Mapping[str, Any]) -> str:
    """What ``run.json`` holds, as text."""
    return json.dumps(record, indent=2, ensure_ascii=False) + "\n"


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
        "multi_label": list(dataset.manifest.multi_label),
        "source": dataset.spec.source,
        "valid_region": dataset.valid_region,
        "redistributable": dataset.manifest.redistributable,
    }


def _second_models(plan: Plan) -> dict[str, Any]:
    """The models whose maps are second maps; where another run's maps are scored, its own."""
    if plan.given is not None:
        return {key: plan.given.record.get(key) for key in ("paired_model", "permuted_labels")}
    return {
        "paired_model": [_paired(seed, subject) for seed, subject in plan.paired.items()],
        "permuted_labels": [{"name": m.name, "seed": m.seed, **m.origin} for m in plan.shuffled.values()],
    }


def _given(plan: Plan) -> dict[str, Any] | None:
    """The run whose maps were scored, if it is another one."""
    if plan.given is None:
        return None
    record = plan.given.record
    return {"record_sha256": plan.given.digest, **{key: record[key] for key in ("created", "device", "versions")}}


def _paired(seed: int, subject: EvaluatedModel) -> dict[str, Any]:
    """The second model beside that of a training seed; how well it does is in its checkpoint, if it has one."""
    from salgen.evaluation.training.checkpoints import read_card  # imports torch, which readers of a record do without

    trained = subject.origin["trained_on"] is not None
    found = {"name": subject.name, "seed": seed, "task": subject.task, **subject.origin}
    if not trained:
        return found
    card = read_card(subject.folder)
    return {**found, "accuracy": card.test_accuracy, "n_images": card.n_test, "chance": card.chance}


def _model(plan: Plan, subject: EvaluatedModel, said: Predictions, patterns: Patterns | None) -> dict[str, Any]:
    fitted = (
        None if patterns is None else {"units": sum(map(len, patterns.by_map)), "degenerate": sum(patterns.degenerate)}
    )
    return {
        "name": subject.name,
        "seed": subject.seed,
        "accuracy": said.accuracy,
        "n_images": len(plan.dataset),
        "chance": said.chance,
        "weights_sha256": subject.digest,
        "patterns": fitted,
        **subject.origin,
    }


def _notes(plan: Plan, uncertified: str) -> list[str]:
    """What a reader must know: of the source, of models trained on other data, of methods left out."""
    notes = [plan.dataset.manifest.notes]
    for subject in plan.models:
        trained_on = subject.origin["trained_on"]
        if trained_on is None:
            notes.append(f"{subject.name} was given with its weights; what it was trained on is not known.")
        elif trained_on["fingerprint"] != plan.dataset.fingerprint:
            notes.append(
                f"{subject.name}, training seed {subject.seed}, was trained on another data set: "
                f"{trained_on['name']}, fingerprint {trained_on['fingerprint'][:12]}."
            )
    if plan.left_out:
        notes.append(f"Not defined for {plan.models[0].name}, hence left out: {', '.join(plan.left_out)}.")
    if uncertified:
        notes.append(f"No reliance certificates: {uncertified}.")
    return [note for note in notes if note]


def _methods(plan: Plan, units: Sequence[ScoreChunk]) -> list[dict[str, Any]]:
    timing = _timings(units)
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


def _timings(units: Sequence[ScoreChunk]) -> Mapping[str, dict[str, Any]]:
    """Per method: seconds and maps over all its units, which earlier runs may have made."""
    total: dict[str, dict[str, Any]] = {}
    for unit in units:
        record = unit.record()
        method = total.setdefault(unit.call, {**record, "seconds": 0.0, "maps": 0})
        method["seconds"] += record["seconds"]
        method["maps"] += record["maps"]
    return total


def _samples(plan: Plan) -> dict[str, int]:
    scored = len(plan.scored)
    return {
        "split_total": len(plan.dataset),
        "considered": plan.considered,
        "with_mask": scored,
        "without_mask": plan.considered - scored,
    }
