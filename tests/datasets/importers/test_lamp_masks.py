import colorsys
from collections import deque
from dataclasses import replace
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from skimage.color import rgb2lab
from salgen.datasets.layouts.lisa import lamp_masks

RULES = lamp_masks.MaskRules()
ALGORITHMS = ("k-means", "Otsu on L", "Otsu on R", "region growing", "HSV")
COLOURS = {"red": (255, 70, 60), "green": (130, 255, 180)}
CENTRE, RADIUS = (10.0, 9.0), 5.0
BULB = (4, 5, 14, 15)
DISC = np.hypot(*(np.indices((36, 18)) + 0.5 - np.reshape(CENTRE, (2, 1, 1)))) <= RADIUS


def lamp(colour, halo=2.0):
    """A disc with a faint halo on a dark, slightly uneven housing, uint8 (36, 18, 3)."""
    distance = np.hypot(*(np.indices((36, 18)) + 0.5 - np.reshape(CENTRE, (2, 1, 1))))
    light = np.where(distance <= RADIUS, 1.0, np.clip(0.4 * (1 - (distance - RADIUS) / halo), 0, 1))
    housing = np.random.default_rng(0).uniform(15, 35, (36, 18))
    return np.rint(housing[..., None] * (1 - light[..., None]) + np.array(COLOURS[colour]) * light[..., None]).astype(
        np.uint8
    )


@pytest.mark.parametrize("colour", COLOURS)
@pytest.mark.parametrize("number", range(5), ids=ALGORITHMS)
def test_every_segmentation_finds_the_lamp(colour, number):
    crop = lamp(colour)
    found = list(lamp_masks.segmentations(crop, BULB, red=colour == "red", rules=RULES))
    assert len(found) == 5
    mask = lamp_masks.largest_touching(found[number], lamp_masks.rectangle_mask(crop.shape[:2], BULB))
    assert lamp_masks.overlap(mask, DISC) >= 0.6
    assert lamp_masks.agrees(mask, BULB, RULES)


def test_a_crop_of_one_colour_has_no_mask():
    assert lamp_masks.acceptable_masks(np.full((20, 10, 3), 60, np.uint8), (2, 2, 8, 8), red=True, rules=RULES) == []


def disc_of(area):
    """Masks of 20 x 20 with a square around the centre."""
    mask = np.zeros((20, 20), dtype=bool)
    mask[10 - area : 10 + area, 10 - area : 10 + area] = True
    return mask


def without(mask, row, columns):
    """The mask less some pixels of a row."""
    mask = mask.copy()
    mask[row, columns] = False
    return mask


def test_masks_are_kept_in_order_once_and_at_most_four(monkeypatch):
    def kept(*masks):
        monkeypatch.setattr("salgen.datasets.layouts.lisa.lamp_masks.segmentations", lambda *_, **__: iter(masks))
        return lamp_masks.acceptable_masks(np.zeros((20, 20, 3), np.uint8), (4, 4, 16, 16), red=True, rules=RULES)

    four = [disc_of(k) for k in (4, 5, 6, 7)]
    np.testing.assert_array_equal(kept(*four, lamp_masks.rectangle_mask((20, 20), (5, 5, 14, 15))), four)
    first = disc_of(6)
    bitten = without(first, 4, slice(4, 7))  # 141 of 144 pixels: an IoU of 0.979
    nearly = without(first, 4, slice(4, 6))  # 142 of 144: 0.986
    np.testing.assert_array_equal(kept(first, first.copy(), nearly, bitten), [first, bitten])
    np.testing.assert_array_equal(kept(disc_of(4), first, first), [disc_of(4), first])
    np.testing.assert_array_equal(kept(np.ones((20, 20), bool), disc_of(5)), [disc_of(5)])  # the first is refused
    scattered = disc_of(4)
    scattered[0:2, :] = True  # not connected with it, and outside the bulb
    np.testing.assert_array_equal(kept(scattered), [disc_of(4)])


def slow_verdict(mask, bulb):
    """From the text.

    Area within 1 % to 50 % of the crop, centroid inside the bulb's box, a pixel that touches the box's centre, half of
    it inside the box, nine tenths inside the box with half a side more on each side, IoU with the box >= 0.3.
    """
    left, top, right, bottom = bulb
    pixels = [(r, c) for r in range(mask.shape[0]) for c in range(mask.shape[1]) if mask[r, c]]
    boxed = {(r, c) for r in range(top, bottom) for c in range(left, right)}
    share = len(pixels) / (mask.shape[0] * mask.shape[1])
    if share < 0.01 or share > 0.5:
        return "area"
    if not left <= sum(c + 0.5 for _, c in pixels) / len(pixels) <= right:
        return "centroid"
    if not top <= sum(r + 0.5 for r, _ in pixels) / len(pixels) <= bottom:
        return "centroid"
    both = len(boxed & set(pixels))
    if not any(2 * c <= left + right <= 2 * c + 2 and 2 * r <= top + bottom <= 2 * r + 2 for r, c in pixels):
        return "centre"
    if both < 0.5 * len(pixels):
        return "inside"
    down, across = (bottom - top) // 2, (right - left) // 2
    near = [(r, c) for r, c in pixels if top - down <= r < bottom + down and left - across <= c < right + across]
    if len(near) < 0.9 * len(pixels):
        return "near"
    return "accepted" if both / (len(boxed) + len(pixels) - both) >= 0.3 else "IoU"


VERDICTS = {
    "accepted": ((4, 4, 10, 10), (4, 4, 10, 10)),
    "area, too small": ((5, 5, 6, 7), (5, 5, 6, 7)),
    "area, too large": ((0, 0, 20, 11), (0, 0, 20, 11)),
    "area, just half": ((0, 0, 20, 10), (0, 0, 20, 10)),
    "area, just one hundredth": ((5, 5, 7, 7), (5, 5, 7, 7)),
    "centroid": ((4, 4, 10, 16), (4, 4, 10, 9)),
    "IoU": ((8, 8, 10, 10), (4, 4, 14, 14)),
    "inside": ((2, 2, 12, 12), (4, 4, 10, 10)),
}


@pytest.mark.parametrize("case", VERDICTS)
def test_vetting_case_by_case(case):
    drawn, bulb = VERDICTS[case]
    mask = lamp_masks.rectangle_mask((20, 20), drawn)
    expected = "accepted" if "just" in case else case.partition(",")[0]
    assert slow_verdict(mask, bulb) == expected
    assert lamp_masks.agrees(mask, bulb, RULES) == (expected == "accepted")


def test_a_ring_and_a_tail_are_refused():
    ring = lamp_masks.rectangle_mask((20, 20), (4, 4, 12, 12)) & ~lamp_masks.rectangle_mask((20, 20), (7, 7, 9, 9))
    tail = lamp_masks.rectangle_mask((20, 20), (4, 4, 10, 10)) | lamp_masks.rectangle_mask((20, 20), (6, 10, 7, 20))
    for mask, bulb, verdict in ((ring, (4, 4, 12, 12), "centre"), (tail, (4, 4, 10, 10), "near")):
        assert slow_verdict(mask, bulb) == verdict
        assert not lamp_masks.agrees(mask, bulb, RULES)
    assert lamp_masks.agrees(tail, (4, 4, 10, 10), replace(RULES, min_near=0.5))
    rules = {"area": (0.5, 0.6)}, {"min_overlap": 0.99}, {"min_inside": 0.9}
    for rule, edges in zip(rules, ((10, 10), (10, 9), (11, 11)), strict=True):
        mask = lamp_masks.rectangle_mask((20, 20), (4, 4, *edges))
        assert lamp_masks.agrees(mask, (4, 4, 10, 10), RULES)
        assert not lamp_masks.agrees(mask, (4, 4, 10, 10), replace(RULES, **rule))


@st.composite
def rectangles(draw, size):
    left, top = draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))
    return left, top, draw(st.integers(left + 1, size)), draw(st.integers(top + 1, size))


@given(st.lists(rectangles(12), max_size=3), rectangles(12))
def test_vetting_is_what_the_text_says(drawn, bulb):
    mask = np.zeros((12, 12), dtype=bool)
    for rectangle in drawn:
        mask |= lamp_masks.rectangle_mask(mask.shape, rectangle)
    assert lamp_masks.agrees(mask, bulb, RULES) == (slow_verdict(mask, bulb) == "accepted")


@given(arrays(np.uint8, (6, 6, 3)), st.sampled_from(["red", "green"]))
def test_hsv_thresholds_are_those_of_a_loop_over_pixels(crop, colour):
    hues = RULES.red_hues if colour == "red" else RULES.green_hues
    found = lamp_masks.coloured(crop, hues, 80, 80)
    for row in range(6):
        for column in range(6):
            h, s, v = colorsys.rgb_to_hsv(*(int(level) / 255 for level in crop[row, column]))
            h, s, v = h * 180, s * 255, v * 255
            near = [abs(h - edge) for edge in (*hues, 180)] + [abs(s - 80), abs(v - 80)]
            if min(near) < 1e-6:
                continue  # on an edge, floating point decides
            right = any(low <= h <= high for low, high in zip(hues[::2], hues[1::2], strict=True))
            assert found[row, column] == (right and s >= 80 and v >= 80), (h, s, v)


def test_hsv_thresholds_include_their_ends():
    red = [(240, 80, 0), (240, 0, 79), (80, 0, 0), (255, 175, 175)]  # hues 10 and 170, least value and saturation
    green = [(160, 240, 0), (0, 240, 40)]
    neither = [(240, 81, 0), (240, 0, 81), (161, 240, 0), (79, 0, 0), (255, 176, 176), (255, 255, 255)]
    crop = np.array([[*red, *green, *neither]], np.uint8)
    for hues, inside in ((RULES.red_hues, red), (RULES.green_hues, green)):
        found = lamp_masks.coloured(crop, hues, 80, 80)[0]
        assert list(map(tuple, crop[0, found].tolist())) == inside


def test_k_means_is_lloyds_algorithm_from_darkest_middle_and_brightest():
    crop = lamp("red")
    lab = rgb2lab(crop)
    points = lab.reshape(-1, 3)
    ranked = sorted(range(len(points)), key=lambda k: points[k][0])
    centres = [points[ranked[place]] for place in (0, (len(points) - 1) // 2, len(points) - 1)]
    for _ in range(20):
        owners = [min(range(3), key=lambda k: np.sum((point - centres[k]) ** 2)) for point in points]
        centres = [points[np.array(owners) == k].mean(axis=0) for k in range(3)]
    brightest = max(range(3), key=lambda k: centres[k][0])
    assert np.array_equal(lamp_masks.brightest_cluster(lab, 3).ravel(), np.array(owners) == brightest)


@given(arrays(np.uint8, (6, 6), elements=st.integers(0, 9)))
def test_otsus_threshold_divides_best(channel):
    """No other threshold gives a larger variance between the two sides."""
    found = lamp_masks.above_otsu(channel)

    def between(mask):
        if not mask.any() or mask.all():
            return 0.0
        weight = mask.mean()
        return weight * (1 - weight) * (channel[mask].mean() - channel[~mask].mean()) ** 2

    assert between(found) >= max(between(channel > level) for level in range(10)) - 1e-9


@given(arrays(np.uint8, (6, 6), elements=st.sampled_from([0, 100, 161, 162, 200, 216, 217, 255])))
def test_region_growing_is_a_walk_from_the_brightest_pixel(levels):
    bulb = (1, 2, 4, 6)
    crop = np.stack([levels // 2, levels, levels // 3], axis=2)
    value = levels.astype(int)
    brightest = [(r, c) for r in range(6) for c in range(6) if value[r, c] == value.max()]
    seed = min(brightest, key=lambda p: (p[0] + 0.5 - 4.0) ** 2 + (p[1] + 0.5 - 2.5) ** 2)
    reached, todo = {seed}, deque([seed])
    while todo:
        r, c = todo.popleft()
        for place in [(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]:
            new = place not in reached and 0 <= place[0] < 6 and 0 <= place[1] < 6
            if new and value[seed] - value[place] <= 38:  # 0.15 of 255 is 38.25
                reached.add(place)
                todo.append(place)
    found = lamp_masks.grown_region(crop, bulb, 0.15)
    assert {(int(r), int(c)) for r, c in np.argwhere(found)} == reached


@given(arrays(bool, (7, 7)), rectangles(7))
def test_the_largest_part_that_touches_the_bulb(mask, bulb):
    parts, seen = [], set()
    for start in map(tuple, np.argwhere(mask)):
        if start in seen:
            continue
        part, todo = {start}, [start]
        while todo:
            r, c = todo.pop()
            for place in [(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]:
                if place not in part and 0 <= place[0] < 7 and 0 <= place[1] < 7 and mask[place]:
                    part.add(place)
                    todo.append(place)
        seen |= part
        parts.append(part)
    left, top, right, bottom = bulb
    touching = [part for part in parts if any(left <= c < right and top <= r < bottom for r, c in part)]
    expected = max(touching, key=len, default=set())  # of equal ones the first
    found = lamp_masks.largest_touching(mask, lamp_masks.rectangle_mask((7, 7), bulb))
    assert {tuple(place) for place in np.argwhere(found)} == expected
