"""Composite evidence of a run, for imported images, which cannot be drawn again: ``composites.parquet``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from salgen.evaluation.metrics.inputs.batched_predictor import logits_of
from salgen.evaluation.reliance.composites import FEWEST, FILLINGS, composite_evidence
from salgen.evaluation.runs.artifacts.certificate_table import COMPOSITE_COLUMNS, COMPOSITES
from salgen.evaluation.runs.artifacts.chunk_files import PARTS, provenance
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.files import atomic_path
from salgen.sources import OWN_COPY

if TYPE_CHECKING:
    import pandas as pd

MOST = 100  # samples, which are held in memory together and take up to 78 passes each
VERSION = "1"  # changes whenever the evidence may


def compose_run(runners: Sequence[ModelRunner]) -> list[dict[str, Any]]:
    """Write ``composites.parquet`` of imported images, and summarise it for each model.

    Other runs have none, nor have those of fewer images than composites take.
    """
    plan, path = runners[0].plan, runners[0].run / COMPOSITES
    path.unlink(missing_ok=True)  # left by another run, with other models
    if plan.source_run is not None:  # whose file is copied
        return list(plan.source_run.record.composites)
    if plan.dataset.spec.source != OWN_COPY:
        return []
    chosen = not_filled(plan)
    if len({plan.dataset.clusters[number] for number in chosen}) <= FEWEST:
        return []
    import pandas as pd  # takes half a second

    tables = [_kept(runner, chosen) for runner in runners]
    _write(pd.concat(tables), path)
    return [_summary(runner, table) for runner, table in zip(runners, tables, strict=True)]


def not_filled(plan: Plan) -> list[int]:
    """Those of the first `MOST` scored samples whose object leaves something of the image."""
    first = list(plan.scored[:MOST])
    (batch,) = plan.dataset.batches(len(first), first)
    masks = np.asarray(plan.masks(batch).any(axis=1))
    return [number for number, mask in zip(first, masks, strict=True) if not mask.all()]


def compose(runner: ModelRunner, chosen: list[int]) -> pd.DataFrame:
    """A row for each of the chosen samples and each filling, with a model's composite evidence."""
    import pandas as pd

    plan, model = runner.plan, runner.model
    (batch,) = plan.dataset.batches(len(chosen), chosen)
    ask = logits_of(model.view, plan.max_memory)
    targets = plan.targets(batch.labels, lambda: runner.predictions.predicted[chosen])
    masks = np.asarray(plan.masks(batch).any(axis=1))
    shown = batch.present(plan.task)[np.arange(len(batch)), targets] if model.view.multi_label else None
    found = composite_evidence(batch.images, masks, batch.clusters, batch.labels, targets, ask, shown=shown)
    rows = [
        {"model": model.name, "training_seed": model.seed, "sample_id": name, "cluster": cluster, "filling": filling,
         "composite_evidence": evidence.certified, **vars(evidence)}
        for name, cluster, of_sample in zip(batch.ids, batch.clusters, found, strict=True)
        for filling, evidence in of_sample.items()
    ]  # fmt: skip
    return pd.DataFrame(rows)


def _kept(runner: ModelRunner, chosen: list[int]) -> pd.DataFrame:
    """A model's evidence, from the file of a run that goes on, or computed and kept there."""
    key = {**runner.depends_on(chosen, runner.device), "composites": VERSION,
           "target": runner.plan.conventions.target}  # fmt: skip
    path = runner.run / PARTS / f"composites-{provenance(key)}.parquet"
    if not path.is_file():
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(compose(runner, chosen), path)
    table: pd.DataFrame = pq.read_table(path, partitioning=None).to_pandas()
    return table


def _write(table: pd.DataFrame, path: Path) -> None:
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pandas(table, pa.schema(COMPOSITE_COLUMNS), preserve_index=False), temporary)


def _summary(runner: ModelRunner, table: pd.DataFrame) -> dict[str, Any]:
    votes = table.groupby("sample_id", sort=False)["composite_evidence"].sum()
    shares = table.groupby("filling", sort=False)["composite_evidence"].mean()
    return {
        "name": runner.model.name,
        "seed": runner.model.seed,
        "samples": len(votes),
        "fillings": {name: float(shares[name]) for name in FILLINGS},
        "all_fillings": float((votes == len(FILLINGS)).mean()),  # evidence from each filling
        "disagreement": float(votes.between(1, len(FILLINGS) - 1).mean()),  # from some fillings, but not all
    }
