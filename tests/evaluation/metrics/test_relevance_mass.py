import math
import numpy as np
from hypothesis import given
from maps_and_masks import cases, value
from salgen.evaluation.metrics.inputs.ranking import Ranking
from salgen.evaluation.metrics.relevance_mass import RelevanceMass


@given(cases(min_negatives=0))
def test_is_the_share_of_the_positive_part(case):
    saliency, mask = case
    inside = math.fsum(max(v, 0.0) for v in saliency[mask].tolist())
    total = math.fsum(max(v, 0.0) for v in saliency.ravel().tolist())
    if total > 0:
        assert math.isclose(value(RelevanceMass(), saliency, mask), inside / total, rel_tol=1e-13)
    else:
        assert RelevanceMass()(Ranking(saliency, mask))[1] == "zero_energy"


def test_hand_example_drops_negative_relevance():
    assert value(RelevanceMass(), [[3.0, -5.0], [1.0, -9.0]], [[True, True], [False, False]]) == 0.75


def test_huge_and_tiny_values_do_not_overflow():
    mask = np.eye(2, dtype=bool)
    assert value(RelevanceMass(), np.full((2, 2), 1.7e308), mask) == 0.5
    assert value(RelevanceMass(), np.full((2, 2), 5e-324), mask) == 0.5
    assert value(RelevanceMass(), np.full((2, 2), 3e38, dtype=np.float32), mask) == 0.5
