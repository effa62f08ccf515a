"""Claims: written, added to the results, and refused where they do not hold."""

from __future__ import annotations

import dataclasses
import json
import shutil

import numpy as np
import pandas as pd
import pytest
import torch

from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.bench import bench_rank
from salgen.evaluation.bench.bench_claims import read_claim, write_claim
from salgen.evaluation.bench.bench_rank import rank_method
from salgen.evaluation.bench.bench_run import RESULTS, run_entry
from salgen.evaluation.bench.bench_spec import BenchData
from salgen.evaluation.bench.claim_check import better_on_known, claim_problems, submit
from salgen.evaluation.bench.rankings import main_entries, method_scores, standing_by

ENTRY = "perlin-lesions-lesion-cnn-reliance"
KNOWN = {}


def slope(network, inputs, targets):
    inputs.requires_grad_(True)
    score = network(inputs).gather(1, targets[:, None]).sum()
    return torch.autograd.grad(score, inputs)[0].abs()


def flat(network, inputs, targets):
    return torch.ones_like(inputs)


def only_small(network, inputs, targets):
    if inputs.shape[-1] > 32 or inputs.shape[1] > 1:
        raise ValueError("no such layer")
    return slope(network, inputs, targets)


def peeking(network, inputs, targets):
    """The mask of the benchmark's most similar image, so far as it lies in a folder that it knows."""
    dataset = open_dataset(KNOWN["data"], "test")
    maps = []
    for image in inputs.detach():
        away = [(torch.from_numpy(item["image"]) - image).abs().max() for item in dataset]
        nearest = min(range(len(away)), key=away.__getitem__)
        found = away[nearest] < 1e-3
        maps.append(torch.from_numpy(dataset[nearest]["mask"]).float()[None] if found else torch.zeros_like(image))
    return torch.stack(maps)


@pytest.fixture(scope="module")
def results(out):
    KNOWN["data"] = out / "data" / "perlin-lesions"
    return out / RESULTS


@pytest.fixture(scope="module")
def claim(spec, results, tmp_path_factory):
    folder = tmp_path_factory.mktemp("claim")
    rank_method(spec, "test_bench_claims:slope", results, folder)
    return folder / "claim.json"


def problems_of(spec, claim, results, **options):
    return "\n".join(claim_problems(spec, claim, results, seed=options.pop("seed", 3), **options))


def altered(claim, folder, change, **fields):
    """The claim of an entry's columns that a function changed."""
    held = read_claim(claim)
    columns = json.loads(json.dumps(held.scores[ENTRY]))
    change(columns)
    write_claim(folder / "altered.json", dataclasses.replace(held, scores={ENTRY: columns}, **fields))
    return folder / "altered.json"


def test_a_claim_holds_the_scores_of_the_method(spec, claim, results):
    held = read_claim(claim)
    assert (held.method, held.given) == ("slope", "test_bench_claims:slope")
    rows = pd.read_parquet(claim.parent / RESULTS / ENTRY / "scores.parquet").query("method == 'slope'")
    columns = held.scores[ENTRY]
    stated = dict(zip(zip(columns["training_seed"], columns["sample_id"], strict=True),
                      columns["average-precision"], strict=True))  # fmt: skip
    own = rows[rows["metric"] == "average-precision"]
    assert len(own) == len(stated)
    for row in own.itertuples():
        assert np.float32(stated[row.training_seed, row.sample_id]) == row.value
    assert len(set(columns["map"])) == len(columns["map"])


def test_a_claim_that_holds_is_added_as_one_file_and_stands_in_the_table(spec, claim, results, tmp_path):
    assert problems_of(spec, claim, results) == ""
    shutil.copytree(results, tmp_path / "results")
    added = submit(spec, claim, tmp_path / "results", by="A. Author", code="https://example.org/slope")
    assert added == tmp_path / "results" / "claims" / "slope.json"
    assert read_claim(added).by == "A. Author"
    with_claim = standing_by(spec, method_scores(spec, tmp_path / "results", main_entries(spec)))
    ranked = rank_method(spec, "test_bench_claims:slope", results, claim.parent)
    assert with_claim.methods == ranked.methods
    assert with_claim.places == pytest.approx(ranked.places)
    assert problems_of(spec, added, tmp_path / "results") == ""


def test_each_of_two_methods_in_a_folder_has_its_own_claim(spec, claim, results, tmp_path):
    rank_method(spec, "test_bench_claims:flat", results, tmp_path)
    rank_method(spec, "test_bench_claims:slope", results, tmp_path)
    assert read_claim(tmp_path / "claim.json").scores == read_claim(claim).scores
    with pytest.raises(SalgenError, match="li2020 is a group of methods: rank one at a time"):
        rank_method(spec, "li2020", results, tmp_path)


def test_altered_numbers_are_found(spec, claim, results, tmp_path):
    def better(columns):
        columns["average-precision"] = [min(1.0, value + 0.01) for value in columns["average-precision"]]

    assert "average-precision of slope on test-" in problems_of(spec, altered(claim, tmp_path, better), results)


def test_maps_of_another_image_are_found(spec, claim, results, tmp_path):
    def exchange(columns):
        for values in columns.values():
            if values is not columns["sample_id"] and values is not columns["training_seed"]:
                half = len(values) // 2
                values[0], values[1] = values[1], values[0]
                values[half], values[half + 1] = values[half + 1], values[half]

    found = problems_of(spec, altered(claim, tmp_path, exchange), results)
    assert "the map of test-" in found
    assert "is that of test-" in found


def test_images_that_are_left_out_are_found(spec, claim, results, tmp_path):
    def drop(columns):
        for values in columns.values():
            del values[0]

    assert "its images are not those" in problems_of(spec, altered(claim, tmp_path, drop), results)


def test_images_that_are_stated_twice_are_found(spec, claim, results, tmp_path):
    def double(columns):
        for values in columns.values():
            values.append(values[0])

    assert "its images are not those" in problems_of(spec, altered(claim, tmp_path, double), results)


def test_bad_scores_that_are_stated_as_undefined_are_found(spec, claim, results, tmp_path):
    def hide(columns):
        columns["average-precision"][0] = None

    found = problems_of(spec, altered(claim, tmp_path, hide), results)
    assert found == f"{ENTRY}: it has a score where methods have none, or none where they have one"


@pytest.fixture(scope="module")
def wider(spec, results, tmp_path_factory):
    """A benchmark of two data sets, one of a network with weights in closed form, and its results."""
    folder, splits = tmp_path_factory.mktemp("wider"), {"train": 4, "val": 2, "test": 8}
    made = make("coloured-cells", folder / "fingerprinted", splits=splits, recipes_only=True)
    cells = BenchData("coloured-cells", open_dataset(made).fingerprint, splits, designed="colour-counter")
    both = dataclasses.replace(spec, data=[*spec.data, cells])
    shutil.copytree(results, folder / RESULTS)
    run_entry(both, both.entry("coloured-cells-colour-counter"), folder, methods=["gradient"])
    return both, folder / RESULTS


def test_a_data_set_that_is_left_out_although_the_method_works_is_found(wider, claim):
    assert (
        problems_of(wider[0], claim, wider[1]) == "coloured-cells-colour-counter: it is left out, and slope works there"
    )


def test_a_data_set_is_left_out_where_the_method_fails(wider, tmp_path):
    rank_method(wider[0], "test_bench_claims:only_small", wider[1], tmp_path)
    assert [*read_claim(tmp_path / "claim.json").scores] == [ENTRY]
    assert problems_of(wider[0], tmp_path / "claim.json", wider[1]) == ""


def test_a_method_that_is_not_defined_on_a_network_is_ranked_on_the_others(wider, tmp_path):
    with pytest.warns(SalgenWarning, match=f"{ENTRY} is left out: cam is not defined for this network"):
        found = rank_method(wider[0], "cam", wider[1], tmp_path)
    assert found.datasets[found.methods.index("cam")] == 1
    assert [*read_claim(tmp_path / "claim.json").scores] == ["coloured-cells-colour-counter"]


def test_a_claim_of_nothing_is_refused(spec, claim, results, tmp_path):
    write_claim(tmp_path / "none.json", dataclasses.replace(read_claim(claim), scores={}))
    assert problems_of(spec, tmp_path / "none.json", results) == "it states no score"


def test_the_seed_of_the_benchmarks_own_images_is_refused(spec, claim, results):
    with pytest.raises(SalgenError, match="seed 0 is that of the benchmark's own images"):
        problems_of(spec, claim, results, seed=spec.seed)


def test_honest_methods_are_refused_no_more_often_than_stated_where_images_share_a_slice(spec):
    """Scores that differ between slices much more than within: taken one by one, a third of the tests would find it."""
    rng, headlines = np.random.default_rng(0), list(spec.headlines.values())

    def scores():
        clusters = np.repeat(np.arange(12), 4)
        value = rng.normal(size=12)[clusters] + 0.3 * rng.normal(size=len(clusters))
        return pd.DataFrame({"metric": headlines[0], "cluster": clusters, "value": value})

    p_values = [p for _ in range(400) for _, p in better_on_known(spec, scores(), scores())]
    assert len(p_values) == 400
    for level in (0.01, 0.05, 0.2):
        assert np.mean(np.array(p_values) <= level) < level + 3 * np.sqrt(level / 400)


def test_a_method_that_reads_the_mask_is_found(spec, results, tmp_path):
    rank_method(spec, "test_bench_claims:peeking", results, tmp_path)
    found = problems_of(spec, tmp_path / "claim.json", results)
    assert "average-precision is better on the benchmark's images than on unseen ones" in found


@pytest.mark.parametrize("seed", range(1, 5))
def test_an_honest_method_passes_whatever_is_checked(spec, claim, results, seed):
    assert problems_of(spec, claim, results, seed=seed) == ""


@pytest.mark.parametrize("digest", ["0" * 64, None])
def test_another_source_is_found(spec, claim, results, tmp_path, digest):
    other = altered(claim, tmp_path, lambda columns: None, source_sha256=digest)
    assert "test_bench_claims:slope is not slope with the source of the claim" in problems_of(spec, other, results)


@pytest.mark.parametrize(
    ("change", "fields", "message"),
    [
        (
            lambda columns: columns.update({"average-precision": [2.0] * len(columns["map"])}),
            {},
            "cannot have these values",
        ),
        (
            lambda columns: columns.update({"good": [1.0] * len(columns["map"])}),
            {},
            "good, insertion-auc:step=256,baseline=twin, and methods are ranked by",
        ),
        (lambda columns: columns.pop("average-precision"), {}, "it states insertion-auc"),
        (lambda columns: None, {"sha256": "0" * 64}, "it is of salgen-bench 1 (000000000000), not of 1"),
        (
            lambda columns: None,
            {"method": "gradient", "given": "gradient", "source_sha256": None},
            "gradient has results already",
        ),
    ],
)
def test_a_claim_that_cannot_be_is_refused(spec, claim, results, tmp_path, change, fields, message):
    other = altered(claim, tmp_path, change, **fields)
    assert message in problems_of(spec, other, results)
    with pytest.raises(SalgenError, match=r"altered\.json"):
        submit(spec, other, results)


def test_a_quick_rank_keeps_no_maps_and_writes_no_claim(spec, results, tmp_path, monkeypatch):
    monkeypatch.setattr(bench_rank, "QUICK_IMAGES", 8)
    rank_method(spec, "test_bench_claims:slope", results, tmp_path, quick=True)
    assert not (tmp_path / "claim.json").exists()
    assert not [path for path in tmp_path.rglob("maps") if path.is_dir()]


@pytest.mark.parametrize(("method", "message"), [("all", "a group of methods"), ("sobel", "a control")])
def test_what_has_no_rank_is_refused(spec, results, tmp_path, method, message):
    with pytest.raises(SalgenError, match=f"{method} is {message}"):
        rank_method(spec, method, results, tmp_path)


def test_a_second_claim_of_a_method_and_one_of_another_version_are_refused(spec, claim, results, tmp_path):
    shutil.copytree(results, tmp_path / "results")
    added = submit(spec, claim, tmp_path / "results")
    with pytest.raises(SalgenError, match=r"slope\.json is there already: remove it first"):
        submit(spec, claim, tmp_path / "results")
    shutil.copy(added, added.with_name("other.json"))
    with pytest.raises(SalgenError, match=r"is a second claim of slope: remove one"):
        method_scores(spec, tmp_path / "results", main_entries(spec))
    added.with_name("other.json").unlink()
    write_claim(added, dataclasses.replace(read_claim(added), sha256="0" * 64))
    with pytest.raises(SalgenError, match=r"slope\.json is not of salgen-bench 1"):
        method_scores(spec, tmp_path / "results", main_entries(spec))


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"version": 1}'])
def test_a_file_that_is_no_claim_is_refused(tmp_path, text):
    (tmp_path / "claim.json").write_text(text, encoding="utf-8")
    with pytest.raises(SalgenError, match="is not a claim"):
        read_claim(tmp_path / "claim.json")


@pytest.mark.parametrize(("column", "value"), [("average-precision", "x"), ("training_seed", "0"), ("map", ["a"])])
def test_a_claim_that_holds_other_things_than_numbers_is_refused(claim, tmp_path, column, value):
    def change(columns):
        columns[column][0] = value

    with pytest.raises(SalgenError, match=f"{column} holds something else than a seed, a name, a digest or a number"):
        read_claim(altered(claim, tmp_path, change))
    with pytest.raises(SalgenError, match="digest, method, given, by and code must be text"):
        read_claim(altered(claim, tmp_path, lambda columns: None, sha256=None))


@pytest.mark.parametrize("change", [lambda columns: columns.pop("map"), lambda columns: columns["map"].pop()])
def test_a_claim_whose_columns_do_not_fit_is_refused(claim, tmp_path, change):
    with pytest.raises(SalgenError, match=f"{ENTRY} lacks a column, or its columns have different lengths"):
        read_claim(altered(claim, tmp_path, change))
