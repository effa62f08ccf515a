"""`composites.parquet`: for photographs and each filling, what composites say of a model's reliance."""

from typing import get_type_hints
import pyarrow as pa
from salgen.evaluation.reliance.composites import CompositeEvidence
from salgen.evaluation.runs.artifacts.chunk_files import ARROW_TYPES

FILE = "composites.parquet"
COLUMNS = {
    "model": pa.string(),
    "training_seed": pa.int64(),
    "sample_id": pa.string(),
    "cluster": pa.string(),
    **{name: ARROW_TYPES[kind] for name, kind in get_type_hints(CompositeEvidence).items()},
}
