"""An altered byte of an archive with its digest is found, and so is everything that would be found in the folder."""

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import pytest
from forged_rows import brighten_and_sign, forge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_datasets import contents, made

import salgen
from salgen.datasets.archives.archive_formats import SUFFIXES
from salgen.datasets.archives.unpacking import unpack
from salgen.datasets.archives.writing import archive
from salgen.errors import SalgenError
from salgen.evaluation.publishing.publishing import publish
from salgen.evaluation.verification.verifying import verify
from salgen.parameters import canonical_json

STATED = {"licence": "CC-BY-4.0", "date": "2026-01-31"}

every_form = pytest.mark.parametrize("suffix", SUFFIXES)
in_one_folder = settings(
    deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)


def flipped(data, place, bit):
    altered = bytearray(data)
    altered[place] ^= 1 << bit
    return bytes(altered)


def small(tmp_path, suffix):
    return publish(
        made(tmp_path / "squares", splits={"train": 2, "val": None, "test": 2}), tmp_path / f"x{suffix}", **STATED
    )


@every_form
def test_any_flipped_bit_is_found_and_never_leads_outside(tmp_path, suffix):
    path = small(tmp_path, suffix)
    data = path.read_bytes()
    original = contents(unpack(path, tmp_path / "original"))
    sandbox = tmp_path / "sandbox"

    @in_one_folder
    @given(st.integers(0, len(data) - 1), st.integers(0, 7))
    def check(place, bit):
        path.write_bytes(flipped(data, place, bit))
        before = contents(tmp_path)
        problems = verify(path, samples=0)
        assert problems
        assert all(
            "\n" not in problem and tempfile.gettempdir() + "/salgen-verify" not in problem for problem in problems
        )
        try:
            unpack(path, sandbox)
        except SalgenError:
            assert contents(tmp_path) == before
        else:
            assert contents(sandbox) == original  # only what frames it was altered
            shutil.rmtree(sandbox)
        assert contents(tmp_path) == before

    check()


@every_form
def test_without_a_digest_beside_it_every_altered_content_is_found(tmp_path, suffix):
    path = small(tmp_path, suffix)
    path.with_name(f"{path.name}.sha256").unlink()
    assert verify(path, samples=0) == []
    files = contents(unpack(path, tmp_path / "files"))
    for name, data in files.items():
        place = len(data) // 2
        altered = archive({**files, name: flipped(data, place, 0)}, tmp_path / f"y{suffix}", "squares")
        assert any(name in problem for problem in verify(altered, samples=0)), name
        altered.unlink()


@every_form
def test_problems_are_found_all_at_once_and_name_the_member(tmp_path, folder, suffix):
    packed = publish(folder, tmp_path / "sound.tar", **STATED)
    files = contents(unpack(packed, tmp_path / "files"))
    shard = "data/train-00001-of-00003.parquet"
    files[shard] = flipped(files[shard], 100, 0)
    files["README.md"] = b"nothing"
    del files["croissant.json"]
    files["notes.txt"] = b"mine"
    problems = verify(archive(files, tmp_path / f"x{suffix}", "squares"))
    for said in (
        "README.md: was altered",
        "croissant.json: is missing",
        "notes.txt: is not a file of this data set",
        f"{shard}: was altered",
    ):
        assert sum(said in problem for problem in problems) == 1, problems


@every_form
def test_the_file_beside_it_is_checked(tmp_path, suffix):
    path = small(tmp_path, suffix)
    beside = path.with_name(f"{path.name}.sha256")
    text = beside.read_text()
    for altered, said in [
        ("0" * 64 + text[64:], "was altered: its SHA-256 is not that of"),
        (text.replace(path.name, "other"), "is about 'other'"),
        ("nonsense", "is not a SHA-256"),
        (text + text, "is not a SHA-256"),
    ]:
        beside.write_text(altered)
        (problem,) = verify(path, samples=0)
        assert said in problem
    beside.unlink()
    assert verify(path, samples=0) == []


def test_a_change_of_gzip_that_changes_no_content_is_found(tmp_path):
    path = small(tmp_path, ".tar.gz")
    path.write_bytes(flipped(path.read_bytes(), 4, 0))  # the time in its head
    (problem,) = verify(path, samples=0)
    assert "its SHA-256 is not that of x.tar.gz.sha256" in problem


@every_form
def test_forged_content_with_fitting_checksums_is_rendered_again(tmp_path, suffix):
    folder = made(tmp_path / "squares")
    forge(folder, brighten_and_sign)
    path = archive({name: folder / name for name in contents(folder)}, tmp_path / f"x{suffix}", "squares")
    assert any("train-000005: rendered again, it differs in image" in problem for problem in verify(path, samples=100))


@every_form
def test_nothing_is_left_behind(tmp_path, suffix, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    path = small(tmp_path, suffix)
    assert verify(path) == []
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert verify(path) != []
    with pytest.raises(SalgenError):
        salgen.open(path)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert Path(tempfile.gettempdir()) == tmp_path / "temporary"


def edited(*keys, value):
    def edit(values):
        place = values
        for key in keys[:-1]:
            place = place[key]
        place[keys[-1]] = value
        return json.dumps(values)

    return pytest.param(edit, id=f"{'.'.join(keys)}={value!r:.20}")


STRANGE = [
    edited("spec", "splits", "train", value=10**15),
    edited("spec", "seed", value=0.5),
    edited("spec", "parameters", value=5),
    edited("spec", "generator", value=["squares"]),
    edited("spec", "image_size", value=[10**9, 10**9]),
    edited("samples_per_shard", value=0),
    edited("samples_per_shard", value="5"),
    edited("rows_per_group", value=None),
    edited("channels", value=10**9),
    edited("tasks", value=[]),
    edited("targets", value={}),
    edited("factors", value=[None]),
    edited("libraries", value=3),
    pytest.param(lambda values: "[" * 100_000, id="deep"),
    pytest.param(lambda values: "null", id="null"),
]


@pytest.mark.parametrize("edit", STRANGE)
def test_a_description_that_no_data_set_has_is_one_line_though_its_checksums_fit(tmp_path, folder, edit):
    files = contents(folder)
    text = edit(json.loads(files["salgen.json"]))
    values = json.loads(text) if text.startswith("{") else None
    if values:
        spec = {**values["spec"], "image_size": list(values["spec"]["image_size"])}
        values["fingerprint"] = hashlib.sha256(canonical_json(spec).encode()).hexdigest()
        text = json.dumps(values)
    files["salgen.json"] = text.encode()
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items() if name != "SHA256SUMS"}
    files["SHA256SUMS"] = "".join(f"{digest}  {name}\n" for name, digest in sums.items()).encode()
    path = archive(files, tmp_path / "x.tar", "squares")
    with pytest.raises(SalgenError, match=r"salgen\.json: not a salgen data set description"):
        salgen.open(path)
    (problem,) = verify(path)
    assert problem.startswith("salgen.json: not a salgen data set description")
