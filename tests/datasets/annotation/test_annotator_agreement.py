import sys
from itertools import permutations
import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from salgen.datasets.annotation import agreement
from salgen.errors import SalgenError

MASKS = arrays(bool, st.tuples(st.integers(2, 5), st.integers(1, 4), st.integers(1, 4)))


def slow_alpha(masks):
    """1 - D_o / D_e of nominal data (Krippendorff 2011, part A), by ordered pairs of values."""
    units = [list(values) for values in zip(*(mask.ravel().tolist() for mask in masks), strict=True)]
    observed = sum(a != b for unit in units for a, b in permutations(unit, 2)) / (len(masks) - 1)
    values = [value for unit in units for value in unit]
    expected = sum(a != b for a, b in permutations(values, 2)) / (len(values) - 1)
    return 1 - observed / expected if expected else None


@given(MASKS)
def test_alpha_is_its_formula(masks):
    pytest.importorskip("krippendorff")
    value, slow = agreement.alpha(list(masks)), slow_alpha(list(masks))
    assert value == slow if slow is None else value == pytest.approx(slow)


@given(MASKS)
def test_iou_and_majority_are_counts(masks):
    a, b = ({tuple(place) for place in np.argwhere(mask).tolist()} for mask in masks[:2])
    assert agreement.iou(masks[0], masks[1]) == (len(a & b) / len(a | b) if a | b else None)
    for place in np.ndindex(masks.shape[1:]):
        assert agreement.majority(list(masks))[place] == (sum(mask[place] for mask in masks) / len(masks) >= 0.5)


def test_rows_file_and_words(tmp_path):
    pytest.importorskip("krippendorff")
    first, second, empty = np.array([[1, 1, 0, 0]], bool), np.array([[0, 1, 1, 0]], bool), np.zeros((1, 4), bool)
    rows = [
        *agreement.agreement_of("a", {"x": first, "y": second}),
        *agreement.agreement_of("b", {"x": empty, "z": empty}),
    ]
    stated = [(row["image"], row["statistic"], list(row["annotators"]), row["value"]) for row in rows]
    assert stated == [
        ("a", "iou", ["x", "y"], 1 / 3),
        ("a", "alpha", ["x", "y"], slow_alpha([first, second])),
        ("b", "iou", ["x", "z"], None),
        ("b", "alpha", ["x", "z"], None),
    ]
    assert agreement.agreement_of("c", {"x": first}) == []
    agreement.write_agreement(rows, tmp_path / "agreement.parquet")
    table = pq.read_table(tmp_path / "agreement.parquet").to_pylist()
    assert [tuple(row.values()) for row in table] == stated
    said = "Images with masks of several annotators: 2. IoU of two annotators: 0.333 (mean of 1)"
    assert agreement.in_words(rows).startswith(said)
    assert "alpha over pixels: undefined" in agreement.in_words(rows[2:])
    assert "no image has masks of two" in agreement.in_words([])


def test_without_the_library(monkeypatch):
    monkeypatch.setitem(sys.modules, "krippendorff", None)
    with pytest.raises(SalgenError, match="agreement needs krippendorff: pip install"):
        agreement.alpha([np.eye(2, dtype=bool)] * 2)
