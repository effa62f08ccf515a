"""Repositories on a Hugging Face hub: huggingface_hub uploads to a local server, which fails as servers do."""

import hashlib
import logging
import os
import re
import subprocess
import sys
import threading
import time
from importlib.metadata import version
import pytest
from hub_server import TOKEN, Handler, State, echo, lost_answer
from local_server import reset, serving
from made_datasets import STATED, contents
import salgen
from salgen.cli.main import main
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.metadata.publication_metadata import Release, stated
from salgen.datasets.publishing import hub
from salgen.datasets.publishing.hub import Repository, push, repository
from salgen.errors import SalgenError
from salgen.evaluation.publishing.publishing import open_release as published

NAME = "some-org/squares"
OPTIONS = ["--license", "CC-BY-4.0", "--date", "2026-01-31", "--to", f"hf://{NAME}"]
KINDS = ["create", "info", "tree", "preupload", "batch", "put", "verify", "validate", "commit"]


@pytest.fixture(autouse=True)
def online(monkeypatch):
    """Undo what the tests' own process set before huggingface_hub could be imported."""
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def state():
    return State()


@pytest.fixture
def address(state, monkeypatch):
    with serving(Handler, state) as found:
        monkeypatch.setenv("HF_ENDPOINT", f"{found.address}/")
        monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", found.address)
        yield found.address


@pytest.fixture
def small(tmp_path):
    """Two large files and two texts."""
    files = {"README.md": b"---\npretty_name: x\n---\n# x\n", "SHA256SUMS": b"sums\n"}
    for number in range(2):
        path = tmp_path / f"{number}.parquet"
        path.write_bytes(bytes([number]) * 3000 + b"end")
        files[f"data/{number}.parquet"] = path
    return Release(files, "x", "X (a set)", "", [], "1.0.0", "Fingerprint: f", stated(**STATED))


def at(address):
    return Repository(NAME, address, TOKEN)


def bytes_of(release):
    return {name: it if isinstance(it, bytes) else it.read_bytes() for name, it in release.files.items()}


def digest_of(release, name):
    return hashlib.sha256(bytes_of(release)[name]).hexdigest()


def test_a_repository_has_the_files_of_the_edition_and_nothing_else(folder, state, address):
    with published(folder, **STATED) as release:
        assert push(release, at(address)) == f"{address}/datasets/{NAME}"
        assert state.files(NAME) == bytes_of(release)
        large = {digest_of(release, name) for name in release.files if name.endswith(".parquet")}
    assert state.private == {NAME: True}
    assert sorted(oid for oid, _ in state.sent) == sorted(large)
    assert set(state.verified) == large
    fingerprint = read_manifest(folder).spec.fingerprint
    note = f"Fingerprint (SHA-256 of the data set's description): {fingerprint}"
    assert state.messages == [("squares (a data set made by salgen)", note)]


def test_a_repository_that_is_there_is_changed_in_one_commit(small, state, address):
    for _ in range(2):
        push(small, at(address))
    assert len(state.messages) == 1
    assert len(state.sent) == 2
    there = state.repositories[NAME][-1]
    there |= {"old.parquet": b"old", "data/old/notes.txt": b"old", "README.md": b"another", ".gitignore": b"*\n"}
    there["data/0.parquet"] = bytes(3000) + b"END"
    state.sent.clear()
    state.private[NAME] = False
    push(small, at(address))
    assert state.files(NAME) == bytes_of(small)
    assert ".gitattributes" in state.repositories[NAME][-1]
    assert len(state.repositories[NAME]) == 3
    assert state.sent == []
    assert state.private == {NAME: False}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", [(503, {"error": "busy"}, {}), (502, b"<html>oops", {}), (429, {}, {}), reset])
def test_what_fails_and_may_pass_is_tried_again(small, state, address, waits, kind, fault):
    state.plan(kind, fault, fault)
    push(small, at(address))
    assert waits
    assert state.files(NAME) == bytes_of(small)
    assert len(state.messages) == 1


def test_a_commit_whose_answer_was_lost_is_not_made_twice(small, state, address, waits):
    state.plan("commit", lost_answer)
    push(small, at(address))
    assert len(state.messages) == 1
    assert state.files(NAME) == bytes_of(small)


@pytest.mark.parametrize(("fault", "said"), [((500, {"error": "it is down"}, {}), "it is down"), (reset, "Error")])
def test_after_five_attempts_it_gives_up(small, state, address, waits, fault, said):
    state.plan("create", *[fault] * 9)
    with pytest.raises(SalgenError, match=f"^{re.escape(address)}: .*{said}.*: run the same command again later$"):
        push(small, at(address))
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert len(state.plans["create"]) == 4


@pytest.mark.skipif(version("huggingface_hub")[0] == "0", reason="its requests have no time limit")
@pytest.mark.parametrize("kind", sorted({*KINDS} - {"tree"}))  # huggingface_hub lists files without a time limit
def test_a_server_that_does_not_answer_in_time(small, state, address, waits, monkeypatch, kind):
    ready = threading.Event()
    monkeypatch.setattr(hub, "TIMEOUT_S", 0.1)
    state.plan(kind, lambda handler, size: ready.wait(30) and None)
    begun = time.monotonic()
    try:
        push(small, at(address))
    finally:
        ready.set()
    assert time.monotonic() - begun < 20
    assert waits
    assert state.files(NAME) == bytes_of(small)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
@pytest.mark.parametrize("kind", ["preupload", "put", "commit"])
def test_a_refusal_is_one_line_and_leaves_nothing_visible(small, state, address, waits, kind, status):
    state.plan(kind, *[(status, {"error": "so\nit is"}, {})] * 9)
    with pytest.raises(SalgenError, match=f"^{re.escape(address)}: .*so it is"):
        push(small, at(address))
    assert waits == []
    assert state.files(NAME) == {}


def test_an_upload_that_stopped_goes_on_without_what_arrived(small, state, address, monkeypatch):
    monkeypatch.setattr(hub, "BATCH", 3)  # two texts and a large file, then the other
    state.plan("put", None, (403, {"error": "no"}, {}))
    with pytest.raises(SalgenError):
        push(small, at(address))
    assert set(state.objects) == {digest_of(small, "data/0.parquet")}
    state.sent.clear()
    push(small, at(address))
    assert [oid for oid, _ in state.sent] == [digest_of(small, "data/1.parquet")]
    assert state.files(NAME) == bytes_of(small)


def test_metadata_that_the_hub_refuses(small, state, address):
    state.plan("validate", (400, {"errors": [{"message": '"license" must be one of'}]}, {}))
    with pytest.raises(SalgenError, match=r'Invalid metadata in README\.md\. - "license" must be one of'):
        push(small, at(address))
    assert state.messages == []


@pytest.mark.parametrize(("kind", "status"), [*((kind, 401) for kind in KINDS), ("commit", 429)])
def test_the_token_is_nowhere(tmp_path, state, address, capfd, caplog, waits, status, kind, small):
    caplog.set_level(logging.DEBUG, "huggingface_hub")
    logging.getLogger("huggingface_hub").propagate = True
    state.plan(kind, *[echo(status)] * 99)
    with pytest.raises(SalgenError, match=r"\[token\]") as caught:
        push(small, at(address))
    out, errors = capfd.readouterr()
    context = caught.value.__suppress_context__ or caught.value.__context__
    for text in (repr(caught.value), str(context), out, errors, caplog.text, repr(at(address)), *map(str, state.seen)):
        assert TOKEN not in text
    for name, data in contents(tmp_path).items():
        assert TOKEN.encode() not in data, name


def test_the_command(tmp_path, folder, state, address, capfd, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    before = contents(tmp_path)
    assert main(["publish", str(folder), *OPTIONS]) == 0
    text, errors = capfd.readouterr()
    page = f"{address}/datasets/{NAME}"
    assert text == f"{folder}: uploaded; a new repository is private: look at it and make it public at  {page}\n"
    assert re.fullmatch(rf"uploading to {NAME}: (\d+)/\1, [0-9.,]+ bytes/s", errors.splitlines()[-1])
    assert contents(tmp_path) == before
    with published(folder, **STATED) as release:
        assert state.files(NAME) == bytes_of(release)


@pytest.mark.parametrize(
    "endpoint",
    [
        *("http://huggingface.co", "ftp://huggingface.co", "huggingface.co", "https://", "https://a:port"),
        *(f"https://me:{TOKEN}@huggingface.co", f"https://huggingface.co?t={TOKEN}"),
    ],
)
def test_the_hub_that_is_named_must_be_one(monkeypatch, endpoint):
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(SalgenError, match="HF_ENDPOINT is not an address of the form https://HOST") as caught:
        repository("hf://a/b")
    assert TOKEN not in str(caught.value)


def test_hugging_face_is_the_hub_unless_another_is_named(monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert repository("hf://some-org/my.set_1") == Repository("some-org/my.set_1", "https://huggingface.co", TOKEN)
    for address in ("https://hub.example.org", "https://hub.example.org:8443/api/mirror"):
        monkeypatch.setenv("HF_ENDPOINT", f"{address}/")
        assert repository("hf://a/b").endpoint == address


def test_without_the_library(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(SalgenError, match=r"needs huggingface_hub: pip install '\.\[hub\]' in a clone of salgen$"):
        salgen.push_to_hub(folder, NAME, **STATED)


UPLOAD = """
import sys
from pathlib import Path
from salgen.datasets.metadata.publication_metadata import Release
from salgen.datasets.publishing.hub import push, repository
from salgen.datasets.metadata.publication_metadata import stated
files = {"README.md": b"x", "data/x.parquet": Path(sys.argv[1])}
push(Release(files, "x", "X", "", [], "1.0.0", "n", stated("CC0-1.0", "2026-01-31")), repository("hf://a/b"))
"""


def test_nothing_is_written_in_the_users_home(tmp_path, state, address):
    path, home = tmp_path / "x.parquet", tmp_path / "home"
    path.write_bytes(bytes(3000))
    home.mkdir()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "XDG_"))}
    known = {**clean, "HF_TOKEN": TOKEN, "HOME": str(home), "HF_ENDPOINT": address, "HF_DEBUG": "1"}
    done = subprocess.run([sys.executable, "-c", UPLOAD, path], env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert state.files("a/b") == {"README.md": b"x", "data/x.parquet": bytes(3000)}
    assert TOKEN not in done.stdout + done.stderr
    assert list(home.rglob("*")) == []
    assert "harnesses" not in state.kinds()
