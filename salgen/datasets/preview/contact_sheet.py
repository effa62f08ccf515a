"""A data set at a glance: a picture of some samples."""

import os
from collections.abc import Sequence
from functools import lru_cache
from typing import Any
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from salgen.datasets.reading.batch import Batch
from salgen.datasets.reading.pictures import enlarged, outlined
from salgen.datasets.reading.reader import Dataset, open_dataset

GAP, MARGIN, LEADING, TOP = 12, 20, 20, 104
PAPER, INK, PALE, GREY = (255, 255, 255), (26, 28, 32), (110, 114, 122), (225, 227, 230)
UNSCORED = 0.3  # brightness left to pixels that are not scored


def contact_sheet(
    path: str | os.PathLike[str],
    split: str | None = None,
    count: int = 8,
    source: str | None = None,
    ids: Sequence[str] = (),
) -> Image.Image:
    """Some samples of every class: image, masks over it, and where there are twins the twin and the difference.

    With `ids` these samples are shown instead. The split is ``test`` if None, or the first one where there is no test
    split. Differences are absolute and amplified alike for all samples; the title says by how much.
    """
    dataset = open_dataset(path, split, source)
    labels = np.asarray(dataset.column(dataset.manifest.default_task))
    chosen = [dataset.index(name) for name in ids] or _some_of_each_class(labels, count)
    (batch,) = dataset.batches(len(chosen), chosen)
    images, twins, depth = batch.levels(), batch.twin_levels(), dataset.spec.bit_depth
    gain = _gain(images, twins, depth)
    with_twins = any(twin is not None for twin in twins)
    rows = [
        [
            enlarged(_bytes(image, depth)),
            *_mask_pictures(dataset, batch, row, image),
            *(_twin_pictures(image, twin, gain, depth) if with_twins else ()),
        ]
        for row, (image, twin) in enumerate(zip(images, twins, strict=True))
    ]
    task, region = dataset.manifest.default_task, dataset.valid_region
    alternatives = ["or"] * (batch.acceptable.shape[1] - 1)
    titles = ["image", f"mask: {dataset.manifest.targets[task]}", *alternatives]
    titles += ["twin", f"difference x {gain:.3g}"] if with_twins else []
    captions = [(name, dataset.tasks[task][label]) for name, label in zip(batch.ids, batch.labels, strict=True)]
    height, width = dataset.spec.image_size
    size = f"{len(dataset):,} samples of {height} x {width} pixels"
    legend = "magenta outline: ground truth"
    if region:
        legend += f"; dark: outside of {region}, not scored"
    heading = f"{dataset.spec.generator}: split {dataset.split!r}, {size}", legend
    return _compose(heading, titles, captions, rows)


def _some_of_each_class(labels: NDArray[np.int64], count: int) -> list[int]:
    """The first samples of each class, the last class first, since it has the feature; of many classes some."""
    classes = sorted(set(labels.tolist()), reverse=True)
    classes = classes[:: -(-len(classes) // count)]
    ranks = {label: list(np.flatnonzero(labels == label)) for label in classes}
    turns = sorted((rank, order) for order, label in enumerate(classes) for rank in range(len(ranks[label])))
    chosen = sorted(turns[:count], key=lambda turn: (turn[1], turn[0]))
    return [int(ranks[classes[order]][rank]) for rank, order in chosen]


def _twin_pictures(
    image: NDArray[Any], twin: NDArray[Any] | None, gain: float, bit_depth: int
) -> tuple[Image.Image | None, Image.Image | None]:
    """The twin and the amplified difference, where there is a twin."""
    if twin is None:
        return None, None
    amplified = np.minimum(_difference(image, twin) * gain, 2**bit_depth - 1)
    return enlarged(_bytes(twin, bit_depth)), enlarged(_bytes(amplified, bit_depth))


def _difference(image: NDArray[Any], twin: NDArray[Any]) -> NDArray[np.int64]:
    """The absolute difference of two images, (C, H, W)."""
    return np.abs(image.astype(np.int64) - twin.astype(np.int64))


def _gain(images: NDArray[Any], twins: Sequence[NDArray[Any] | None], bit_depth: int) -> float:
    """The factor that makes the largest of all differences white, to two digits."""
    pairs = zip(images, twins, strict=True)
    largest = max((int(_difference(image, twin).max()) for image, twin in pairs if twin is not None), default=0)
    return float(f"{(2**bit_depth - 1) / largest:.1e}") if largest else 1.0


def _bytes(levels: NDArray[Any], bit_depth: int) -> NDArray[np.uint8]:
    """Levels (C, H, W) as colours, uint8 (H, W, 3)."""
    bytes_ = (levels.astype(np.float64) * (255.0 / (2**bit_depth - 1))).round().astype(np.uint8)
    return np.broadcast_to(bytes_.transpose(1, 2, 0), (*bytes_.shape[1:], 3))


def _mask_pictures(dataset: Dataset, batch: Batch, row: int, image: NDArray[Any]) -> list[Image.Image | None]:
    """The image, dark where it is not scored, with each acceptable mask outlined; None where others have more."""
    scored = batch.regions[dataset.valid_region][row] if dataset.valid_region else np.ones_like(batch.masks[row])
    shown = _bytes(image, dataset.spec.bit_depth) * np.where(scored, 1.0, UNSCORED)[..., np.newaxis]
    masks = (batch.masks[row], *batch.alternatives[row])
    pictures = [outlined(shown.astype(np.uint8), mask) for mask in masks]
    return [*pictures, *[None] * (batch.acceptable.shape[1] - len(masks))]


def _compose(
    heading: tuple[str, str],
    titles: Sequence[str],
    labels: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Image.Image | None]],
) -> Image.Image:
    """Pictures in rows with a heading, a title for each column and a label for each row."""
    first = next(picture for picture in rows[0] if picture is not None)
    width, height = first.size
    column, line = max(width, _text_width(titles)) + GAP, max(height, 2 * LEADING) + GAP
    left = MARGIN + _text_width([text for label in labels for text in label]) + GAP
    size = (left + column * len(titles) - GAP + MARGIN, TOP + line * len(rows) - GAP + MARGIN)
    sheet = Image.new("RGB", (max(size[0], 2 * MARGIN + _text_width(heading[:1], 18)), size[1]), PAPER)
    draw = ImageDraw.Draw(sheet)
    draw.text((MARGIN, MARGIN), heading[0], INK, _font(18))
    draw.text((MARGIN, MARGIN + LEADING + 4), heading[1], PALE, _font())
    for number, title in enumerate(titles):
        draw.text((left + number * column, TOP - 6), title, PALE, _font(), anchor="ls")
    for number, (label, pictures) in enumerate(zip(labels, rows, strict=True)):
        top = TOP + number * line
        for part, text in enumerate(label):
            draw.text((MARGIN, top + part * LEADING), text, (INK, PALE)[part], _font())
        for place, picture in enumerate(pictures):
            x = left + place * column
            if picture is not None:
                sheet.paste(picture, (x, top))
                continue
            draw.rectangle((x, top, x + width - 1, top + height - 1), fill=GREY)
            draw.text((x + width / 2, top + height / 2), "none", PALE, _font(), anchor="mm")
    return sheet


def _text_width(texts: Sequence[str], size: int = 14) -> int:
    return int(max(_font(size).getlength(text) for text in texts)) + 1


@lru_cache(maxsize=4)
def _font(size: int = 14) -> Any:
    return ImageFont.load_default(size)
