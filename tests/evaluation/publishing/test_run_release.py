"""A published run: the same bytes each time, whole, checked to the last bit, and no pixel that may not be passed on."""

import hashlib
import json
import shutil
import tarfile
from dataclasses import replace
import datasets
import mlcroissant
import numpy as np
import pyarrow.parquet as pq
import pytest
import yaml
from kept_runs import CALLS, STATED, make_data, make_run, rows
from run_folders import edited_record
import salgen
from salgen.cli.main import main
from salgen.command_line import COMMAND
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.publishing.publishing import open_release
from salgen.evaluation.publishing.run_card import FIELDS
from salgen.evaluation.publishing.run_release import published_record
from salgen.evaluation.runs.artifacts.chunk_files import RESULT_COLUMNS
from salgen.evaluation.runs.artifacts.run_record import RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import folder_name, read_maps

TABLES = {"run.json", "scores.parquet", "summary.csv", "comparisons.csv", "predictions.parquet", "certificates.parquet"}
TEXTS = {"README.md", "CITATION.cff", "croissant.json", "SHA256SUMS"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("publishing")
    return make_run(make_data(place), place / "run")


@pytest.fixture(scope="module")
def archive(run):
    return salgen.publish(run, run.parent / "run.tar", **STATED)


@pytest.fixture(scope="module")
def unpacked(archive):
    return salgen.unpack(archive, archive.parent / "unpacked")


@pytest.fixture
def copy(run, tmp_path):
    return shutil.copytree(run, tmp_path / "run")


def published(run, place, **how):
    """The folder that comes out of the archive."""
    return salgen.unpack(salgen.publish(run, place.with_suffix(".tar"), **STATED, **how), place)


def names_in(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def withheld(run):
    """Make the run one of data that may not be passed on."""
    for path in (run / "run.json", run / "dataset" / "salgen.json"):
        text = path.read_text()
        assert '"redistributable": true' in text
        path.write_text(text.replace('"redistributable": true', '"redistributable": false'))
    return run


def test_everything_that_scoring_and_reading_take_is_there_with_checksums_and_citation(run, unpacked):
    methods = {method["call"] for method in json.loads((run / "run.json").read_text())["methods"]}
    folders = {f"maps/lesion-cnn-seed0/{folder_name(call)}" for call in methods}
    maps = {f"{folder}/{kind}-00000.parquet" for folder in folders for kind in ("maps", "twin_maps")}
    model = {f"lesion-cnn-seed0/{name}" for name in ("model.json", "weights.safetensors")}
    data = {"dataset/salgen.json", "dataset/data/test-00000-of-00001.parquet"}
    assert names_in(unpacked) == TABLES | TEXTS | maps | model | data | {"report.html", "gallery.npz"}
    for name in names_in(unpacked) - TEXTS - {"report.html", "run.json"}:
        assert (unpacked / name).read_bytes() == (run / name).read_bytes(), name
    assert (unpacked / "report.html").read_bytes() == salgen.report([unpacked], run.parent / "a.html").read_bytes()
    published, own = (json.loads((folder / "run.json").read_text()) for folder in (unpacked, run))
    assert published == {**own, "maps_left_out": []}
    assert [*published] == [*own], "bytes depend on it"
    listed = dict(line.split("  ")[::-1] for line in (unpacked / "SHA256SUMS").read_text().splitlines())
    assert set(listed) == names_in(unpacked) - {"SHA256SUMS"}
    for name, digest in listed.items():
        assert hashlib.sha256((unpacked / name).read_bytes()).hexdigest() == digest
    cited = yaml.safe_load((unpacked / "CITATION.cff").read_text())
    assert cited["license"] == "CC-BY-4.0"
    assert str(cited["date-released"]) == "2026-01-31"
    assert cited["identifiers"][0]["value"] == listed["run.json"]
    titles = [paper["title"] for paper in cited["references"]]
    assert "On pixel-wise explanations by layer-wise relevance propagation" in titles


def test_no_path_of_the_machine_is_published(run, tmp_path):
    """The command, the source that could not be opened and the checkpoint lie in folders that are nobody's business."""
    secret = tmp_path / "someone's secret"
    checkpoint = shutil.copytree(run / "lesion-cnn-seed0", secret / "weights")
    data = shutil.copytree(run.parent / "lesions", secret / "data")
    given = {"model": checkpoint, "settings": None, "methods": ["gradient", "pattern-net"]}
    typed = COMMAND.set(["salgen", "evaluate", str(data), f"--out={secret}/run"])
    out = make_run(data, secret / "run", **given)
    COMMAND.reset(typed)
    folder = published(out, tmp_path / "unpacked")
    for name in names_in(folder):
        content = (folder / name).read_bytes()
        assert b"someone" not in content, name
        assert str(tmp_path).encode() not in content, name
    assert json.loads((folder / "run.json").read_text())["command"] == ["salgen", "evaluate", "data", "--out=run"]


def test_the_same_bytes_in_every_form(run, archive, tmp_path):
    again = salgen.publish(run, tmp_path / "run.tar", **STATED)
    assert again.read_bytes() == archive.read_bytes()
    for form in (".tar.gz", ".zip"):
        other = salgen.publish(run, tmp_path / f"run{form}", **STATED)
        assert salgen.verify(other, samples=0) == []
        folder = salgen.unpack(other, tmp_path / f"unpacked{form}")
        assert names_in(folder) == names_in(salgen.unpack(again, tmp_path / f"tar-for{form}"))


def test_a_run_without_maps_is_published_too(run, tmp_path):
    plain = make_run(run.parent / "lesions", tmp_path / "run", keep_maps=False)
    folder = published(plain, tmp_path / "plain")
    assert not {name for name in names_in(folder) if name.startswith(("maps/", "dataset/"))}
    assert salgen.verify(tmp_path / "plain.tar") == []
    assert "- Maps: the run did not keep them." in (folder / "README.md").read_text()
    with pytest.raises(SalgenError, match="holds no maps: evaluate with --keep-maps"):
        salgen.rescore(tmp_path / "plain.tar")


@pytest.mark.parametrize("config", ["scores", "predictions", "samples", f"maps-{folder_name(CALLS[1])}"])
def test_hugging_face_reads_every_table(unpacked, tmp_path, config):
    found = datasets.load_dataset(str(unpacked), config, split="train", cache_dir=str(tmp_path))
    if config == "scores":
        assert found.column_names == list(RESULT_COLUMNS)
        assert len(found) == len(rows(unpacked))
    elif config == "samples":
        sample = salgen.load(unpacked / "dataset")[0]
        np.testing.assert_array_equal(np.asarray(found[0]["image"], dtype=np.float32) / 255, sample["image"][0])
        np.testing.assert_array_equal(np.asarray(found[0]["mask"]) > 0, sample["mask"])
    elif config.startswith("maps"):
        kept = read_maps(next((unpacked / "maps").glob(f"*/{config.removeprefix('maps-')}/maps-*.parquet")))
        np.testing.assert_array_equal(np.array(found[0]["map"], dtype=np.float32), kept.values[0])
    else:
        assert len(found) == len(pq.read_table(unpacked / "predictions.parquet"))


@pytest.mark.filterwarnings("ignore")
def test_croissant_reads_the_scores_record_by_record(unpacked):
    described = mlcroissant.Dataset(jsonld=unpacked / "croissant.json")
    table = pq.read_table(unpacked / "scores.parquet").to_pylist()
    count = 0
    for found, row in zip(described.records("scores"), table, strict=True):
        assert found["scores/sample_id"].decode() == row["sample_id"]
        assert found["scores/method"].decode() == row["method"]
        assert found["scores/value"] == (None if np.isnan(row["value"]) else row["value"])
        count += 1
    assert count == len(table)
    assert set(FIELDS) == set(RESULT_COLUMNS)


def test_pixels_are_left_out_unless_they_may_be_passed_on(copy, tmp_path):
    withheld(copy)
    with pytest.warns(SalgenWarning, match=r"are left out.*--may-redistribute"):
        folder = published(copy, tmp_path / "a")
    assert "gallery.npz" not in names_in(folder)
    assert "data:image/png" not in (folder / "report.html").read_text()
    left_out = {"intensity", "sobel", "laplace", CALLS[1]}
    assert set(json.loads((folder / "run.json").read_text())["maps_left_out"]) == left_out
    images = {sample["id"]: sample["image"].mean(axis=0).ravel() for sample in salgen.load(copy / "dataset")}
    for path in (folder / "maps").rglob("maps-*.parquet"):
        kept = read_maps(path)
        for name, values in zip(kept.ids, kept.values, strict=True):
            pair = np.stack([images[name], values.ravel()]).astype(np.float64)
            assert pair[1].std() == 0 or abs(np.corrcoef(pair)[0, 1]) < 0.99, path
    table = pq.read_table(folder / "dataset" / "data" / "test-00000-of-00001.parquet")
    assert table["image"].null_count == table["twin"].null_count == len(table)
    assert table["mask"].null_count == 0
    assert "- Images and pictures:" in (folder / "README.md").read_text()
    assert salgen.verify(tmp_path / "a.tar") == []
    again = published(folder, tmp_path / "c", may_redistribute=True)
    assert set(json.loads((again / "run.json").read_text())["maps_left_out"]) == left_out
    assert "data:image/png" not in (again / "report.html").read_text()
    folder = published(copy, tmp_path / "b", may_redistribute=True)
    assert "data:image/png" in (folder / "report.html").read_text()
    assert "gallery.npz" in names_in(folder)


def test_without_pictures_suspects_are_counted_and_maps_of_a_control_left_out_if_they_show_the_image(run, tmp_path):
    metrics = ["pointing-game", "insertion-auc:variant=li2020"]
    model = {"model": run / "lesion-cnn-seed0", "settings": None}
    kept = withheld(make_run(run.parent / "lesions", tmp_path / "run", methods=["gradient"], metrics=metrics, **model))
    folder = published(kept, tmp_path / "unpacked")
    assert "Clever Hans candidates" in (folder / "report.html").read_text()
    record = RunRecord.read(run / "run.json")
    calls = ["untrained", "untrained:of=input-x-gradient"]
    methods = [replace(record.methods[0], name="untrained", call=call) for call in calls]
    assert published_record(replace(record, methods=methods), pixels=False).maps_left_out == calls[1:]


def test_a_run_that_does_not_say_is_taken_to_forbid_and_one_that_lacks_a_file_is_not_published(copy):
    with edited_record(copy) as record:
        del record["dataset"]["redistributable"]
    with open_release(copy, **STATED) as found:
        assert "gallery.npz" not in found.files
    (copy / "comparisons.csv").unlink()
    with pytest.raises(SalgenError, match="cannot be published: "):
        salgen.publish(copy, copy.parent / "run.tar", **STATED)
    assert not (copy.parent / "run.tar").exists()


def test_a_sound_run_has_no_problems_whatever_the_number_of_samples(run, archive, unpacked, tmp_path, capsys):
    for place in (run, archive, unpacked):
        assert salgen.verify(place) == []
    assert main(["verify", f"{run}", "--samples", "all"]) == 0
    few = make_run(run.parent / "lesions", tmp_path / "few", limit=6, model=run / "lesion-cnn-seed0", settings=None)
    assert salgen.verify(few, samples=1000) == []
    for text in ("some", "-1", "1.5"):
        assert main(["verify", f"{run}", "--samples", text]) == 2
        assert f"{text!r} is neither a number of samples nor 'all'" in capsys.readouterr().err


@pytest.mark.parametrize("part", range(8))
def test_a_flipped_bit_in_an_archive_is_found(archive, tmp_path, part):
    data = bytearray(archive.read_bytes())
    with tarfile.open(archive) as tar:  # between files lie bytes that no file holds
        content = np.concatenate([np.arange(one.size) + one.offset_data for one in tar])
    data[np.random.default_rng(part).choice(content)] ^= 1 << part
    (tmp_path / "run.tar").write_bytes(data)
    assert salgen.verify(tmp_path / "run.tar", samples=0)


def test_the_commands_go_together_and_a_run_is_no_data_set(archive, unpacked, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["verify", str(archive)]) == 0
    assert main(["unpack", str(archive), "there"]) == 0
    assert "salgen report there" in capsys.readouterr().out
    assert main(["report", "there"]) == 0
    assert main(["leaderboard", "there", "--out", "site"]) == 0
    assert (tmp_path / "site" / "index.html").is_file()
    assert main(["show", str(archive)]) == 2
    assert "is a run" in capsys.readouterr().err
    for place in (archive, unpacked):
        with pytest.raises(SalgenError, match="is a run, not a data set"):
            open_dataset(place)
    assert isinstance(salgen.load(unpacked), salgen.Run)
