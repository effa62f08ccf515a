"""Maps on disk: every bit comes back, names never clash, damage is said."""

import re
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts import saved_maps


def kept(values, ids=None):
    count = len(values)
    return saved_maps.SavedMaps(
        ids=ids or [f"test-{i:06d}" for i in range(count)],
        targets=np.arange(count) % 3,
        correct=np.arange(count) % 2 == 0,
        there=np.arange(count) % 5 != 1,
        values=values,
        reduction="max_abs",
        native_resolution=(4, 5),
        seconds=1.25,
    )


any_floats = st.floats(width=32, allow_nan=True, allow_infinity=True, allow_subnormal=True)


@given(arrays(np.float32, array_shapes(min_dims=3, max_dims=3, max_side=6), elements=any_floats))
def test_every_bit_comes_back(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("maps") / "maps-00000.parquet"
    saved_maps.write_maps(path, kept(values), "a key")
    found = saved_maps.read_maps(path)
    assert found.values.dtype == np.float32
    assert found.values.shape == values.shape
    assert found.values.tobytes() == values.tobytes()
    expected = kept(values)
    assert found.ids == expected.ids
    for name in ("targets", "correct", "there"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert (found.reduction, found.native_resolution, found.seconds) == ("max_abs", (4, 5), 1.25)
    assert saved_maps.key_of(path) == "a key"


def test_some_samples_in_another_order(tmp_path):
    values = np.arange(5 * 2 * 3, dtype=np.float32).reshape(5, 2, 3)
    saved_maps.write_maps(tmp_path / "a.parquet", kept(values, list("abcde")), "key")
    found = saved_maps.read_maps(tmp_path / "a.parquet", ["d", "a"])
    np.testing.assert_array_equal(found.values, values[[3, 0]])
    assert found.ids == ["d", "a"]
    np.testing.assert_array_equal(found.targets, [0, 0])
    np.testing.assert_array_equal(found.correct, [False, True])
    with pytest.raises(SalgenError, match=r"a\.parquet is damaged \(it holds no map of sample x\)"):
        saved_maps.read_maps(tmp_path / "a.parquet", ["a", "x"])


@pytest.mark.parametrize("place", [4, 400, 2000, -8, -4])
def test_a_flipped_bit_is_found(tmp_path, place):
    """In the maps, where a checksum guards each page, and in what describes them."""
    path = tmp_path / "a.parquet"
    saved_maps.write_maps(path, kept(np.random.default_rng(0).normal(size=(4, 16, 16)).astype(np.float32)), "key")
    data = bytearray(path.read_bytes())
    data[place] ^= 4
    path.write_bytes(data)
    with pytest.raises(SalgenError, match=r"a\.parquet is damaged \(.*\): evaluate with --keep-maps"):
        saved_maps.read_maps(path)


calls = st.text(st.characters(min_codepoint=32, max_codepoint=300), min_size=1, max_size=120)


@given(calls, calls)
def test_names_of_folders_are_plain_and_differ_where_calls_do(first, second):
    names = [saved_maps.folder_name(first), saved_maps.folder_name(second)]
    assert all(re.fullmatch(r"[A-Za-z0-9+_-][A-Za-z0-9.+_-]{0,100}", name) for name in names)
    assert (names[0].lower() == names[1].lower()) == (first == second)
