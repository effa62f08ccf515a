"""`certificates.parquet`: for every scored sample, whether the model relied on the ground truth."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_type_hints
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from salgen.errors import SalgenError, reason
from salgen.evaluation.reliance.certificate_rule import Certificate
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
    try:
        certificates = pq.read_table(path)
        models = list(zip(*(certificates[name].to_pylist() for name in ("model", "training_seed")), strict=True))
        certified, summary = {}, []
        for name, seed in dict.fromkeys(models):
            own = certificates.filter(pa.array([model == (name, seed) for model in models]))
            known = zip(own["sample_id"].to_pylist(), own["certified"].to_pylist(), strict=True)
            certified[name, seed] = {sample: holds for sample, holds in known if holds is not None}
            summary.append(_summary(name, seed, own))
        return Certification(certified, summary)
    except (pa.ArrowException, OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:
        raise SalgenError(f"{path} is damaged ({reason(error)}): fetch it or evaluate again") from None


def _summary(name: str, seed: int, rows: pa.Table) -> CertificateSummary:
    shown, needed, uses = (rows[column].to_pylist() for column in ("features", "needed_features", "uses_feature"))
    elsewhere, tolerance, held = (  # older versions have not all columns
        rows[column].to_numpy() if column in rows.column_names else np.zeros(0)
        for column in ("holds_elsewhere", "tolerance", "held_effect")
    )
    held, elsewhere = held[np.isfinite(held)], elsewhere[~np.isnan(elsewhere)]
    return CertificateSummary(
        name=name,
        seed=seed,
        samples=len(rows),
        coverage=_share(rows["certified"].to_pylist()),
        uses_feature=_share(uses),
        ignores_background=_share(rows["ignores_background"].to_pylist()),
        needed={
            feature: _share(feature in n for n, features in zip(needed, shown, strict=True) if feature in features)
            for feature in dict.fromkeys(feature for features in shown for feature in features)
        },
        holds_elsewhere=float(np.mean(elsewhere)) if len(elsewhere) else None,
        held_effect=float(np.median(held)) if len(held) else None,
        by_tolerance={
            str(most): _share(use and own <= most for use, own in zip(uses, tolerance.tolist(), strict=True))
            for most in (TOLERANCES if len(tolerance) else ())
        },
    )


def _share(answers: Iterable[bool | None]) -> float:
    """The share of answers that are true; None counts as false."""
    return float(np.mean([bool(answer) for answer in answers]))
