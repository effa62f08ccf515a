"""`salgen publish`, `verify` and `unpack` as they are typed."""

import re
import shutil
from datetime import UTC, datetime
import pytest
from own_trees import SHAPE, write_own
import salgen
from salgen.cli.main import main

SMALL = {"image_size": (32, 32), "diameter": 4, "slices": 8}
STATED = ["--license", "CC-BY-4.0", "--date", "2026-01-31"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("publish") / "perlin"
    return salgen.make("perlin-lesions", out, splits={"train": 2, "val": 2, "test": 2}, parameters=SMALL, workers=1)


def said(arguments, capsys):
    status = main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".zip"])
def test_published_verified_and_unpacked(tmp_path, folder, suffix, capsys):
    out = tmp_path / f"x{suffix}"
    status, text, _ = said(["publish", folder, out, *STATED], capsys)
    assert (status, text) == (0, f"{out}: check it with  salgen verify {out}\n")
    status, text, _ = said(["verify", out], capsys)
    assert (status, text) == (0, f"{out}: verified\n")
    status, text, _ = said(["unpack", out, tmp_path / "out"], capsys)
    assert (status, text) == (0, f"{tmp_path / 'out'}: look at it with  salgen show {tmp_path / 'out'}\n")
    assert said(["verify", tmp_path / "out"], capsys)[0] == 0
    data = bytearray(out.read_bytes())
    data[len(data) // 2] ^= 1
    out.write_bytes(data)
    status, _, errors = said(["verify", out], capsys)
    assert status == 2
    assert errors.rstrip().splitlines()[-1].startswith(f"error: {out}: ")


def test_the_folder_that_is_unpacked_is_called_after_the_data_set(tmp_path, folder, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(folder, "my lesions: v1")
    assert said(["publish", "my lesions: v1", "x.tar", *STATED], capsys)[0] == 0
    assert said(["unpack", "x.tar"], capsys)[:2] == (0, "my-lesions-v1: look at it with  salgen show my-lesions-v1\n")
    assert salgen.load("x.tar").name == "my-lesions-v1"


def test_own_images_are_published_without_pixels_and_the_command_says_so(tmp_path, capsys):
    write_own(tmp_path)
    made = salgen.import_images(tmp_path / "images", masks=tmp_path / "masks", parameters=SHAPE)
    status, _, errors = said(["publish", made, tmp_path / "x.tar", *STATED], capsys)
    assert status == 0
    assert errors.splitlines()[-1].startswith(f"warning: the images and twins of {made} are left out")
    assert "--may-redistribute" in errors
    status, _, errors = said(["publish", made, tmp_path / "y.tar", *STATED, "--may-redistribute"], capsys)
    assert (status, "left out" in errors) == (0, False)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "no license is stated"),
        (["--license", "mine", "--date", "2026-01-31"], "license 'mine' is unknown"),
        (["--license", "CC-BY-4.0", "--date", "2026-02-30"], "date '2026-02-30'"),
    ],
)
def test_what_is_not_stated_is_not_guessed(tmp_path, folder, options, message, capsys):
    status, _, errors = said(["publish", folder, tmp_path / "x.tar", *options], capsys)
    assert status == 2
    assert message in errors
    assert len(errors.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_date_is_todays_or_that_of_the_environment_and_is_printed(tmp_path, folder, capsys, monkeypatch):
    def archived(name, *date):
        status, _, errors = said(["publish", folder, tmp_path / name, "--license", "CC-BY-4.0", *date], capsys)
        assert status == 0, errors
        return errors, (tmp_path / name).read_bytes()

    before = datetime.now(UTC).date()
    printed, _ = archived("today.tar")
    assert re.search(r"[0-9-]{10}", printed).group() in {str(before), str(datetime.now(UTC).date())}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1769817600")  # 2026-01-31, 00:00 UTC
    monkeypatch.setenv("TZ", "America/New_York")
    printed, data = archived("epoch.tar")
    assert printed.startswith("date of publication: 2026-01-31 (UTC)")
    printed, again = archived("stated.tar", "--date", "2026-01-31")
    assert again == data
    assert "date of publication" not in printed


@pytest.mark.parametrize("second", ["now", "1e9", "99999999999999999"])
def test_a_bad_second_of_the_environment_is_refused_in_one_line(tmp_path, folder, second, capsys, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", second)
    status, _, errors = said(["publish", folder, tmp_path / "x.tar", "--license", "CC-BY-4.0"], capsys)
    assert (status, len(errors.splitlines())) == (2, 1)
    assert f"SOURCE_DATE_EPOCH = '{second}' (" in errors
    assert "give seconds since 1970" in errors
    assert not (tmp_path / "x.tar").exists()


def test_limits_of_unpacking_are_options(tmp_path, folder, capsys):
    said(["publish", folder, tmp_path / "x.tar", *STATED], capsys)
    status, _, errors = said(["unpack", tmp_path / "x.tar", tmp_path / "out", "--max-members", "3"], capsys)
    assert status == 2
    assert errors.rstrip().splitlines()[-1] == f"error: {tmp_path / 'x.tar'}: the archive has more than 3 members"
    assert not (tmp_path / "out").exists()
