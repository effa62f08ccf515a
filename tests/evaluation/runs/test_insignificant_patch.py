"""Patches that can be seen and that a model ignores: found on models whose answer is known, and on others."""

import numpy as np
import pytest
import torch
from small_networks import Normalise, Of
from torch import nn
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import PATCH_MATTERS, PATCH_VANISHED
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs import insignificant_patch
from salgen.evaluation.runs.insignificant_patch import LEAST_SEEN, MOST_CHANGE, STAY, insignificant_patches

SIZE = 16
PLACE = np.zeros((SIZE, SIZE), dtype=bool)
PLACE[3:11, 5:13] = True


def twins_and_images(count, channels=3, seed=0):
    """Soft noise, and the same with a chequered feature in its place."""
    rng = np.random.default_rng(seed)
    twins = rng.uniform(0.3, 0.7, size=(count, channels, SIZE, SIZE)).astype(np.float32)
    chequered = np.where(np.indices((SIZE, SIZE)).sum(axis=0) % 2, 0.9, 0.4).astype(np.float32)
    return twins, np.where(PLACE, chequered, twins)


def patched(module, images, twins, labels=None, **how):
    labels = np.zeros(len(images), dtype=np.int64) if labels is None else labels
    masks = np.broadcast_to(PLACE, (len(images), SIZE, SIZE)).copy()
    return insignificant_patches(ModelView.of(module), images, twins, masks, labels, **how)


def logits_of(module, images):
    with torch.no_grad():
        return module(torch.from_numpy(images)).numpy()


class Linear(nn.Module):
    """Logits (w.x + 2, -w.x - 2) of one channel, with weights of either sign everywhere."""

    def __init__(self, seed=0):
        super().__init__()
        weights = np.random.default_rng(seed).normal(size=SIZE * SIZE) / 8
        self.weights = nn.Parameter(torch.from_numpy(weights.astype(np.float32)))

    def forward(self, images):
        along = images.flatten(1) @ self.weights + 2
        return torch.stack([along, -along], dim=1)


def pixel(images):
    """The first channel's, in the feature's place."""
    return images[:, 0, 6, 8]


def opposed(logit, *more):
    """The logit's negative, itself, and others."""
    return torch.stack([-logit, logit, *(torch.full_like(logit, other) for other in more)], dim=1)


def seeded_network():
    torch.manual_seed(3)
    network = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3), nn.ReLU(inplace=True)
    )
    head = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(32, 4))
    return Classifier(nn.Sequential(network, head), Normalise(0.5, 0.25)).eval()


def test_a_linear_model_has_the_nearest_pixels_that_leave_its_logits_alone():
    """The minimum of a quadratic is solved for, not searched: the patch lies along the weights."""
    twins, images = twins_and_images(6, channels=1)
    module = Linear()
    found = patched(module, images, twins)
    weights = module.weights.detach().numpy().astype(np.float64)[PLACE.ravel()]
    for image, twin, patch in zip(images, twins, found.images, strict=True):
        own, plain = (one[0][PLACE].astype(np.float64) for one in (image, twin))
        whole = float(module.weights.detach().double() @ torch.from_numpy(twin).double().ravel())
        spread = 2 * abs(whole + 2)
        # Least of (w.d / spread)^2 + STAY |d - o|^2 / p over d, the patch less the twin; o is the feature's.
        p = PLACE.sum()
        matrix = np.outer(weights, weights) / spread**2 + STAY / p * np.eye(p)
        exact = np.linalg.solve(matrix, STAY / p * (own - plain)) + plain
        assert (exact > 0).all()  # so that the bounds do not count
        assert (exact < 1).all()
        assert np.abs(patch[0][PLACE] - exact).max() < 0.1 * np.abs(own - exact).max()
        change, before = (abs(weights @ (one - plain)) / spread for one in (patch[0][PLACE], own))
        assert change < MOST_CHANGE < before
    assert found.faults == [""] * 6


def test_a_networks_logits_are_the_twins_and_the_patch_is_seen():
    twins, images = twins_and_images(5)
    module = seeded_network()
    before = [weights.detach().clone() for weights in module.parameters()]
    state = torch.get_rng_state()
    found = patched(module, images, twins)
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(old, new) for old, new in zip(before, module.parameters(), strict=True))
    assert all(weights.grad is None for weights in module.parameters())
    assert found.images.dtype == np.float32
    assert found.images.min() >= 0.0
    assert found.images.max() <= 1.0
    assert np.array_equal(np.where(PLACE, twins, found.images), twins)
    aim, with_patch, with_feature = (logits_of(module, one) for one in (twins, found.images, images))
    spread = aim.max(axis=1) - aim.min(axis=1)
    change = np.abs(with_patch - aim).max(axis=1) / spread
    assert (np.abs(with_feature - aim).max(axis=1) / spread > 5 * MOST_CHANGE).all()  # or nothing had to be done
    assert (change <= MOST_CHANGE).all()
    assert np.allclose(change, found.change, atol=1e-5)
    assert np.array_equal(with_patch.argmax(axis=1), aim.argmax(axis=1))
    seen = np.abs(found.images - twins).sum(axis=(1, 2, 3)) / np.abs(images - twins).sum(axis=(1, 2, 3))
    assert np.allclose(seen, found.seen, rtol=1e-5)
    assert (seen > 0.8).all()
    away = np.abs(found.images - images)[:, :, PLACE].mean(axis=(1, 2))
    assert (away < 0.6 * np.abs(twins - images)[:, :, PLACE].mean(axis=(1, 2))).all()
    assert found.faults == [""] * 5


def test_a_patch_does_not_depend_on_its_batch_and_nothing_is_not_seen():
    twins, images = twins_and_images(4)
    images[:, :, 0, 0] = 0.0  # what is not in the mask is not the patch's
    module = seeded_network()
    together = patched(module, images, twins).images
    assert np.array_equal(np.where(PLACE, twins, together), twins)
    alone = np.concatenate([patched(module, images[i : i + 1], twins[i : i + 1]).images for i in range(4)])
    assert np.abs(together - alone).max() < 1e-3
    assert np.array_equal(together, patched(module, images, twins).images)
    in_parts = patched(module, images, twins, max_memory=1e-9).images
    assert np.array_equal(in_parts, alone)
    twins, _ = twins_and_images(2)
    found = patched(seeded_network(), twins, twins)
    assert np.array_equal(found.images, twins)
    assert found.seen.tolist() == [0.0, 0.0]
    assert found.faults == [PATCH_VANISHED] * 2
    twins, images = twins_and_images(0)
    assert len(patched(seeded_network(), images, twins).images) == 0


def test_a_patch_that_stays_seen_by_the_model_matters_and_one_that_has_to_become_the_twin_vanishes():
    """A pixel of which the model wants to see a value that it cannot have."""

    bounded = Of(lambda x: opposed(pixel(x).detach() * 50 - 25 + 0 * x.sum(dim=(1, 2, 3))))
    twins, images = twins_and_images(3, channels=1)
    twins[:, 0, 6, 8], images[:, 0, 6, 8] = 0.1, 0.9
    found = patched(bounded, images, twins)
    assert found.faults == [PATCH_MATTERS] * 3
    assert (found.change > MOST_CHANGE).all()
    twins, _ = twins_and_images(3, channels=1)
    twins[:, 0, 3, 5] = 0.8  # the class
    images = np.where(PLACE, twins + np.float32(0.2), twins)
    found = patched(Of(lambda x: x[:, 0, 3:11, 5:13].flatten(1)), images, twins)
    assert found.faults == [PATCH_VANISHED] * 3
    assert (found.change <= MOST_CHANGE).all()
    assert (found.seen < 0.1 * LEAST_SEEN).all()


def several(network):
    network.multi_label = True
    return network


# A model of one pixel, and of each image the pixel in the twin and in the image, the label, the change and whether it
# matters; the patch is the feature itself.
STEEP, LONE = Of(lambda x: opposed(50 * (pixel(x) - 0.8))), Of(lambda x: 5 + x[:, 0, 6, 8:9])
AS_FEATURES = {
    "within the share": (STEEP, 0.5, 0.505, 0, 0.25 / 30, False),
    "beyond the share, though the class stays": (STEEP, 0.5, 0.55, 0, 2.5 / 30, True),
    "within the share, in another order": (
        Of(lambda x: opposed(1e-3 * (pixel(x) - 0.5), -1.0)), 0.4, 0.6, 0, 2e-4, True
    ),
    "of several labels one that the patch shows": (
        several(Of(lambda x: opposed(pixel(x) - 0.5, 30.0)[:, 1:])), 0.45, 0.55, 0, 0.1 / 30, True
    ),
    "of several labels another": (
        several(Of(lambda x: opposed(pixel(x) - 0.5, 30.0)[:, 1:])), 0.45, 0.55, 1, 0.1 / 30, False
    ),
    "a logit alone, as far from its negative as both say": (LONE, 0.0, 0.08, 0, 0.08 / 10, False),
    "a logit alone, farther": (LONE, 0.0, 0.12, 0, 0.12 / 10, True),
}  # fmt: skip


@pytest.mark.parametrize("name", AS_FEATURES)
def test_a_patch_matters_if_a_logit_changes_by_more_than_a_share_or_a_class_does(name, monkeypatch):
    module, plain, shown, label, change, matters = AS_FEATURES[name]
    monkeypatch.setattr(insignificant_patch, "STEPS", 0)
    twins, images = twins_and_images(1, channels=1)
    twins[0, 0, 6, 8], images[0, 0, 6, 8] = plain, shown
    found = patched(module, images, twins, labels=np.array([label]))
    assert found.change[0] == pytest.approx(change, rel=1e-2)
    assert found.faults == [PATCH_MATTERS if matters else ""]


def test_a_model_without_gradient_is_refused_and_one_that_does_not_look_is_not():
    twins, images = twins_and_images(2, channels=1)
    with pytest.raises(SalgenError, match="takes gradients, and the output has none"):
        patched(nn.Sequential(Of(torch.detach), Linear()), images, twins)
    blind = patched(Of(lambda x: torch.tensor([[1.0, 2.0]]).expand(len(x), 2)), images, twins)
    assert blind.faults == ["", ""]
    assert np.array_equal(blind.images, images)
