from fractions import Fraction
from itertools import product
from hypothesis import given
from maps_and_masks import cases, value
from sklearn.metrics import roc_auc_score
from salgen.evaluation.metrics.roc_auc import RocAuc


def auc_by_pairs(saliency, mask):
    won = Fraction(0)
    for inside, outside in product(saliency[mask].tolist(), saliency[~mask].tolist()):
        won += Fraction(int(inside > outside)) + Fraction(int(inside == outside), 2)
    return won / int(mask.sum()) / int((~mask).sum())


@given(cases())
def test_counts_pairs(case):
    assert value(RocAuc(), *case) == float(auc_by_pairs(*case))


@given(cases())
def test_agrees_with_scikit_learn(case):
    saliency, mask = case
    assert abs(value(RocAuc(), saliency, mask) - roc_auc_score(mask.ravel(), saliency.ravel())) < 1e-12


def test_hand_example():
    # Pairs: 3 beats 1 and 2; 2 beats 1 and ties with 2.
    assert value(RocAuc(), [[3.0, 2.0], [1.0, 2.0]], [[True, True], [False, False]]) == 3.5 / 4
