"""The reliance certificate: what a model must do to earn it, who fails it, and that a run can go on with it."""

import math
from dataclasses import replace
import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from kept_runs import QUICK
from marked_lesions import registered  # noqa: F401, a fixture of all tests here
from scipy.stats import binom
from torch import nn
import salgen
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.reliance.certificate_rule import Answers, certificate_of, most_faulty
from salgen.evaluation.reliance.rerender import Renderer
from salgen.evaluation.runs import plan
from salgen.evaluation.runs.artifacts.certificate_table import CERTIFICATES
from salgen.evaluation.runs.artifacts.chunk_files import PARTS
from salgen.evaluation.runs.certify import certify
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.generators.factory import generator_of

SPLITS = {"train": 160, "val": 32, "test": 24}


def made(place, name, **parameters):
    return salgen.make(name, place / name, splits=SPLITS, parameters={**QUICK, **parameters}, workers=1)


@pytest.fixture(scope="module")
def perlin(tmp_path_factory):
    return made(tmp_path_factory.mktemp("perlin"), "perlin-lesions")


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    return made(tmp_path_factory.mktemp("flat"), "uniform-lesions")


class DarkPixels(nn.Module):
    """Two logits, 0 and `gain` for each pixel above the lowest third that is dark but not black, over `needed`."""

    def __init__(self, needed=1.0, gain=1.0, below=0.85):
        super().__init__()
        self.needed, self.gain, self.below = needed, gain, below

    def forward(self, images):
        top = images[:, 0, : 2 * images.shape[2] // 3]
        found = ((top > 0.1) & (top < self.below)).to(images.dtype).sum(dim=(1, 2))
        logit = self.gain * (found - self.needed + 0.5) + 0.0 * images.sum(dim=(1, 2, 3))
        return torch.stack([torch.zeros_like(logit), logit], dim=1)


def subject_of(module, name="model", seed=0):
    return EvaluatedModel(name, seed, module.eval(), f"{name}{seed}", None, {})


def work_of(data, module, run, **conventions):
    subject = module if isinstance(module, EvaluatedModel) else subject_of(module)
    plan = Plan.of(open_dataset(data), Conventions(**conventions), [subject], {}, {})
    return ModelRunner(plan, subject, run)


def rows_of(run):
    return pq.read_table(run / CERTIFICATES).to_pylist()


def answers(sample, twin, redraws, redraw_twins=(), held=None, steps=None, **without):
    """Held features leave the sample as it is, and so do steps of the background; one of the feature goes a tenth."""
    sample, redraws = np.array(sample, float), np.array(redraws, float)
    known = np.full_like(sample, np.nan) if twin is None else np.array(twin, float)
    same = np.broadcast_to(sample, redraws.shape)
    return Answers(
        sample=sample,
        twin=None if twin is None else known,
        feature_step=sample + (known - sample) / 10,
        redraws=redraws,
        redraw_twins=np.array(redraw_twins, float),
        held=same if held is None else np.array(held, float),
        background_step=same if steps is None else np.array(steps, float),
        without={name: np.array(logits, float) for name, logits in without.items()},
    )


def test_the_verdict_by_hand():
    """Margins: 4 of the sample, -4 of its twin, 3 and 6 of the redraws, -2 and -5 of their twins."""
    held, steps = [[0, 3], [0, 5.5]], [[0, 4.2], [0, 3.9]]
    case = answers([0, 4], [4, 0], [[0, 3], [1, 7]], [[3, 1], [5, 0]], held, steps, one=[0, 2], two=[3, 0])
    found = certificate_of(case, 1, 1)
    assert (found.correct, found.uses_feature, found.ignores_background, found.certified) == (True,) * 4
    assert (found.margin, found.feature_effect, found.contrast_effect) == (4, 8, 2)
    assert (found.background_effect, found.held_effect, found.step_effect) == pytest.approx((2 / 8, 1.5 / 8, 0.2 / 0.8))
    assert found.tolerance == 0.25
    assert (found.features, found.needed_features, found.feature_shares) == (["one", "two"], ["two"], [2 / 8, 7 / 8])
    assert certificate_of(answers([0, 4], [1, 0], [[3, 7]], [[4, 3]]), 1, 1).tolerance == 0
    assert certificate_of(answers([0, 4], [1, 0], [[0, 4]], [[1, 0]], held=[[2, 4]]), 1, 1).tolerance == 2 / 5
    assert certificate_of(answers([0, 4], [4, 0], [[0, 4]], [[4, 0]], one=[4, 0]), 0, 1).needed_features == []
    found = certificate_of(answers([0, 4], None, [[0, 4]], one=[1, 0]), 1, 1)
    assert (found.correct, found.uses_feature, found.ignores_background, found.certified) == (True, None, None, None)
    numbers = ("feature_effect", "background_effect", "held_effect", "step_effect", "tolerance", "holds_elsewhere")
    assert all(math.isnan(getattr(found, name)) for name in numbers)
    assert found.needed_features == ["one"]
    assert math.isnan(found.feature_shares[0])


@pytest.mark.parametrize(
    ("case", "label", "uses", "tolerance"),
    [
        (answers([0, 4], [1, 0], [[0, 9], [0, 1]], [[1, 0], [2.25, 0]]), 1, True, 1.25 / 5),
        (answers([0, 4], [1, 0], [[0, 4], [0, 4]], [[1, 0], [3.5, 0]]), 1, True, 1 / 2),
        (answers([0, 4], [1, 0], [[0, 4]], [[1, 0]], held=[[0, 2]]), 1, True, 2 / 5),
        (answers([0, 4], [1, 0], [[0, 4]], [[1, 0]], steps=[[0, 3]]), 1, True, 1 / 0.5 / 2),
        (answers([0, 4], [1, 0], [[0, 4]], [[1, 0]], held=[[0, 6]], steps=[[0, 3.9]]), 1, True, 2 / 5),
        (answers([0, 4], [1, 0], [[0, 4], [1, 0]], [[1, 0], [1, 0]]), 1, True, math.inf),  # a redraw is misclassified
        (answers([0, 4], [1, 0], [[0, 4], [0, 4]], [[1, 0], [0, 0.1]]), 1, True, math.inf),  # one's twin does not flip
        (answers([0, 4], [0, 1], [[0, 4]], [[2, 1]]), 1, False, 2 / 3),  # the sample's own twin does not flip
        (answers([0, 4], [1, 0], [[0, 4]], [[1, 0]]), 0, False, 0),  # wrong from the start
        (answers([2, 5, 3], [7, 1, 9], [[2, 6, 3]], [[1, 2, 9]]), 1, True, 1 / 10),  # the strongest other class counts
        # of three classes: the class is still named on the twins, with a quarter of the margin and with more
        (answers([0, 4, 0], [0, 1, 0], [[0, 5, 0]], [[0, 1.2, 0]]), 1, True, 0.2 / 3),
        (answers([0, 4, 0], [0, 1.1, 0], [[0, 5, 0]], [[0, 1, 0]]), 1, False, 0.1 / 2.9),
        (answers([0, 4, 0], [0, 0, 1], [[0, 0.5, 0]], [[0, 0.2, 0]]), 1, True, math.inf),  # on a redraw .5 to .2
    ],
)
def test_both_conditions_by_hand(case, label, uses, tolerance):
    found = certificate_of(case, label, label)
    if label == 1:
        assert found.tolerance == pytest.approx(tolerance)
    assert found.uses_feature == uses
    assert found.ignores_background == (found.tolerance <= 0.25)
    assert found.certified == (uses and found.ignores_background)


@pytest.mark.parametrize(("failing", "certified"), [(2, True), (3, False)])
@pytest.mark.parametrize("what", ["redraws", "redraw_twins", "held", "background_step"])
def test_a_quarter_of_the_redraws_may_fail(what, failing, certified):
    case = answers([0, 4], [4, 0], [[0, 4]] * 8, [[4, 0]] * 8)
    wrong = {"redraws": [4, 0], "redraw_twins": [0, 4], "held": [0, 0], "background_step": [0, 0]}
    some = getattr(case, what).copy()
    some[:failing] = wrong[what]
    assert certificate_of(replace(case, **{what: some}), 1, 1).certified == certified


@pytest.mark.parametrize(("shift", "tolerance"), [(0.004, 0.125), (0.016, 0.5)])
def test_a_step_of_a_saturated_feature_counts_as_little_of_its_effect(shift, tolerance):
    """The effect is 4, so the step counts as .016: half of 0.004 / 0.016 and of 0.016 / 0.016."""
    case = replace(answers([0, 2], [2, 0], [[0, 2]], [[2, 0]], steps=[[0, 2 + shift]]), feature_step=np.array([0, 2.0]))
    assert certificate_of(case, 1, 1).tolerance == pytest.approx(tolerance)


@pytest.mark.parametrize(("redraws", "failed"), [(1, 0), (8, 2), (59, 14)])
def test_the_share_of_failing_redraws_is_bounded_by_their_number(redraws, failed):
    """With a share above the bound so few among so many fail with less than 5 %."""
    assert binom.cdf(failed, redraws, most_faulty(redraws)) == pytest.approx(0.05)


@pytest.mark.parametrize(("network", "holds"), [(DarkPixels(needed=4), 1), (DarkPixels(gain=0.0), 0)])
def test_a_detector_of_any_lesion_is_certified_and_a_constant_is_not(flat, tmp_path, network, holds):
    (summary,) = certify([work_of(flat, network, tmp_path)]).summary
    assert (summary.coverage, summary.uses_feature, summary.ignores_background) == (holds,) * 3
    assert (summary.samples, summary.needed) == (12, {"lesion_1": 0, "lesion_2": 0})
    for row in rows_of(tmp_path):
        assert sum(row["feature_shares"]) == pytest.approx(1 if holds else math.nan, nan_ok=True)
        assert row["background_effect"] == 0 or not holds


def test_certificates_of_all_models_stand_in_one_file_of_parts_of_their_own(flat, tmp_path):
    models = [subject_of(DarkPixels(4)), subject_of(DarkPixels(gain=0.0), seed=1), subject_of(DarkPixels(4), "other")]
    works = [work_of(flat, model, tmp_path) for model in models]
    found = certify(works)
    ids = {sample["id"] for sample in open_dataset(flat) if sample["label"]}
    expected = {("model", 0): True, ("model", 1): False, ("other", 0): True}
    assert found.certified == {model: dict.fromkeys(ids, holds) for model, holds in expected.items()}
    assert found.reason == ""
    assert len(rows_of(tmp_path)) == 36
    for seed, target in ((0, "label"), (1, "label"), (0, "pred")):
        certify([work_of(flat, subject_of(DarkPixels(4), seed=seed), tmp_path / "parts", target=target)])
    assert len(parts_of(tmp_path / "parts")) == 3


def image_tensor(sample):
    levels = sample.image.astype(np.float32) / np.float32(255)
    return torch.from_numpy(np.moveaxis(levels, 2, 0)[None])


NUMBERS = (
    *("margin", "feature_effect", "background_effect", "held_effect", "step_effect", "contrast_effect", "tolerance"),
    *("holds_elsewhere", "feature_shares"),
)


def slowly(data, module, target, index, count):
    """One sample's certificate of two classes from the definition."""
    dataset = open_dataset(data)
    generator = generator_of(dataset.spec)
    recipe = generator.recipe(dataset.spec.seed, "test", index)

    def said(image):
        with torch.no_grad():
            return module(image.double())[0].tolist()

    def shown(sample):
        return said(image_tensor(sample))

    def cls(logits):
        return logits.index(max(logits))

    def given_up(logits, of):
        return logits[of] <= logits[1 - of]

    sample, own_twin = generator.render(recipe), generator.twin(recipe)
    label, logits, twin = sample.labels["label"], shown(sample), shown(own_twin)
    predicted = cls(logits)
    explained = label if target == "label" else predicted

    def margin(logits):
        return logits[explained] - logits[1 - explained]

    def usual(values):
        return next(value for value in sorted(values) if sum(one > value for one in values) <= count / 4)

    image, other = image_tensor(sample), image_tensor(own_twin)
    effect = abs(margin(logits) - margin(twin))
    feature_step = abs(margin(said(image + np.float32(0.1) * (other - image))) - margin(logits))
    lesions = torch.from_numpy(sample.regions["lesions"])[None, None]
    fails, background, held, step, contrast = [], [], [], [], []
    for number in range(count):
        again = generator.redraw(recipe, dataset.spec.seed, number)
        redraw, redraw_twin = shown(generator.render(again)), shown(generator.twin(again))
        composed = torch.where(lesions, image, image_tensor(generator.twin(again)))
        fails.append(cls(redraw) != predicted or not given_up(redraw_twin, predicted))
        background.append(abs(margin(redraw_twin) - margin(twin)))
        held.append(abs(margin(said(composed)) - margin(logits)))
        step.append(abs(margin(said(image + np.float32(0.1) * (composed - image))) - margin(logits)))
        contrast.append(abs(margin(redraw) - margin(logits)))
    needed, shares = [], []
    for name in generator.features(recipe):
        alone = shown(generator.render(recipe, omit=(name,)))
        if predicted == label and given_up(alone, predicted):
            needed.append(name)
        moved = margin(logits) - margin(alone)
        shares.append(moved / (margin(logits) - margin(twin)) if effect else math.nan)
    elsewhere = [generator.move(recipe, dataset.spec.seed, k) for k in range(count)]
    hits = [cls(shown(generator.render(r))) == label and given_up(shown(generator.twin(r)), label) for r in elsewhere]
    effects = [
        usual(shifts) / by if by else math.inf
        for shifts, by in ((background, effect), (held, effect), (step, max(feature_step, effect / 250)))
    ]
    tolerance = max(*effects[:2], effects[2] / 2) if sum(fails) <= count / 4 else math.inf
    return {
        "sample_id": f"test-{index:06d}",
        "correct": predicted == label,
        "uses_feature": predicted == label and given_up(twin, predicted),
        "ignores_background": tolerance <= 0.25,
        "margin": margin(logits),
        "feature_effect": effect,
        **dict(zip(("background_effect", "held_effect", "step_effect"), effects, strict=True)),
        "contrast_effect": max(contrast),
        "tolerance": tolerance,
        "holds_elsewhere": sum(hits) / count,
        "features": generator.features(recipe),
        "needed_features": needed,
        "feature_shares": shares,
    }


def some_network(seed):
    torch.manual_seed(seed)
    layers = [nn.Conv2d(1, 6, 5, stride=2), nn.ReLU(), nn.AdaptiveMaxPool2d(3), nn.Flatten(), nn.Linear(54, 2)]
    return nn.Sequential(*layers).double()  # in float64 it hardly matters what is computed together


@pytest.mark.parametrize(
    ("classes", "target", "count"),
    [("none_vs_two", "label", 8), ("one_vs_two", "pred", 8), ("none_vs_two", "label", 13)],
)
def test_every_column_against_a_slow_transcription(tmp_path, classes, target, count):
    data = made(tmp_path, "mri-lesions", lesion_classes=classes, depth=1.0)
    seen = set()
    for number, module in enumerate([some_network(3), DarkPixels(needed=20, below=0.3)]):
        run = tmp_path / str(number)
        work = work_of(data, module, run, target=target, redraws=count)
        certification = certify([work])
        found, rows = certification.certified["model", 0], rows_of(run)
        for most, share in certification.summary[0].by_tolerance.items():
            assert share == sum(row["uses_feature"] and row["tolerance"] <= float(most) for row in rows) / len(rows)
        assert len(rows) == len(work.plan.scored) == (12 if classes == "none_vs_two" else 24)
        for row, index in zip(rows, work.plan.scored, strict=True):
            expected = slowly(data, module, target, index, count)
            for key, value in expected.items():
                wanted = pytest.approx(value, rel=1e-6, abs=1e-9, nan_ok=True) if key in NUMBERS else value
                assert row[key] == wanted, key
            assert row["certified"] == (row["uses_feature"] and row["ignores_background"]) == found[row["sample_id"]]
            seen.add((row["uses_feature"], row["ignores_background"]))
    assert len(seen) > 1


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(plan, "CHUNK", 5)


def parts_of(run):
    return {path.name: path.stat().st_mtime_ns for path in (run / PARTS).iterdir()}


def test_it_goes_on_where_it_was(flat, tmp_path, small_chunks, monkeypatch):
    work = work_of(flat, DarkPixels(4), tmp_path)
    first, before = certify([work]), parts_of(tmp_path)
    content = (tmp_path / CERTIFICATES).read_bytes()
    assert len(before) == 3
    (tmp_path / PARTS / min(before)).write_bytes(content[:50])  # as a power cut may leave it
    assert certify([work_of(flat, DarkPixels(4), tmp_path)]) == first
    after = parts_of(tmp_path)
    assert [name for name in before if after[name] != before[name]] == [min(before)]
    monkeypatch.setattr(Renderer, "of", None)  # nothing is missing: neither generator nor source is opened
    (tmp_path / CERTIFICATES).unlink()
    assert certify([work_of(flat, DarkPixels(4), tmp_path)]) == first
    assert (tmp_path / CERTIFICATES).read_bytes() == content


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"source": "volumes", "source_digest": "0" * 64}, "give its path as the source"),
        ({"generator": "photographs"}, "unknown generator 'photographs'"),
        ({"generator_version": "0"}, "made by uniform-lesions version 0"),
        ({"parameters": {**QUICK, "depth": 0.2}}, "rendered again, has other pixels than the stored one"),
    ],
)
def test_data_that_cannot_be_rendered_again_have_no_certificates_and_a_reason(flat, tmp_path, changes, says):
    certify([work_of(flat, DarkPixels(4), tmp_path)])
    other = work_of(flat, subject_of(DarkPixels(4), seed=1), tmp_path)
    parameters = {key: value for key, value in changes.get("parameters", {}).items() if key != "image_size"}
    changes = {**changes, "parameters": {**other.plan.dataset.spec.parameters, **parameters}}
    other.plan.dataset.spec = replace(other.plan.dataset.spec, **changes)
    found = certify([other])
    assert found.certified == {}
    assert found.summary == ()
    assert found.reason.startswith("the samples cannot be rendered again: ")
    assert says in found.reason
    assert not (tmp_path / CERTIFICATES).exists(), "certificates of another model do not stay"


def test_a_source_that_is_not_there_is_a_reason(flat, tmp_path):
    found = certify([work_of(flat, DarkPixels(4), tmp_path)], source=str(tmp_path / "gone"))
    assert "source 'gone': must be" in found.reason


def test_no_more_images_are_held_than_there_are_samples_in_a_chunk(perlin):
    dataset, asked = open_dataset(perlin), []
    indices = [i for i in range(len(dataset)) if dataset.column("label")[i]]
    (batch,) = dataset.batches(64, indices)

    def ask(images):
        asked.append(images)
        return np.zeros((len(images), 2))

    assert len(Renderer.of(dataset, None, indices[0]).answers(batch.recipes, 5, ask)) == 12
    assert [images.shape for images in asked] == [(12, 1, 32, 32)] * (3 + 4 * 5 + 2 * 5 + 2)
    assert np.array_equal(asked[0], batch.images)
    assert np.array_equal(asked[1], np.stack(batch.twins))
    # the split has one slice: without their lesions redraws and those with lesions elsewhere are the same
    assert len({images.tobytes() for images in asked}) == len(asked) - 5
