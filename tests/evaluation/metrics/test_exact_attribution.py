"""Metrics of agreement with an exact attribution: each formula a second time, and its laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import spearmanr
from sklearn.metrics.pairwise import cosine_similarity
from salgen.errors import SalgenError
from salgen.evaluation.scoring.scoring import score

SHAPE = (6, 8)
METRICS = ["attribution"]
values = arrays(np.float32, (3, *SHAPE), elements=st.integers(-3, 3).map(float))
exact_values = arrays(np.float32, (3, 3, 4), elements=st.integers(-2, 2).map(float))


def slow(name, saliency, exact):
    """One value by loops over rectangles, or None where it is undefined."""
    high, wide = saliency.shape[0] // exact.shape[0], saliency.shape[1] // exact.shape[1]
    pairs = []
    for (row, column), value in np.ndenumerate(exact):
        part = saliency[row * high : (row + 1) * high, column * wide : (column + 1) * wide]
        pairs.append((float(part.astype(float).sum()), float(value)))
    s, e = map(np.array, zip(*pairs, strict=True))
    if name == "attribution-cosine":
        return float(cosine_similarity([s], [e])[0, 0]) if s.any() and e.any() else None
    if name == "attribution-rank-correlation":
        return float(spearmanr(s, e).statistic) if len(set(s)) > 1 and len(set(e)) > 1 else None
    if name == "attribution-sign-share":
        right = sum(abs(a) for a, b in pairs if a * b > 0)
        whole = sum(abs(a) for a, b in pairs if b != 0)
        return right / whole if whole else None
    if name == "completeness-error":
        return abs(sum(a for a, _ in pairs) - sum(b for _, b in pairs)) / abs(e).sum() if e.any() else None
    if not s.any():
        return None if e.any() else 0.0
    return sum(abs(a) for a, b in pairs if b == 0) / sum(abs(a) for a, _ in pairs)


@given(values, exact_values)
def test_each_metric_is_its_formula(maps, exact):
    scores = score(maps, metrics=METRICS, attributions=exact)
    assert len(scores) == 5
    for name, found in scores.items():
        for row, value in enumerate(found):
            expected = slow(name, maps[row], exact[row])
            if expected is None:
                assert np.isnan(value)
                assert scores.reasons[name][row]
            else:
                assert value == pytest.approx(expected, abs=1e-9)


def test_reasons_say_whether_the_map_is_at_fault():
    maps, exact = np.zeros((3, 2, 2)), np.zeros((3, 2, 2))
    exact[1:, 0, 0] = 1.0
    maps[2] = np.nan
    scores = score(maps, metrics=METRICS, attributions=exact)
    assert scores.reasons["attribution-cosine"] == ["zero_attribution", "zero_energy", "non_finite_map"]
    assert scores.reasons["attribution-rank-correlation"][:2] == ["constant_attribution", "constant_map"]
    np.testing.assert_array_equal(scores.worst_case["attribution-cosine"], [np.nan, -1.0, -1.0])


@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 4, 4), (3, 6), (3, 0, 8)])
def test_attributions_of_another_size_are_refused(shape):
    with pytest.raises(SalgenError, match="attributions are float64 of shape"):
        score(np.ones((3, *SHAPE)), metrics=METRICS, attributions=np.zeros(shape))
