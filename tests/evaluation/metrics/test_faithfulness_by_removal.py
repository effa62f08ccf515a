"""SRG, ROAD, IROF, SaCo, IDSDS, infidelity, sensitivity-n, sparseness and complexity from their papers, with loops."""

import math
from functools import partial
from itertools import pairwise, product
import numpy as np
import pytest
import torch
from pytorch_grad_cam.metrics.road import NoisyLinearImputer
from scipy.stats import spearmanr
from small_classifiers import case, classifier
import salgen
from salgen.evaluation.methods.lime_kernel_shap import slic
from salgen.evaluation.metrics.road import imputed
from salgen.seeding import Stream

SIZE = (8, 9)
IDS = ["name-0", "name-1", "name-2", "name-3"]


def probability(model, inputs, target):
    with torch.no_grad():
        return model.network(torch.as_tensor(inputs)[None]).softmax(dim=1)[0, target].item()


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return classifier(SIZE)


def scored(model, call, **changes):
    given = {**case(SIZE), **changes}
    return salgen.score(metrics=call, model=model, ids=IDS, seed=5, **given)


def samples(model):
    given = case(SIZE)
    images = model.normalise(torch.from_numpy(given["images"]).double()).numpy()
    return zip(given["maps"], images, given["targets"], IDS, strict=True)


def curve(model, image, order, target, step):
    """Probabilities as pixels become 0, in that order."""
    image, found = image.copy(), []
    for place in range(0, len(order) + step, step):
        found.append(probability(model, image, target))
        for row, column in order[place : place + step]:
            image[:, row, column] = 0
    return found


def trapezoid(values):
    return sum((a + b) / 2 for a, b in pairwise(values)) / (len(values) - 1)


def ordered(saliency):
    places = [(row, column) for row in range(SIZE[0]) for column in range(SIZE[1])]
    return sorted(places, key=lambda place: -saliency[place])


def slow_srg(model, saliency, image, target, _name, step):
    """The area between both orders of removal."""
    order = ordered(saliency)
    first, last = (trapezoid(curve(model, image, way, target, step)) for way in (order, order[::-1]))
    return last - first


def test_what_is_imputed_is_what_pytorch_grad_cam_imputes():
    draws = np.random.default_rng(0)
    image, missing = draws.normal(size=(3, 12, 10)), draws.random((12, 10)) < 0.7
    kept = torch.from_numpy((~missing).astype(np.float64))
    expected = NoisyLinearImputer(noise=0)(torch.from_numpy(image).float(), kept).numpy()
    np.testing.assert_allclose(imputed(image, missing), expected, atol=1e-5)
    assert np.array_equal(imputed(image, missing)[:, ~missing], image[:, ~missing])
    assert not imputed(image, np.ones((12, 10), dtype=bool)).any()


def slow_road(model, saliency, image, target, name):
    """Half the difference of both orders, over shares."""
    noise = Stream(5, "road", name).normal(image.size).reshape(image.shape)
    order, total = ordered(saliency), 0
    for share in range(1, 10):
        count = round(share / 10 * len(order))
        left = []
        for gone in (order[-count:], order[:count]):
            missing = np.zeros(SIZE, dtype=bool)
            for place in gone:
                missing[place] = True
            filled = np.where(missing, imputed(image, missing) + 0.01 * noise, image)
            left.append(probability(model, filled, target))
        total += (left[0] - left[1]) / 2 / 9
    return total


def slow_falls(model, saliency, image, target, masks):
    before = probability(model, image, target)
    pairs = [
        (saliency[m].astype(float).sum(), before - probability(model, np.where(m, 0, image), target)) for m in masks
    ]
    return np.array(pairs).T


def squares(name, draws, side=2):
    stream = Stream(5, "infidelity", name)
    for _ in range(draws):
        top, left = (int(stream.integers(length - side + 1, 1)[0]) for length in SIZE)
        mask = np.zeros(SIZE, dtype=bool)
        mask[top : top + side, left : left + side] = True
        yield mask


def slow_infidelity(model, saliency, image, target, name):
    """The least squared error of any scale."""
    sums, falls = slow_falls(model, saliency, image, target, squares(name, 20))
    _, (left,), *_ = np.linalg.lstsq(sums[:, None], falls, rcond=None)
    return left / 20


def slow_sensitivity_n(model, saliency, image, target, name):
    """Pearson's correlation."""
    stream = Stream(5, "sensitivity-n", name)
    masks = [np.isin(np.arange(72), stream.permutation(72)[:7]).reshape(SIZE) for _ in range(15)]
    return np.corrcoef(slow_falls(model, saliency, image, target, masks))[0, 1]


def test_a_map_that_says_nothing(model):
    correlations = ["sensitivity-n", "saco", "idsds"]
    maps = np.full((4, *SIZE), 0.1, dtype=np.float32)
    maps[1] = 0
    found = scored(model, [*correlations, "infidelity", "srg"], maps=maps)
    for name in correlations:
        assert found.reasons[name] == ["constant_map"] * 4
        assert np.isnan(found[name]).all()
    assert np.isfinite(found["infidelity"]).all()
    assert np.abs(found["srg"]).max() < 1


@pytest.mark.parametrize("name", ["sensitivity-n:baseline=black", "idsds:baseline=black"])
def test_a_correlation_is_zero_where_no_pixel_moves_the_network(model, name):
    assert (scored(model, name, images=np.zeros_like(case(SIZE)["images"]))[name] == 0).all()


def slow_gini(values):
    return sum(abs(a - b) for a in values for b in values) / (2 * len(values) ** 2 * np.mean(values))


def slow_entropy(values):
    shares = [value / sum(values) for value in values]
    return -sum(share * math.log(share) for share in shares if share)


@pytest.mark.parametrize(("name", "slow"), [("sparseness", slow_gini), ("complexity", slow_entropy)])
def test_concentration_is_its_formula_within_the_region(name, slow):
    maps = np.random.default_rng(1).normal(size=(3, *SIZE)).astype(np.float32)
    region = np.zeros((3, *SIZE), dtype=bool)
    region[:, 2:6, 1:7] = True
    expected = [slow(np.maximum(one[2:6, 1:7].astype(float), 0).ravel()) for one in maps]
    np.testing.assert_allclose(salgen.score(maps, metrics=name, valid=region)[name], expected, rtol=1e-9)


def test_one_pixel_an_even_map_and_no_positive_value():
    maps = np.zeros((3, *SIZE))
    maps[0, 3, 4] = 2
    maps[1] = 0.7
    maps[2] = -1
    found = salgen.score(maps, metrics=["sparseness", "complexity"])
    np.testing.assert_allclose(found["sparseness"][:2], [1 - 1 / 72, 0], atol=1e-12)
    np.testing.assert_allclose(found["complexity"][:2], [0, math.log(72)], atol=1e-12)
    assert found.reasons["sparseness"][2] == found.reasons["complexity"][2] == "zero_energy"


def slow_irof(model, saliency, image, target, _name):
    regions = slic(torch.from_numpy(image), 6).numpy()
    labels = sorted(np.unique(regions), key=lambda label: -saliency[regions == label].astype(float).mean())
    means, changed, left = image.mean(axis=(1, 2)), image.copy(), [1.0]
    for label in labels:
        changed[:, regions == label] = means[:, None]
        left.append(probability(model, changed, target) / probability(model, image, target))
    return 1 - trapezoid(left)


def slow_saco(model, saliency, image, target, _name, groups):
    """The paper's algorithm; groups of different sizes differ by a pixel at most."""
    order, means = ordered(saliency), image.mean(axis=(1, 2))
    means_of_map, falls = [], []
    for group in range(groups):
        changed = image.copy()
        members = [place for rank, place in enumerate(order) if rank * groups // len(order) == group]
        for row, column in members:
            changed[:, row, column] = means
        means_of_map.append(np.mean([float(saliency[place]) for place in members]))
        falls.append(probability(model, image, target) - probability(model, changed, target))
    value = total = 0
    for i in range(groups):
        for j in range(i + 1, groups):
            gap = means_of_map[i] - means_of_map[j]
            weight = gap if falls[i] >= falls[j] else -gap
            value, total = value + weight, total + abs(weight)
    return value / total


def logit(network, inputs, target):
    with torch.no_grad():
        return network(torch.as_tensor(inputs)[None])[0, target].item()


def slow_idsds(model, saliency, image, target, _name, cells):
    y, x = np.indices(SIZE)
    means, falls = [], []
    for row, column in product(range(cells), repeat=2):
        cell = (y * cells // SIZE[0] == row) & (x * cells // SIZE[1] == column)
        means.append(saliency[cell].astype(float).mean())
        falls.append(logit(model.network, image, target) - logit(model.network, np.where(cell, 0, image), target))
    return spearmanr(means, falls).statistic


SLOW = {
    **{f"srg:step={step}": partial(slow_srg, step=step) for step in (1, 9)},
    "road": slow_road,
    "infidelity:draws=20": slow_infidelity,
    "sensitivity-n:draws=15,share=0.1": slow_sensitivity_n,
    "irof:segments=6": slow_irof,
    **{f"saco:groups={groups}": partial(slow_saco, groups=groups) for groups in (4, 10)},
    **{f"idsds:cells={cells}": partial(slow_idsds, cells=cells) for cells in (2, 4)},
}


@pytest.mark.parametrize("call", SLOW)
def test_equals_the_slow_transcription(model, call):
    expected = [SLOW[call](model, *sample) for sample in samples(model)]
    assert len(set(expected)) > 1
    np.testing.assert_allclose(scored(model, call)[call], expected, rtol=1e-7, atol=1e-5 if "sens" in call else 1e-7)


PARTS = np.zeros(SIZE, dtype=bool)
PARTS[1, 1:3] = PARTS[5:7, 4] = PARTS[3, 7] = PARTS[4, 8] = True  # the last two touch at a corner


def slow_part_deletion(model, saliency, image, twin, target):
    """Spearman's correlation over three parts that are listed by hand."""
    sums, falls = [], []
    for part in [[(1, 1), (1, 2)], [(3, 7), (4, 8)], [(5, 4), (6, 4)]]:
        changed = image.copy()
        for row, column in part:
            changed[:, row, column] = twin[:, row, column]
        sums.append(sum(float(saliency[place]) for place in part))
        falls.append(logit(model, image, target) - logit(model, changed, target))
    return spearmanr(sums, falls).statistic


def test_part_deletion_is_spearmans_correlation_over_the_pieces_of_the_mask(model):
    given, rng = case(SIZE), np.random.default_rng(0)
    twins = rng.random(given["images"].shape, dtype=np.float32)
    each = zip(given["maps"], given["images"], twins, given["targets"], strict=True)
    expected = [slow_part_deletion(model, *sample) for sample in each]
    masks = np.broadcast_to(PARTS, (4, *SIZE))
    scores = scored(model, "part-deletion", masks=masks, twins=twins)
    np.testing.assert_allclose(scores["part-deletion"], expected, atol=1e-9)
    assert len(set(expected)) > 1
    without = [None, *twins[1:]]
    one = np.broadcast_to(PARTS & (np.arange(SIZE[0]) < 2)[:, None], (4, *SIZE))
    assert scored(model, "part-deletion", masks=one, twins=without).reasons["part-deletion"] == [
        "no_twin",
        *["one_part"] * 3,
    ]
    even = scored(model, "part-deletion", masks=masks, twins=twins, maps=np.full((4, *SIZE), 0.1, dtype=np.float32))
    assert even.reasons["part-deletion"] == ["constant_map"] * 4
    same = scored(model, "part-deletion", masks=masks, twins=given["images"])
    assert (same["part-deletion"] == 0).all()
