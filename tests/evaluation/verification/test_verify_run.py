"""A run that is damaged, incomplete or edited: what is wrong is found, all of it at once, and in words."""

import csv
import hashlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from kept_runs import STATED, make_data, make_run

import salgen
from salgen.evaluation.runs.artifacts.saved_maps import key_of, read_maps, write_maps
from salgen.evaluation.statistics.run_tables import write_tables

METRICS = ["roc-auc", "insertion-auc", "idr"]
MODEL = "lesion-cnn-seed0"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("checks")
    return make_run(make_data(place), place / "run", metrics=METRICS)


@pytest.fixture(scope="module")
def unpacked(run):
    return salgen.unpack(salgen.publish(run, run.parent / "run.tar", **STATED), run.parent / "unpacked")


@pytest.fixture
def copy(unpacked, tmp_path):
    return shutil.copytree(unpacked, tmp_path / "run")


def sealed(folder):
    """Make the checksums those of what is there now."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    lines = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n"
        for name in names
        if name != "SHA256SUMS"
    ]
    (folder / "SHA256SUMS").write_text("".join(lines))


def followed(folder):
    """Compute the tables again from the scores."""
    write_tables(folder)


def record_of(folder):
    return json.loads((folder / "run.json").read_text())


def write_record(folder, record):
    (folder / "run.json").write_text(json.dumps(record))


def set_cell(folder, name, column, change, where=None):
    """Change entries of a column of a Parquet table: all, or those of the rows that are told."""
    table = pq.read_table(folder / name)
    kept = np.zeros(len(table), dtype=bool) if where is None else ~np.asarray(where(table))
    old = table[column].to_pylist()
    values = [value if keep else change(value) for value, keep in zip(old, kept, strict=True)]
    place = table.column_names.index(column)
    pq.write_table(table.set_column(place, column, pa.array(values, table[column].type)), folder / name)


def of_method(call):
    return lambda table: pc.equal(table["method"], call).to_numpy()


def first(table):
    return np.arange(len(table)) == 0


# Changes --------------------------------------------------------------------------------------------


def other_weights(folder):
    path = folder / MODEL / "weights.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def weights_that_do_not_load(folder):
    path = folder / MODEL / "weights.safetensors"
    path.write_bytes(b"no weights")
    record = record_of(folder)
    record["models"][0]["weights_sha256"] = hashlib.sha256(b"no weights").hexdigest()
    write_record(folder, record)


def record_with(change):
    def apply(folder):
        record = record_of(folder)
        change(record)
        write_record(folder, record)

    return apply


def predictions(column, change):
    return lambda folder: set_cell(folder, "predictions.parquet", column, change, first)


def fewer_predictions(folder):
    path = folder / "predictions.parquet"
    pq.write_table(pq.read_table(path)[1:], path)


def scores(column, change, where=None):
    return lambda folder: set_cell(folder, "scores.parquet", column, change, where)


def scores_and_tables(column, change, where):
    """As :func:`scores`, with the tables that follow."""

    def apply(folder):
        set_cell(folder, "scores.parquet", column, change, where)
        followed(folder)

    return apply


def without(where):
    """Drop some scores."""

    def apply(folder):
        path = folder / "scores.parquet"
        table = pq.read_table(path)
        pq.write_table(table.filter(pa.array(~np.asarray(where(table)))), path)
        followed(folder)

    return apply


def with_a_copy(column, value):
    """Scores of a method, a metric or a model that was never evaluated."""

    def apply(folder):
        path = folder / "scores.parquet"
        table = pq.read_table(path)
        gradient = table.filter(pc.equal(table["method"], "gradient"))
        more = gradient if column in ("method", "training_seed") else gradient[:1]
        place = table.column_names.index(column)
        more = more.set_column(place, column, pa.array([value] * len(more), table[column].type))
        pq.write_table(pa.concat_tables([table, more]), path)
        followed(folder)

    return apply


def better_scores(metric):
    def apply(folder):
        def of_metric(table):
            return pc.and_(pc.equal(table["metric"], metric), pc.equal(table["method"], "gradient")).to_numpy()

        for column in ("value", "value_worst_case"):
            set_cell(
                folder, "scores.parquet", column, lambda value: 0.5 if np.isnan(value) else value / 2 + 0.5, of_metric
            )
        followed(folder)

    return apply


def other_comparisons(folder):
    path = folder / "comparisons.csv"
    lines = list(csv.reader(path.open()))
    lines[1][lines[0].index("p_holm")] = "0.0001234"
    lines[1][lines[0].index("difference")] = "0.9"
    path.write_text("".join(",".join(line) + "\n" for line in lines))


def gallery(**changes):
    def apply(folder):
        with np.load(folder / "gallery.npz") as file:
            data = dict(file)
        np.savez(folder / "gallery.npz", **{**data, **{name: change(data[name]) for name, change in changes.items()}})

    return apply


def maps_with(**changes):
    def apply(folder):
        path = folder / "maps" / MODEL / "gradient" / "maps-00000.parquet"
        kept = read_maps(path)
        changed = {name: change(getattr(kept, name)) for name, change in changes.items()}
        write_maps(path, replace(kept, **changed), key_of(path))

    return apply


def maps_left_out(folder):
    """A method's maps gone from the folder and the record."""
    record = record_of(folder)
    record["maps"] = {name: key for name, key in record["maps"].items() if "/gradient/" not in name}
    write_record(folder, record)
    shutil.rmtree(folder / "maps" / MODEL / "gradient")


def certificates(column, change):
    return lambda folder: set_cell(folder, "certificates.parquet", column, change)


def set_model(name, value):
    return record_with(lambda record: record["models"][0].update({name: value}))


QUICK = {  # found without rendering or scoring
    "weights": (other_weights, "weights are not those of run.json"),
    "damaged weights": (weights_that_do_not_load, "weights.safetensors is damaged"),
    "accuracy": (set_model("accuracy", 0.99), "run.json: accuracy is 0.99"),
    "number of images": (set_model("n_images", 1000), "run.json: n_images is 1000"),
    "chance": (set_model("chance", 0.1), "run.json: chance is 0.1"),
    "label": (predictions("label", lambda one: 1 - one), "column label does not follow"),
    "predicted class": (predictions("predicted", lambda one: 1 - one), "column predicted does not follow"),
    "name of a sample": (predictions("sample_id", lambda one: one + "0"), "once and in order"),
    "fewer predictions": (fewer_predictions, "once and in order"),
    "other model's predictions": (predictions("model", lambda _: "x"), "each sample of lesion-cnn, seed 0, once"),
    "value": (scores("value", lambda _: 0.123, first), "summary.csv: line 2 does not follow from the scores"),
    "worst case": (scores("value_worst_case", lambda _: 0.123, first), "summary.csv: line 2 does not follow"),
    "missing score": (without(first), "has 6 scores of gradient under roc-auc in region:brain (lesion-cnn, 0"),
    "missing method": (without(of_method("gradient")), "has 0 scores of gradient under"),
    "missing metric": (without(lambda table: pc.equal(table["metric"], "idr").to_numpy()), "under idr in region:brain"),
    "missing sample": (
        without(lambda table: pc.equal(table["sample_id"], table["sample_id"][0]).to_numpy()),
        "has 6 scores of",
    ),
    "missing variant": (
        without(lambda table: pc.equal(table["variant"], "region:brain").to_numpy()),
        "in region:brain (lesion-cnn, 0, ",
    ),
    "strange method": (with_a_copy("method", "best"), "has 7 scores of best under"),
    "strange metric": (with_a_copy("metric", "iou"), "has 1 scores of gradient under iou"),
    "strange seed": (with_a_copy("training_seed", 5), "in region:brain (lesion-cnn, 5, "),
    "strange sample": (with_a_copy("sample_id", "x"), "has scores of x, which is not a sample of the split"),
    "reduction": (
        scores("reduction", lambda _: "x", of_method("gradient")),
        "such differences: 10",
    ),
    "resolution": (scores("native_resolution", lambda _: "1x1"), "such differences: 130"),
    "fingerprint": (scores("dataset_fingerprint", lambda _: "other"), "such differences: 130"),
    "clusters": (
        scores("cluster", lambda _: "x", lambda table: pc.equal(table["sample_id"], table["sample_id"][0]).to_numpy()),
        "column cluster is not that of the data set",
    ),
    "target": (scores("target", lambda one: 1 - one), "target of 7 samples (lesion-cnn, seed 0) does not follow"),
    "correct": (scores("correct", lambda one: not one), "correct of 7 samples (lesion-cnn, seed 0) does not follow"),
    "certified": (scores("certified", lambda one: not one), "certified of 7 samples (lesion-cnn, seed 0) does not"),
    "comparisons": (other_comparisons, "comparisons.csv: line 2 does not follow from the scores"),
    "certificates' model": (certificates("model", lambda _: "x"), "its summary of the certificates does not follow"),
    "certificates' samples": (certificates("sample_id", lambda one: one + "0"), "does not follow from certificates"),
    "certificates": (certificates("certified", lambda one: not one), "certified of 7 samples (lesion-cnn, seed 0)"),
    "sum of certificates": (
        record_with(lambda record: record["certificates"]["models"][0].update(coverage=0.5)),
        "its summary of the certificates does not follow",
    ),
    "gallery's samples": (gallery(ids=lambda a: np.array(["x", *a[1:]])), "shows x, which is not a sample"),
    "gallery's answers": (gallery(predicted=lambda a: 1 - a), "labels or predicted classes are not those"),
    "limit": (record_with(lambda record: record["conventions"].update(limit=3)), "considered is 14, and should be 3"),
    "samples with a mask": (
        record_with(lambda record: record["samples"].update(with_mask=9, without_mask=5)),
        "with_mask is 9, and should be 7",
    ),
    "variants": (record_with(lambda record: record.update(variants=["region:image"])), "variants is ['region:image']"),
    "headline": (
        record_with(lambda record: record.update(headline_variant="region:image")),
        "headline_variant is region:image",
    ),
    "classes": (record_with(lambda record: record["dataset"].update(valid_region=None)), "valid_region is None"),
    "data set": (
        record_with(lambda record: record["dataset"].update(fingerprint="0" * 64)),
        "is not the data set of these maps",
    ),
    "record without an entry": (record_with(lambda record: record.pop("metrics")), "run.json has no entry 'metrics'"),
    "maps left out": (maps_left_out, "gradient/maps-00000.parquet is missing"),
}
SAMPLED = {  # found where the maps are scored again
    "scores of maps": (
        better_scores("roc-auc"),
        "follow from the maps, the first that of gradient under",
    ),
    "scores of twins": (
        better_scores("idr"),
        "follow from the maps, the first that of gradient under idr",
    ),
    "reason": (scores_and_tables("reason", lambda _: "x", first), "1 scores do not follow from the maps"),
    "maps of other samples": (maps_with(ids=lambda ids: ids[::-1]), "scores do not follow from the maps"),
    "maps' targets": (maps_with(targets=lambda a: 1 - a), "do not explain the classes that the run records"),
    "maps": (maps_with(values=lambda a: -a), "follow from the maps, the first that of gradient under"),
}
DAMAGED = (
    *("run.json", "scores.parquet", "summary.csv", "comparisons.csv", "predictions.parquet", "certificates.parquet"),
    *(
        "gallery.npz",
        f"{MODEL}/weights.safetensors",
        f"{MODEL}/model.json",
        f"maps/{MODEL}/gradient/maps-00000.parquet",
    ),
    *("dataset/salgen.json", "dataset/data/test-00000-of-00001.parquet"),
)


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_found_without_checksums(copy, name):
    (copy / "SHA256SUMS").unlink()
    data = (copy / name).read_bytes()
    (copy / name).write_bytes(data[: len(data) // 2])
    problems = salgen.verify(copy, samples=0)
    assert any(MODEL in problem or name.rpartition("/")[2] in problem for problem in problems), problems


@pytest.mark.parametrize("name", [name for name in DAMAGED if name not in ("run.json", "gallery.npz")])
def test_a_missing_file_is_found_without_checksums(copy, name):
    (copy / "SHA256SUMS").unlink()
    (copy / name).unlink()
    problems = salgen.verify(copy, samples=0)
    assert any(MODEL in problem or name.rpartition("/")[2] in problem for problem in problems), problems


@pytest.mark.parametrize("name", QUICK)
def test_what_does_not_follow_is_found_at_once(copy, name):
    change, expected = QUICK[name]
    change(copy)
    sealed(copy)
    problems = salgen.verify(copy, samples=0)
    assert any(expected in problem for problem in problems), problems


@pytest.mark.parametrize("name", SAMPLED)
def test_what_does_not_come_out_again_is_found(copy, name):
    change, expected = SAMPLED[name]
    change(copy)
    sealed(copy)
    assert salgen.verify(copy, samples=0) == []
    problems = salgen.verify(copy)
    assert any(expected in problem for problem in problems), problems


def test_as_many_samples_are_scored_again_as_asked_for(copy):
    def of_the_last(table):
        last = max(table["sample_id"].to_pylist())
        return pc.and_(pc.equal(table["sample_id"], last), pc.equal(table["metric"], "roc-auc")).to_numpy()

    for column in ("value", "value_worst_case"):
        set_cell(copy, "scores.parquet", column, lambda value: value / 2 + 0.5, of_the_last)
    followed(copy)
    sealed(copy)
    assert salgen.verify(copy, samples=6) == []
    (problem,) = salgen.verify(copy, samples=7)
    assert "scores do not follow from the maps" in problem


def test_every_fault_is_named_at_once(copy):
    named = ("weights", "accuracy", "missing score", "comparisons", "certificates", "maps left out")
    for name in named:
        QUICK[name][0](copy)
    sealed(copy)
    problems = salgen.verify(copy, samples=0)
    for name in named:
        assert any(QUICK[name][1] in problem for problem in problems), name


# Sound runs -----------------------------------------------------------------------------------------

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


SLOW = "of a named class, by whole data sets"


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.torture if n == SLOW else ()) for n in KINDS])
def test_a_sound_run_of_each_kind_has_no_problems(run, tmp_path, name):
    given = {"model": run / MODEL, "settings": None, **KINDS[name]}
    assert salgen.verify(make_run(run.parent / "lesions", tmp_path / "run", **given)) == []


def test_a_run_of_two_seeds(run, tmp_path):
    out = make_run(run.parent / "lesions", tmp_path / "run", seeds=2, metrics=["roc-auc"], methods=["gradient"])
    assert salgen.verify(out) == []
    shutil.rmtree(out / MODEL)
    shutil.copytree(out / "lesion-cnn-seed1", out / MODEL)
    assert any("weights are not those" in problem for problem in salgen.verify(out, samples=0))


@pytest.mark.parametrize("limit", [None, 6])
def test_scores_of_another_runs_maps(unpacked, tmp_path, limit):
    out = salgen.rescore(unpacked, out=tmp_path / "again", metrics=["iou"], limit=limit).path
    assert salgen.verify(out) == []
    without(first)(out)
    assert any("scores of gradient under iou" in problem for problem in salgen.verify(out))
