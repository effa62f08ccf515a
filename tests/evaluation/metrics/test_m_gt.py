from fractions import Fraction
from itertools import permutations
import numpy as np
from hypothesis import given
from maps_and_masks import cases, value
from salgen.evaluation.metrics.m_gt import MGt


def mean_over_all_orders(saliency, mask):
    """Sort under every order of the pixels, take the first p, count the hits, average."""
    values, inside = saliency.ravel().tolist(), mask.ravel().tolist()
    p, hits, orders = sum(inside), 0, 0
    for order in permutations(range(len(values))):
        largest = sorted(order, key=lambda i: -values[i])[:p]  # a stable sort: ties stay in the order drawn
        hits += sum(inside[i] for i in largest)
        orders += 1
    return Fraction(hits, p * orders)


def closed_form(saliency, mask):
    """The formula of the paper's metric with ties, by counting over the whole map."""
    p = int(mask.sum())
    t = np.sort(saliency, axis=None)[::-1][p - 1]
    above, tied = saliency > t, saliency == t
    hits = int((above & mask).sum()) + (p - int(above.sum())) * Fraction(int((tied & mask).sum()), int(tied.sum()))
    return hits / p


@given(cases(min_negatives=0, max_side=2))
def test_is_the_mean_over_all_orders_of_four_pixels(case):
    assert value(MGt(), *case) == float(mean_over_all_orders(*case))


@given(cases(min_negatives=0))
def test_is_the_closed_form(case):
    assert value(MGt(), *case) == float(closed_form(*case))
