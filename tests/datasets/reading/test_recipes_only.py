"""A data set without pictures reads as the one with pictures does, and says what it is."""

import json
import pickle
import re
import datasets
import mlcroissant
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forged_rows import forge
from made_datasets import contents, made, published
from tiles import write_tiles
from torch.utils.data import DataLoader
from salgen.cli.main import main
from salgen.datasets import making
from salgen.datasets.format.manifest import Manifest, read_manifest
from salgen.datasets.format.schema import columns, recipe_from_text
from salgen.datasets.making import make
from salgen.datasets.preview.dataset_summary import describe
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.runs.rescoring import rescore
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.training.training import train
from salgen.evaluation.verification.verifying import verify
from salgen.generators.factory import plugin_class
from salgen.generators.generator import Generator
from salgen.registry import GENERATORS
from salgen.testing.generators import check_generator

PICTURES = {"image", "mask", "mask_frame", "alternative_masks", "twin", "pixels_sha256"}
SPLITS = {"train": 11, "val": 2, "test": 5}


@pytest.fixture(autouse=True)
def small_recipe_shards(monkeypatch):
    """As the shards with pictures are small in these tests, but of other sizes than those."""
    monkeypatch.setattr("salgen.datasets.format.manifest.RECIPES_PER_SHARD", 7)
    monkeypatch.setattr("salgen.datasets.format.manifest.RECIPES_PER_GROUP", 3)


@pytest.fixture
def bare(tmp_path):
    """Squares without pictures: 12 train, 4 val and 6 test samples."""
    return made(tmp_path / "bare", recipes_only=True)


@pytest.fixture
def tiles(copy, tmp_path):
    """Imported data without pictures; its source is known to nobody else."""
    return make("tiles", tmp_path / "tiles", source=str(copy), workers=1, recipes_only=True)


@pytest.fixture
def rendered(monkeypatch):
    """The recipes that are rendered, in order."""
    found, usual = [], Generator.render_pairs

    def render_pairs(self, recipes, twins=True):
        found.extend(recipe.id for recipe in recipes)
        return usual(self, recipes, twins)

    monkeypatch.setattr(Generator, "render_pairs", render_pairs)
    return found


def assert_same(one, other):
    """Equal, of the same type and shape all the way down."""
    assert type(one) is type(other)
    if isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            assert_same(one[key], other[key])
    elif isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_same(a, b)
    elif isinstance(one, np.ndarray):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    else:
        assert one == other


def all_of(batch, manifest):
    """Everything that a batch can be asked for."""
    return {
        **{name: getattr(batch, name) for name in ("ids", "images", "labels", "masks", "alternatives", "acceptable")},
        **{name: getattr(batch, name) for name in ("twins", "recipes", "factors", "pixel_digests", "region_names")},
        "regions": dict(batch.regions),
        "exact": batch.exact,
        "levels": batch.levels(),
        "twin_levels": batch.twin_levels(),
        "classes": {task: batch.classes(task) for task in manifest.tasks},
        "present": {task: batch.present(task) for task in manifest.tasks},
    }


def assert_same_splits(full, bare):
    """Every accessor of two data sets says the same."""
    manifest = full.manifest
    assert full.fingerprint == bare.fingerprint
    assert (full.tasks, full.region_names, full.valid_region) == (bare.tasks, bare.region_names, bare.valid_region)
    for index in range(-1, len(full)):
        assert_same(full[index], bare[index])
    order = [len(full) - 1, 0, 2, 2, 1]
    for size, indices in ((4, None), (3, order), (1, order), (100, None)):
        pairs = zip(full.batches(size, indices), bare.batches(size, indices), strict=True)
        for one, other in pairs:
            assert_same(all_of(one, manifest), all_of(other, manifest))
    assert_same(full.images(), bare.images())
    texts = [c.name for c in columns(manifest) if c.kind in ("text", "label")]
    for name in [*texts, *manifest.factors]:
        assert_same(full.column(name), bare.column(name))
    for region in manifest.regions:
        assert_same(full.present(region), bare.present(region))
        assert_same(full.present(region, 4), bare.present(region, 4))
    for task in manifest.tasks:
        assert_same(full.classes_present(task), bare.classes_present(task))


@pytest.mark.parametrize("twins", [True, False])
@pytest.mark.parametrize(
    "parameters", [{}, {"channels": 3}, {"bit_depth": 16}, {"leaky": True}], ids=["grey", "colour", "deep", "leaky"]
)
def test_what_is_rendered_is_what_would_be_stored(tmp_path, parameters, twins):
    how = {"parameters": parameters, "twins": twins}
    full, bare = (made(tmp_path / str(only), recipes_only=only, **how) for only in (False, True))
    for split in ("train", "test"):
        assert_same_splits(open_dataset(full, split), open_dataset(bare, split))


@pytest.mark.parametrize("name", ["perlin-lesions", "drawn-lights"])
def test_so_it_is_with_generators_of_all_kinds(tmp_path, name):
    how = {"splits": SPLITS, "scale": "demo", "parameters": GENERATORS.load(name).quick, "workers": 1}
    full, bare = (make(name, tmp_path / str(only), recipes_only=only, **how) for only in (False, True))
    assert_same_splits(open_dataset(full, "train"), open_dataset(bare, "train"))
    assert verify(bare) == []


def test_so_it_is_with_several_acceptable_masks_from_a_copy(tmp_path, copy, tiles):
    full = make("tiles", tmp_path / "full", source=str(copy), workers=1)
    for split in ("train", "test"):
        assert_same_splits(open_dataset(full, split), open_dataset(tiles, split, source=copy))


def test_no_picture_is_in_the_files(folder, bare):
    assert {path.name for path in bare.iterdir()} == {path.name for path in folder.iterdir()}
    manifest = read_manifest(bare)
    assert manifest.recipes_only
    assert not manifest.stores_pixels
    for split in manifest.splits:
        full, there = (pa.concat_tables(map(pq.read_table, parts(at, split))) for at in (folder, bare))
        assert [(f.name, f.type) for f in full.schema] == [(f.name, f.type) for f in there.schema]
        assert {name for name in there.column_names if there[name].null_count} == PICTURES
        assert all(there[name].null_count == len(there) for name in PICTURES)
        for name in set(there.column_names) - PICTURES:
            assert there[name].to_pylist() == full[name].to_pylist()
    groups = [group for path in parts(bare, "train") for group in sizes(path)]
    assert groups == [3, 3, 1, 3, 2]


def parts(folder, split):
    return sorted(folder.glob(f"data/{split}-*.parquet"))


def sizes(path):
    file = pq.ParquetFile(path)
    return [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)]


def test_the_bytes_depend_on_neither_workers_nor_interruption(tmp_path, bare, monkeypatch):
    assert contents(made(tmp_path / "squares", workers=3, recipes_only=True)) == contents(bare)
    usual, written = making.write_shard, []

    def stopped(*given):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(usual(*given))

    out = tmp_path / "stopped"
    with monkeypatch.context() as patch:
        patch.setattr(making, "write_shard", stopped)
        with pytest.raises(KeyboardInterrupt):
            made(out, recipes_only=True)
    before = {path: path.stat().st_mtime_ns for path in out.glob("data/*.parquet")}
    assert len(before) == 2
    assert contents(made(out, recipes_only=True)) == contents(bare)
    assert all(path.stat().st_mtime_ns == stamp for path, stamp in before.items())


def test_a_generator_that_tells_labels_from_its_choices_renders_nothing(tmp_path, rendered):
    how = {"splits": SPLITS, "scale": "demo", "workers": 1, "recipes_only": True}
    make("bam", tmp_path / "bam", parameters=GENERATORS.load("bam").quick, **how)
    assert rendered == []
    make("drawn-figures", tmp_path / "drawn-figures", parameters=GENERATORS.load("drawn-figures").quick, **how)
    assert len(rendered) == sum(SPLITS.values())


def test_labels_that_are_not_those_of_render_are_a_fault_of_the_generator(monkeypatch):
    squares = plugin_class("squares")
    monkeypatch.setattr(squares, "labels", lambda self, parameters: {"label": 0, "corner": 0}, raising=False)
    with pytest.raises(AssertionError, match=r"labels\(\) are not those of render"):
        check_generator("squares")


def test_a_folder_of_one_form_is_not_continued_in_the_other(folder, bare):
    with pytest.raises(SalgenError, match=r"recipes_only is True there and False here"):
        made(bare)
    with pytest.raises(SalgenError, match="recipes_only is False there and True here"):
        made(folder, recipes_only=True)
    (parts(bare, "train")[0]).unlink()
    with pytest.raises(SalgenError, match="recipes_only is True there"):
        made(bare)
    assert read_manifest(folder).spec == read_manifest(bare).spec


def test_a_description_from_before_reads_as_one_with_pictures(folder):
    values = json.loads((folder / "salgen.json").read_text())
    assert values.pop("recipes_only") is False
    assert Manifest.from_text(json.dumps(values)) == read_manifest(folder)
    with pytest.raises(SalgenError, match="recipes_only"):
        Manifest.from_text(json.dumps({**values, "recipes_only": 1}))


def test_only_samples_whose_pictures_are_looked_at_are_rendered_and_only_once(bare, rendered):
    dataset = open_dataset(bare, "train")
    for name in ("id", "recipe", "label", "corner", "row"):
        dataset.column(name)
    describe(bare)
    (batch,) = dataset.batches(9, [8, 2, 5])
    assert batch.recipes
    assert batch.factors
    assert batch.present("label").any()
    assert rendered == []
    assert batch.images.any()
    assert batch.masks.any()
    assert len(batch.regions["frame"]) == len(batch.alternatives) == len(batch.pixel_digests)
    assert rendered == ["train-000008", "train-000002", "train-000005"]
    rendered.clear()
    assert dataset[4]["twin"] is not None or dataset[4]["label"] == 0
    assert set(rendered) == {"train-000004"}
    rendered.clear()
    dataset.present("square", 4)
    assert rendered == [f"train-{index:06d}" for index in range(4)]


def test_it_can_be_sent_to_other_processes_and_loaded_there(bare):
    dataset = open_dataset(bare, "train")
    first = dataset[0]
    assert "material" in vars(dataset.generator())
    again = pickle.loads(pickle.dumps(dataset))
    assert not again._groups
    assert "material" not in vars(again._generator)
    assert_same(again[0], first)
    loaded = list(DataLoader(dataset, batch_size=None, num_workers=2, multiprocessing_context="fork"))
    assert [row["id"] for row in loaded] == dataset.column("id")
    shown = np.concatenate([batch.images for batch in dataset.batches(5)])
    np.testing.assert_array_equal(np.stack([row["image"] for row in loaded]), shown)


def test_ones_own_source_has_to_be_given_where_pictures_are_looked_at(tmp_path, tiles, copy):
    dataset = open_dataset(tiles, "train")
    assert sorted(set(dataset.column("label").tolist())) == [0, 1]
    with pytest.raises(
        SalgenError, match=r"tiles holds recipes only.*own copy of tiles, which only you have: give its"
    ):
        dataset[0]
    with pytest.raises(SalgenError, match="give its path as the source"):
        train(tiles, tmp_path / "model", settings={"epochs": 1})
    other = write_tiles(tmp_path / "other", {"train": 1, "test": 1})
    with pytest.raises(SalgenError, match="give the source it was made from"):
        open_dataset(tiles, "train", source=other)
    assert open_dataset(tiles, "train", source=copy).of_split("test")[0]["image"].shape == (3, 16, 16)


def test_another_version_cannot_render_and_says_so(bare, monkeypatch):
    monkeypatch.setattr(plugin_class("squares"), "version", "2")
    dataset = open_dataset(bare)
    assert len(dataset.column("label")) == 6
    with pytest.raises(SalgenError, match="made by squares version 1, but version 2 is installed"):
        dataset.images()


def altered(folder, change, row=1):
    """One row of the first training shard with some columns changed."""
    forge(folder, lambda rows: rows[row].update(change), str(parts(folder, "train")[0].relative_to(folder)))


def recipe_text(**changes):
    parameters = {"label": 1, "row": 0, "column": 0, "noise": 1}
    values = {"generator": "squares", "version": "1", "split": "train", "index": 1, "parameters": parameters}
    return json.dumps({**values, **changes})


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"recipe": recipe_text(index=2)}, "drawn again, it has another recipe"),
        ({"recipe": recipe_text()}, "drawn again, it has another recipe"),
        ({"corner": 0}, "it differs in corner"),
        ({"factors": {"row": 0.5, "column": 1.0}}, "it differs in factors"),
    ],
)
def test_what_was_altered_is_found(bare, change, said):
    assert verify(bare, samples=22) == []
    altered(bare, change)
    assert re.search(said, verify(bare, samples=22)[0])


def test_samples_of_ones_own_copy_are_compared_where_it_is_given(tiles, copy):
    assert verify(tiles) == verify(tiles, source=str(copy)) == []
    altered(tiles, {"label": 1 - open_dataset(tiles, "train").column("label")[1]})
    assert verify(tiles) == []
    assert verify(tiles, source=str(copy)) == ["sample train-000001: rendered again, it differs in label"]


def test_recipes_are_published_as_they_are_whoever_owns_the_source(tmp_path, bare, tiles, copy):
    for folder in (bare, tiles):
        out = published(folder, tmp_path / "out" / folder.name)
        assert read_manifest(out) == read_manifest(folder)
        assert verify(out) == []
        assert contents(published(out, tmp_path / "again" / folder.name)) == contents(out)
        assert {p.name: p.read_bytes() for p in out.glob("data/*")} == {
            p.name: p.read_bytes() for p in folder.glob("data/*")
        }
    assert_same(open_dataset(out, "test", source=copy)[0], open_dataset(tiles, "test", source=copy)[0])


def test_others_readers_read_what_is_there(tmp_path, bare, folder):
    out = published(bare, tmp_path / "out")
    loaded = datasets.load_dataset(str(out), split="train", cache_dir=str(tmp_path / "cache"))
    full = open_dataset(folder, "train")
    assert [row["id"] for row in loaded] == full.column("id")
    assert {name for name, value in loaded[3].items() if value is None} == PICTURES
    assert loaded[3]["label"] == full[3]["label"]
    assert recipe_from_text(loaded[3]["recipe"]) == full[3]["recipe"]
    described = mlcroissant.Dataset(out / "croissant.json")
    assert not described.metadata.ctx.issues.errors
    assert "salgen make without --recipes-only" in described.metadata.description
    records = list(described.records("test"))
    assert [record["test/id"].decode() for record in records] == open_dataset(folder, "test").column("id")
    assert all(record["test/image"] is None and record["test/mask"] is None for record in records)


def test_its_texts_say_how_pictures_come_about(folder, bare, tiles):
    card = (bare / "README.md").read_text()
    for said in ("## Pictures are rendered", "salgen make squares OUT", "null, as pictures are rendered"):
        assert said in card
        assert said not in (folder / "README.md").read_text()
    assert 'source="PATH TO THE SOURCE"' in (tiles / "README.md").read_text()
    told = json.loads((tiles / "croissant.json").read_text())
    said = "No image is included. Recipes may hold the names that files have in the source."
    assert told["rai:personalSensitiveInformation"] == [said]
    assert any("No picture is stored" in text for text in told["rai:dataLimitations"])
    assert "pictures     rendered from the recipes as they are read" in describe(bare)
    assert "pictures  " not in describe(folder)


def test_the_code_of_its_card_makes_it_again(tmp_path, bare, monkeypatch):
    code = (bare / "README.md").read_text().rpartition("```python\n")[2].partition("```")[0]
    monkeypatch.chdir(tmp_path)
    exec(code.replace('"OUT"', '"again"'), {})
    assert contents(tmp_path / "again") == contents(bare)
    exec(code.replace('"OUT"', '"full"').replace("    recipes_only=True,\n", ""), {})
    assert not read_manifest(tmp_path / "full").recipes_only
    assert open_dataset(tmp_path / "full").fingerprint == open_dataset(bare).fingerprint


def test_the_commands_take_it(tmp_path, tiles, copy, capsys):
    out = tmp_path / "made"
    config = tmp_path / "config.json"
    config.write_text('{"recipes_only": true}')
    counts = ["--train", "4", "--val", "2", "--test", "2", "--workers", "1"]
    assert main(["make", "squares", str(out), *counts, "--recipes-only"]) == 0
    assert main(["make", "squares", str(tmp_path / "other"), *counts, "--config", str(config)]) == 0
    assert contents(out) == contents(tmp_path / "other")
    assert main(["verify", str(out)]) == 0
    assert main(["show", str(out)]) == 0
    assert "rendered from the recipes" in capsys.readouterr().out
    assert main(["show", str(tiles)]) == 2
    assert "give its path as the source" in capsys.readouterr().err
    assert main(["show", str(tiles), "--source", str(copy)]) == 0


def test_a_run_on_ones_own_source_takes_it_wherever_pictures_are_looked_at(tmp_path, copy):
    counts = {"train": 8, "val": 2, "test": 3}
    source = str(write_tiles(tmp_path / "more", counts))
    data = make("tiles", tmp_path / "data", source=source, workers=1, recipes_only=True)
    how = {"methods": ["gradient"], "metrics": ["roc-auc"], "settings": {"epochs": 1, "batch_size": 4}, "limit": 2}
    with pytest.raises(SalgenError, match="give its path as the source"):
        evaluate(data, out=tmp_path / "none", **how)
    with pytest.raises(SalgenError, match="give the source it was made from"):
        evaluate(data, out=tmp_path / "none", source=str(copy), **how)
    run = evaluate(data, out=tmp_path / "run", source=source, keep_maps=True, **how)
    assert str(tmp_path) not in (run / "run.json").read_text()
    assert verify(run, source=source, samples=2) == []
    (problem,) = verify(run, samples=2)
    assert "give its path as the source" in problem
    with pytest.raises(SalgenError, match="give its path as the source"):
        rescore(run, metrics=["iou"], out=tmp_path / "again")
    assert (rescore(run, metrics=["iou"], out=tmp_path / "again", source=source) / "scores.parquet").exists()
