"""Rows of `scores.parquet`, one for each combination of model, seed, method, metric, variant and sample."""

from itertools import product
from salgen.evaluation.statistics import score_cube as cubes


def score_cube(table):
    """The cube of a pyarrow table of such rows."""
    axes = cubes._axes_of([table])
    return cubes._filled([table], axes, axes.names["metric"])


def score_rows(of, samples, *, models=("cnn",), seeds=(0,), methods, metrics=("roc-auc",), variants=("region:image",)):
    """Rows with what `of(row, i)` says of the i-th sample; by default each sample is its own cluster."""
    rows = []
    for model, seed, method, metric, variant, i in product(models, seeds, methods, metrics, variants, range(samples)):
        row = {
            "sample_id": f"test-{i:03d}",
            "cluster": f"test-{i:03d}",
            "model": model,
            "training_seed": seed,
            "method": method,
            "reduction": "sum",
            "metric": metric,
            "variant": variant,
            "reason": "",
            "target": 1,
            "correct": True,
            "certified": None,
        }
        rows.append(row | of(row, i))
    return rows
