"""Whether models rely on the ground truth: `certificates.parquet`, and for photographs `composites.parquet`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from salgen.errors import readable
from salgen.evaluation.reliance.certificate_rule import Certificate
from salgen.evaluation.runs.artifacts.chunk_files import ARROW_TYPES
from salgen.evaluation.runs.artifacts.run_record import CertificateSummary

if TYPE_CHECKING:
    import pandas as pd

CERTIFICATES = "certificates.parquet"
COMPOSITES = "composites.parquet"

_TYPES: dict[Any, pa.DataType] = {**ARROW_TYPES, list[str]: pa.list_(pa.string()), list[float]: pa.list_(pa.float64())}
COLUMNS = {
    "model": pa.string(),
    "training_seed": pa.int64(),
    "sample_id": pa.string(),
    "cluster": pa.string(),
    **{name: _TYPES[kind] for name, kind in get_type_hints(Certificate).items()},
}

COMPOSITE_COLUMNS = {  # for each filling
    "model": pa.string(),
    "training_seed": pa.int64(),
    **dict.fromkeys(("sample_id", "cluster", "filling"), pa.string()),
    **dict.fromkeys(("correct", "uses_feature", "ignores_background", "composite_evidence"), pa.bool_()),
    **dict.fromkeys(("feature_effect", "background_effect", "held_effect", "step_effect", "tolerance"), pa.float64()),
}

TOLERANCES = (0.05, 0.1, 0.15, 0.25, 0.35, 0.5, 0.75, 1.0)

Model = tuple[str, int]  # name and training seed


@dataclass(frozen=True)
class Certification:
    """The certificates of a run."""

    # model and training seed to sample id to whether it is certified. Samples without a twin are missing, and so are
    # models without certificates
    certified: Mapping[Model, Mapping[str, bool]] = field(default_factory=dict)
    # for each model the shares of its scored samples for which each part of the certificate holds; `needed` has the
    # shares of those samples showing a feature that need it
    summary: Sequence[CertificateSummary] = ()
    reason: str = ""  # the reason why there are no certificates, or ""


def read_certificates(path: Path) -> Certification:
    """The certificates of a file."""
    certified, summary = {}, []
    with readable(f"{path} is damaged", ": fetch it or evaluate again"):
        table = pq.read_table(path).to_pandas()
    for (name, seed), rows in table.groupby(["model", "training_seed"], sort=False):
        known = rows.set_index("sample_id")["certified"].dropna()
        certified[name, seed] = dict(known.astype(bool))
        summary.append(_summary(name, seed, rows))
    return Certification(certified, summary)


def _summary(name: str, seed: int, rows: pd.DataFrame) -> CertificateSummary:
    uses, elsewhere = rows["uses_feature"].eq(True), rows["holds_elsewhere"].dropna()
    held = rows["held_effect"][np.isfinite(rows["held_effect"])]
    shown = rows[["features", "needed_features"]].explode("features").dropna()
    is_needed = np.array([feature in needed for feature, needed in shown.itertuples(index=False)], dtype=float)
    needed: Any = shown.assign(share=is_needed).groupby("features", sort=False)["share"].mean().to_dict()
    return CertificateSummary(
        name=name,
        seed=int(seed),
        samples=len(rows),
        coverage=float(rows["certified"].eq(True).mean()),
        uses_feature=float(uses.mean()),
        ignores_background=float(rows["ignores_background"].eq(True).mean()),
        needed=needed,
        holds_elsewhere=float(elsewhere.mean()) if len(elsewhere) else None,
        held_effect=float(held.median()) if len(held) else None,
        by_tolerance={str(most): float((uses & (rows["tolerance"] <= most)).mean()) for most in TOLERANCES},
    )
