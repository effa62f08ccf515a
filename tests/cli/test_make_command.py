"""`salgen make` and what it refuses: one clear line, exit status 2, nothing half-written."""

import json
import pytest
from salgen.cli.main import main

SMALL = ["--set", "image_size=32,32", "--set", "diameter=4", "--set", "slices=8", "--workers", "1"]
TINY = [*SMALL, "--train", "4", "--val", "2", "--test", "4"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def refused(capsys, arguments):
    """The one line that a refused command prints."""
    assert main(arguments) == 2
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if not line.startswith("cutting brain slices")]
    assert len(lines) == 1, lines
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["perlin-lesion"], "did you mean 'perlin-lesions'"),
        (["perlin-lesions", "--set", "image_sise=32,32"], "did you mean 'image_size'"),
        (["perlin-lesions", "--set", "diameter"], "write it as key=value"),
        (["perlin-lesions", "--workers", "0"], "workers = 0"),
        (["perlin-lesions", "--scale", "huge"], "'huge' is not one of"),
        (["perlin-lesions", "--config", "none.toml"], "none.toml"),
        (["mri-lesions", "--set", "source=nowhere"], "nowhere"),
        (["imagenet-s50"], "give --set source=PATH; without one, salgen make textured-shapes draws a stand-in"),
        (["gtsrb-square"], "give --set source=PATH of GTSRB, or download; without one, salgen make drawn-signs"),
        (["imagenet-s5"], "did you mean 'imagenet-s50'"),
        (["perlin-lesions", "--no-such-option"], "no-such-option"),
        ([], "give the NAME of a generator: bam, cancelling-patches, coloured-cells"),
    ],
)
def test_what_is_refused_leaves_nothing(arguments, says, capsys, tmp_path):
    assert says in refused(capsys, ["make", *arguments])
    assert list(tmp_path.iterdir()) == []


def test_a_small_set_is_made_shown_and_verified(capsys, tmp_path):
    assert main(["make", "perlin-lesions", *TINY]) == 0
    assert main(["verify", "perlin-lesions"]) == 0
    assert main(["show", "perlin-lesions"]) == 0
    out = capsys.readouterr().out
    assert "verified" in out
    assert "perlin-lesions-sheet.png" in out
    assert (tmp_path / "perlin-lesions-sheet.png").read_bytes().startswith(b"\x89PNG")
    shard = next((tmp_path / "perlin-lesions" / "data").glob("test*.parquet"))
    shard.write_bytes(shard.read_bytes()[:-100])
    assert main(["verify", "perlin-lesions"]) == 2
    assert shard.name in capsys.readouterr().err


def test_samples_are_shown_by_their_ids_also_from_an_archive(capsys, tmp_path):
    assert main(["make", "perlin-lesions", "data", *TINY]) == 0
    assert main(["publish", "data", "data.tar", "--license", "CC0-1.0"]) == 0
    capsys.readouterr()
    assert main(["show", "data.tar", "--id", "train-000001", "--id", "train-000000"]) == 0
    out = capsys.readouterr().out
    assert "train-000001 of " in out
    assert "train-000000 of " in out
    assert (tmp_path / "data-train-000001.png").read_bytes().startswith(b"\x89PNG")
    assert "it has train-000000 to train-000003" in refused(capsys, ["show", "data.tar", "--id", "train-00001"])
    assert "did you mean 'train'" in refused(capsys, ["show", "data.tar", "--id", "tarin-000001"])


def test_existing_folders(capsys, tmp_path):
    assert main(["make", "perlin-lesions", "data", *TINY]) == 0
    assert main(["make", "perlin-lesions", "data", *TINY]) == 0
    assert "already complete" in capsys.readouterr().err
    assert "seed" in refused(capsys, ["make", "perlin-lesions", "data", *TINY, "--seed", "1"])
    (tmp_path / "file").write_text("mine")
    refused(capsys, ["make", "perlin-lesions", "file", *TINY])
    assert (tmp_path / "file").read_text() == "mine"
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("mine")
    refused(capsys, ["make", "perlin-lesions", "other", *TINY])
    assert [item.name for item in (tmp_path / "other").iterdir()] == ["mine.txt"]


def test_only_the_splits_that_are_named_are_made(tmp_path):
    assert main(["make", "perlin-lesions", "data", *SMALL, "--test", "3"]) == 0
    assert json.loads((tmp_path / "data" / "salgen.json").read_text())["spec"]["splits"] == {"test": 3}


def test_the_command_line_wins_over_the_config_file(tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text(
        "seed = 5\nworkers = 1\n"
        "[splits]\ntrain = 6\nval = 2\ntest = 2\n"
        "[parameters]\nslices = 8\nimage_size = [32, 32]\ndiameter = 5\n"
    )
    assert main(["make", "perlin-lesions", "data", "--config", str(config), "--train", "4", "--set", "diameter=4"]) == 0
    spec = json.loads((tmp_path / "data" / "salgen.json").read_text())["spec"]
    assert spec["splits"] == {"train": 4, "val": 2, "test": 2}
    assert spec["seed"] == 5
    assert spec["parameters"]["diameter"] == 4


def test_a_bad_config_file_is_named(capsys, tmp_path):
    (tmp_path / "a.toml").write_text("seeds = 1\n")
    assert "did you mean 'seed'" in refused(capsys, ["make", "perlin-lesions", "--config", "a.toml"])
    settings = ({"splits": [["train", 2]]}, {"splits": {"train": "2"}}, {"parameters": 3}, {"scale": 1.5})
    settings += ({"parameters": {"image_size": [64, 2**33]}}, {"workers": {}}, {"twins": "no"}, {"source": 1})
    for text in ("{", "[" * 20_000 + "]" * 20_000, *map(json.dumps, settings)):
        (tmp_path / "b.json").write_text(text)
        refused(capsys, ["make", "drawn-figures", "out", "--config", "b.json"])
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["show", "verify", "train", "evaluate"])
def test_what_is_not_a_data_set_is_refused(command, capsys, tmp_path):
    assert "nowhere" in refused(capsys, [command, "nowhere"])
    assert list(tmp_path.iterdir()) == []


def test_help_of_a_generator_shows_its_fields(capsys):
    assert main(["make", "perlin-lesions", "--help"]) == 0
    out = capsys.readouterr().out
    assert "lattice" in out
    assert "3,3" in out
    assert "--seed INTEGER" in out


def test_what_was_made_is_said(capsys):
    drawn = ["--set", "image_size=32,32", "--train", "2", "--val", "2", "--test", "2", "--workers", "1"]
    assert main(["make", "drawn-lights", "lights", *drawn]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Drawn traffic lights, red or green by the colour of the lamp: a stand-in for lisa-lights."
    assert said[1].startswith("Backgrounds are cut from 11 photographs")
    assert said[2] == "lights: look at it with  salgen show lights"
    assert main(["show", "lights"]) == 0
    shown = capsys.readouterr().out
    assert "a stand-in for lisa-lights" in shown
    assert "Backgrounds are cut from 11 photographs" in shown
    with open("lights/README.md", encoding="utf-8") as card:
        assert "a stand-in for lisa-lights" in card.read()
