"""`composites.parquet`: for photographs and each filling, what composites say of a model's reliance."""

import pyarrow as pa

FILE = "composites.parquet"
COLUMNS = {
    "model": pa.string(),
    "training_seed": pa.int64(),
    **dict.fromkeys(("sample_id", "cluster", "filling"), pa.string()),
    **dict.fromkeys(("correct", "uses_feature", "ignores_background", "composite_evidence"), pa.bool_()),
    **dict.fromkeys(("feature_effect", "background_effect", "held_effect", "step_effect", "tolerance"), pa.float64()),
}
