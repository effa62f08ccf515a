"""`certificates.parquet`: for every scored sample, whether the model relied on the ground truth and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from salgen.errors import SalgenError, reason
from salgen.evaluation.reliance.reliance import Certificate
from salgen.evaluation.runs.artifacts.chunk_files import ARROW_TYPES
from salgen.evaluation.runs.artifacts.run_record import CertificateSummary

FILE = "certificates.parquet"

_TYPES: dict[Any, pa.DataType] = {**ARROW_TYPES, list[str]: pa.list_(pa.string()), list[float]: pa.list_(pa.float64())}
COLUMNS = {
    "model": pa.string(),
    "training_seed": pa.int64(),
    "sample_id": pa.string(),
    "cluster": pa.string(),
    **{name: _TYPES[kind] for name, kind in get_type_hints(Certificate).items()},
}

TOLERANCES = (0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.75, 1.0)

Model = tuple[str, int]  # name and training seed


@dataclass(frozen=True)
class Certification:
    """The certificates of a run.

    Attributes
    ----------
    certified
        Model and training seed to sample id to whether it is certified. Samples without a twin are
        missing, and so are models without certificates.
    summary
        For each model the shares of its scored samples for which each part of the certificate holds; `needed`
        has the shares of those samples showing a feature that need it.
    reason
        The reason why there are no certificates, or "".
    """

    certified: Mapping[Model, Mapping[str, bool]] = field(default_factory=dict)
    summary: Sequence[CertificateSummary] = ()
    reason: str = ""


def read_certificates(path: Path) -> Certification:
    """The certificates of a file.

    Raises
    ------
    SalgenError
        If it is damaged.
    """
    try:
        return _certification(pq.read_table(path).to_pylist())
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:
        raise SalgenError(f"{path} is damaged ({reason(error)}): fetch it or evaluate again") from None


def _certification(certificates: Sequence[dict[str, Any]]) -> Certification:
    per_model: dict[Model, list[dict[str, Any]]] = {}
    for row in certificates:
        per_model.setdefault((row["model"], row["training_seed"]), []).append(row)
    certified = {
        model: {row["sample_id"]: row["certified"] for row in rows if row["certified"] is not None}
        for model, rows in per_model.items()
    }
    return Certification(certified, [_summary(*model, rows) for model, rows in per_model.items()])


def _summary(name: str, seed: int, rows: Sequence[Mapping[str, Any]]) -> CertificateSummary:
    features = list(dict.fromkeys(feature for row in rows for feature in row["features"]))
    showing = {feature: [row for row in rows if feature in row["features"]] for feature in features}
    return CertificateSummary(
        name=name,
        seed=seed,
        samples=len(rows),
        coverage=_share(row["certified"] for row in rows),
        uses_feature=_share(row["uses_feature"] for row in rows),
        ignores_background=_share(row["ignores_background"] for row in rows),
        needed={f: _share(f in row["needed_features"] for row in showing[f]) for f in features},
        holds_elsewhere=_mean(row["holds_elsewhere"] for row in rows if "holds_elsewhere" in row),
        by_tolerance={
            str(most): _share(row["uses_feature"] and row["tolerance"] <= most for row in rows)
            for most in TOLERANCES
            if "tolerance" in rows[0]  # version 1 has none
        },
    )


def _mean(shares: Iterable[float]) -> float | None:
    """The mean of those that are defined; None if there are none."""
    defined = [share for share in shares if not np.isnan(share)]
    return float(np.mean(defined)) if defined else None


def _share(answers: Iterator[bool | None]) -> float:
    """The share of answers that are true; None counts as false."""
    return float(np.mean([bool(answer) for answer in answers]))
