"""The record of a run, made from its plan and its results."""

import platform
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any
from salgen.command_line import COMMAND
from salgen.evaluation.attribution.file_maps import FileMaps, from_files
from salgen.evaluation.attribution.foreign_methods import ForeignMethod
from salgen.evaluation.attribution.method_selection import renamed
from salgen.evaluation.reliance.certificate_rule import REDRAWS
from salgen.evaluation.runs.artifacts import run_record as records
from salgen.evaluation.runs.artifacts.certificate_table import Certification
from salgen.evaluation.runs.artifacts.chunk_files import library_versions
from salgen.evaluation.runs.certify import VERSION as CERTIFICATE_VERSION
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.scoring.own_metrics import metric_records
from salgen.evaluation.training.checkpoints import read_card
from salgen.parameters import to_json


def run_record(
    runners: Sequence[ModelRunner], certificates: Certification, composites: list[dict[str, Any]], seconds: float
) -> records.RunRecord:
    """The record of how a run was made, for the report and its readers."""
    plan = runners[0].plan
    scored_from = None
    if plan.source_run is not None:
        made = {key: getattr(plan.source_run.record, key) for key in ("created", "device", "versions")}
        scored_from = {"record_sha256": plan.source_run.digest, **made}
    return records.RunRecord(
        salgen=version("salgen"),
        command=COMMAND.get(),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        versions={"python": platform.python_version(), **library_versions()},
        platform=platform.platform(),
        device=plan.device or str(plan.models[0].device),
        dataset=_dataset(plan),
        models=[_model(runner) for runner in runners],
        **_second_models(plan),
        methods=_methods(plan, runners),
        left_out=plan.left_out,
        metrics=list(plan.metrics),
        own_metrics=metric_records(plan.metrics),
        variants=list(plan.variants),
        headline_variant=next(iter(plan.variants)),
        conventions=to_json(plan.conventions),
        samples={
            "split_total": len(plan.dataset),
            "considered": plan.considered,
            "with_mask": len(plan.scored),
            "without_mask": plan.considered - len(plan.scored),
        },
        certificates=_certificates(plan, certificates),
        composites=composites,
        timings={"evaluate_seconds": round(seconds, 3)},
        notes=[note for note in _notes(plan, certificates.reason) if note],
        maps={name: key for runner in runners for name, key in runner.kept_maps.items()},
        scored_from=scored_from,
    )


def _certificates(plan: Plan, certificates: Certification) -> records.CertificatesRecord:
    """The certificates' summary; their version and number of redraws are those of a run whose maps are scored."""
    if plan.source_run is not None:
        scored_from = plan.source_run.record.certificates
        return replace(scored_from, models=list(certificates.summary), reason=certificates.reason)
    return records.CertificatesRecord(
        models=list(certificates.summary),
        reason=certificates.reason,
        version=CERTIFICATE_VERSION,
        redraws=plan.conventions.redraws or REDRAWS["small"],
    )


def _dataset(plan: Plan) -> records.DatasetRecord:
    dataset = plan.dataset
    return records.DatasetRecord(
        name=dataset.name,
        fingerprint=dataset.fingerprint,
        generator=dataset.spec.generator,
        split=dataset.split,
        image_size=list(dataset.spec.image_size),
        tasks={task: list(names) for task, names in dataset.tasks.items()},
        multi_label=list(dataset.manifest.multi_label),
        source=dataset.spec.source,
        valid_region=dataset.valid_region,
        redistributable=dataset.manifest.redistributable,
    )


def _model(runner: ModelRunner) -> records.ModelRecord:
    model, predictions, patterns = runner.model, runner.predictions, runner.patterns
    fitted = None
    if patterns is not None:
        fitted = {"units": sum(map(len, patterns.by_map)), "degenerate": sum(patterns.degenerate)}
    figures: dict[str, Any] = {"patterns": fitted, **model.origin}  # a source run's model has its own entry
    return records.ModelRecord(
        name=model.name,
        seed=model.seed,
        accuracy=predictions.accuracy,
        n_images=len(runner.plan.dataset),
        chance=predictions.chance,
        weights_sha256=model.digest,
        **figures,
    )


def _second_models(plan: Plan) -> dict[str, Any]:
    """The paired and permuted-labels models; where another run's maps are scored, those of its record."""
    if plan.source_run is not None:
        record = plan.source_run.record
        return {"paired_model": record.paired_model, "permuted_labels": record.permuted_labels}
    paired = []
    for seed, model in plan.paired.items():
        figures: dict[str, Any] = dict(model.origin)
        if model.origin["trained_on"] is not None:
            card = read_card(model.folder)
            figures |= {"accuracy": card.test_accuracy, "n_images": card.n_test, "chance": card.chance}
        paired.append(records.PairedModelRecord(name=model.name, seed=seed, task=model.task, **figures))
    permuted = [{"name": model.name, "seed": model.seed, **model.origin} for model in plan.shuffled.values()]
    return {"paired_model": paired, "permuted_labels": permuted}


def _methods(plan: Plan, runners: Sequence[ModelRunner]) -> list[records.MethodRecord]:
    """The methods, with seconds and maps summed over all chunks, including those of earlier, stopped runs."""
    chunks: dict[str, list[dict[str, Any]]] = {call: [] for call in plan.methods}
    for runner in runners:
        for chunk in runner.all_chunks:
            chunks[chunk.call].append(chunk.record())
    return [
        records.MethodRecord(
            call=call,
            stands_for=renamed(call, method),
            name=method.name,
            reference=", ".join(filter(None, (renamed(call, method), method.reference))),
            reduction=chunks[call][0]["reduction"],
            signed=method.signed,
            class_dependent=method.class_dependent,
            control=method.control,
            native_resolution=chunks[call][0]["native_resolution"],
            seconds=round(sum(record["seconds"] for record in chunks[call]), 3),
            maps=sum(record["maps"] for record in chunks[call]),
            files={"path": str(method.files.path), "sha256": method.sha256} if isinstance(method, FileMaps) else None,
            foreign=records.ForeignRecord(**to_json(method)) if isinstance(method, ForeignMethod) else None,
        )
        for call, method in plan.methods.items()
    ]


def _notes(plan: Plan, uncertified: str) -> Iterable[str]:
    """Notes for the reader: on the source, and on models trained on other data."""
    yield plan.dataset.manifest.notes
    for model in plan.models:
        trained_on = model.origin["trained_on"]
        if trained_on is None:
            yield f"{model.name} was given with its weights; what it was trained on is not known."
        elif trained_on["fingerprint"] != plan.dataset.fingerprint:
            yield (
                f"{model.name}, training seed {model.seed}, was trained on another data set: "
                f"{trained_on['name']}, fingerprint {trained_on['fingerprint'][:12]}."
            )
    if names := from_files(plan.methods):
        yield (
            f"The maps of {', '.join(names)} were read from files: that they explain {plan.models[0].name}, and the "
            "class that the run explains, is the word of whoever made them."
        )
    if uncertified:
        yield f"No reliance certificates: {uncertified}."
