import numpy as np
import pytest
import torch
from small_networks import Pyramid
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.map_similarity import SIMILARITIES, similarities
from salgen.evaluation.models.inspection.fresh_weights import layers_of, randomised
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.scoring.metric_selection import choose_metrics
from salgen.seeding import Stream

IMAGES = np.random.default_rng(0).random((4, 1, 12, 13)).astype(np.float32)
TARGETS = np.array([0, 2, 1, 1])
IDS = list("abcd")
NAME = "parameter-randomization"
LAYERS = (",layers=1", ",layers=2", ",layers=3")


@pytest.fixture
def model():
    return Pyramid()


def scored(model, calls, by="input-x-gradient", chosen=(0, 1, 2, 3), **options):
    chosen = list(chosen)
    images, targets, ids = IMAGES[chosen], TARGETS[chosen], [IDS[i] for i in chosen]
    given = {"model": model, "images": images, "targets": targets, "ids": ids, **options}
    if "maps" not in given:
        given["maps"] = salgen.explain(model, images, targets, method=by, ids=ids)
    return salgen.score(given.pop("maps"), metrics=calls, **given)


def stages_by_hand(model, order, by):
    """The maps under each stage, by copying weights of fresh modules into the model."""
    view = ModelView.of(model)
    layers = layers_of(view, torch.tensor(IMAGES[:1]))
    found = []
    for stage in randomised(view, layers, order == "cascading", range(len(layers)), 0):
        other = Pyramid()
        other.load_state_dict(stage.network.state_dict())
        found.append(salgen.explain(other, IMAGES, TARGETS, method=by, ids=IDS).values.numpy())
    return found


@pytest.mark.parametrize("order", ["cascading", "independent"])
@pytest.mark.parametrize("by", ["input-x-gradient", "smooth-grad-cam++"])
def test_is_the_mean_similarity_over_the_stages(model, order, by):
    own = salgen.explain(model, IMAGES, TARGETS, method=by, ids=IDS).values.numpy()
    stages = stages_by_hand(model, order, by)
    assert len(stages) == 3
    sums = {name: f"{NAME}:similarity={name},order={order}" for name in SIMILARITIES}
    found = scored(model, [f"{call}{at}" for call in sums.values() for at in ("", *LAYERS)], by)
    for name, call in sums.items():
        expected = [np.mean(similarities(name, own[i], [maps[i] for maps in stages])) for i in range(4)]
        np.testing.assert_allclose(found[call], expected, atol=1e-4)
        for k, at in enumerate(LAYERS):
            alone = [similarities(name, own[i], [stages[k][i]])[0] for i in range(4)]
            np.testing.assert_allclose(found[call + at], alone, atol=1e-4)


def test_smooth_maps_are_means_over_the_same_noisy_images(model):
    streams = [Stream(0, f"{NAME} smooth", name) for name in IDS]
    spread = 0.2 * np.array([image.max() - image.min() for image in IMAGES]).reshape(-1, 1, 1, 1)
    noisy = []
    for _ in range(3):
        noise = np.stack([stream.normal(12 * 13) for stream in streams]).reshape(IMAGES.shape)
        noisy.append((IMAGES + spread * noise).astype(np.float32))
    view = ModelView.of(model)
    stages = randomised(view, layers_of(view, torch.tensor(IMAGES[:1])), True, range(3), 0)
    own, *others = (
        np.mean(
            [salgen.explain(one, images, TARGETS, method="gradient", ids=IDS).values.numpy() for images in noisy], 0
        )
        for one in (view, *stages)
    )
    expected = [np.mean(similarities("spearman", own[i], [maps[i] for maps in others])) for i in range(4)]
    call = f"{NAME}:smooth=3"
    found = scored(model, [call, NAME], "gradient")
    np.testing.assert_allclose(found[call], expected, atol=1e-4)
    assert not np.allclose(found[call], found[NAME], atol=1e-3)


def test_the_similarities_share_the_maps(model):
    seen = []

    def method(model, images, targets):
        seen.append(len(images))
        return images.mean(dim=1)

    calls = choose_metrics([f"{NAME}:order=cascading"], scale="full")
    assert len(calls) == 4
    scores = scored(model, calls, maps=IMAGES.mean(axis=1), method=method)
    assert seen == [4, 4, 4]
    for values in scores.values():
        assert values == pytest.approx(np.ones(4))


def test_constant_maps(model):
    before = model.head.weight.detach().clone()

    def method(model, images, targets):
        maps = images.mean(dim=1)
        maps[0] = 0.5
        changed = not torch.equal(model[1].head.weight, before)
        maps[1] *= 0.0 if changed else 1.0
        maps[2, 3, 3] = torch.nan if changed else 0.0
        return maps

    own = IMAGES.mean(axis=1)
    own[0] = 0.5
    scores = scored(model, NAME, maps=own, method=method)
    assert scores.reasons[NAME] == ["constant_map", "constant_map", "non_finite_map", ""]
    np.testing.assert_array_equal(scores[NAME], [np.nan, 0.0, np.nan, 1.0])
    assert scores.worst_case[NAME].tolist() == [1.0, 0.0, 1.0, 1.0]


def test_a_stage_must_exist(model):
    with pytest.raises(SalgenError, match="layers = 4: the model has 3 layers with weights; take 1 to 3, or none"):
        scored(model, f"{NAME}:layers=4")


def test_the_seed_matters(model):
    first, again, other = (scored(model, NAME, seed=seed)[NAME] for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other, atol=1e-3)


LABELS = "label-randomization"
MAPS, OTHERS = np.random.default_rng(0).normal(size=(2, 5, 12, 13)).astype(np.float32)


def compared(maps, others, calls=LABELS, **options):
    return salgen.score(maps, metrics=calls, shuffled_maps=others, **options)


@pytest.mark.parametrize("name", SIMILARITIES)
def test_every_similarity(name):
    call = f"{LABELS}:similarity={name}"
    expected = [similarities(name, a, [b])[0] for a, b in zip(MAPS, OTHERS, strict=True)]
    assert compared(MAPS, OTHERS, call)[call].tolist() == expected
    assert compared(MAPS, MAPS, call)[call] == pytest.approx(np.ones(5), abs=1e-12)


def test_faults():
    maps, others = MAPS.copy(), OTHERS.copy()
    maps[0], others[1], others[2, 0, 0], maps[3, 0, 0] = 0.5, 0.0, np.nan, np.inf
    region = np.ones((12, 13), dtype=bool)
    scores = compared(maps, others)
    assert scores.reasons[LABELS] == ["constant_map", "constant_map", "non_finite_map", "non_finite_map", ""]
    np.testing.assert_array_equal(scores[LABELS][:4], [np.nan, 0.0, np.nan, np.nan])
    assert scores.worst_case[LABELS][:4].tolist() == [1.0, 0.0, 1.0, 1.0]
    region[0, 0] = False  # the whole map counts all the same
    assert compared(maps, others, valid=region).reasons == scores.reasons


def test_wrongly_classified_samples_count_and_no_mask_is_needed():
    found = compared(MAPS, OTHERS, correct=[False] * 5)
    assert found.reasons[LABELS] == [""] * 5


def slow_entropy(values, bins):
    low, high = values.min(), values.max()
    counts = [0] * bins
    for value in values.ravel().tolist():
        counts[min(int((value - low) / (high - low) * bins), bins - 1)] += 1
    return -sum(count / values.size * np.log(count / values.size) for count in counts if count)


@pytest.mark.parametrize("bins", [7, 100])
def test_efficient_mprt_is_the_rise_of_the_histograms_entropy(model, bins):
    call = f"efficient-mprt:bins={bins}"
    own = salgen.explain(model, IMAGES, TARGETS, method="input-x-gradient", ids=IDS).values.numpy().astype(float)
    fresh = stages_by_hand(model, "cascading", "input-x-gradient")[-1].astype(float)
    before, after = ([slow_entropy(one, bins) for one in maps] for maps in (own, fresh))
    np.testing.assert_allclose(scored(model, call)[call], (np.array(after) - before) / before, atol=1e-6)


def test_efficient_mprt_of_constant_maps(model):
    maps = np.stack([np.ones((12, 13)), *IMAGES[1:, 0]])
    found = scored(model, "efficient-mprt", maps=maps, method=lambda _, images, targets: images[:, 0] * 0)
    assert found.reasons["efficient-mprt"] == ["constant_map"] * 4
    assert np.isnan(found["efficient-mprt"][0])
    assert (found["efficient-mprt"][1:] == -1).all()
