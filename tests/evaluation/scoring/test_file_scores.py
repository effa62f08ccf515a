"""`salgen score`: maps and masks in files have the scores that `salgen.score` gives to the arrays."""

import csv
import numpy as np
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
import torch
from own_trees import SHAPE, write_own
from PIL import Image
from torch.nn import functional
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.metrics.inputs.metric_inputs import OF_THE_MASK
from salgen.evaluation.scoring import file_scores
from salgen.evaluation.scoring.file_scores import score_files
from salgen.evaluation.scoring.metric_selection import choose_metrics
from salgen.evaluation.statistics.mean_intervals import NOTE, mean_intervals

IDS = [f"img.{number}" for number in range(7)]  # suffixes are not what follows the first dot


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return rng.normal(size=(7, 8, 9)), rng.random((7, 8, 9)) < 0.3


@pytest.fixture
def masks(arrays, tmp_path):
    """A folder of masks as PNG, with 255 for the object."""
    (tmp_path / "masks").mkdir()
    for name, mask in zip(IDS, arrays[1], strict=True):
        Image.fromarray(mask.astype(np.uint8) * 255).save(tmp_path / "masks" / f"{name}.png")
    return tmp_path / "masks"


@pytest.fixture
def maps(arrays, tmp_path):
    np.savez(tmp_path / "maps.npz", **dict(zip(IDS, arrays[0], strict=True)))
    return tmp_path / "maps.npz"


def assert_equal(result, expected):
    assert list(result) == list(expected)
    for name, values in expected.items():
        assert np.array_equal(result[name], values, equal_nan=True), name
        assert np.array_equal(result.worst_case[name], expected.worst_case[name], equal_nan=True), name
        assert result.reasons[name] == expected.reasons[name], name


@pytest.mark.parametrize("together", [3, 64])
def test_all_metrics_are_those_of_the_arrays(maps, masks, arrays, monkeypatch, together):
    """In float64 too, and however many are scored together, also where a metric looks at all maps."""
    monkeypatch.setattr(file_scores, "AT_A_TIME", together)
    arrays[1][2] = False
    Image.fromarray(arrays[1][2]).save(masks / f"{IDS[2]}.png")
    result = score_files(maps, masks, "all")
    assert "box-accuracy" in result.metrics
    assert set(result.metrics) == set(choose_metrics("all", OF_THE_MASK))
    assert result.ids == IDS
    assert_equal(result.scores, salgen.score(*arrays, "all"))


def test_acceptable_masks_of_different_sizes_and_maps_of_one(arrays, tmp_path):
    """Two masks for each sample, of which the best counts; neither file names samples."""
    values, mask = arrays
    both = np.stack([mask, ~mask], axis=1)
    np.save(tmp_path / "maps.npy", values)
    np.savez(tmp_path / "masks.npz", both.astype(np.uint8) * 7)
    result = score_files(tmp_path / "maps.npy", tmp_path / "masks.npz", ["roc-auc", "iou"])
    assert_equal(result.scores, salgen.score(values, both, ["roc-auc", "iou"]))
    assert result.ids == [str(number) for number in range(7)]
    rng = np.random.default_rng(1)
    sizes = [(8, 9), (8, 9), (12, 10), (8, 9)]
    raw = rng.normal(size=(4, 3, 4, 5)).astype(np.float32)
    np.savez(tmp_path / "maps.npz", maps=raw, ids=np.array(IDS[:4]))
    shown = [rng.random(size) < 0.4 for size in sizes]
    np.savez(tmp_path / "masks.npz", **dict(zip(IDS, shown, strict=False)))
    metrics = ["relevance-mass", "energy-pointing-game"]
    result = score_files(tmp_path / "maps.npz", tmp_path / "masks.npz", metrics)
    for number, mask in enumerate(shown):
        summed = torch.from_numpy(raw[number].sum(axis=0))[None, None]
        large = functional.interpolate(summed, mask.shape, mode="bilinear", align_corners=False)[0].numpy()
        for name, values in salgen.score(large, mask[None], metrics).items():
            assert result.scores[name][number] == pytest.approx(values[0], rel=1e-5)


def test_class_folders_are_read_of_files_and_of_the_data_set_that_is_imported_from_them(tmp_path):
    tree = write_own(tmp_path)
    data = salgen.import_images(tree / "images", masks=tree / "masks", parameters=SHAPE, workers=1)
    dataset = salgen.load(data)
    by_file, by_sample = score_files(tree / "maps", tree / "masks"), score_files(tree / "maps", data)
    assert by_file.ids == ["cats/1", "cats/2", "dogs/1", "dogs/2"]
    assert sorted(dataset.file_names) == [f"{name}.png" for name in by_file.ids]
    assert dataset["dogs/1.png"]["file_name"] == "dogs/1.png"
    order = [by_file.ids.index(dataset[name]["file_name"].removesuffix(".png")) for name in by_sample.ids]
    for name, values in by_sample.scores.items():
        assert values.tolist() == by_file.scores[name][order].tolist(), name
    assert main(["score", str(tree / "maps"), str(data)]) == 0
    (tree / "maps" / "dogs" / "1.npy").rename(tree / "maps" / "dogs" / "3.npy")
    for masks in (tree / "masks", data):
        with pytest.raises(SalgenError, match=r"holds 1 maps of no sample of .*, such as dogs/3"):
            score_files(tree / "maps", masks)


def test_the_command(maps, masks, arrays, tmp_path, capsys):
    table = tmp_path / "scores.csv"
    assert main(["score", str(maps), str(masks), "--metrics", "roc-auc,iou:threshold=0.3", "--out", str(table)]) == 0
    lines = capsys.readouterr().out.splitlines()
    scores = salgen.score(*arrays, ["roc-auc", "iou:threshold=0.3"])
    assert lines[0] == f"{maps}: 7 maps; no model, hence no accuracy and no certificates of reliance"
    low, high = mean_intervals(scores["roc-auc"][None, :, None], np.arange(7), np.zeros(1), np.ones(1))
    expected = f"{scores['roc-auc'].mean():.3f} {low[0]:.3f} to {high[0]:.3f} 7"
    assert lines[2].split() == ["roc-auc", "higher", *expected.split()]
    assert lines[-2:] == [NOTE, f"scores: {table}"]
    rows = list(csv.DictReader(table.open()))
    assert [(row["sample_id"], row["metric"]) for row in rows] == [(name, metric) for metric in scores for name in IDS]
    assert [float(row["value"]) for row in rows] == np.concatenate(list(scores.values())).tolist()


def test_tables_hold_no_formulas_and_what_is_undefined_as_missing(tmp_path, maps, masks, arrays, capsys):
    names = ["=cmd()", "-1+1", "@a"]
    (tmp_path / "named").mkdir()
    for name in names:
        np.save(tmp_path / "named" / f"{name}.npy", np.eye(4))
    result = score_files(tmp_path / "named", tmp_path / "named", ["iou"])
    for suffix, read in ((".csv", pa_csv.read_csv), (".parquet", pq.read_table)):
        result.write(tmp_path / f"scores{suffix}")
        held = read(tmp_path / f"scores{suffix}")["sample_id"].to_pylist()
        assert sorted(held) == sorted(f"'{name}" if suffix == ".csv" else name for name in names)
    Image.fromarray(np.zeros((8, 9), dtype=np.uint8)).save(masks / f"{IDS[1]}.png")
    table = tmp_path / "scores.parquet"
    assert main(["score", str(maps), str(masks), "--metrics", "roc-auc", "--out", str(table)]) == 0
    assert "undefined, roc-auc: 1 (empty mask)" in capsys.readouterr().out
    rows = pq.read_table(table).to_pylist()
    assert rows[1] == {
        "sample_id": IDS[1],
        "metric": "roc-auc",
        "value": None,
        "value_worst_case": None,
        "reason": "empty_mask",
    }
    assert [row["value"] for row in rows[2:]] == salgen.score(*arrays, ["roc-auc"])["roc-auc"][2:].tolist()


def test_faults_of_the_command_are_one_line_and_what_does_not_fit_is_said(maps, masks, tmp_path, capsys, arrays):
    both = [str(maps), str(masks)]
    for words, said in (
        ([*both, "--out", "scores.txt"], "scores.txt: give a file in a folder that exists, ending in .csv"),
        ([str(maps), str(tmp_path / "none")], "none does not exist: give a folder with a mask"),
        ([str(maps)], "Missing argument 'MASKS'"),
        ([*both, "--metrics", "insertion-auc"], "takes more than a map and a mask (image, model, target)"),
    ):
        assert main(["score", *words]) == 2
        captured = capsys.readouterr()
        assert said in captured.err
        assert len(captured.err.splitlines()) == 1
        assert captured.out == ""

    def refused(message, maps=maps, masks=masks, **given):
        with pytest.raises(SalgenError, match=message):
            score_files(maps, masks, **given)

    refused("'deletion-auc' takes more than a map and a mask .*: give the model and the", metrics=["deletion-auc"])
    refused("split = test: .*masks is not a salgen data set, and has no splits", split="test")
    refused("unknown metric 'roc'", metrics=["roc"])
    np.savez(tmp_path / "few.npz", **dict(zip(IDS[:5], arrays[0], strict=False)))
    refused(r"few.npz lacks the maps of 2 samples of .*masks, such as img.5, img.6", tmp_path / "few.npz")
    np.savez(tmp_path / "more.npz", **dict(zip([*IDS, "other"], [*arrays[0], arrays[0][0]], strict=True)))
    refused(r"more.npz holds 1 maps of no sample of .*masks, such as other", tmp_path / "more.npz")
    np.save(tmp_path / "large.npy", np.ones((7, 9, 9)))
    refused("the map of img.0 is 9x9, larger than its image or mask, 8x9", tmp_path / "large.npy")
    np.save(tmp_path / "full.npy", np.full_like(arrays[1], 3, dtype=np.uint8))
    np.save(tmp_path / "maps.npy", arrays[0])
    refused("every pixel of every mask is the object", tmp_path / "maps.npy", tmp_path / "full.npy")
    np.save(tmp_path / "masks.npy", arrays[1])
    refused(r"maps.npz holds 7 maps of no sample of .*masks.npy, such as img.0", masks=tmp_path / "masks.npy")
    (masks / f"{IDS[3]}.png").write_bytes(b"")
    refused(r"img.3.png: cannot be read as a picture", masks=masks)


def test_masks_of_more_than_two_levels_are_read_as_in_an_import(tmp_path):
    """Soft edges are cut, and void is no object; both are counted."""
    rows, columns = np.mgrid[0:40, 0:40]
    distance = np.hypot(rows - 20, columns - 20)
    soft = np.rint(np.clip(10.5 - distance, 0, 1) * 255).astype(np.uint8)
    void = np.where(distance < 10, 3, np.where(distance < 12, 255, 0)).astype(np.uint8)
    for name, levels, right in (("soft", soft, soft >= 128), ("void", void, distance < 10)):
        (tmp_path / name).mkdir()
        for suffix, save in (("png", lambda path, x: Image.fromarray(x).save(path)), ("npy", np.save)):
            save(tmp_path / name / f"a.{suffix}", levels)
            np.save(tmp_path / "a.npz.npy", right[np.newaxis].astype(np.float32))
            with pytest.warns(SalgenWarning, match=rf"{name}: mask with .* \(1\)"):
                scores = score_files(tmp_path / "a.npz.npy", tmp_path / name, ["m-gt"])
            assert scores.scores["m-gt"] == [1.0]
            (tmp_path / name / f"a.{suffix}").unlink()
