"""Designed networks in runs: nothing is trained, and maps are compared with the data set's exact attributions."""

import shutil
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import salgen
from salgen.datasets.reading.reader import open_dataset
from salgen.datasets.verification.verify_dataset import _sample_problems
from salgen.errors import SalgenError
from salgen.generators.factory import generator_of

METHODS = ["gradient", "input-x-gradient", "random"]
HOW = {"model": "colour-counter", "metrics": ["attribution", "roc-auc"], "reduce": "sum", "limit": 4}


def made(out, side=27, **changes):
    splits = {"train": 2, "val": 2, "test": 6}
    return salgen.make("coloured-cells", out, splits=splits, parameters={"image_size": (side, side)}, **changes)


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    return made(tmp_path_factory.mktemp("designed") / "cells")


def means(run, metric):
    table = run.summary
    return table[table["metric"] == metric].drop_duplicates("method").set_index("method")["mean"]


def test_gradients_of_a_counter_are_exact_also_of_far_margins(cells, tmp_path):
    run = salgen.evaluate(cells, methods=METHODS, out=tmp_path / "run", keep_maps=True, **HOW)
    assert means(run, "attribution-cosine")[["gradient", "input-x-gradient"]].tolist() == pytest.approx([1, 1])
    assert means(run, "false-attribution")["gradient"] == pytest.approx(0, abs=1e-6)
    assert means(run, "attribution-cosine")["random"] < 0.9
    again = salgen.rescore(run.path, dataset=cells, metrics=["attribution"], out=tmp_path / "again")
    for name in ("attribution-cosine", "completeness-error"):
        np.testing.assert_allclose(means(again, name), means(run, name))
    wide = made(tmp_path / "wide", 108)
    run = salgen.evaluate(wide, methods=["gradient"], score="margin", out=tmp_path / "far", **HOW)
    assert means(run, "attribution-cosine")["gradient"] == pytest.approx(1)


def test_a_margin_has_signed_attributions(cells, tmp_path):
    run = salgen.evaluate(cells, methods=["gradient"], score="margin", out=tmp_path / "run", **HOW)
    assert means(run, "attribution-cosine")["gradient"] == pytest.approx(1)
    assert means(run, "attribution-sign-share")["gradient"] == pytest.approx(1)


def test_recipes_alone_have_attributions_too_and_a_changed_one_is_found(cells, tmp_path):
    drawn = made(tmp_path / "recipes", recipes_only=True)
    rendered, stored = (salgen.load(path, "test")[3]["attribution"] for path in (drawn, cells))
    np.testing.assert_array_equal(rendered, stored)
    copy = shutil.copytree(cells, tmp_path / "copy")
    dataset = open_dataset(copy, "test")
    generator = generator_of(dataset.spec, None)
    assert _sample_problems(generator, dataset, 0) == []
    (shard,) = (copy / "data").glob("test*")
    table = pq.read_table(shard)
    place = table.column_names.index("attribution")
    changed = pa.array((np.array(table["attribution"].to_pylist()) + 1).tolist(), table.schema.field(place).type)
    pq.write_table(table.set_column(place, table.schema.field(place), changed), shard)
    (problem,) = _sample_problems(generator, open_dataset(copy, "test"), 0)
    assert problem == "sample test-000000: rendered again, it differs in attribution"


def test_what_does_not_fit_is_said(cells, tmp_path):
    for changes, says in (
        ({"model": "slot-logic"}, "designed for images of logic-slots, not of coloured-cells"),
        ({"classes": [2, 1, 0]}, "preprocess and classes are for networks trained elsewhere"),
        ({"model": "scnn", "metrics": ["attribution-cosine"]}, "a designed network is evaluated"),
        ({"model": "colour-counter:copy=3"}, "unknown parameter of colour-counter 'copy'"),
    ):
        with pytest.raises(SalgenError, match=says):
            salgen.evaluate(cells, **{**HOW, "out": tmp_path / "run", **changes})
    with pytest.raises(SalgenError, match="is designed, not trained"):
        salgen.train(cells, tmp_path / "model", model="colour-counter")
