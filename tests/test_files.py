"""Files are whole or not there."""

import hashlib

import pytest

from salgen.files import atomic_path, remove_temporaries, sha256_of, write_bytes, write_text


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


def test_bytes_and_digest(tmp_path):
    write_bytes(tmp_path / "b", b"\r\n\0")
    assert (tmp_path / "b").read_bytes() == b"\r\n\0"
    assert sha256_of(tmp_path / "b") == hashlib.sha256(b"\r\n\0").hexdigest()


def test_leftovers_of_killed_processes_are_removed(tmp_path):
    (tmp_path / ".a.parquet.123.part").touch()
    (tmp_path / "a.parquet").touch()
    remove_temporaries(tmp_path)
    assert [item.name for item in tmp_path.iterdir()] == ["a.parquet"]
