"""The earth mover's distance beside the whole linear program, and where it is known."""

import math
import numpy as np
import pytest
from maps_and_masks import value
from scipy.optimize import linprog
import salgen
from salgen.evaluation.metrics.earth_movers_distance import EarthMoversDistance

NAME = "earth-movers-distance"


def slowly(saliency, mask, region, cells):
    """Every cell may send mass to every other; cells are found pixel by pixel."""
    rows, columns = (slice(side.min(), side.max() + 1) for side in region.nonzero())
    saliency, mask, region = (values[rows, columns] for values in (saliency, mask, region))
    height, width = saliency.shape
    members = {}
    for i, j in np.ndindex(height, width):
        members.setdefault((i * min(height, cells) // height, j * min(width, cells) // width), []).append((i, j))
    order = sorted(members)
    centres = [np.mean(members[cell], axis=0) for cell in order]
    sent = np.array([sum(max(float(saliency[p]), 0) * region[p] for p in members[cell]) for cell in order])
    wanted = np.array([sum(float(mask[p] and region[p]) for p in members[cell]) for cell in order])
    count = len(order)
    costs = [math.dist(a, b) for a in centres for b in centres]
    sums = [np.kron(np.eye(count), np.ones(count)), np.kron(np.ones(count), np.eye(count))]
    goals = np.concatenate([sent / sent.sum(), wanted / wanted.sum()])
    plan = linprog(costs, A_eq=np.concatenate(sums), b_eq=goals)
    return plan.fun / math.hypot(height - 1, width - 1)


@pytest.mark.parametrize(("shape", "cells"), [((5, 4), 12), ((9, 11), 4), ((12, 7), 5)])
def test_equals_the_whole_linear_program(shape, cells):
    random = np.random.default_rng(3)
    for _ in range(3):
        saliency, mask, region = random.normal(size=shape), random.random(shape) < 0.3, random.random(shape) < 0.9
        region[:, 0] = False
        mask[2, 2] = region[2, 2] = True
        call = f"{NAME}:cells={cells}"
        found = salgen.score(saliency[None], mask[None], call, valid=region[None])[call][0]
        assert found == pytest.approx(slowly(saliency, mask, region, cells), abs=1e-9)


def test_corners_are_farthest_and_the_mask_is_nearest():
    saliency, mask = np.zeros((10, 12)), np.zeros((10, 12), dtype=bool)
    saliency[0, 0] = mask[-1, -1] = 1
    assert value(EarthMoversDistance(), saliency, mask) == pytest.approx(1)
    assert value(EarthMoversDistance(), mask.astype(float) * 3, mask) == 0


def test_without_a_positive_value_it_is_undefined():
    mask = np.eye(6, dtype=bool)[None]
    assert salgen.score(-np.ones((1, 6, 6)), mask, NAME).reasons[NAME] == ["zero_energy"]
