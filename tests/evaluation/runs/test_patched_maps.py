"""The input independence rate in a run: patches made for each model, explained, scored, kept and scored again."""

from contextlib import chdir
from importlib import import_module
import numpy as np
import pytest
import torch
from bending_models import write_models
from kept_runs import rows
import salgen
from salgen.evaluation.metrics.inputs.metric import MISCLASSIFIED, PATCH_MATTERS, UNUSABLE_SAMPLE
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs import chunk_inputs
from salgen.evaluation.runs.artifacts.saved_maps import read_maps
from salgen.evaluation.runs.insignificant_patch import insignificant_patches
from salgen.evaluation.runs.rescoring import rescore

METRICS = ["iir", "iir:of=paired", "idr"]
CALLS = ["gradient", "rise:n=20"]
MATTERING = 2  # of the positives, the one whose patch is said not to hold


@pytest.fixture(scope="module")
def positives(data):
    return [sample for sample in salgen.load(data) if sample["label"] == 1]


@pytest.fixture(scope="module")
def models(data, positives):
    """Two models, each wrong on some of the images."""
    levels = sorted(float(sample["image"].mean()) for sample in positives)
    with chdir(data.parent):
        yield write_models(data.parent / "ignoring_models.py", (3, levels[1]), (0, levels[1]), gain=5)


@pytest.fixture(scope="module")
def made():
    return []


@pytest.fixture(scope="module")
def run(data, models, made, positives):
    """A run in which one patch is said to matter; what was asked for patches is in `made`."""

    def watched(view, images, twins, masks, labels, max_memory):
        found = insignificant_patches(view, images, twins, masks, labels, max_memory)
        made.append((view, found))
        for i, image in enumerate(images):
            if np.array_equal(image, positives[MATTERING]["image"]):
                found.faults[i] = PATCH_MATTERS
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunk_inputs, "insignificant_patches", watched)
        how = {"methods": CALLS, "metrics": METRICS, "out": data.parent / "run", "keep_maps": True}
        return salgen.evaluate(data, model=models[0], paired_model=models[1], **how).path


def by_hand(classifier, positives, call):
    """IIR of one method under one model, with the reasons where it has none."""
    images, twins = (np.stack([sample[what] for sample in positives]) for what in ("image", "twin"))
    masks, ids = np.stack([sample["mask"] for sample in positives]), [sample["id"] for sample in positives]
    labels = np.ones(len(images), dtype=np.int64)
    patched = insignificant_patches(ModelView.of(classifier), images, twins, masks, labels)

    def maps(pixels):
        found = salgen.explain(classifier, pixels, labels, method=call, ids=ids)
        return found.values.numpy()

    def right(pixels):
        with torch.inference_mode():
            return (classifier(torch.from_numpy(pixels)).argmax(dim=1) == 1).numpy()

    correct = right(images) & right(twins) & right(patched.images)
    given = {"twin_maps": maps(twins), "patched_maps": maps(patched.images), "correct": correct}
    found = salgen.score(maps(images), masks, "iir", **given)
    faults = list(patched.faults)
    faults[MATTERING] = PATCH_MATTERS
    values = np.where([bool(fault) for fault in faults], np.nan, found["iir"])
    return values, [fault or reason for fault, reason in zip(faults, found.reasons["iir"], strict=True)]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("metric", ["iir", "iir:of=paired"])
def test_values_are_those_of_explain_and_score(run, models, positives, metric, call):
    classifier = getattr(import_module("ignoring_models"), "second" if "paired" in metric else "first")().eval()
    expected, reasons = by_hand(classifier, positives, call)
    assert np.isfinite(expected).any()
    assert {PATCH_MATTERS, *([MISCLASSIFIED] if metric == "iir" else [])} <= {*reasons}
    table = rows(run)
    table = table[(table["metric"] == metric) & (table["method"] == call) & (table["variant"] == "region:image")]
    found = table.set_index("sample_id").loc[[sample["id"] for sample in positives]]
    assert np.allclose(found["value"], expected, equal_nan=True)
    assert found["reason"].tolist() == reasons
    assert np.allclose(found["value_worst_case"], expected, equal_nan=True)


def test_patches_are_made_once_for_each_model_and_their_faults_are_kept(run, made, positives):
    table = rows(run).query("metric.isin(['iir', 'iir:of=paired'])")
    assert {0.0, 1.0} <= set(table["value"])
    assert set(table["reason"]) <= {"", *UNUSABLE_SAMPLE}
    assert len(made) == 2
    assert made[0][0] is not made[1][0]
    assert not np.array_equal(made[0][1].images, made[1][1].images)
    assert all(len(found.images) == len(positives) for _, found in made)
    (folder,) = (run / "maps").iterdir()
    for kind in ("patched_maps", "paired_patched_maps"):
        kept = read_maps(folder / CALLS[0] / f"{kind}-00000.parquet")
        assert kept.faults[positives[MATTERING]["id"]] == PATCH_MATTERS
    assert read_maps(folder / CALLS[0] / "twin_maps-00000.parquet").faults == {}


def test_kept_maps_are_scored_again(run, tmp_path):
    again = rows(rescore(run, metrics=METRICS, out=tmp_path / "again"))
    first = rows(run)
    for column in ("metric", "method", "sample_id", "reason"):
        assert again[column].tolist() == first[column].tolist()
    for column in ("value", "value_worst_case"):
        assert np.array_equal(again[column], first[column], equal_nan=True)
    assert salgen.verify(run, samples=2) == []
