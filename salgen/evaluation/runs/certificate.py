"""The reliance certificate: for every scored sample, did the model use the ground truth, and that alone?

A saliency map can only be held to the mask if the model looked there. So each sample is rendered again
from its recipe: as its twin, on other backgrounds, and without each feature. It is certified if the
prediction is right and flips on the twin (`uses_feature`), and if it holds on eight redrawn backgrounds
while the margin moves by at most a quarter of what the feature moves it (`ignores_background`).

What a redraw keeps (of lesions: the slice of the brain and the places) is not put to the test, and a
background in which nothing is random is ignored by definition.

A generator that takes part is :class:`~salgen.generators.declarations.Redrawable`. Without one that can
render the data again, or without its source, there are no certificates, and `reason` says why.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from salgen.errors import SalgenError, reason
from salgen.evaluation.metrics.inputs.batched_predictor import BatchedPredictor
from salgen.evaluation.reliance.reliance import REDRAWS, TOLERATED, Answers, Certificate, certificate_of
from salgen.evaluation.reliance.rerender import Renderer
from salgen.evaluation.runs.artifacts.chunk_files import ARROW_TYPES, PARTS
from salgen.evaluation.runs.artifacts.predictions import Classes, predicted_classes
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.run_record import library_versions
from salgen.files import atomic_path
from salgen.parameters import canonical_json
from salgen.progress import progress
from salgen.types import Float32, Float64

FILE = "certificates.parquet"
VERSION = "1"  # changes whenever a certificate may

_TYPES: dict[Any, pa.DataType] = {**ARROW_TYPES, list[str]: pa.list_(pa.string()), list[float]: pa.list_(pa.float64())}
COLUMNS = {
    "model": pa.string(),
    "training_seed": pa.int64(),
    "sample_id": pa.string(),
    **{name: _TYPES[kind] for name, kind in get_type_hints(Certificate).items()},
}

Model = tuple[str, int]  # name and training seed


@dataclass(frozen=True)
class Certification:
    """What the certificates of a run say.

    Attributes
    ----------
    certified
        Model and training seed to sample id to whether it is certified; samples without a twin are
        missing, and so are all models where there are no certificates.
    summary
        For each model its `name` and `seed`, the shares of scored samples that are certified
        (`coverage`), for which `uses_feature` and `ignores_background` hold, and under `needed` the
        share of samples showing a feature that need it.
    reason
        Why there are no certificates, or "".
    """

    certified: Mapping[Model, Mapping[str, bool]] = field(default_factory=dict)
    summary: Sequence[Mapping[str, Any]] = ()
    reason: str = ""


def certify(works: Sequence[ModelRunner], source: str | None = None) -> Certification:
    """Certify every scored sample for every model of a run, and write ``certificates.parquet``.

    Parameters
    ----------
    works
        The models of one plan and run. What a stopped run has certified is taken from its parts.
    source
        The outside material the data set was made from, where that is not the generator's default.

    Returns
    -------
    The certificates, or none and the reason, where the data cannot be rendered again.

    Raises
    ------
    SalgenError
        If a part of the run is damaged, or a model's logits are not finite.
    """
    plan, path = works[0].plan, works[0].run / FILE
    certifiers = [_Certifier(work) for work in works]
    if any(certifier.missing for certifier in certifiers):
        try:
            renderer = Renderer.of(plan.dataset, source, plan.scored[0])
        except (SalgenError, OSError) as error:
            path.unlink(missing_ok=True)  # what another run left says nothing of these models
            said = str(error) if source is None else str(error).replace(source, Path(source).name)
            return Certification(reason=f"the samples cannot be rendered again: {said}")
        for certifier in certifiers:
            certifier.finish(renderer)
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, pa.schema(COLUMNS)) as writer:
        for certifier in certifiers:
            for table in certifier.tables():
                writer.write_table(table)
    return read_certificates(path)


@dataclass(frozen=True)
class _Certifier:
    """The certificates of one model, in a file for each chunk of samples."""

    work: ModelRunner

    @cached_property
    def parts(self) -> dict[tuple[int, ...], Path]:
        """Chunk of samples to its file, named by a digest of all that it depends on."""
        folder = self.work.run / PARTS
        return {chunk: folder / f"certificate-{self._key(chunk)}.parquet" for chunk in self.work.plan.chunks}

    @property
    def missing(self) -> dict[tuple[int, ...], Path]:
        """The parts that have no file yet."""
        return {chunk: path for chunk, path in self.parts.items() if not path.exists()}

    def finish(self, renderer: Renderer) -> None:
        """Write the missing files."""
        missing, total = self.missing, len(self.work.plan.scored)
        done = total - sum(map(len, missing))
        label = f"certify, {self.work.subject.name} seed {self.work.subject.seed}"
        with progress(label, total, "samples", done=done) as advance:
            for chunk, path in missing.items():
                path.parent.mkdir(parents=True, exist_ok=True)
                with atomic_path(path) as temporary:
                    pq.write_table(self._certificates(chunk, renderer), temporary)
                advance(len(chunk))

    def tables(self) -> Iterator[pa.Table]:
        """The rows of all files, if they are what was written for these samples."""
        for chunk, path in self.parts.items():
            try:
                table = pq.read_table(path)
                if not table.schema.equals(pa.schema(COLUMNS)) or len(table) != len(chunk):
                    raise ValueError("it holds other rows")
            except (pa.ArrowException, OSError, ValueError) as error:
                raise SalgenError(f"{path} is damaged ({error}): remove it and run the same command again") from None
            yield table

    def _certificates(self, chunk: Sequence[int], renderer: Renderer) -> pa.Table:
        plan, subject = self.work.plan, self.work.subject
        (batch,) = plan.dataset.batches(len(chunk), chunk)
        answers = renderer.answers(batch.recipes, self._logits)
        targets, labels = plan.targets(batch.labels, lambda: self._predicted(answers, batch.labels)), batch.labels
        if self.work.view.multi_label:
            answers = [said.about(int(target)) for said, target in zip(answers, targets, strict=True)]
            labels = batch.present(plan.task)[np.arange(len(batch)), targets].astype(np.int64)
            targets = np.ones_like(labels)
        rows = []
        for sample, label, target, said in zip(batch.ids, labels, targets, answers, strict=True):
            found = certificate_of(said, int(label), int(target))
            rows.append({"model": subject.name, "training_seed": subject.seed, "sample_id": sample, **asdict(found)})
        return pa.Table.from_pylist(rows, schema=pa.schema(COLUMNS))

    def _predicted(self, answers: Sequence[Answers], labels: Classes) -> Classes:
        probabilities = self.work.view.probabilities(torch.from_numpy(np.stack([said.sample for said in answers])))
        return predicted_classes(probabilities.numpy(), labels, self.work.view.multi_label)

    def _logits(self, images: Float32) -> Float64:
        """float64 (n, K), run in parts that fit into memory."""
        view = self.work.view
        probe = BatchedPredictor(view, images, self.work.plan.max_memory)
        with torch.inference_mode(False), torch.no_grad():
            logits = probe.batches.over(len(images), lambda part: view.logits(probe.inputs[part]))
        return np.asarray(torch.cat(logits).cpu().double().numpy())

    def _key(self, chunk: Sequence[int]) -> str:
        plan, subject = self.work.plan, self.work.subject
        config = {
            "dataset": [plan.dataset.fingerprint, plan.dataset.split, list(chunk)],
            "model": [subject.name, subject.seed, subject.digest],
            "by": [subject.device.type, library_versions()],
            "target": plan.conventions.target,
            "certificate": [VERSION, REDRAWS, TOLERATED],
        }
        return hashlib.sha256(canonical_json(config).encode()).hexdigest()[:32]


def read_certificates(path: Path) -> Certification:
    """What a file of certificates says.

    Raises
    ------
    SalgenError
        If it is damaged.
    """
    try:
        return _certification(pq.read_table(path).to_pylist())
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:
        raise SalgenError(f"{path} is damaged ({reason(error)}): fetch it, or evaluate, again") from None


def _certification(found: Sequence[dict[str, Any]]) -> Certification:
    per_model: dict[Model, list[dict[str, Any]]] = {}
    for row in found:
        per_model.setdefault((row["model"], row["training_seed"]), []).append(row)
    certified = {
        model: {row["sample_id"]: row["certified"] for row in rows if row["certified"] is not None}
        for model, rows in per_model.items()
    }
    return Certification(certified, [_summary(*model, rows) for model, rows in per_model.items()])


def _summary(name: str, seed: int, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    features = list(dict.fromkeys(feature for row in rows for feature in row["features"]))
    showing = {feature: [row for row in rows if feature in row["features"]] for feature in features}
    return {
        "name": name,
        "seed": seed,
        "samples": len(rows),
        "coverage": _share(row["certified"] for row in rows),
        "uses_feature": _share(row["uses_feature"] for row in rows),
        "ignores_background": _share(row["ignores_background"] for row in rows),
        "needed": {f: _share(f in row["needed_features"] for row in showing[f]) for f in features},
    }


def _share(answers: Iterator[bool | None]) -> float:
    """The share of those that are true, where None is not."""
    return float(np.mean([bool(answer) for answer in answers]))
