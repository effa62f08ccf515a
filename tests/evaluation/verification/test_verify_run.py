"""A run whose files were changed consistently, checksums and all: what does not follow from the rest is found."""

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
from kept_runs import CALLS, STATED, make_data, make_run

import salgen
from salgen.evaluation.runs.artifacts.saved_maps import key_of, read_maps, write_maps
from salgen.evaluation.statistics.comparisons import write_comparisons
from salgen.evaluation.statistics.summary import write_summary

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
    write_summary(folder)
    write_comparisons(folder)


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


def weights_of_another_training(folder):
    """As :func:`other_weights`, with the record made to fit, so that only asking the model shows it."""
    import safetensors.torch

    path = folder / MODEL / "weights.safetensors"
    known = safetensors.torch.load_file(path)
    weights = {name: tensor if "running" in name else -tensor for name, tensor in known.items()}
    safetensors.torch.save_file(weights, path)
    record = record_of(folder)
    record["models"][0]["weights_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    write_record(folder, record)


def weights_that_do_not_load(folder):
    path = folder / MODEL / "weights.safetensors"
    path.write_bytes(b"no weights")
    record = record_of(folder)
    record["models"][0]["weights_sha256"] = hashlib.sha256(b"no weights").hexdigest()
    write_record(folder, record)


def card_of(**changes):
    def change(folder):
        path = folder / MODEL / "model.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return change


def record_with(change):
    def apply(folder):
        record = record_of(folder)
        change(record)
        write_record(folder, record)

    return apply


def other_predictions(folder):
    """Swap the classes throughout, with all that follows."""
    set_cell(folder, "predictions.parquet", "probabilities", lambda pair: pair[::-1])
    set_cell(folder, "predictions.parquet", "predicted", lambda one: 1 - one)
    for path in (folder / "maps").rglob("*.parquet"):
        kept = read_maps(path)
        if path.name.startswith("maps-"):
            write_maps(path, replace(kept, correct=~kept.correct), key_of(path))
    set_cell(folder, "scores.parquet", "correct", lambda one: not one)
    record = record_of(folder)
    record["models"][0]["accuracy"] = 1 - record["models"][0]["accuracy"]
    write_record(folder, record)
    (folder / "gallery.npz").unlink()
    followed(folder)


def predictions(column, change):
    return lambda folder: set_cell(folder, "predictions.parquet", column, change, first)


def fewer_predictions(folder):
    path = folder / "predictions.parquet"
    pq.write_table(pq.read_table(path)[1:], path)


def scores(column, change, where=first):
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


def maps_of_another_method(folder):
    """The maps of LRP in the place of the gradient's, with the scores that follow."""
    for kind in ("maps", "twin_maps"):
        path = folder / "maps" / MODEL / "gradient" / f"{kind}-00000.parquet"
        (other,) = (folder / "maps" / MODEL).glob(f"lrp-*/{kind}-00000.parquet")
        write_maps(path, replace(read_maps(path), values=read_maps(other).values), key_of(path))
    table = pq.read_table(folder / "scores.parquet").to_pandas()
    mine, its = table["method"] == "gradient", table["method"] == CALLS[1]
    for column in ("value", "value_worst_case", "reason"):
        table.loc[mine, column] = table.loc[its, column].to_numpy()
    schema = pq.read_schema(folder / "scores.parquet")
    pq.write_table(pa.Table.from_pandas(table, schema, preserve_index=False), folder / "scores.parquet")
    followed(folder)


def maps_with(**changes):
    def apply(folder):
        path = folder / "maps" / MODEL / "gradient" / "maps-00000.parquet"
        kept = read_maps(path)
        changed = {name: change(getattr(kept, name)) for name, change in changes.items()}
        write_maps(path, replace(kept, **changed), key_of(path))

    return apply


def one_pixel_brighter(folder):
    """Of the oracle at the place of its peak: every rank stays, and so does every score of a map and a mask."""
    path = folder / "maps" / MODEL / "oracle-7x7" / "maps-00000.parquet"
    kept = read_maps(path)
    values = kept.values.copy()
    values[0].flat[values[0].argmax()] *= 1.5
    write_maps(path, replace(kept, values=values), key_of(path))


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


QUICK = {  # found without rendering, scoring or asking
    "weights": (other_weights, "weights are not those that run.json speaks of"),
    "damaged weights": (weights_that_do_not_load, "weights.safetensors is damaged"),
    "card's seed": (card_of(seed=7), "its training seed is not what run.json speaks of"),
    "card's data": (card_of(dataset_fingerprint="0" * 64), "its data set is not what run.json speaks of"),
    "record's settings": (set_model("settings", {}), "its settings is not what run.json speaks of"),
    "accuracy": (set_model("accuracy", 0.99), "run.json: accuracy is 0.99"),
    "number of images": (set_model("n_images", 1000), "run.json: n_images is 1000"),
    "chance": (set_model("chance", 0.1), "run.json: chance is 0.1"),
    "label": (predictions("label", lambda one: 1 - one), "1 labels are not those of the data"),
    "predicted class": (predictions("predicted", lambda one: 1 - one), "1 predicted classes are not those that"),
    "probabilities": (predictions("probabilities", lambda one: [p * 2 for p in one]), "do not sum to 1"),
    "name of a sample": (predictions("sample_id", lambda one: one + "0"), "each sample once, in order"),
    "fewer predictions": (fewer_predictions, "each sample once, in order"),
    "other model's predictions": (predictions("model", lambda _: "x"), "run.json lacks x, seed 0"),
    "missing score": (without(first), "1 scores are missing, the first that of"),
    "missing method": (without(of_method("gradient")), "scores.parquet lacks method gradient"),
    "missing metric": (
        without(lambda table: pc.equal(table["metric"], "idr").to_numpy()),
        "scores.parquet lacks metric idr",
    ),
    "missing sample": (
        without(lambda table: pc.equal(table["sample_id"], table["sample_id"][0]).to_numpy()),
        "scores.parquet lacks scores of sample",
    ),
    "missing variant": (
        without(lambda table: pc.equal(table["variant"], "region:brain").to_numpy()),
        "scores.parquet lacks scores of variant region:brain",
    ),
    "strange method": (with_a_copy("method", "best"), "run.json lacks method best"),
    "strange metric": (with_a_copy("metric", "iou"), "run.json lacks metric iou"),
    "strange seed": (with_a_copy("training_seed", 5), "run.json lacks training seed 5"),
    "strange sample": (with_a_copy("sample_id", "x"), "scores.parquet should not hold scores of sample x"),
    "reduction": (scores("reduction", lambda _: "x", of_method("gradient")), "run.json lacks method gradient [x]"),
    "resolution": (scores("native_resolution", lambda _: "1x1"), "1 entries of native_resolution"),
    "fingerprint": (scores("dataset_fingerprint", lambda _: "x"), "1 entries of dataset_fingerprint"),
    "target": (scores("target", lambda one: 1 - one), "1 entries of target are not what predictions.parquet says"),
    "correct": (scores("correct", lambda one: not one), "1 entries of correct are not what predictions.parquet says"),
    "certified": (scores("certified", lambda one: not one), "1 entries of certified are not what certificates"),
    "worst case": (scores("value_worst_case", lambda _: 0.9), "1 worst cases under roc-auc do not follow"),
    "comparisons": (other_comparisons, "comparisons.csv: line 2 is not what the scores come to"),
    "certificates' model": (certificates("model", lambda _: "x"), "certificates.parquet speaks of x, seed 0"),
    "certificates' samples": (certificates("sample_id", lambda one: one + "0"), "which is no sample of the split"),
    "certificates": (certificates("certified", lambda one: not one), "what is certified does not follow"),
    "sum of certificates": (
        record_with(lambda record: record["certificates"]["models"][0].update(coverage=0.5)),
        "what it says of certificates does not follow",
    ),
    "gallery's methods": (gallery(methods=lambda a: np.where(a == "gradient", "best", a)), "maps by best"),
    "gallery's samples": (gallery(ids=lambda a: np.array(["x", *a[1:]])), "shows x, which is no sample"),
    "gallery's answers": (gallery(predicted=lambda a: 1 - a), "labels or predicted classes are not those"),
    "gallery's images": (gallery(images=lambda a: a[::-1]), "images or masks are not those of the data"),
    "limit": (record_with(lambda record: record["conventions"].update(limit=3)), "limit = 3 of 14 samples"),
    "samples with a mask": (
        record_with(lambda record: record["samples"].update(with_mask=9, without_mask=5)),
        "9 samples with a mask, and the data have 7",
    ),
    "variants": (record_with(lambda record: record.update(variants=["region:image"])), "are not those of its metrics"),
    "headline": (record_with(lambda record: record.update(headline_variant="region:image")), "the headline variant is"),
    "classes": (
        record_with(lambda record: record["dataset"].update(valid_region=None)),
        "its data set's valid_region is not that of dataset",
    ),
    "maps left out": (maps_left_out, "its list of maps lacks maps/lesion-cnn-seed0/gradient/maps-00000.parquet"),
    "maps of other samples": (maps_with(ids=lambda ids: ids[::-1]), "holds maps of other samples"),
    "maps' targets": (maps_with(targets=lambda a: 1 - a), "do not explain what the run says they explain"),
    "maps' reduction": (maps_with(reduction=lambda _: "x"), "was reduced by x from 32x32"),
}
SAMPLED = {
    "scores of maps": (better_scores("roc-auc"), "scores are not those of the maps, the first that of gradient under"),
    "scores of twins": (better_scores("idr"), "scores are not those of the maps, the first that of gradient under idr"),
    "reason": (scores("reason", lambda _: "x"), "scores are not those of the maps"),
    "scores that ask": (
        better_scores("insertion-auc"),
        "scores are not what the model gives, the first that of gradient",
    ),
    "maps by another method": (maps_of_another_method, "maps by gradient that were kept are not those that it gives"),
    "one pixel": (one_pixel_brighter, "maps by oracle-7x7 that were kept are not those that it gives"),
    "predictions": (other_predictions, "says otherwise of"),
    "weights": (weights_of_another_training, "says otherwise of"),
}


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


def test_few_samples_are_drawn_from_the_first_to_the_last(copy):
    def of_the_last(table):
        last = max(table["sample_id"].to_pylist())
        return pc.and_(pc.equal(table["sample_id"], last), pc.equal(table["metric"], "roc-auc")).to_numpy()

    for column in ("value", "value_worst_case"):
        set_cell(copy, "scores.parquet", column, lambda value: value / 2 + 0.5, of_the_last)
    followed(copy)
    sealed(copy)
    assert salgen.verify(copy, samples=1) == []
    (problem,) = salgen.verify(copy, samples=2)
    assert "scores are not those of the maps" in problem


def test_every_fault_is_named_at_once(copy):
    for name in ("weights", "accuracy", "missing score", "comparisons", "certificates", "maps' targets"):
        QUICK[name][0](copy)
    sealed(copy)
    problems = salgen.verify(copy, samples=0)
    for name in ("weights", "accuracy", "missing score", "certificates", "maps' targets"):
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


@pytest.mark.parametrize("name", KINDS)
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
    out = salgen.rescore(unpacked, out=tmp_path / "again", metrics=["iou"], limit=limit)
    assert salgen.verify(out) == []
    without(first)(out)
    assert any("1 scores are missing" in problem for problem in salgen.verify(out))
