import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from salgen.generators.lesions.lesion_shape import apart_from, find_places, lesion_profile, support_at, window_at


def test_profile_is_the_papers_formula():
    h = [0.54 - 0.46 * np.cos(2 * np.pi * i / 9) for i in range(10)]
    raw = np.array([[np.sqrt(h[i] * h[j]) for j in range(10)] for i in range(10)])
    assert np.allclose(lesion_profile(10, "hamming"), raw / raw.max(), atol=1e-12)


def test_hann_has_no_support_on_its_rim():
    profile = lesion_profile(7, "hann")
    assert (profile > 0).sum() == 25
    assert lesion_profile(4, "flat").min() == 1.0


def slow_places(brain, diameter, region, whole, pair):
    height, width = brain.shape
    half = {"top": range(height // 2), "bottom": range(height // 2, height), "anywhere": range(height)}[region]
    first = []
    for r in half:
        for c in range(width):
            rows = range(r - diameter // 2, r - diameter // 2 + diameter)
            columns = range(c - diameter // 2, c - diameter // 2 + diameter)
            inside = rows[0] >= 0 and rows[-1] < height and columns[0] >= 0 and columns[-1] < width
            if brain[r, c] and (inside or not whole):
                first.append((r, c))
    apart = [[max(abs(r - s), abs(c - d)) >= diameter for s, d in first] for r, c in first]
    return [place for place, others in zip(first, apart, strict=True) if any(others) or not pair]


@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 5),
    st.sampled_from(["top", "bottom", "anywhere"]),
    st.booleans(),
    st.booleans(),
)
def test_places_are_exactly_the_valid_ones(seed, diameter, region, whole, pair):
    brain = np.random.default_rng(seed).random((9, 11)) < 0.4
    places = find_places(brain, diameter, region, whole=whole, pair=pair)
    assert [tuple(place) for place in places.tolist()] == slow_places(brain, diameter, region, whole, pair)


@given(st.tuples(st.integers(0, 8), st.integers(0, 10)), st.integers(2, 6))
def test_windows_are_clipped_to_the_image(centre, diameter):
    inside, part = window_at(centre, diameter, (9, 11))
    mask = support_at(centre, np.ones((diameter, diameter), bool), (9, 11))
    expected = np.zeros((9, 11), bool)
    for r in range(centre[0] - diameter // 2, centre[0] - diameter // 2 + diameter):
        for c in range(centre[1] - diameter // 2, centre[1] - diameter // 2 + diameter):
            if 0 <= r < 9 and 0 <= c < 11:
                expected[r, c] = True
    assert np.array_equal(mask, expected)
    assert np.zeros((9, 11))[inside].shape == np.zeros((diameter, diameter))[part].shape


def test_apart_means_no_overlap():
    places = np.argwhere(np.ones((12, 12), bool))
    apart = apart_from(places, (6, 6), 4)
    first = support_at((6, 6), np.ones((4, 4), bool), (12, 12))
    for place, clear in zip(places, apart, strict=True):
        assert clear != (support_at(place, np.ones((4, 4), bool), (12, 12)) & first).any()
