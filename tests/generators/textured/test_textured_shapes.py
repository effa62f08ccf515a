import math
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage.measure import label as components
from salgen.generators.drawing.outlines import turned
from salgen.generators.drawing.shapes import polygon
from salgen.generators.factory import generator
from salgen.generators.textured.textured_shapes import CLASSES, SHAPES, outline


def quick(**changes):
    return generator("textured-shapes", **{"image_size": (32, 32), **changes})


def test_ignored_pixels_lie_beside_the_thing_in_some_images():
    made = quick(ignored=0.5)
    assert (made.plugin.valid_region, quick(ignore="background").plugin.valid_region) == ("annotated", None)
    samples = [made.sample(1, "train", index) for index in range(60)]
    counts = [int((~sample.regions["annotated"]).sum()) for sample in samples]
    assert not any((sample.regions["object"] & ~sample.regions["annotated"]).any() for sample in samples)
    assert 15 <= sum(count > 0 for count in counts) <= 45
    assert max(counts) < 32 * 32 / 4
    for sample in samples:
        blobs = components(~sample.regions["annotated"] | sample.regions["object"], connectivity=2)
        assert blobs.max() <= 1  # they touch it


@given(st.integers(0, 10_000), st.floats(0.05, 0.5), st.floats(0.0, 90.0))
def test_a_thing_is_whole_and_of_the_area_drawn_where_that_fits(index, share, tilt):
    sample = quick(area=(share, share), tilt=tilt).sample(2, "train", index)
    support = sample.regions["object"]
    assert not support[[0, -1]].any()
    assert not support[:, [0, -1]].any()
    corners = outline(CLASSES[sample.labels["label"]].split("_")[0])
    corners = turned(corners, sample.recipe.parameters["turn"]) * math.sqrt(share) * 32
    fits = bool((np.ptp(corners, axis=0) <= 30).all())
    around = np.hypot(*(np.roll(corners, -1, axis=0) - corners).T).sum()
    assert support.mean() < share + 1.5 * around / 32**2
    assert support.mean() > share or not fits


@pytest.mark.parametrize("shape", SHAPES)
def test_silhouettes_are_one_piece_of_an_area_of_one_around_the_origin(shape):
    corners = outline(shape)
    covered = polygon(corners * 100 + 200, (400, 400))
    assert covered.sum() == pytest.approx(100**2, rel=2e-3)
    assert np.allclose(corners.min(axis=0), -corners.max(axis=0), atol=2e-6)
    coarse = polygon(corners * 60 + 130, (260, 260)) > 0.5
    assert components(coarse, connectivity=1).max() == 1
