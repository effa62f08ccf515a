"""A small run that keeps its maps, for the tests of scoring them again and of publishing them."""

from pathlib import Path
import pyarrow.parquet as pq
import salgen

CALLS = ["gradient", "lrp-alpha-beta:alpha=1,beta=0"]
METRICS = ["roc-auc", "average-precision", "idr"]
STATED = {"license": "CC-BY-4.0", "date": "2026-01-31"}
SAMPLES = 14
QUICK = {"image_size": (32, 32), "diameter": 6, "slices": 8}
SETTINGS = {"epochs": 1, "widths": "4,4,4", "hidden": 8}


def make_data(place: Path, seed: int = 0, name: str = "lesions", **splits: int) -> Path:
    """Lesions of 32x32 pixels, by default `SAMPLES` of them to test on."""
    splits = splits or {"train": 32, "val": 16, "test": SAMPLES}
    return salgen.make("perlin-lesions", place / name, seed=seed, splits=splits, parameters=QUICK, workers=1)


def make_run(data: Path, out: Path, **changes) -> Path:
    """An evaluation of a network that is trained for an epoch."""
    given = {"methods": CALLS, "metrics": METRICS, "settings": SETTINGS, "keep_maps": True}
    return salgen.evaluate(data, out=out, **{**given, **changes}).path


def scores(run: Path):
    """The scores in the file's order."""
    return pq.read_table(run / "scores.parquet").to_pandas()


def rows(run: Path):
    """The scores, in an order of their own."""
    return scores(run).sort_values(
        ["model", "training_seed", "method", "metric", "variant", "sample_id"], ignore_index=True
    )
