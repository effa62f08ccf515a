"""A run that is damaged, incomplete or edited: what is wrong is found, all of it at once, and in words."""

import hashlib
import shutil
from dataclasses import replace
import numpy as np
import pyarrow.parquet as pq
import pytest
from kept_runs import STATED, make_data, make_run
from run_folders import edited_record, edited_scores
import salgen
from salgen.evaluation.runs.artifacts.saved_maps import key_of, read_maps, write_maps

METRICS = ["roc-auc", "insertion-auc", "idr"]
MODEL = "lesion-cnn-seed0"
MAPS = f"maps/{MODEL}/gradient/maps-00000.parquet"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("checks")
    return make_run(make_data(place), place / "run", metrics=METRICS)


@pytest.fixture(scope="module")
def unpacked(run):
    return salgen.unpack(salgen.publish(run, run.parent / "run.tar", **STATED), run.parent / "unpacked")


@pytest.fixture
def copy(unpacked, tmp_path):
    """The run without its checksums, so that nothing but what they say of files is missed."""
    folder = shutil.copytree(unpacked, tmp_path / "run")
    (folder / "SHA256SUMS").unlink()
    return folder


def record_with(change):
    def apply(folder):
        with edited_record(folder) as record:
            change(record)

    return apply


def rows_with(change):
    """Change the rows of scores, or drop those that become None."""

    def apply(folder):
        with edited_scores(folder) as rows:
            rows[:] = [changed for row in rows if (changed := change(row)) is not None]

    return apply


def better(metric, sample=None):
    """Higher scores of the gradient's maps by a metric."""

    def change(row):
        if (row["method"], row["metric"]) == ("gradient", metric) and sample in (None, row["sample_id"]):
            value = 0.5 if np.isnan(row["value"]) else row["value"] / 2 + 0.5
            return row | {"value": value, "value_worst_case": value}
        return row

    return rows_with(change)


def other_weights(folder):
    path = folder / MODEL / "weights.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def weights_that_do_not_load(folder):
    (folder / MODEL / "weights.safetensors").write_bytes(b"no weights")
    digest = hashlib.sha256(b"no weights").hexdigest()
    record_with(lambda record: record["models"][0].update(weights_sha256=digest))(folder)


def maps_with(**changes):
    def apply(folder):
        kept = read_maps(folder / MAPS)
        changed = {name: change(getattr(kept, name)) for name, change in changes.items()}
        write_maps(folder / MAPS, replace(kept, **changed), key_of(folder / MAPS))

    return apply


def without_maps(record):
    record["maps"] = {name: key for name, key in record["maps"].items() if "/gradient/" not in name}


QUICK = {  # found without rendering or scoring
    "weights": (other_weights, "weights are not those of run.json"),
    "damaged weights": (weights_that_do_not_load, "weights.safetensors does not hold"),
    "data set": (
        record_with(lambda record: record["dataset"].update(fingerprint="0" * 64)),
        "the data set of these maps",
    ),
    "record without an entry": (record_with(lambda record: record.pop("metrics")), "has no entry 'metrics'"),
    "maps left out": (record_with(without_maps), "gradient/maps-00000.parquet does not hold the maps of this run"),
}
FROM_MAPS = "follow from the maps, the first that of gradient under"
SAMPLED = {  # found where the maps are scored again
    "scores of maps": (better("roc-auc"), f"{FROM_MAPS} roc-auc"),
    "scores of twins": (better("idr"), f"{FROM_MAPS} idr"),
    "reason": (rows_with(lambda row: row | ({"reason": "x"} if row["method"] == "gradient" else {})), FROM_MAPS),
    "missing score": (
        rows_with(lambda row: None if (row["method"], row["sample_id"][-1]) == ("gradient", "0") else row),
        FROM_MAPS,
    ),
    "maps of other samples": (maps_with(ids=lambda ids: ids[::-1]), "scores do not follow from the maps"),
    "maps": (maps_with(values=lambda a: -a), FROM_MAPS),
}
TABLES = ("scores.parquet", "summary.csv", "comparisons.csv", "predictions.parquet", "certificates.parquet")
KEPT = (
    *(f"{MODEL}/weights.safetensors", f"{MODEL}/model.json", MAPS),
    *("dataset/salgen.json", "dataset/data/test-00000-of-00001.parquet"),
)


@pytest.mark.parametrize("fault", ["damaged", "missing"])
@pytest.mark.parametrize("name", ["run.json", "gallery.npz", *TABLES, *KEPT])
def test_a_damaged_or_missing_file_is_found_without_checksums(copy, name, fault):
    data = (copy / name).read_bytes()
    (copy / name).unlink()
    if fault == "damaged":
        (copy / name).write_bytes(data[: len(data) // 2])
    problems = salgen.verify(copy, samples=0)
    found = any(MODEL in problem or name.rpartition("/")[2] in problem for problem in problems)
    # half a CSV is a CSV, and pictures need not be there
    assert found != (name.endswith(".csv") if fault == "damaged" else name == "gallery.npz"), problems


@pytest.mark.parametrize("name", ["summary.csv", "run.json", MAPS])
def test_an_edited_file_is_found_by_its_checksum(unpacked, tmp_path, name):
    folder = shutil.copytree(unpacked, tmp_path / "run")
    data = (folder / name).read_bytes()
    (folder / name).write_bytes(data + b" ")
    assert any(name in problem for problem in salgen.verify(folder, samples=0))


@pytest.mark.parametrize("name", [*QUICK, *SAMPLED])
def test_what_does_not_follow_is_found_at_once_or_where_maps_are_scored_again(copy, name):
    change, expected = (QUICK | SAMPLED)[name]
    change(copy)
    problems = salgen.verify(copy, samples=0)
    if name in SAMPLED:
        assert problems == []
        problems = salgen.verify(copy)
    assert any(expected in problem for problem in problems), problems


def test_as_many_samples_are_scored_again_as_asked_for_and_every_fault_is_named_at_once(copy):
    last = max(pq.read_table(copy / "scores.parquet")["sample_id"].to_pylist())
    better("roc-auc", last)(copy)
    assert salgen.verify(copy, samples=6) == []
    (problem,) = salgen.verify(copy, samples=7)
    assert "scores do not follow from the maps" in problem
    for name in ("weights", "maps left out"):
        QUICK[name][0](copy)
    (copy / "summary.csv").unlink()
    problems = salgen.verify(copy, samples=0)
    for expected in (QUICK["weights"][1], QUICK["maps left out"][1], "summary.csv is missing"):
        assert any(expected in problem for problem in problems), expected


KINDS = {
    "of two classes, as predicted": {"target": "pred", "methods": ["gradient", "smoothgrad:n=2"]},
    "limited": {"limit": 6},
    "without maps": {"keep_maps": False},
    "of a named class, by whole data sets": {
        "target": "lesions",
        "methods": ["pattern-net"],
        "metrics": ["box-accuracy", "saliency-metric", "edge-correlation"],
    },
}


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.torture if n.startswith("of a named class") else ()) for n in KINDS]
)
def test_a_sound_run_of_each_kind_has_no_problems(run, tmp_path, name):
    given = {"model": run / MODEL, "settings": None, **KINDS[name]}
    assert salgen.verify(make_run(run.parent / "lesions", tmp_path / "run", **given)) == []


def test_a_run_of_two_seeds(run, tmp_path):
    out = make_run(run.parent / "lesions", tmp_path / "run", n_trainings=2, metrics=["roc-auc"], methods=["gradient"])
    assert salgen.verify(out) == []
    shutil.rmtree(out / MODEL)
    shutil.copytree(out / "lesion-cnn-seed1", out / MODEL)
    assert any("weights are not those" in problem for problem in salgen.verify(out, samples=0))


@pytest.mark.parametrize("limit", [None, 6])
def test_scores_of_another_runs_maps(unpacked, tmp_path, limit):
    out = salgen.rescore(unpacked, out=tmp_path / "again", metrics=["iou"], limit=limit).path
    assert salgen.verify(out) == []
