"""Models of several labels: their loss, their probabilities, what counts as right, and what is not a false positive."""

import json
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.diagnostics.clever_hans import false_positives
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.reliance.certificate_rule import Answers, certificate_of
from salgen.evaluation.runs.artifacts.predictions import FILE, Predictions, predicted_classes, write_predictions
from salgen.evaluation.training.trainer import _hits, _loss
from salgen.evaluation.training.training_data import DeviceSplit

METRICS = ["roc-auc", "class-sensitivity"]
PRESENT = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 1]], dtype=bool)
LOGITS = np.array([[2.0, -1.0, 0.3], [0.5, -0.2, 1.0], [-3.0, 0.1, 4.0], [1.5, 1.0, -2.0]])


def sigmoid(values):
    return 1 / (1 + np.exp(-np.asarray(values, dtype=np.float64)))


def test_the_loss_is_of_each_class_on_its_own_and_an_image_with_the_likeliest_is_a_hit():
    chances = sigmoid(LOGITS)
    by_hand = [
        -np.mean([np.log(p if there else 1 - p) for p, there in zip(row, shown, strict=True)])
        for row, shown in zip(chances, PRESENT, strict=True)
    ]
    logits, labels = torch.from_numpy(LOGITS), torch.from_numpy(PRESENT).double()
    assert float(_loss(logits, labels)) == pytest.approx(np.mean(by_hand))
    assert float(_loss(logits, labels, "sum")) == pytest.approx(np.sum(by_hand))
    hits = _hits(torch.from_numpy(LOGITS), torch.from_numpy(PRESENT).float())
    assert hits.tolist() == [True, False, True, False]
    split = DeviceSplit(
        torch.zeros(4, 1, 1, 1, dtype=torch.uint8), torch.from_numpy(PRESENT).float(), torch.zeros(4, dtype=torch.int64)
    )
    assert split.chance == pytest.approx(0.75)  # the third class, in three of four images


@given(arrays(np.float32, (5, 4), elements=st.floats(0, 1, width=32)), arrays(np.int64, 5, elements=st.integers(0, 3)))
def test_the_class_in_question_is_predicted_if_it_is_seen_and_else_the_likeliest_other(chances, labels):
    found = predicted_classes(chances, labels, multi_label=True)
    for row, label, one in zip(chances, labels, found, strict=True):
        assert (one == label) == (row[label] > 0.5)
        if one != label:
            assert row[one] == max(value for number, value in enumerate(row) if number != label)
    assert np.array_equal(predicted_classes(chances, labels, multi_label=False), chances.argmax(axis=1))


def test_accuracy_is_the_share_of_present_classes_seen_and_chance_that_of_absent_ones():
    chances = sigmoid(LOGITS).astype(np.float32)
    labels = np.array([0, 1, 2, 2])
    said = Predictions(labels, chances, PRESENT)
    assert said.accuracy == pytest.approx(2 / 4)  # the first and the third
    absent = [(row, column) for row, column in np.ndindex(PRESENT.shape) if not PRESENT[row, column]]
    seen = [chances[place] > 0.5 for place in absent]
    assert said.chance == pytest.approx(np.mean(seen))


def network():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, 4))


def test_each_logit_has_a_probability_of_its_own():
    """A user's module may say so too."""
    plain, several = (ModelView.of(Classifier(network(), multi_label=kind)) for kind in (False, True))
    logits, module = torch.from_numpy(LOGITS), network()
    np.testing.assert_allclose(several.probabilities(logits), sigmoid(LOGITS))
    np.testing.assert_allclose(plain.probabilities(logits).sum(dim=1), 1.0)
    assert not ModelView.of(module).multi_label
    module.multi_label = True
    assert ModelView.of(module).multi_label


def test_a_certificate_asks_whether_the_class_is_there():
    """Class 1 falls below a half without its object; that class 0 is likelier throughout does not matter."""
    answers = Answers(
        sample=np.array([5.0, 2.0]),
        twin=np.array([5.0, -1.0]),
        feature_step=np.array([5.0, 1.7]),
        redraws=np.array([[1.0, 1.9], [9.0, 2.2]]),
        redraw_twins=np.array([[1.0, -1.2], [9.0, -0.9]]),
        held=np.array([[1.0, 2.0], [9.0, 2.3]]),
        background_step=np.array([[4.0, 2.0], [6.0, 2.1]]),
        without={"object": np.array([5.0, -1.0])},
    )
    found = certificate_of(answers.about(1), label=1, target=1)
    assert (found.correct, found.uses_feature, found.ignores_background, found.certified) == (True, True, True, True)
    assert found.margin == 2.0
    assert found.feature_effect == 3.0
    assert (found.background_effect, found.held_effect) == pytest.approx((0.2 / 3, 0.3 / 3))
    assert not certificate_of(answers, label=1, target=1).correct


def test_a_class_that_is_there_is_no_false_positive_and_others_count_once_for_an_image(tmp_path):
    chances = np.array([[0.95, 0.97, 0.1], [0.99, 0.2, 0.96]], dtype=np.float32)
    labels, present = np.array([0, 0]), np.array([[1, 1, 0], [1, 0, 0]], dtype=bool)
    write_predictions(tmp_path, ["a", "b"], [("m", 0)], [Predictions(labels, chances, present)])
    assert [(one.sample_id, one.class_number) for one in false_positives(tmp_path)] == [("b", 2)]
    assert pq.read_table(tmp_path / FILE)["present"].to_pylist() == [[0, 1], [0]]
    write_predictions(tmp_path, ["a", "b"], [("m", 0)], [Predictions(labels, chances)])
    assert "present" not in pq.read_table(tmp_path / FILE).column_names
    assert pa.types.is_integer(pq.read_table(tmp_path / FILE)["label"].type)
    assert len(false_positives(tmp_path)) == 2
    chances = np.array([[0.6, 0.7, 0.95]] * 3, dtype=np.float32)
    labels, present = np.array([0, 1, 0]), np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0]], dtype=bool)
    write_predictions(tmp_path, ["a", "b", "c"], [("m", 0), ("m", 1)], [Predictions(labels, chances, present)] * 2)
    found = [(one.training_seed, one.sample_id, one.class_number) for one in false_positives(tmp_path)]
    assert sorted(found) == [(0, "a", 2), (0, "c", 2), (1, "a", 2), (1, "c", 2)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run of a network that hardly learnt, with its maps."""
    place = tmp_path_factory.mktemp("several")
    splits, parameters = {"train": 24, "val": 8, "test": 12}, {"image_size": (32, 32), "pictures": 10}
    data = salgen.make("multi-objects", place / "data", splits=splits, parameters=parameters, workers=1)
    how = {"settings": {"epochs": 1, "widths": "4,4,4,4"}, "keep_maps": True, "out": place / "run"}
    return salgen.evaluate(data, model="scnn", methods=["gradient"], metrics=METRICS, **how).path


def test_a_run_is_verified_scored_again_and_not_taken_for_one_of_single_labels(run, tmp_path):
    assert salgen.verify(run, samples=4) == []
    again = salgen.rescore(run, metrics=METRICS, out=tmp_path / "again").path
    for name in ("scores.parquet", "predictions.parquet"):
        assert pq.read_table(run / name).equals(pq.read_table(again / name))
    objects = json.loads((run / "run.json").read_text())["dataset"]["tasks"]["object"]
    how = {"image_size": (32, 32), "pictures": 10, "objects": objects, "scenes": ("bedroom", "runway")}
    data = salgen.make("bam", tmp_path / "bam", splits={"test": 4}, parameters=how, workers=1)
    with pytest.raises(SalgenError, match="classes of an image several in the model, one in the data"):
        salgen.evaluate(data, model=run / "scnn-seed0", methods=["gradient"], metrics=["roc-auc"], out=tmp_path / "x")
