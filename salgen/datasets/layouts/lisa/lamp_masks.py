"""Masks of the lit lamp in a crop of a traffic light: several segmentations, and the vetting of their results.

A mask is accepted if the bulb's centre is in it, most of it lies in the bulb's rectangle and nearly all of it nearby.
An intersection over union alone accepts rings around an overexposed lamp, and parts of the housing.

References
----------
Szczepankiewicz et al. 2023, *Ground truth based comparison of saliency maps algorithms* (Scientific Reports
13:16887), for the segmentations. They give no numbers; the ones here are ours.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
import numpy as np
from numpy.typing import NDArray
from scipy.cluster.vq import kmeans2
from skimage.color import rgb2lab
from skimage.filters import threshold_otsu
from skimage.measure import label
from skimage.segmentation import flood
from salgen.generators.drawing.pictures import Pixels
from salgen.parameters import param
from salgen.types import Float64, Mask

Rectangle = tuple[int, int, int, int]  # left, top, right, bottom; the last two are just outside

ITERATIONS = 20  # most steps of k-means; crops of lamps need fewer than ten


@dataclass(frozen=True)
class MaskRules:
    """The numbers that decide what the masks of a lamp are. Hues are 0 to 180, saturation and value 0 to 255."""

    clusters: int = param(3, "colour clusters of k-means; the brightest is the lamp", low=2)
    tolerance: float = param(0.15, "how far V, from 0 to 1, may differ in region growing", low=0, high=1)
    red_hues: tuple[int, int, int, int] = param((0, 10, 170, 180), "red: two ranges of hue", low=0, high=180)
    green_hues: tuple[int, int] = param((40, 95), "green: a range of hue", low=0, high=180)
    min_saturation: int = param(80, "lowest saturation of a lit lamp", low=1, high=255)
    min_value: int = param(80, "lowest value V of a lit lamp", low=0, high=255)
    area: tuple[float, float] = param((0.01, 0.5), "accepted: part of the crop, from and to", low=0, high=1)
    min_inside: float = param(0.5, "accepted: part of the mask in the bulb's rectangle, at least", low=0, high=1)
    min_near: float = param(0.9, "accepted: part of the mask in a rectangle of twice the sides", low=0, high=1)
    min_overlap: float = param(0.3, "accepted: IoU with the bulb's rectangle, at least", low=0, high=1)
    duplicate: float = param(0.98, "a mask with a higher IoU with an earlier one is left out", low=0, high=1)
    most_masks: int = param(4, "how many acceptable masks an image has at most", low=1, high=5)


def acceptable_masks(crop: Pixels, bulb: Rectangle, *, red: bool, rules: MaskRules) -> list[Mask]:
    """The masks of a lit lamp that count as correct, bool (H, W); `bulb` is the bulb's rectangle inside of the crop."""
    inside = rectangle_mask(crop.shape[:2], bulb)
    kept: list[Mask] = []
    for segmentation in segmentations(crop, bulb, red=red, rules=rules):
        mask = largest_touching(segmentation, inside)
        if agrees(mask, bulb, rules) and all(overlap(mask, earlier) <= rules.duplicate for earlier in kept):
            kept.append(mask)
    return kept[: rules.most_masks]


def segmentations(crop: Pixels, bulb: Rectangle, *, red: bool, rules: MaskRules) -> Iterator[Mask]:
    """Bright or coloured pixels, bool (H, W), by five rules: k-means, Otsu on L, Otsu on R, region growing, HSV."""
    lab = rgb2lab(crop)
    yield brightest_cluster(lab, rules.clusters)
    yield above_otsu(lab[..., 0])
    yield above_otsu(crop[..., 0])
    yield grown_region(crop, bulb, rules.tolerance)
    yield coloured(crop, rules.red_hues if red else rules.green_hues, rules.min_saturation, rules.min_value)


def brightest_cluster(lab: Float64, clusters: int) -> Mask:
    """The pixels of the k-means cluster whose centre has the highest L, bool (H, W).

    The first centres are pixels at even steps in the order of L, the darkest and the brightest among them, so nothing
    is random.
    """
    colours = lab.reshape(-1, 3)
    order = np.argsort(colours[:, 0], kind="stable")
    first = colours[order[np.linspace(0, len(order) - 1, clusters).astype(int)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a cluster may stay empty where a crop has few colours
        centres, owners = kmeans2(colours, first, iter=ITERATIONS, minit="matrix")
    return np.asarray(owners == np.argmax(centres[:, 0])).reshape(lab.shape[:2])


def above_otsu(channel: NDArray[np.generic]) -> Mask:
    """The pixels of a channel (H, W) above Otsu's threshold; none where it is constant."""
    return np.asarray(channel > threshold_otsu(channel))


def grown_region(crop: Pixels, bulb: Rectangle, tolerance: float) -> Mask:
    """The 8-connected region around the brightest pixel in which V differs from its V by at most `tolerance`.

    Lamps are often overexposed: of equally bright pixels the one nearest to the bulb's centre is taken.
    """
    value = crop.max(axis=2)
    rows, columns = np.nonzero(value == value.max())
    left, top, right, bottom = bulb
    distance = (2 * rows + 1 - top - bottom) ** 2 + (2 * columns + 1 - left - right) ** 2
    nearest = int(np.argmin(distance))
    seed = int(rows[nearest]), int(columns[nearest])
    return np.asarray(flood(value.astype(np.float64), seed, connectivity=2, tolerance=255.0 * tolerance), dtype=bool)


def coloured(crop: Pixels, hues: tuple[int, ...], min_saturation: int, min_value: int) -> Mask:
    """The pixels with a hue in one of the ranges (0 to 180) and enough saturation and value (0 to 255), ends included.

    All are compared as whole numbers, so no rounding decides.
    """
    red, green, blue = (crop[..., channel].astype(np.int64) for channel in range(3))
    value = np.maximum(np.maximum(red, green), blue)
    chroma = value - np.minimum(np.minimum(red, green), blue)
    around_red = np.where(green < blue, 6 * chroma, 0) + green - blue
    sector = np.where(
        value == red, around_red, np.where(value == green, 2 * chroma + blue - red, 4 * chroma + red - green)
    )
    ranges = zip(hues[::2], hues[1::2], strict=True)
    right_hue = np.any([(low * chroma <= 30 * sector) & (30 * sector <= high * chroma) for low, high in ranges], axis=0)
    return np.asarray(right_hue & (255 * chroma >= min_saturation * value) & (value >= min_value) & (chroma > 0))


def largest_touching(mask: Mask, inside: Mask) -> Mask:
    """The largest 8-connected part of `mask` that has a pixel in `inside`; of equal ones the first by rows."""
    parts = label(mask, connectivity=2)
    sizes = np.bincount(parts.ravel())
    touching = np.zeros(len(sizes), dtype=bool)
    touching[parts[inside]] = True
    touching[0] = False  # the background
    if not touching.any():
        return np.zeros_like(mask)
    return np.asarray(parts == np.argmax(np.where(touching, sizes, 0)))


def agrees(mask: Mask, bulb: Rectangle, rules: MaskRules) -> bool:
    """True if a mask is of a fitting size, holds the bulb's centre, lies in and near the bulb, and overlaps with it."""
    smallest, largest = rules.area
    if not mask.any() or not smallest <= mask.sum() / mask.size <= largest:
        return False
    left, top, right, bottom = bulb
    row, column = (float(places.mean()) + 0.5 for places in np.nonzero(mask))
    if not (left <= column <= right and top <= row <= bottom):
        return False
    centre = mask[(top + bottom - 1) // 2 : (top + bottom) // 2 + 1, (left + right - 1) // 2 : (left + right) // 2 + 1]
    inside = rectangle_mask(mask.shape, bulb)
    down, across = (bottom - top) // 2, (right - left) // 2
    near = rectangle_mask(mask.shape, (max(left - across, 0), max(top - down, 0), right + across, bottom + down))
    return (
        bool(centre.any())
        and share_in(mask, inside) >= rules.min_inside
        and share_in(mask, near) >= rules.min_near
        and overlap(mask, inside) >= rules.min_overlap
    )


def share_in(mask: Mask, region: Mask) -> float:
    """Part of a mask that lies in a region; the mask is not empty."""
    return int((mask & region).sum()) / int(mask.sum())


def overlap(first: Mask, second: Mask) -> float:
    """Intersection over union of two masks; 0 if both are empty."""
    union = int((first | second).sum())
    return int((first & second).sum()) / union if union else 0.0


def agreement(masks: Sequence[Mask]) -> float:
    """The lowest intersection over union of two of some masks; 1 for one mask."""
    return min((overlap(first, second) for first, second in combinations(masks, 2)), default=1.0)


def rectangle_mask(shape: tuple[int, ...], rectangle: Rectangle) -> Mask:
    """A filled rectangle, bool (H, W)."""
    left, top, right, bottom = rectangle
    mask = np.zeros(shape, dtype=bool)
    mask[top:bottom, left:right] = True
    return mask
