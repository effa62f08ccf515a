"""The reliance certificate: a test, for every scored sample, whether the model relied on the ground truth.

Each sample is rendered again from its recipe, by a :class:`~salgen.generators.interfaces.Redrawable` generator, and
:mod:`salgen.evaluation.reliance.certificate_rule` decides from the model's logits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.batched_predictor import logits_of
from salgen.evaluation.reliance.certificate_rule import REDRAWS, Answers, certificate_of
from salgen.evaluation.reliance.rerender import Renderer
from salgen.evaluation.runs.artifacts.certificate_table import CERTIFICATES, COLUMNS, Certification, read_certificates
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, is_written, provenance, read_rows, write_part
from salgen.evaluation.runs.artifacts.predictions import Classes, predicted_classes
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.files import atomic_path
from salgen.progress import progress

VERSION = "5"  # changes whenever a certificate may


def certify(
    runners: Sequence[ModelRunner],
    source: str | None = None,
    elsewhere: Callable[[Certifier], Iterator[int]] | None = None,
) -> Certification:
    """Certify every scored sample for every model of a run, and write ``certificates.parquet``, or say why not.

    `elsewhere` has other processes write a certifier's missing files, and yields each written chunk's number.
    """
    plan, path = runners[0].plan, runners[0].run / CERTIFICATES
    certifiers = [Certifier(runner) for runner in runners]
    if any(certifier.missing for certifier in certifiers):
        try:
            renderer = Renderer.of(plan.dataset, source, plan.scored[0])
        except (SalgenError, OSError) as error:
            path.unlink(missing_ok=True)  # left by another run, with other models
            why = str(error) if source is None else str(error).replace(source, Path(source).name)
            return Certification(reason=f"the samples cannot be rendered again: {why}")
        for certifier in certifiers:
            model, missing, total = certifier.runner.model, certifier.missing, len(plan.scored)
            sizes = {number: len(plan.chunks[number]) for number in missing}
            label = f"certify, {model.name} seed {model.seed}"
            with progress(label, total, "samples", done=total - sum(sizes.values())) as advance:
                for number in elsewhere(certifier) if elsewhere else certifier.write(missing, renderer):
                    advance(sizes[number])
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, pa.schema(COLUMNS)) as writer:
        for certifier in certifiers:
            for part in certifier.paths:
                writer.write_table(read_rows(part))
    return read_certificates(path)


@dataclass(frozen=True)
class Certifier:
    """The certificates of one model, in a file for each chunk of samples."""

    runner: ModelRunner

    @property
    def redraws(self) -> int:
        """The number of redraws of a sample."""
        return self.runner.plan.conventions.redraws or REDRAWS["small"]

    @cached_property
    def paths(self) -> list[Path]:
        """The file of each chunk, named by a digest of everything that it depends on."""
        folder = self.runner.run / PARTS
        return [folder / f"certificate-{self._key(chunk)}.parquet" for chunk in self.runner.plan.chunks]

    @property
    def missing(self) -> list[int]:
        """The numbers of the chunks that have no file yet."""
        return [number for number, path in enumerate(self.paths) if not is_written(path)]

    def write(self, numbers: Iterable[int], renderer: Renderer) -> Iterator[int]:
        """Write the files of some chunks, and yield the number of each."""
        for number in numbers:
            certificates = self._certificates(self.runner.plan.chunks[number], renderer)
            self.paths[number].parent.mkdir(parents=True, exist_ok=True)
            write_part(self.paths[number], certificates)
            yield number

    def _certificates(self, chunk: Sequence[int], renderer: Renderer) -> pa.Table:
        plan, model = self.runner.plan, self.runner.model
        (batch,) = plan.dataset.batches(len(chunk), chunk)
        answers = renderer.answers(batch.recipes, self.redraws, logits_of(model.view, plan.max_memory))
        targets, labels = plan.targets(batch.labels, lambda: self._predicted(answers, batch.labels)), batch.labels
        if model.view.multi_label:
            answers = [answer.about(int(target)) for answer, target in zip(answers, targets, strict=True)]
            labels = batch.present(plan.task)[np.arange(len(batch)), targets].astype(np.int64)
            targets = np.ones_like(labels)
        rows = []
        samples = zip(batch.ids, batch.clusters, labels, targets, answers, strict=True)
        for name, cluster, label, target, answer in samples:
            sample = {"model": model.name, "training_seed": model.seed, "sample_id": name, "cluster": cluster}
            rows.append({**sample, **vars(certificate_of(answer, int(label), int(target)))})
        return pa.Table.from_pylist(rows, schema=pa.schema(COLUMNS))

    def _predicted(self, answers: Sequence[Answers], labels: Classes) -> Classes:
        view, logits = self.runner.model.view, np.stack([answer.sample for answer in answers])
        return predicted_classes(view.probabilities(torch.from_numpy(logits)).numpy(), labels, view.multi_label)

    def _key(self, chunk: Sequence[int]) -> str:
        return provenance(
            {
                **self.runner.depends_on(list(chunk), self.runner.device),
                "target": self.runner.plan.conventions.target,
                "certificate": [VERSION, self.redraws],
            }
        )
