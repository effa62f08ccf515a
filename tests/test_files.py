"""Files are whole or not there."""

import hashlib
from pathlib import Path
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from salgen.files import (
    atomic_path,
    csv_cell,
    read_csv,
    remove_temporaries,
    sha256_of,
    strict_json,
    write_bytes,
    write_text,
)


@pytest.mark.parametrize("text", ["NaN", '{"a": [-Infinity]}', "1e999", r'"\ud800"', "{", ""])
def test_what_json_does_not_have_is_refused(text):
    with pytest.raises(ValueError, match=r"not JSON compliant|surrogates not allowed|Expecting"):
        strict_json(text)


def test_a_json_text_has_the_value_that_python_reads():
    assert strict_json('{"a": [1, -2.5e3, null, true, "\u00e9"]}') == {"a": [1, -2500.0, None, True, "é"]}


def test_floats_of_a_table_are_those_that_were_written(tmp_path):
    values = np.random.default_rng(0).random(1000)
    write_text(tmp_path / "a.csv", "\n".join(["x", *map(repr, values.tolist())]))
    assert np.array_equal(read_csv(tmp_path / "a.csv")["x"], values)


def _stop_half_way(path):
    with atomic_path(path) as temporary:
        temporary.write_text("half")
        raise KeyboardInterrupt


def test_a_failed_write_leaves_the_old_file_and_no_temporary(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(KeyboardInterrupt):
        _stop_half_way(path)
    assert path.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]


def test_a_table_is_written_to_a_folder_with_a_colon_in_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run:1").mkdir()
    with atomic_path(Path("run:1") / "a.parquet") as temporary:
        pq.write_table(pa.table({"a": [1, 2]}), temporary)
    assert pq.read_table(tmp_path / "run:1" / "a.parquet")["a"].to_pylist() == [1, 2]


@pytest.mark.parametrize("place", ["nowhere/a", "file/a", "folder"])
def test_an_error_names_the_file_that_was_asked_for(tmp_path, place):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=f"/{place}'") as plain:
        write_text(tmp_path / place, "")
    with pytest.raises(type(plain.value), match=f"/{place}'") as arrow, atomic_path(tmp_path / place) as temporary:
        pq.write_table(pa.table({"a": [1]}), temporary)
    for caught in (plain.value, arrow.value):
        assert caught.filename == str(tmp_path / place)
        assert ".part" not in str(caught)


def test_bytes_and_digest(tmp_path):
    write_bytes(tmp_path / "b", b"\r\n\0")
    assert (tmp_path / "b").read_bytes() == b"\r\n\0"
    assert sha256_of(tmp_path / "b") == hashlib.sha256(b"\r\n\0").hexdigest()


def test_leftovers_of_killed_processes_are_removed(tmp_path):
    below = tmp_path / "b" / "c" / ".d.123-0a1b2c3d.part"
    below.parent.mkdir(parents=True)
    for path in (below, *(tmp_path / name for name in (".a.1.part", ".a.parquet.123-0a1b2c3d.part", "a.parquet"))):
        path.touch()
    remove_temporaries(tmp_path)
    assert {item.name for item in tmp_path.iterdir()} == {"a.parquet", "b"}
    assert below.exists()
    remove_temporaries(tmp_path, below=True)
    assert not below.exists()


def test_two_writers_of_one_name_do_not_share_a_temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("os.getpid", lambda: 7)  # as on two machines
    path = tmp_path / "a.txt"
    with atomic_path(path) as one, atomic_path(path) as other:
        assert one != other
        one.write_text("one")
        other.write_text("other")
    assert [item.name for item in tmp_path.iterdir()] == ["a.txt"]
    assert path.read_text() == "one"


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"])
def test_a_text_that_a_spreadsheet_takes_for_a_formula(first):
    cell = csv_cell(f"{first}1+1")
    assert cell[0] == "'"
    assert cell[1:] == f"{first}1+1".replace("\r", " ")
    for text in (f"1{first}1".replace("\r", ""), "", "'a", "dog, domestic"):
        assert csv_cell(text) == text
