"""How far annotators agree: IoU of each two, Krippendorff's alpha over pixels, and their majority."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Literal
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from salgen.files import atomic_path
from salgen.import_paths import needed
from salgen.types import Mask

IOU, ALPHA = "iou", "alpha"
SCHEMA = pa.schema(
    [("image", pa.string()), ("statistic", pa.string()), ("annotators", pa.list_(pa.string())), ("value", pa.float64())]
)
Row = dict[str, Any]  # a statistic of an image: by the names of SCHEMA; the value is None where it is undefined


def agreement_of(image: str, masks: Mapping[str, Mask]) -> list[Row]:
    """The statistics of one image, from each annotator's mask, bool (H, W); none if fewer than two drew on it."""
    if len(masks) < 2:
        return []
    pairs = [(IOU, pair, iou(*(masks[name] for name in pair))) for pair in combinations(masks, 2)]
    found = [*pairs, (ALPHA, tuple(masks), alpha(list(masks.values())))]
    return [{"image": image, "statistic": kind, "annotators": names, "value": value} for kind, names, value in found]


def iou(first: Mask, second: Mask) -> float | None:
    """Intersection over union of two masks, bool (H, W), from 0 to 1; None if both are empty."""
    union = int((first | second).sum())
    return int((first & second).sum()) / union if union else None


def alpha(masks: Sequence[Mask]) -> float | None:
    """Krippendorff's alpha of nominal data: units are pixels, coders are masks; None where nothing varies."""
    inside = np.sum(masks, axis=0, dtype=np.int64).ravel()
    if not inside.any() or inside.min() == len(masks):
        return None
    counts = np.stack([len(masks) - inside, inside], axis=1)
    return krippendorff_alpha("nominal", value_counts=counts)


def krippendorff_alpha(level: Literal["nominal", "ordinal"], **data: NDArray[Any]) -> float:
    """Krippendorff's alpha at a level of measurement, of what the package krippendorff takes as data."""
    krippendorff = needed("krippendorff", "agreement", "annotate")
    return float(krippendorff.alpha(**data, level_of_measurement=level))


def majority(masks: Sequence[Mask]) -> Mask:
    """The pixels that at least half of the annotators marked, bool (H, W); of two annotators, that either did."""
    return np.asarray(2 * np.sum(masks, axis=0, dtype=np.int64) >= len(masks))


def write_agreement(rows: Sequence[Row], path: Path) -> None:
    """Write statistics to a Parquet file."""
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    with atomic_path(path) as temporary:
        pq.write_table(table, temporary)


def in_words(rows: Sequence[Row]) -> str:
    """The means over images in a sentence, or why there are none."""
    values = {name: [row["value"] for row in rows if row["statistic"] == name] for name in (IOU, ALPHA)}
    compared = len(values[ALPHA])
    if not compared:
        return "Nobody's masks can be compared: no image has masks of two annotators."
    means = {name: [value for value in found if value is not None] for name, found in values.items()}
    return f"Images with masks of several annotators: {compared}. " + " ".join(
        f"{title}: {np.mean(means[name]):.3f} (mean of {len(means[name])})." if means[name] else f"{title}: undefined."
        for name, title in ((IOU, "IoU of two annotators"), (ALPHA, "Krippendorff's alpha over pixels"))
    )
