import math
import numpy as np
import pytest
import torch
from small_networks import Of
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier
from salgen.seeding import Stream

IMAGES = np.random.default_rng(0).random((3, 2, 6, 7)).astype(np.float32)
TARGETS = np.array([1, 0, 2])
IDS = ["a", "b", "c"]
CALL = "max-sensitivity:samples=4"


@pytest.fixture
def model():
    torch.manual_seed(2)
    return nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.Tanh(), nn.Conv2d(4, 3, 3), nn.Tanh(), nn.Flatten(), nn.Linear(60, 3)
    )


def maps_of(model, images, method="input-x-gradient"):
    return salgen.explain(model, images, TARGETS[: len(images)], method=method, ids=IDS[: len(images)])


def scored(model, calls, by="input-x-gradient", images=IMAGES, **options):
    given = {"images": images, "targets": TARGETS, "ids": IDS, "model": model, **options}
    maps = given.pop("maps") if "maps" in given else maps_of(model, images, by)
    return salgen.score(maps, metrics=calls, **given)


def draws(samples, radius, seed):
    """What is added to the images, (samples, N, C, H, W)."""
    streams = [Stream(seed, "max-sensitivity", sample) for sample in IDS]
    unit = [[stream.uniform(2 * 6 * 7, -1, 1).reshape(2, 6, 7) for stream in streams] for _ in range(samples)]
    return radius * np.array(unit)


def norm_by_loops(start, moved, norm):
    start, moved = start.ravel().tolist(), moved.ravel().tolist()
    if norm == "rms":
        start, moved = ([v / max(map(abs, side)) for v in side] for side in (start, moved))
    size = math.sqrt(sum((a - b) ** 2 for a, b in zip(start, moved, strict=True)))
    scale = {"l2": 1.0, "relative": math.sqrt(sum(a * a for a in start)), "rms": math.sqrt(len(start))}
    return size / scale[norm]


@pytest.mark.parametrize("norm", ["l2", "relative", "rms"])
@pytest.mark.parametrize("radius", [0.05, 0.2])
def test_is_the_largest_change_over_the_draws(model, norm, radius):
    start = maps_of(model, IMAGES).values.numpy().astype(float)
    moved = [maps_of(model, (IMAGES + d).astype(np.float32)).values.numpy() for d in draws(4, radius, seed=3)]
    expected = [max(norm_by_loops(start[i], each[i], norm) for each in moved) for i in range(3)]
    call = f"{CALL},norm={norm},radius={radius}"
    np.testing.assert_allclose(scored(model, call, seed=3)[call], expected, rtol=1e-5)


def record(seen):
    def method(model, images, targets):
        seen.append(images.numpy().copy())
        return images.mean(dim=1)

    return method


def test_the_norms_share_their_maps(model):
    seen = []
    scored(model, [f"{CALL},norm={n}" for n in ("l2", "relative", "rms")], maps=np.ones((3, 6, 7)), method=record(seen))
    assert len(seen) == 1 + 4


def test_normalisation_comes_after_the_draw(model):
    """A radius in pixels is the same change of the input, whatever scale the network takes."""

    wrapped = Classifier(nn.Sequential(Of(lambda x: (x + 5) / 10), model), Of(lambda x: 10 * x - 5))
    plain = scored(model, f"{CALL},norm=relative", maps=maps_of(model, IMAGES, "gradient"))
    found = scored(wrapped, f"{CALL},norm=relative", maps=maps_of(wrapped, IMAGES, "gradient"))
    np.testing.assert_allclose(*(next(iter(scores.values())) for scores in (found, plain)), rtol=1e-3)


def test_clip_keeps_pixels_in_range(model):
    seen = []
    options = {"maps": np.ones((3, 6, 7)), "method": record(seen)}
    scored(model, "max-sensitivity:samples=5,radius=2", **options)
    assert min(x.min() for x in seen) < -1
    seen.clear()
    scored(model, "max-sensitivity:samples=5,radius=2,clip=true", **options)
    assert {float(f(x)) for x in seen[1:] for f in (np.min, np.max)} == {0.0, 1.0}
    with pytest.raises(SalgenError, match=r"max-sensitivity: clip is for images in \[0, 1\]: these go from .* to 3"):
        scored(model, "max-sensitivity:clip=true", images=np.full_like(IMAGES, 3.0), **options)


@pytest.mark.parametrize("method", ["random", "center", "smooth-grad-cam++:layer=0"])
def test_the_randomness_of_a_method_stands_still(model, method):
    call = "max-sensitivity:samples=2,radius=0"
    assert scored(model, call, method)[call].tolist() == [0.0] * 3


def test_constant_maps_are_zero_and_maps_out_of_nothing_undefined(model):
    def method(model, images, targets):
        maps = torch.zeros(3, 6, 7)
        maps[0] = 2.0
        maps[1] = (images[1] - torch.tensor(IMAGES[1])).mean(dim=0)
        maps[2] = torch.where((images[2] == torch.tensor(IMAGES[2])).all(), 1.0, torch.nan)
        return maps

    calls = [f"{CALL},norm={n}" for n in ("l2", "relative", "rms")]
    scores = scored(model, calls, maps=np.ones((3, 6, 7)), method=method)
    assert [scores[call][0] for call in calls] == [0.0] * 3
    assert [scores.reasons[call] for call in calls] == [
        ["", "", "non_finite_map"],
        ["", "zero_energy", "non_finite_map"],
        ["", "", "non_finite_map"],
    ]
    assert scores[calls[0]][1] > 0
    assert scores.worst_case[calls[0]][2] == scores[calls[0]][1]  # the worst that was observed
