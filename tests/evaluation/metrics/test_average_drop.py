import numpy as np
import pytest
import torch
from small_classifiers import case, classifier
from small_networks import batch_sizes
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier

SIZE = (6, 7)
BOTH = ["average-drop", "average-increase"]


class Linear(nn.Module):
    def __init__(self, weights):
        super().__init__()
        self.register_buffer("weights", torch.as_tensor(weights))

    def forward(self, images):
        data = (images * self.weights).flatten(1).sum(dim=1)
        return torch.stack([data, torch.zeros_like(data)], dim=1)


def scaled_by_hand(saliency):
    low, high = float(saliency.min()), float(saliency.max())
    return (saliency.astype(np.float64) - low) / ((high - low) or 1)


def probability(model, pixels, target, mask=None, space="normalised"):
    """One image at a time, through the model's own parts."""
    weights = 1.0 if mask is None else torch.from_numpy(mask)
    with torch.no_grad():
        masked = model.normalise(pixels * weights)
        inputs = masked if space == "pixel" else model.normalise(pixels) * weights
        return model.network(inputs[None]).softmax(dim=1)[0, target].item()


@pytest.mark.parametrize("space", ["normalised", "pixel"])
def test_is_the_formula_one_image_at_a_time(space):
    model = classifier(SIZE)
    maps, images, targets = case(SIZE, count=5).values()
    maps[3] = 0.5  # hides everything
    names = [f"{name}:space={space}{compat}" for name in BOTH for compat in ("", ",compat=aabid")]
    scores = salgen.score(maps, None, names, model=model, images=images, targets=targets)
    assert list(scores) == names
    pairs = []
    for saliency, image, target in zip(maps, images, targets, strict=True):
        pixels = torch.from_numpy(image).double()
        p = probability(model, pixels, target)
        o = probability(model, pixels, target, scaled_by_hand(saliency), space)
        pairs.append((p, o))
    drop, printed_drop, increase, printed_increase = (scores[name] for name in names)
    assert drop == pytest.approx([max(0.0, p - o) / p for p, o in pairs], abs=1e-10)
    assert printed_drop == pytest.approx([abs(p - o) / p for p, o in pairs], abs=1e-10)
    assert increase.tolist() == [float(p < o) for p, o in pairs]
    assert printed_increase.tolist() == [float(p <= o) for p, o in pairs]
    assert len({p < o for p, o in pairs}) == 2


def test_a_map_that_hides_nothing_changes_nothing_but_for_compat():
    """Where p = o there is no rise, and 001 prints one."""
    model, images = Linear(np.zeros((1, *SIZE))), np.ones((1, 1, *SIZE), dtype=np.float32)
    names = [*BOTH, "average-increase:compat=aabid"]
    scores = salgen.score(np.eye(*SIZE)[None], None, names, model=model, images=images, targets=np.array([0]))
    assert [scores[name][0] for name in names] == [0, 0, 1]


def test_a_vanishing_probability_is_divided_by_no_less_than_the_smallest():
    model, images = Linear(np.full((1, *SIZE), -1e3)), np.ones((1, 1, *SIZE), dtype=np.float32)
    names = ["average-drop", "average-drop:compat=aabid"]
    scores = salgen.score(np.zeros((1, *SIZE)), None, names, model=model, images=images, targets=np.array([0]))
    assert scores["average-drop"][0] == 0
    assert scores["average-drop:compat=aabid"][0] == pytest.approx(0.5e12)


def test_the_scored_region_does_not_matter():
    maps, images, targets = case(SIZE, count=5).values()
    asked = {"model": classifier(SIZE), "images": images, "targets": targets}
    valid = np.zeros(SIZE, dtype=bool)
    valid[2:4] = True
    within, whole = (salgen.score(maps, None, BOTH, valid=region, **asked) for region in (valid, None))
    assert all(np.array_equal(within[name], whole[name]) for name in BOTH)


def test_both_ask_no_more_than_one():
    model = classifier(SIZE)
    calls = batch_sizes(model.network)
    maps, images, targets = case(SIZE, count=5).values()
    salgen.score(maps, None, BOTH, model=model, images=images, targets=targets)
    alone = len(calls)
    salgen.score(maps, None, BOTH[:1], model=model, images=images, targets=targets)
    assert alone == len(calls) - alone > 0


def test_a_map_is_resized_where_the_normalisation_resizes():
    normalise = nn.Upsample(scale_factor=2, mode="nearest")
    model = Classifier(Linear(np.ones((1, 4, 4))), normalise)
    maps = np.array([[[0.0, 0.0], [0.0, 0.0]]])
    images = np.ones((1, 1, 2, 2), dtype=np.float32)
    score = salgen.score(maps, None, "average-drop", model=model, images=images, targets=np.array([0]))
    p = 1 / (1 + np.exp(-16.0))
    assert score["average-drop"][0] == pytest.approx((p - 0.5) / p, abs=1e-6)


def test_a_target_that_is_no_class_is_refused():
    maps, images, _ = case(SIZE, count=1).values()
    with pytest.raises(SalgenError, match="3 classes"):
        salgen.score(maps, None, BOTH, model=classifier(SIZE), images=images, targets=np.array([3]))
