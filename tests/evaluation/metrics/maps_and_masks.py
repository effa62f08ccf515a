"""Small maps with many ties, and masks on them."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from salgen.evaluation.ranking import Ranking

FLOATS = st.floats(-1e3, 1e3, width=32)
COARSE = st.integers(-2, 2).map(float)


@st.composite
def cases(draw, min_negatives=1, max_side=7):
    """A float32 map of mostly tied or mostly distinct values, and a mask with at least one pixel."""
    shape = draw(st.tuples(st.integers(1, max_side), st.integers(2, max_side)))
    saliency = draw(arrays(np.float32, shape, elements=st.one_of(COARSE, FLOATS) if draw(st.booleans()) else COARSE))
    size = shape[0] * shape[1]
    count = draw(st.integers(1, size - min_negatives))
    mask = np.zeros(size, dtype=bool)
    mask[draw(st.permutations(range(size)))[:count]] = True
    return saliency, mask.reshape(shape)


def value(metric, saliency, mask, valid=None):
    """The value alone; a reason must come with NaN and only with it."""
    result, reason = metric(Ranking(np.asarray(saliency), np.asarray(mask), valid))
    assert bool(reason) == np.isnan(result)
    return result
