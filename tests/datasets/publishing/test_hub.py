"""Repositories on a Hugging Face hub: a local server speaks what the library calls, and fails as servers do."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import datasets
import httpx2
import numpy as np
import pytest
import yaml
from broken_connections import reset
from hub_server import TOKEN, State, echo, lost_answer, serving
from made_datasets import contents, made
from tiles import write_tiles

from salgen.cli.main import main
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.making import make
from salgen.datasets.metadata.publication_metadata import stated
from salgen.datasets.metadata.release import Release
from salgen.datasets.publishing import hub, retries
from salgen.datasets.publishing.hub import Repository, push, repository
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.publishing.publishing import edition as published
from salgen.evaluation.publishing.publishing import upload

NAME = "some-org/squares"
STATED = {"licence": "CC-BY-4.0", "date": "2026-01-31"}
OPTIONS = ["--license", "CC-BY-4.0", "--date", "2026-01-31", "--to", f"hf://{NAME}"]
KINDS = ["create", "info", "tree", "preupload", "batch", "put", "verify", "validate", "commit"]


@pytest.fixture(autouse=True)
def online(monkeypatch):
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def state():
    return State()


@pytest.fixture
def address(state, monkeypatch):
    with serving(state) as found:
        monkeypatch.setenv("HF_ENDPOINT", f"{found.address}/")
        yield found.address


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(retries, "BACKOFF_S", (0.0,) * 4)


@pytest.fixture
def small(tmp_path):
    """Two large files and two texts."""
    return edition_of(tmp_path, 2)


def edition_of(folder, count):
    files = {"README.md": b"---\npretty_name: x\n---\n# x\n", "SHA256SUMS": b"sums\n"}
    for number in range(count):
        path = folder / f"{number}.parquet"
        path.write_bytes(bytes([number]) * 3000 + b"end")
        files[f"data/{number}.parquet"] = path
    return Release(dict(sorted(files.items())), "x", "X (a set)", "", [], "1.0.0", "Fingerprint: f", stated(**STATED))


def at(address, waits=None, **changes):
    return Repository(NAME, address, TOKEN, **{"timeout": 10.0, "sleep": (waits or []).append, **changes})


def bytes_of(edition):
    return {name: it if isinstance(it, bytes) else it.read_bytes() for name, it in edition.files.items()}


def digest_of(edition, name):
    return hashlib.sha256(bytes_of(edition)[name]).hexdigest()


# What arrives


def test_a_repository_has_the_files_of_the_edition_and_nothing_else(folder, state, address):
    with published(folder, **STATED) as edition:
        assert push(edition, at(address)) == f"{address}/datasets/{NAME}"
        assert state.files(NAME) == bytes_of(edition)
        assert {name for name in edition.files if name.endswith(".parquet")}
        large = {digest_of(edition, name) for name in edition.files if name.endswith(".parquet")}
    assert state.private == {NAME: True}
    assert {oid for oid, _ in state.sent} == large == set(state.verified)
    assert len(state.sent) == len(large)
    fingerprint = read_manifest(folder).spec.fingerprint
    note = f"Fingerprint (SHA-256 of the data set's description): {fingerprint}"
    assert state.messages == [("squares (a data set made by salgen)", note)]
    assert state.validated == [state.files(NAME)["README.md"].decode()]


def test_a_large_file_goes_in_pieces_where_the_hub_asks_for_them(small, state, address):
    state.chunk_size = 1000
    push(small, at(address))
    assert state.files(NAME) == bytes_of(small)
    assert sorted(size for _, size in state.sent) == [3, 3, *[1000] * 6]


def test_an_upload_goes_batch_by_batch(tmp_path, state, address, monkeypatch, capsys):
    monkeypatch.setattr(hub, "BATCH_FILES", 3)
    edition = edition_of(tmp_path, 5)
    push(edition, at(address))
    assert state.kinds().count("preupload") == 3
    assert state.kinds().count("commit") == 1
    assert state.files(NAME) == bytes_of(edition)
    total = sum(map(len, bytes_of(edition).values()))
    assert re.fullmatch(rf"uploading to {NAME}: {total}/{total}, [0-9.,]+ bytes/s\n", capsys.readouterr().err)


def test_a_repository_that_is_there_is_changed_in_one_commit(small, tmp_path, state, address):
    push(small, at(address))
    there = state.repositories[NAME][-1]
    there |= {"old.parquet": b"old", "data/old/notes.txt": b"old", "README.md": b"another", ".gitignore": b"*\n"}
    state.sent.clear()
    state.private[NAME] = False
    push(small, at(address))
    assert state.files(NAME) == bytes_of(small)
    assert ".gitattributes" in state.repositories[NAME][-1]
    assert len(state.repositories[NAME]) == 3
    assert state.sent == []
    assert state.private == {NAME: False}


def test_what_is_there_already_is_neither_sent_nor_committed(small, state, address, capsys):
    push(small, at(address))
    state.seen.clear()
    capsys.readouterr()
    push(small, at(address))
    assert set(state.kinds()) == {"info", "tree"}
    assert len(state.messages) == 1
    assert capsys.readouterr().err == ""


def test_files_of_one_size_are_told_apart_by_their_bytes(small, state, address):
    push(small, at(address))
    before = dict(state.files(NAME))
    state.repositories[NAME][-1]["data/0.parquet"] = bytes(3000) + b"END"
    state.repositories[NAME][-1]["SHA256SUMS"] = b"SUMS\n"
    push(small, at(address))
    assert state.files(NAME) == before
    assert len(state.repositories[NAME]) == 3


def test_large_files_may_go_to_another_server_which_gets_no_token(small, state):
    other = State()
    with serving(other) as storage, serving(state, storage.address) as found:
        state.objects = other.objects  # what the storage has, the hub has
        push(small, at(found.address))
    assert other.kinds() == ["put", "put"]
    assert not any("authorization" in {name.lower() for name in headers} for headers in other.headers)
    assert state.files(NAME) == bytes_of(small)


# Faults that pass


@pytest.mark.parametrize("kind", KINDS)
def test_what_fails_and_may_pass_is_tried_again(small, state, address, kind):
    waits = []
    state.plan(kind, (500, b"<html>oops", {}), (503, {"error": "busy"}, {}))
    push(small, Repository(NAME, address, TOKEN, sleep=waits.append))
    assert waits == [1.0, 2.0] or (kind in ("put", "verify") and waits == [1.0])  # two files at the same time
    assert state.files(NAME) == bytes_of(small)
    assert len(state.messages) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_connection_that_breaks_is_made_again(small, state, address, kind, quick):
    state.plan(kind, reset)
    push(small, at(address))
    assert state.files(NAME) == bytes_of(small)
    assert len(state.messages) == 1


def test_a_commit_whose_answer_was_lost_is_not_made_twice(small, state, address, quick):
    state.plan("commit", lost_answer)
    push(small, at(address))
    assert len(state.messages) == 1
    assert len(state.repositories[NAME]) == 2
    assert state.files(NAME) == bytes_of(small)


def test_it_waits_as_long_as_it_is_asked_to(small, state, address):
    waits = []
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    asked = [{"Retry-After": "17"}, {"Retry-After": soon}, {"ratelimit": '"api";r=0;t=55'}, {"Retry-After": "soon"}]
    state.plan("create", *[(429, {"error": "slow down"}, headers) for headers in asked])
    push(small, Repository(NAME, address, TOKEN, sleep=waits.append))
    assert (waits[0], waits[2], waits[3]) == (17.0, 56.0, 8.0)
    assert 0 < waits[1] <= 100
    assert len(waits) == 4


def test_it_does_not_wait_for_a_day(small, state, address):
    waits = []
    state.plan("create", (429, {"error": "slow down"}, {"Retry-After": "86400"}))
    with pytest.raises(SalgenError, match=r"status 429 \(slow down\); it asks to wait 86400 s: run the same command"):
        push(small, Repository(NAME, address, TOKEN, sleep=waits.append))
    assert waits == []


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ((500, {"error": "down"}, {}), r"status 500 \(down\): run the same command again later"),
        ((409, {"error": "Cannot create repo: another conflicting operation is in progress"}, {}), "status 409"),
        (reset, "the connection broke"),
    ],
)
def test_after_five_tries_it_gives_up(small, state, address, fault, said):
    waits = []
    state.plan("create", *[fault] * 9)
    with pytest.raises(SalgenError, match=f"{re.escape(address)}: finding or making the repository: .*{said}"):
        push(small, Repository(NAME, address, TOKEN, sleep=waits.append))
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert len(state.plans["create"]) == 4


def test_a_server_that_does_not_answer_in_time(small, state, address, quick):
    ready = threading.Event()
    state.plan("info", lambda handler, size: ready.wait(30) and None)
    try:
        push(small, at(address, timeout=0.5))
    finally:
        ready.set()
    assert state.files(NAME) == bytes_of(small)


def test_no_request_may_take_for_ever(small, address, monkeypatch):
    limits, usual = [], httpx2.Client.send

    def watched(client, request, **options):
        limits.append(request.extensions["timeout"])
        return usual(client, request, **options)

    monkeypatch.setattr(httpx2.Client, "send", watched)
    push(small, at(address, timeout=7.0))
    assert len(limits) > len(KINDS)
    assert all(limit == dict.fromkeys(("connect", "read", "write", "pool"), 7.0) for limit in limits)


def test_a_server_that_is_not_who_it_says(small, address, monkeypatch):
    def send(client, request, **options):
        raise httpx2.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed")

    waits = []
    monkeypatch.setattr(httpx2.Client, "send", send)
    with pytest.raises(SalgenError, match="self-signed: it is not who it says"):
        push(small, Repository(NAME, address, TOKEN, sleep=waits.append))
    assert waits == []


def test_no_server(small, quick):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(SalgenError, match="making the repository: the connection broke"):
            push(small, at(nowhere))


# Stopped and repeated


def test_an_upload_that_stopped_goes_on_without_what_arrived(small, state, address, quick, monkeypatch):
    monkeypatch.setattr(hub, "BATCH_FILES", 3)  # two texts and a large file, then the other
    state.plan("put", None, *[reset] * 5)
    with pytest.raises(SalgenError, match=r"uploading data/1\.parquet.*: the connection broke.*run the same command"):
        push(small, at(address))
    first, second = (digest_of(small, f"data/{number}.parquet") for number in range(2))
    assert set(state.objects) == {first}
    assert state.files(NAME) == {}
    state.sent.clear()
    push(small, at(address))
    assert [oid for oid, _ in state.sent] == [second]
    assert state.files(NAME) == bytes_of(small)


@pytest.mark.parametrize("kind", ["preupload", "batch", "put", "validate", "commit"])
@pytest.mark.parametrize("fault", [(400, {"error": "no"}, {}), (500, {"error": "no"}, {}), reset])
def test_no_part_of_an_upload_is_visible(small, state, address, quick, kind, fault, tmp_path):
    push(small, at(address))
    before = state.files(NAME)
    changed = tmp_path / "changed"
    changed.mkdir()
    edition = edition_of(changed, 3)
    (changed / "0.parquet").write_bytes(b"other")
    edition.files["README.md"] = b"other"
    state.plan(kind, *[fault] * 9)
    with pytest.raises(SalgenError):
        push(edition, at(address))
    assert state.files(NAME) == before
    assert len(state.messages) == 1
    state.plans.clear()
    push(edition, at(address))
    assert state.files(NAME) == bytes_of(edition)


# Faults that stay


HINTS = {
    400: "",
    401: "/settings/tokens",
    402: "/settings/billing",
    403: f"its owner that to write to {NAME}",
    404: "is ORG/NAME right, and may the token see it?",
    409: "something else changes the repository",
    412: "something else changed the repository meanwhile",
    413: "it does not take files that large",
    418: "",
}


@pytest.mark.parametrize(
    ("kind", "status"), [*((kind, 403) for kind in KINDS), *(("commit", status) for status in HINTS), ("put", 413)]
)
def test_a_refusal_is_one_line_that_says_what_to_do(small, state, address, kind, status):
    waits = []
    state.plan(kind, *[(status, {"error": "so\nit is"}, {"X-Request-Id": "r"})] * 9)
    with pytest.raises(SalgenError) as caught:
        push(small, Repository(NAME, address, TOKEN, sleep=waits.append))
    text = str(caught.value)
    assert text.startswith(f"{address}: ")
    assert f"status {status} (so it is)" in text
    assert HINTS[status] in text
    assert len(text.splitlines()) == 1
    assert waits == []
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_one_who_may_write_but_not_create_can_update(small, state, address):
    push(small, at(address))
    state.repositories[NAME][-1]["README.md"] = b"old"
    state.seen.clear()
    push(small, at(address))
    assert "create" not in state.kinds()
    assert state.files(NAME) == bytes_of(small)


@pytest.mark.parametrize("kind", ["create", "info", "tree", "preupload", "batch", "commit"])
@pytest.mark.parametrize("answer", [b"<html>", [1], {"x": 1}, {"objects": [{"oid": 1}], "files": [{}]}, b"[" * 9999])
def test_what_is_not_a_hub(small, state, address, quick, kind, answer):
    state.plan(kind, *[(200, answer, {})] * 9)
    if kind == "tree" and answer == b"<html>":
        state.plan(kind, *[(200, b"", {})] * 9)
    with pytest.raises(SalgenError, match=r"is not one of a hub|is not what was uploaded|status 404") as caught:
        push(small, at(address))
    assert len(str(caught.value).splitlines()) == 1
    assert state.messages == [] or kind == "commit"


def test_metadata_that_the_hub_refuses(small, state, address):
    state.plan("validate", (400, {"errors": [{"message": '"license" must be one of'}]}, {}))
    with pytest.raises(SalgenError, match=r"committing: status 400 \(\"license\" must be one of\)"):
        push(small, at(address))
    assert state.messages == []


def test_what_the_hub_says_of_the_card_is_a_warning(small, state, address):
    state.plan("validate", (200, {"errors": [], "warnings": [{"message": f"odd {TOKEN}"}]}, {}))
    with pytest.warns(SalgenWarning, match=r"README\.md: - odd \[token\]$"):
        push(small, at(address))


def test_an_object_that_the_hub_refuses(small, state, address):
    def refuse(handler, size):
        handler.rfile.read(size)
        error = {"oid": "0" * 64, "size": 1, "error": {"code": 422, "message": "too odd"}}
        handler.reply(200, {"objects": [error]}, {})

    state.plan("batch", refuse)
    with pytest.raises(SalgenError, match="too odd"):
        push(small, at(address))


def test_a_hub_that_leaves_a_file_out_is_found_out(small, state, address):
    def leave_out(handler, size):
        state.repositories[NAME][-1].pop("SHA256SUMS", None)
        oid = hashlib.sha1(f"{NAME} 0".encode()).hexdigest()
        handler.rfile.read(size)
        handler.reply(200, {"commitUrl": f"{address}/datasets/{NAME}/commit/{oid}", "commitOid": oid}, {})

    state.plan("commit", leave_out)
    with pytest.raises(SalgenError, match=r"is not what was uploaded: README\.md differs"):
        push(small, at(address))


def test_a_large_file_is_not_read_into_memory_as_a_text(small, state, address, monkeypatch):
    monkeypatch.setattr(hub, "LARGEST_TEXT", 2000)
    monkeypatch.setattr("hub_server.is_large", lambda path: False)
    with pytest.raises(SalgenError, match=r"takes data/0\.parquet only as a text"):
        push(small, at(address))


def test_a_file_that_is_gone_or_changes_meanwhile(small, state, address, quick):
    gone = small.files["data/1.parquet"]

    def remove(handler, size):
        gone.unlink()

    kept = gone.read_bytes()
    state.plan("info", lambda handler, size: remove(handler, size) or reset(handler, size))
    with pytest.raises(SalgenError, match=r"1\.parquet cannot be read: No such file"):
        push(small, at(address))
    gone.write_bytes(kept)
    state.plan("batch", lambda handler, size: gone.write_bytes(b"short") and reset(handler, size))
    with pytest.raises(SalgenError, match=r"digest|changed while"):
        push(small, at(address))
    assert state.messages == []
    gone.unlink()
    with pytest.raises(SalgenError, match=r"data/1\.parquet cannot be uploaded: .*not a file"):
        push(small, at(address))


# The token


def test_the_token_goes_to_no_other_server(small, state):
    other = State()
    with serving(other) as elsewhere, serving(state) as found:
        for kind in ("create", "info", "tree", "preupload", "batch", "validate", "commit"):
            for status in (301, 302, 307, 308):
                state.plan(kind, (status, {}, {"Location": f"{elsewhere.address}/api/datasets/{NAME}"}))
                with pytest.raises(SalgenError, match="the token goes to no other place"):
                    push(small, at(found.address))
        link = {"Link": f'<{elsewhere.address}/api/datasets/{NAME}/tree/main>; rel="next"'}
        state.plan("tree", (200, [], link))
        with pytest.raises(SalgenError, match="the token goes to no other place"):
            push(small, at(found.address))
        state.objects.clear()
        ways = {"upload": {"href": f"{found.address}/lfs/{'0' * 64}"}, "verify": {"href": f"{elsewhere.address}/lfs"}}
        oid = digest_of(small, "data/0.parquet")
        state.plan("batch", (200, {"objects": [{"oid": oid, "size": 3003, "actions": ways}]}, {}))
        with pytest.raises(SalgenError, match="the token goes to no other place"):
            push(small, at(found.address))
    assert other.seen == []
    assert state.messages == []


@pytest.mark.filterwarnings("ignore::salgen.errors.SalgenWarning")
@pytest.mark.parametrize("status", [200, 401, 429])
@pytest.mark.parametrize("kind", [*KINDS])
def test_the_token_is_nowhere(tmp_path, state, address, capfd, caplog, quick, status, kind, small):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("huggingface_hub").propagate = True
    state.plan(kind, *[echo(status)] * 9)
    try:
        said = push(small, at(address))
    except SalgenError as error:
        said = f"{error} {error!r} {error.__suppress_context__ or error.__context__}"
    out, errors = capfd.readouterr()
    assert f"/api/datasets/{NAME}" in caplog.text or kind == "create"
    for text in (said, out, errors, caplog.text, repr(at(address)), *map(str, state.seen)):
        assert TOKEN not in text
    for name, data in contents(tmp_path).items():
        assert TOKEN.encode() not in data, name


def test_the_library_is_left_as_it_was(small, state, address):
    from huggingface_hub import constants
    from huggingface_hub.utils import _http, are_progress_bars_disabled

    def now():
        return (
            _http._GLOBAL_CLIENT_FACTORY,
            constants.HF_HUB_DISABLE_XET,
            constants.HF_HUB_DISABLE_TELEMETRY,
            are_progress_bars_disabled(),
            logging.getLogRecordFactory(),
        )

    before = now()
    push(small, at(address))
    state.plan("info", (400, {}, {}))
    with pytest.raises(SalgenError):
        push(small, at(address))
    assert now() == before


# The command


def run(arguments, capfd):
    status = main([str(argument) for argument in arguments])
    return status, *capfd.readouterr()


def test_the_command(tmp_path, folder, state, address, capfd, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    before = contents(tmp_path)
    status, text, errors = run(["publish", folder, *OPTIONS], capfd)
    page = f"{address}/datasets/{NAME}"
    assert status == 0
    assert text == f"{folder}: uploaded; a new repository is private: look at it and make it public at  {page}\n"
    assert re.fullmatch(rf"uploading to {NAME}: (\d+)/\1, [0-9.,]+ bytes/s", errors.splitlines()[-1])
    assert contents(tmp_path) == before
    with published(folder, **STATED) as edition:
        assert state.files(NAME) == bytes_of(edition)


def test_the_command_repeated_after_a_fault(folder, tmp_path, state, address, capfd, quick):
    secret = tmp_path / "token"
    secret.write_text(f"{TOKEN}\n")
    command = ["publish", folder, *OPTIONS, "--token-file", secret]
    state.plan("commit", *[(500, {"error": TOKEN}, {})] * 5)
    status, _, errors = run(command, capfd)
    assert status == 2
    assert errors.splitlines()[-1] == (
        f"error: {address}: committing: status 500 ([token]): run the same command again later"
    )
    sent = len(state.sent)
    assert run(command, capfd)[0] == 0
    assert len(state.sent) == sent


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["x.tar", "--to", "hf://a/b"], "hf:// takes the files themselves, and no archive is written: leave out x.tar"),
        (["--to", "hf://a"], "does not name a dataset repository: give hf://ORG/NAME"),
        (["--to", "hf://datasets/a/b"], "give hf://ORG/NAME"),
        (["--to", "hf://"], "give hf://ORG/NAME"),
        (["--to", "hf://a/b/"], "give hf://ORG/NAME"),
        (["--to", "hf://a/b c"], "give hf://ORG/NAME"),
        (["--to", "hf://a/-b"], "give hf://ORG/NAME"),
        (["--to", "hf://a/b--c"], "give hf://ORG/NAME"),
        (["--to", "hf://a/b..c"], "give hf://ORG/NAME"),
        (["--to", "hf://a/b.git"], "give hf://ORG/NAME"),
        (["--to", "hf://a/é"], "give hf://ORG/NAME"),
        (["--to", f"hf://a/{'b' * 97}"], "give hf://ORG/NAME"),
        (["--to", f"hf://{TOKEN}@a/b"], "give hf://ORG/NAME"),
        (["--to", "hf:a/b"], "--to 'hf' is not known"),
        (["--to", "hf://a/b"], "no token for the hub: set HF_TOKEN, or name a file"),
        (["--to", "hf://a/b", "--token-file", "nowhere"], "nowhere cannot be read: No such file"),
        (["--to", "hf://a/b", "--token-file", "empty"], "empty is empty"),
        (["--to", "hf://a/b", "--token-file", "two"], "not one word of visible characters"),
        (["--to", "zenodo:", "--token-file", "good"], "zenodo: takes an archive: say where to write it, as OUT"),
        ([], "say where to write the archive: salgen publish"),
    ],
)
def test_what_cannot_work_is_said_at_once(tmp_path, folder, state, address, capfd, monkeypatch, options, message):
    monkeypatch.chdir(tmp_path)
    for name, text in {"empty": " \n", "two": f"{TOKEN} {TOKEN}", "good": TOKEN}.items():
        (tmp_path / name).write_text(text)
    before = contents(tmp_path)
    capfd.readouterr()
    status, _, errors = run(["publish", folder, *OPTIONS[:4], *options], capfd)
    assert (status, len(errors.strip().splitlines())) == (2, 1)
    assert message in errors
    assert TOKEN not in errors
    assert contents(tmp_path) == before
    assert state.seen == []


@pytest.mark.parametrize(
    ("endpoint", "message"),
    [
        ("http://huggingface.co", "would send the token in the clear"),
        ("ftp://huggingface.co", "would send the token in the clear"),
        ("huggingface.co", "not an address of the form https://HOST"),
        ("https://", "not an address of the form https://HOST"),
        ("https://a:port", "not an address of the form https://HOST"),
        (f"https://me:{TOKEN}@huggingface.co", "not an address of the form https://HOST"),
        (f"https://huggingface.co?t={TOKEN}", "not an address of the form https://HOST"),
    ],
)
def test_the_hub_that_is_named_must_be_one(monkeypatch, endpoint, message):
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(SalgenError, match=message) as caught:
        repository("hf://a/b")
    assert TOKEN not in str(caught.value)


def test_hugging_face_is_the_hub_unless_another_is_named(monkeypatch):
    monkeypatch.delenv("HF_ENDPOINT", raising=False)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    found = repository("hf://some-org/my.set_1")
    assert (found.endpoint, found.page) == (
        "https://huggingface.co",
        "https://huggingface.co/datasets/some-org/my.set_1",
    )
    monkeypatch.setenv("HF_ENDPOINT", "https://hub.example.org/")
    assert repository("hf://a/b").endpoint == "https://hub.example.org"


def test_offline(small, address, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(SalgenError, match="HF_HUB_OFFLINE is set, so nothing can be uploaded: unset it"):
        push(small, at(address))


def test_without_the_library(small, folder, address, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.delitem(sys.modules, "salgen.datasets.publishing.hub_requests", raising=False)
    monkeypatch.setattr("salgen.datasets.publishing.hub_requests", None, raising=False)
    monkeypatch.delattr("salgen.datasets.publishing.hub_requests")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(SalgenError, match=r"needs huggingface_hub .*: pip install 'salgen\[hub\]'$"):
        upload(folder, f"hf://{NAME}", **STATED)


def test_nothing_is_imported_before_it_is_needed():
    code = (
        "import sys, salgen.cli.publish_command, salgen.datasets.publishing.hub\n"
        "assert not {'huggingface_hub', 'httpx2', 'pyarrow', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def started(code, *arguments, **variables):
    """A Python of its own, which knows nothing of a hub but this."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "XDG_"))}
    command, known = [sys.executable, "-c", code, *map(str, arguments)], {**clean, "HF_TOKEN": TOKEN, **variables}
    return subprocess.Popen(command, env=known, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def program(code, *arguments, **variables):
    """What such a Python prints."""
    running = started(code, *arguments, **variables)
    out, errors = running.communicate()
    assert running.returncode == 0, errors
    return out + errors


UPLOAD = """
import sys
from pathlib import Path
from salgen.datasets.metadata.release import Edition
from salgen.datasets.publishing.hub import push, repository
from salgen.datasets.metadata.publication_metadata import stated
files = {"README.md": b"x", "data/x.parquet": Path(sys.argv[1])}
push(Edition(files, "x", "X", "", [], "1.0.0", "n", stated("CC0-1.0", "2026-01-31")), repository("hf://a/b"))
"""


def test_nothing_is_written_in_the_users_home(tmp_path, state, address):
    path, home = tmp_path / "x.parquet", tmp_path / "home"
    path.write_bytes(bytes(3000))
    home.mkdir()
    result = program(UPLOAD, path, HOME=str(home), HF_ENDPOINT=address, HF_DEBUG="1")
    assert state.files("a/b") == {"README.md": b"x", "data/x.parquet": bytes(3000)}
    assert TOKEN not in result
    assert list(home.rglob("*")) == []
    assert "harnesses" not in state.kinds()


def test_an_upload_that_was_killed_goes_on(tmp_path, state, address):
    path = tmp_path / "x.parquet"
    path.write_bytes(bytes(3000))
    state.plan("commit", lambda handler, size: running.kill())
    running = started(UPLOAD, path, HOME=str(tmp_path), HF_ENDPOINT=address)
    running.communicate()
    assert running.returncode == -signal.SIGKILL
    assert state.files("a/b") == {}
    assert len(state.sent) == 1
    program(UPLOAD, path, HOME=str(tmp_path), HF_ENDPOINT=address)
    assert state.files("a/b") == {"README.md": b"x", "data/x.parquet": bytes(3000)}
    assert len(state.sent) == 1


# What a reader of the hub gets


def downloaded(state, folder):
    for name, data in state.files(NAME).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


@pytest.mark.parametrize("parameters", [{}, {"channels": 3}, {"bit_depth": 16}], ids=["grey", "colour", "deep"])
def test_what_arrived_loads_streams_and_shows_images_and_masks(tmp_path, state, address, monkeypatch, parameters):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    folder = made(tmp_path / "squares", parameters=parameters)
    upload(folder, f"hf://{NAME}", **STATED)
    out = downloaded(state, tmp_path / "out")
    loaded = datasets.load_dataset(str(out), split="train", cache_dir=str(tmp_path / "cache"))
    streamed = datasets.load_dataset(str(out), split="train", streaming=True)
    for rows in (loaded, streamed):
        assert {name for name, kind in rows.features.items() if kind == datasets.Image()} >= {"image", "mask", "twin"}
        assert rows.features["label"] == datasets.ClassLabel(names=["empty", "square"])
        assert [check_row(row, open_dataset(folder, "train")[number]) for number, row in enumerate(rows)] == [None] * 12


def check_row(row, here):
    levels = np.float32(255 if row["image"].mode in ("L", "RGB") else 65535)
    image = np.asarray(row["image"], dtype=np.float32).reshape(*row["image"].size[::-1], -1)
    np.testing.assert_array_equal(np.moveaxis(image, -1, 0) / levels, here["image"])
    np.testing.assert_array_equal(np.asarray(row["mask"]) > 0, here["mask"])
    assert set(np.unique(np.asarray(row["mask"]))) <= {0, 255} or row["mask"].mode == "1"
    assert row["label"] == here["label"]


def test_the_card_tells_the_viewer_which_columns_are_images(folder, state, address, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    upload(folder, f"hf://{NAME}", **STATED)
    head = yaml.safe_load(state.files(NAME)["README.md"].decode().split("---\n")[1])
    kinds = {feature["name"]: feature.get("dtype") for feature in head["dataset_info"]["features"]}
    assert {kinds[name] for name in ("image", "mask", "twin")} == {"image"}
    assert isinstance(kinds["label"], dict)
    paths = [file["path"] for file in head["configs"][0]["data_files"]]
    assert all(any(Path(name).match(path) for name in state.files(NAME)) for path in paths)


def test_a_set_without_pixels_shows_its_masks(tmp_path, state, address, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    copy = write_tiles(tmp_path / "copy", {"train": 7, "val": 2, "test": 3})
    folder = make("tiles", tmp_path / "tiles", source=str(copy), workers=1)
    upload(folder, f"hf://{NAME}", **STATED)
    out = downloaded(state, tmp_path / "out")
    loaded = datasets.load_dataset(str(out), split="train", cache_dir=str(tmp_path / "cache"))
    streamed = datasets.load_dataset(str(out), split="train", streaming=True)
    here = open_dataset(folder, "train")
    for rows in (loaded, streamed):
        assert all(rows.features[name] == datasets.Image() for name in ("image", "mask", "twin"))
        seen = 0
        for number, row in enumerate(rows):
            assert row["image"] is None
            np.testing.assert_array_equal(np.asarray(row["mask"]) > 0, here[number]["mask"])
            seen += 1
        assert seen == len(here)


STREAM = """
import sys
import datasets
import httpx2
import numpy as np
rows = datasets.load_dataset(sys.argv[1], split="train", streaming=True)
assert rows.features["image"] == rows.features["mask"] == rows.features["twin"] == datasets.Image(), rows.features
found = list(rows)
images, masks = ([np.asarray(row[name]) for row in found] for name in ("image", "mask"))
np.savez(sys.argv[2], images=images, masks=masks, labels=[row["label"] for row in found])
"""


def test_a_reader_streams_from_the_hub_without_salgen(tmp_path, folder, state, address, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    upload(folder, f"hf://{NAME}", **STATED)
    state.seen.clear()
    program(STREAM, NAME, tmp_path / "x.npz", HF_ENDPOINT=address, HF_HOME=str(tmp_path), HF_HUB_DISABLE_XET="1")
    here = open_dataset(folder, "train")
    with np.load(tmp_path / "x.npz") as found:
        np.testing.assert_array_equal(found["images"] / np.float32(255), [here[n]["image"][0] for n in range(12)])
        np.testing.assert_array_equal(found["masks"] > 0, [here[n]["mask"] for n in range(12)])
        assert found["labels"].tolist() == [here[n]["label"] for n in range(12)]
    read = {path.rpartition("/")[2] for kind, command, path in state.seen if (kind, command) == ("file", "GET")}
    assert {name for name in read if name.endswith(".parquet")} == {
        Path(name).name for name in state.files(NAME) if "train" in name
    }
