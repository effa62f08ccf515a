"""Data that is imported: made, stored, read, checked and scored like any other, without twins."""

import json
import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image
from tiles import write_tiles
import salgen
from salgen.datasets.making import make
from salgen.datasets.preview.contact_sheet import contact_sheet
from salgen.datasets.preview.dataset_summary import describe
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.verification.verifying import verdict, verify
from salgen.generators.factory import generator, generator_of
from salgen.generators.interfaces import Edit
from salgen.registry import GENERATORS, IMPORTERS
from salgen.testing import check_importer


@pytest.mark.parametrize(
    ("what", "by", "says"),
    [
        ("OWN_COPY", "tiles", "its source is called 'tiles'"),
        ("refuse_edit", lambda edit: None, "an edit is not refused"),
        ("Tiles.draw", lambda self, context: {"item": f"{context.split}/dark-0.png"}, "is there twice"),
        ("Tiles.region_names", lambda self: ["left"], "regions"),
        ("Tiles.counterfactual", lambda *given: Edit(change={"left": 1}), "cannot be edited|has a twin"),
    ],
)
def test_an_importer_that_breaks_a_law_is_found(copy, monkeypatch, what, by, says):
    monkeypatch.setattr(f"tiles.{what}", by)
    with pytest.raises((AssertionError, SalgenError), match=says):
        check_importer("tiles", str(copy))


def test_every_item_is_there_in_an_order_that_the_seed_decides(copy, tiles, tmp_path):
    (batch,) = open_dataset(tiles, "train").batches(20)
    items = [recipe.parameters["item"] for recipe in batch.recipes]
    for item, levels in zip(items, batch.levels(), strict=True):
        expected = Image.open(copy / item).resize((16, 16), Image.Resampling.BILINEAR)
        np.testing.assert_array_equal(levels.transpose(1, 2, 0), np.asarray(expected))
    other = make("tiles", tmp_path / "other", source=str(copy), seed=1, workers=1)
    (batch,) = open_dataset(other, "train").batches(20)
    drawn = [recipe.parameters["item"] for recipe in batch.recipes]
    assert drawn != items
    assert sorted(drawn) == sorted(items)


def test_several_masks_are_stored_and_read(tiles):
    samples = open_dataset(tiles, "test")
    for number in range(len(samples)):
        sample = samples[number]
        assert sample["alternative_masks"].shape == (2 if sample["label"] else 0, 16, 16)
        if sample["label"]:
            np.testing.assert_array_equal(sample["alternative_masks"][0], sample["regions"]["top"])
            assert sample["alternative_masks"][1][1:].all()
            assert not sample["alternative_masks"][1][0].any()
    (batch,) = samples.batches(20)
    assert batch.acceptable.shape == (3, 3, 16, 16)
    np.testing.assert_array_equal(batch.acceptable[:, 0], batch.masks)
    assert (batch.acceptable[:, 1:].any(axis=(2, 3)) == (batch.labels == 1)[:, None]).all()


def test_verify_takes_the_copy_and_finds_another_one(copy, tiles):
    check_importer("tiles", str(copy))
    assert verify(tiles, source=str(copy)) == []
    assert verify(tiles) == []
    said = "no sample was rendered again, as own copy of tiles is not part of it: give it with --source PATH"
    assert said in verdict(tiles)[1]
    assert verdict(tiles, source=str(copy))[1] == ""
    Image.new("RGB", (20, 24)).save(copy / "test" / "dark-0.png")
    assert any("give the source it was made from" in problem for problem in verify(tiles, source=str(copy)))


def test_what_the_copy_does_not_have_is_refused(copy, tmp_path):
    for source, splits, said in (
        (copy, {"test": 4}, "own copy has only 3 samples for it"),
        (copy, {"extra": 1}, "unknown split of tiles 'extra'"),
        (tmp_path / "nowhere", None, r"expected .*/nowhere/<split>"),
    ):
        with pytest.raises(SalgenError, match=said):
            make("tiles", tmp_path / "x", source=str(source), splits=splits, workers=1)
    with pytest.raises(SalgenError, match="split 'test' of own copy has 3 samples"):
        generator("tiles", source=str(copy)).recipe(0, "test", 3)
    with pytest.raises(SalgenError, match="cannot be edited"):
        generator("tiles", source=str(copy)).sample(0, "test", 0, omit=("left",))
    with pytest.raises(SalgenError, match="source is empty"):
        generator("tiles", source=" ")
    assert not (tmp_path / "x").exists()


def test_a_scale_caps_what_is_there_and_what_is_asked_for_wins(copy, tmp_path):
    made = make("tiles", tmp_path / "demo", source=str(copy), scale="demo", splits={"val": 2, "train": None}, workers=1)
    assert json.loads((made / "salgen.json").read_text())["spec"]["splits"] == {"train": 4, "val": 2}


def test_an_importer_without_a_copy_is_refused_and_names_its_stand_in(copy, monkeypatch):
    with pytest.raises(SalgenError, match=r"^tiles is read from your own copy of the data: give --set source=PATH$"):
        generator("tiles")
    spec = generator("tiles", source=str(copy)).spec({"test": 2}, 0)
    assert type(generator_of(spec, str(copy)).plugin).__name__ == "Tiles"
    with pytest.raises(SalgenError, match="give its path as the source"):
        generator_of(spec)
    monkeypatch.setattr("tiles.Tiles.stand_in", "squares")
    with pytest.raises(SalgenError, match=r"source=PATH; without one, salgen make squares draws a stand-in$"):
        generator("tiles")


def test_no_importer_has_the_name_of_a_generator_and_stand_ins_exist():
    assert not set(IMPORTERS.names()) & set(GENERATORS.names())
    for name in IMPORTERS.names():
        if drawn := IMPORTERS.load(name).stand_in:
            assert drawn in GENERATORS.names()


def test_the_card_says_that_there_are_no_twins(tiles):
    card = (tiles / "README.md").read_text()
    assert "no counterfactual twin" in card
    assert "equal, bit for bit, everywhere outside" not in card
    assert "exact ground-truth" not in (tiles / "croissant.json").read_text()
    assert "none, as the images were imported" in describe(tiles)
    assert contact_sheet(tiles).size[0] > 400  # image and three masks


def test_a_map_is_scored_by_the_mask_that_suits_it_best(tmp_path):
    source = write_tiles(tmp_path / "source", {"train": 8, "val": 4, "test": 7})
    tiles = make("tiles", tmp_path / "tiles", source=str(source), workers=1)
    how = {"model": "scnn", "settings": {"epochs": 1, "widths": "4,4"}, "methods": ["gradient"]}
    run = evaluate(tiles, metrics=["m-gt", "iou"], out=tmp_path / "run", **how)
    rows = pq.read_table(run / "scores.parquet").to_pandas().query("method in ('gradient', 'sobel')")
    record = json.loads((run / "run.json").read_text())
    assert "images by 'tiles' cannot be drawn again on other backgrounds" in record["certificates"]["reason"]
    (batch,) = open_dataset(tiles, "test").batches(20)
    trained = salgen.evaluation.training.checkpoints.load_checkpoint(run / "scnn-seed0").classifier
    targets = batch.labels
    for method in ("gradient", "sobel"):
        maps = salgen.explain(trained, batch.images, targets, method=method, masks=batch.masks)
        for metric in ("m-gt", "iou"):
            each = [salgen.score(maps, batch.acceptable[:, k], [metric])[metric] for k in range(3)]
            best = np.nanmax(np.stack(each), axis=0)
            scored = rows.query("method == @method and metric == @metric").set_index("sample_id")["value"]
            np.testing.assert_allclose(scored[batch.ids], best, rtol=1e-6)
            assert (best > each[0]).any()


def test_a_run_may_name_its_ground_truth_and_its_class(tiles, tmp_path):
    how = {"model": "scnn", "settings": {"epochs": 1, "widths": "4,4"}, "methods": ["gradient"], "metrics": ["m-gt"]}
    run = evaluate(tiles, mask="top", target="bright", out=tmp_path / "run", **how)
    rows = pq.read_table(run / "scores.parquet").to_pandas()
    assert set(rows["target"]) == {1}
    assert (rows.query("method == 'oracle'")["value"] == 1.0).all()
    (batch,) = open_dataset(tiles, "test").batches(20)
    trained = salgen.evaluation.training.checkpoints.load_checkpoint(run / "scnn-seed0").classifier
    maps = salgen.explain(trained, batch.images, np.ones(3, dtype=np.int64), method="gradient")
    expected = salgen.score(maps, batch.regions["top"], ["m-gt"])["m-gt"]
    scored = rows.query("method == 'gradient'").set_index("sample_id")["value"]
    np.testing.assert_allclose(scored[batch.ids], expected, rtol=1e-6)
    with pytest.raises(SalgenError, match="unknown region"):
        evaluate(tiles, mask="bottom", out=tmp_path / "other", **how)
    with pytest.raises(SalgenError, match="unknown target"):
        evaluate(tiles, target="grey", out=tmp_path / "other", **how)
