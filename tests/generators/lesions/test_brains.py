import weakref
from fractions import Fraction
import numpy as np
import pytest
from brain_volumes import Heads, head
from scipy.interpolate import BSpline
from salgen.errors import SalgenError
from salgen.generators.drawing.splines import smooth_field, spline_weights
from salgen.generators.lesions import slicing
from salgen.generators.lesions.brains import brain_bank
from salgen.generators.lesions.nifti import Volume
from salgen.generators.lesions.perlin import PerlinLesions
from salgen.generators.lesions.slicing import SCALES, TILT_DEGREES, TOP, cut_slice, prepare_volume
from salgen.generators.lesions.volumes import open_brains
from salgen.seeding import Stream

VIEW = (140.0, 192.0)
SIZE = (20, 28)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))


def bank_of(source, slices=8, size=SIZE, view=VIEW):
    return brain_bank(source, size, view, slices)


@pytest.mark.parametrize(("pixels", "cells"), [(7, 3), (10, 1), (5, 8)])
def test_spline_weights_are_uniform_cubic_b_splines(pixels, cells):
    knots = np.arange(-3.0, cells + 4.0)
    x = (np.arange(pixels) + 0.5) * cells / pixels
    expected = BSpline.design_matrix(x, knots, 3).toarray()
    np.testing.assert_allclose(spline_weights(pixels, cells), expected, atol=2.0**-17)


def test_a_smooth_field_is_exact_so_that_no_order_of_summation_shows():
    size, cells = (5, 6), (2, 3)
    values = np.rint(Stream("x").uniform(5 * 6, -(2.0**16), 2.0**16)) / 2.0**16
    down, across = spline_weights(5, 2), spline_weights(6, 3)
    found = smooth_field(Stream("x"), size, cells)
    for row in range(5):
        for column in range(6):
            exact = sum(
                Fraction(down[row, i]) * Fraction(values[6 * i + j]) * Fraction(across[column, j])
                for i in range(5)
                for j in range(6)
            )
            assert Fraction(found[row, column]) == exact


def trilinear(levels, place):
    """The slow way, one voxel after the other."""
    if any(not 0 <= x <= extent - 1 for x, extent in zip(place, levels.shape, strict=True)):
        return 0.0
    total = 0.0
    for corner in np.ndindex(2, 2, 2):
        at = [int(x) + c for x, c in zip(place, corner, strict=True)]
        weight = np.prod([x - int(x) if c else 1 - (x - int(x)) for x, c in zip(place, corner, strict=True)])
        total += weight * levels[tuple(at)] if weight else 0.0
    return total


def test_a_slice_interpolates_the_volume_at_its_coordinates():
    slab = prepare_volume(head(), 6.0)
    brain, values = cut_slice(slab, Stream("x"), SIZE, 6.0)
    places = slicing._coordinates(slab, Stream("x"), SIZE, 6.0)
    expected = np.array([trilinear(slab.levels, p) for p in places.reshape(3, -1).T]).reshape(SIZE)
    np.testing.assert_array_equal(values[brain], np.rint(expected)[brain])
    assert not values[~brain].any()
    np.testing.assert_array_equal(places * 4096, np.rint(places * 4096))


@pytest.mark.parametrize("voxel_size", [(4.0, 4.0, 4.0), (2.0, 5.0, 8.0), (1.5, 1.5, 10.0)])
@pytest.mark.parametrize("pixel_mm", [2.0, 4.0])
def test_slices_have_the_right_size_in_millimetres(voxel_size, pixel_mm):
    """Cuts through an upright cylinder with radius 40 mm are ellipses of a known range of areas."""
    shape = [round(extent / size) for extent, size in zip((120, 120, 120), voxel_size, strict=True)]
    x, y, _ = ((np.indices(shape).T - (np.array(shape) - 1) / 2) * voxel_size).T
    slab = prepare_volume(Volume((np.hypot(x, y) < 40).astype(np.float32), voxel_size), pixel_mm)
    size = (round(100 / pixel_mm), round(100 / pixel_mm))
    areas = [cut_slice(slab, Stream("x", index=k), size, pixel_mm)[0].sum() * pixel_mm**2 for k in range(12)]
    whole, tilt = np.pi * 40**2, np.cos(np.deg2rad(TILT_DEGREES)) ** 2
    assert 0.92 * SCALES[0] ** 2 * whole < min(areas)
    assert max(areas) < 1.08 * SCALES[1] ** 2 * whole / tilt


def test_fine_voxels_are_averaged_to_the_pixels_size():
    volume = Volume(np.kron(head().values, np.ones((3, 3, 3), np.float32)), (2.0, 2.0, 7 / 3))
    coarse, fine = prepare_volume(head(), 6.0), prepare_volume(volume, 6.0)
    assert fine.levels.shape == coarse.levels.shape
    np.testing.assert_allclose(fine.levels.astype(float), coarse.levels.astype(float), atol=TOP / 100)
    np.testing.assert_allclose(fine.centre, coarse.centre, atol=1e-9)
    np.testing.assert_allclose(fine.heights, coarse.heights, atol=1.0)
    np.testing.assert_allclose(fine.voxel_size, coarse.voxel_size)


def test_ventricles_are_brain_and_an_open_gap_is_not():
    volume = head(shape=(48, 60, 36), voxel_size=(3.0, 3.0, 3.5))
    volume.values[14:18, 28:32, 14:22] = 0.0  # shut in by brain: a ventricle that was set to zero
    volume.values[28:36, 26:34, :] = 0.0  # open above and below: background
    slab, ventricle = prepare_volume(volume, 3.0), 0
    for number in range(6):
        brain, values = cut_slice(slab, Stream("x", index=number), (48, 64), 3.0)
        assert 20 < (~brain[14:34, 20:44]).sum() < 100  # the gap of 64 pixels or so, and not the ventricle
        ventricle += np.count_nonzero(brain & (values == 1))
    assert ventricle > 0


def test_specks_are_dropped_and_large_pieces_kept():
    brain = np.zeros((20, 20), dtype=bool)
    brain[2:10, 2:10] = brain[12:15, 12:15] = brain[17, 17] = True
    kept = slicing._whole_pieces(brain)
    assert kept[12:15, 12:15].all()
    assert not kept[17, 17]
    assert kept.sum() == 64 + 9
    assert not slicing._whole_pieces(np.zeros((4, 4), dtype=bool)).any()


@pytest.mark.parametrize(("slices", "sizes"), [(1, [1, 1, 1]), (2, [2, 2, 2]), (3, [1, 1, 1]), (20, [14, 3, 3])])
def test_one_anatomy_gives_each_split_its_own_slices_where_there_are_three(slices, sizes):
    bank = bank_of(Heads(), slices=slices)
    parts = [bank.indices(split) for split in ("train", "val", "test")]
    assert [len(part) for part in parts] == sizes
    every = np.arange(slices)
    if slices < 3:
        assert all(np.array_equal(part, every) for part in parts)
    else:
        np.testing.assert_array_equal(np.sort(np.concatenate(parts)), every)
    np.testing.assert_array_equal(bank.indices("holdout"), bank.indices("test"))


def test_a_slice_does_not_depend_on_how_many_there_are_and_each_volume_gives_one():
    np.testing.assert_array_equal(bank_of(Heads(), slices=4).slices, bank_of(Heads(), slices=8).slices[:4])
    assert len(bank_of(Heads(("train", "val", "test")), slices=1).masks) == 3


def test_volumes_with_splits_keep_their_slices_to_themselves():
    bank = bank_of(Heads(("train", "holdout", "train")), slices=7)
    np.testing.assert_array_equal(bank.indices("train"), [0, 1, 2, 5, 6])
    np.testing.assert_array_equal(bank.indices("holdout"), [3, 4])
    with pytest.raises(SalgenError, match=r"split 'test': .* holdout, train"):
        bank.indices("test")


def test_one_volume_is_in_memory_at_a_time():
    alive = weakref.WeakSet()

    class Counting(Heads):
        def load(self, name):
            assert not alive
            volume = super().load(name)
            alive.add(volume)
            return volume

    source = Counting(("train", "val", "test"))
    bank_of(source)
    assert source.loaded == source.names()


@pytest.mark.parametrize("view", [(5000.0, 5000.0), (1e300, 1.0)])
def test_a_brain_lost_in_the_image_is_refused(view):
    with pytest.raises(SalgenError, match=r"0\.nii: the brain covers .* make field_of_view smaller"):
        bank_of(Heads(), view=view)


class Unreadable(Heads):
    def load(self, name):
        raise AssertionError("the bank was to come from the cache")


def test_a_bank_is_cut_once_per_cache():
    first = bank_of(Heads())
    second = bank_of(Unreadable())
    np.testing.assert_array_equal(second.masks, first.masks)
    np.testing.assert_array_equal(second.slices, first.slices)
    np.testing.assert_array_equal(second.indices("val"), first.indices("val"))


@pytest.mark.parametrize(
    "other",
    [{"size": (21, 28)}, {"view": (140.0, 200.0)}, {"slices": 9}, {"source": Unreadable(digest="others")}],
    ids=str,
)
def test_the_cache_tells_banks_apart(other):
    bank_of(Heads())
    with pytest.raises(AssertionError, match="from the cache"):
        bank_of(**{"source": Unreadable(), **other})


def test_a_damaged_cache_is_cut_again(tmp_path):
    first, again = bank_of(Heads()), Heads()
    (path,) = (tmp_path / "cache").glob("*.npz")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    np.testing.assert_array_equal(bank_of(again).slices, first.slices)
    assert (again.loaded, path.read_bytes()) == (["0.nii"], whole)


def test_the_shipped_brain_gives_usable_slices(capsys):
    bank = PerlinLesions().prepare(open_brains("mni152")).bank  # checks that every slice has places for lesions
    areas = bank.masks.mean(axis=(1, 2))
    assert len(areas) == 512
    assert areas.min() > 0.20
    assert areas.max() < 0.60
    assert not bank.masks[:, [0, -1], :].any()
    assert not bank.masks[:, :, [0, -1]].any()
    assert (bank.slices[bank.masks] < 0.1 * TOP).mean() < 0.001
    assert "512/512" in capsys.readouterr().err
    papers = PerlinLesions(image_size=(140, 192), slices=24).prepare(open_brains("mni152")).bank
    areas = papers.masks.mean(axis=(1, 2))
    assert areas.min() > 0.25
    assert areas.max() < 0.65
