"""Drafts on a Zenodo: a local server speaks what is called, and fails in the ways in which servers do."""

from __future__ import annotations

import hashlib
import json
import logging
import re
import socket
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from broken_connections import reset
from made_datasets import contents, made

from salgen.cli.main import main
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.metadata.publication_metadata import LICENCES
from salgen.datasets.publishing import retries, zenodo, zenodo_requests
from salgen.datasets.publishing.zenodo import deposit, metadata, server
from salgen.datasets.publishing.zenodo_requests import Server
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.publishing.publishing import edition, publish

TOKEN = "s3cr3t/T0ken+that=nobody.may_see"
STATED = {"licence": "CC-BY-4.0", "date": "2026-01-31"}
OPTIONS = ["--license", "CC-BY-4.0", "--date", "2026-01-31"]


class Handler(BaseHTTPRequestHandler):
    """Depositions as Zenodo has them: first what the test planned for a request, then the usual answer."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.answer()

    do_PUT = do_POST  # noqa: N815

    def answer(self):
        state, size = self.server.state, int(self.headers["Content-Length"] or 0)
        state.seen.append((self.command, self.path))
        state.headers.append(dict(self.headers))
        plan = state.plans.get((self.command, self.kind()), [])
        fault = plan.pop(0) if plan else None
        if callable(fault):
            fault = fault(self, size)
            if fault is None:
                return
        body = self.rfile.read(size)
        if len(body) < size:
            self.close_connection = True
            return
        self.reply(*(fault or self.usual(body)))

    def kind(self):
        return "file" if "/api/files/" in self.path else "metadata" if self.command == "PUT" else "create"

    def usual(self, body):
        state, address = self.server.state, self.server.address
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            return 401, {"status": 401, "message": "Unauthorized"}, {}
        if (self.command, self.path) == ("POST", "/api/deposit/depositions") and json.loads(body) == {}:
            links = {"bucket": f"{address}/api/files/b-1", "html": f"{address}/deposit/7"}
            return 201, {"id": 7, "links": {**links, **state.links}, "metadata": {}, "submitted": False}, {}
        if self.command == "PUT" and self.path.startswith("/api/files/b-1/"):
            state.files[self.path.rpartition("/")[2]] = body
            return 201, {"checksum": f"md5:{hashlib.md5(body).hexdigest()}", "size": len(body)}, {}
        if (self.command, self.path) == ("PUT", "/api/deposit/depositions/7"):
            state.metadata = json.loads(body)["metadata"]
            return 200, {"id": 7, "submitted": False}, {}
        return 404, {"status": 404, "message": "PID does not exist."}, {}

    def reply(self, status, value, headers):
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, text)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


class State:
    def __init__(self):
        self.seen, self.headers, self.files, self.metadata = [], [], {}, None
        self.plans, self.links, self.waits = {}, {}, []

    def plan(self, command, kind, *faults):
        self.plans[command, kind] = list(faults)


@contextmanager
def serving(state):
    found = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.handle_error = lambda *_: None  # a client that hung up
    found.state, found.address = state, f"http://127.0.0.1:{found.server_port}"
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield found
    finally:
        found.shutdown()
        thread.join()
        found.server_close()


@pytest.fixture
def state(monkeypatch):
    monkeypatch.delenv("ZENODO_TOKEN", raising=False)
    return State()


@pytest.fixture
def address(state):
    with serving(state) as found:
        yield found.address


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A file of more than one piece, with its digest beside it."""
    path = tmp_path_factory.mktemp("zenodo") / "of squares.tar"
    path.write_bytes(bytes(range(256)) * (1 << 13) + b"end")
    path.with_name(f"{path.name}.sha256").write_text("a digest\n")
    return path


def at(address, state, **changes):
    return Server(address, TOKEN, **{"timeout": 10.0, "sleep": state.waits.append, **changes})


def refuse_and_reset(handler, size):
    """Answer without reading, and hang up with a reset."""
    handler.reply(413, {"message": "too large"}, {})
    reset(handler, 0)


def echo(status):
    """An error that repeats all headers of the request, as a careless server would."""

    def fault(handler, size):
        said = json.dumps(dict(handler.headers))
        errors = [{"field": "headers", "messages": [said]}, {"field": f"Bearer {TOKEN}", "message": said}]
        return status, {"message": f"bad request: {said}", "errors": errors}, {"X-Echo": TOKEN}

    return fault


def wrong(handler, size):
    return 201, {"checksum": "md5:" + "0" * 32}, {}


# What arrives


def test_a_draft_has_the_archive_its_digest_and_the_metadata(tmp_path, folder, state, address):
    with edition(folder, creators=["A. Person", "B, C"], **STATED) as found:
        out, page = deposit(found, tmp_path / "x.tar", at(address, state))
    assert page == f"{address}/deposit/7"
    assert state.files == {"x.tar": out.read_bytes(), "x.tar.sha256": (tmp_path / "x.tar.sha256").read_bytes()}
    assert state.seen == [
        ("POST", "/api/deposit/depositions"),
        ("PUT", "/api/files/b-1/x.tar"),
        ("PUT", "/api/files/b-1/x.tar.sha256"),
        ("PUT", "/api/deposit/depositions/7"),
    ]
    fingerprint = read_manifest(folder).spec.fingerprint
    description = state.metadata.pop("description")
    assert state.metadata == {
        "title": "squares (a data set made by salgen)",
        "upload_type": "dataset",
        "creators": [{"name": "A. Person"}, {"name": "B, C"}],
        "license": "cc-by-4.0",
        "publication_date": "2026-01-31",
        "version": "1.0.0",
        "keywords": ["saliency", "explainability", "counterfactual", "synthetic", "salgen"],
        "notes": f"Fingerprint (SHA-256 of the data set's description): {fingerprint}",
    }
    assert "<h2>What it is for</h2>" in description
    assert f"<code>{fingerprint}</code>" in description
    assert (
        "<strong>Image and twin are equal, bit for bit, everywhere outside <code>mask</code>.</strong>" in description
    )


def test_the_bytes_go_as_one_stream_of_known_length_with_the_token_in_a_header(archive, state, address):
    at(address, state).upload(f"{address}/api/files/b-1", archive)
    assert state.files == {"of%20squares.tar": archive.read_bytes()}
    assert state.headers[0]["Content-Length"] == str(archive.stat().st_size)
    assert "Transfer-Encoding" not in state.headers[0]
    assert state.headers[0]["Authorization"] == f"Bearer {TOKEN}"
    assert not any(TOKEN in path for _, path in state.seen)


def test_a_file_is_read_in_pieces(archive, state, address, monkeypatch):
    sizes, usual = [], zenodo_requests._pieces

    def watched(*arguments):
        for piece in usual(*arguments):
            sizes.append(len(piece))
            yield piece

    monkeypatch.setattr(zenodo_requests, "_pieces", watched)
    at(address, state).upload(f"{address}/api/files/b-1", archive)
    assert sizes == [1 << 20, 1 << 20, 3]


@pytest.mark.parametrize("licence", [*LICENCES, "LicenseRef-Own", "https://example.org/terms"])
def test_a_licence_without_a_name_at_zenodo_is_not_replaced_by_another(folder, licence):
    with edition(folder, licence=licence, date="2026-01-31") as found:
        if licence in LICENCES:
            assert metadata(found)["license"] == licence.lower()
            return
        with pytest.warns(SalgenWarning, match=re.escape(licence)):
            values = metadata(found)
    assert "license" not in values
    assert values["notes"].endswith(f"Licence: {licence}")


def test_the_description_is_sound_html():
    class Parser(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.text = [], []

        def handle_starttag(self, tag, attrs):
            assert attrs == []
            self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_data(self, data):
            self.text.append(data)

    card = "---\na: b\n---\n\n# x\n\nOf <b> & `c < d`, **e**.\n\nNotes\n-----\n\n- one\n  more\n- two\n\n    f **g**\n"
    found = zenodo._as_html(card + "\n## Splits and labels\n\nnever")
    parser = Parser()
    parser.feed(found)
    parser.close()
    assert parser.open == []
    assert " ".join(" ".join(parser.text).split()) == "Of <b> & c < d , e . Notes one more two f **g**"


# Faults that pass


@pytest.mark.parametrize(("command", "kind"), [("POST", "create"), ("PUT", "file"), ("PUT", "metadata")])
def test_500_twice_and_then_all_is_well(archive, state, address, command, kind):
    state.plan(command, kind, (500, b"<html>oops", {}), (503, {"message": "busy"}, {}))
    assert zenodo._uploaded(archive, {"title": "x"}, at(address, state)) == f"{address}/deposit/7"
    assert state.waits == [1.0, 2.0]
    assert state.files["of%20squares.tar"] == archive.read_bytes()
    assert state.metadata == {"title": "x"}


def test_it_waits_as_long_as_it_is_asked_to(archive, state, address):
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    state.plan("PUT", "file", *[(429, {}, {"Retry-After": asked}) for asked in ("17", soon, "soon", "0")])
    at(address, state).upload(f"{address}/api/files/b-1", archive)
    assert len(state.waits) == 4
    assert (state.waits[0], state.waits[2], state.waits[3]) == (17.0, 4.0, 0.0)
    assert 0 < state.waits[1] <= 100


def test_it_does_not_wait_for_a_day(archive, state, address):
    state.plan("PUT", "file", (429, {}, {"Retry-After": "86400"}))
    with pytest.raises(SalgenError, match="asks to wait 86400 s"):
        at(address, state).upload(f"{address}/api/files/b-1", archive)
    assert state.waits == []


def test_a_connection_that_breaks_in_the_middle_starts_the_file_again(archive, state, address):
    state.plan("PUT", "file", reset, reset)
    at(address, state).upload(f"{address}/api/files/b-1", archive)
    assert state.files == {"of%20squares.tar": archive.read_bytes()}
    assert [path for _, path in state.seen] == ["/api/files/b-1/of%20squares.tar"] * 3
    assert state.waits == [1.0, 2.0]


def test_what_arrived_altered_is_sent_again(archive, state, address):
    state.plan("PUT", "file", wrong, lambda handler, size: (201, {"no": "checksum"}, {}))
    at(address, state).upload(f"{address}/api/files/b-1", archive)
    assert state.files == {"of%20squares.tar": archive.read_bytes()}
    assert state.waits == [1.0, 2.0]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ((500, {"message": "down"}, {}), r"status 500 \(down\)"),
        (reset, "the connection broke"),
        (wrong, "arrived with checksum md5:0000"),
    ],
)
def test_after_five_tries_it_gives_up_and_names_the_draft(archive, state, address, fault, message):
    state.plan("PUT", "file", *[fault] * 9)
    with pytest.raises(SalgenError, match=message) as caught:
        zenodo._uploaded(archive, {}, at(address, state))
    assert len(state.plans["PUT", "file"]) == 4
    assert state.waits == [1.0, 2.0, 4.0, 8.0]
    assert f"the draft {address}/deposit/7 is not complete" in str(caught.value)
    assert state.metadata is None


def test_a_server_that_does_not_answer_in_time(archive, state, address):
    ready = threading.Event()

    def slow(handler, size):
        ready.wait(30)

    state.plan("PUT", "file", slow)
    try:
        at(address, state, timeout=0.3).upload(f"{address}/api/files/b-1", archive)
    finally:
        ready.set()
    assert state.waits == [1.0]
    assert state.files == {"of%20squares.tar": archive.read_bytes()}


def test_no_server(state):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        with pytest.raises(SalgenError, match="the connection broke"):
            at(f"http://127.0.0.1:{port}", state).send("POST", "/api/deposit/depositions", {})
    assert len(state.waits) == 4


# Faults that stay


@pytest.mark.parametrize("status", [401, 403])
def test_a_token_without_the_scope(archive, state, address, status):
    state.plan("POST", "create", (status, {"message": "no"}, {}))
    with pytest.raises(SalgenError, match="with the scope deposit:write"):
        zenodo._uploaded(archive, {}, at(address, state))
    assert (len(state.seen), state.waits) == (1, [])


def test_what_zenodo_says_is_said_in_one_line(archive, state, address):
    errors = [{"field": "metadata.title", "message": "Too\nshort."}, {"field": "x", "messages": ["Bad"]}, "odd"]
    state.plan("PUT", "metadata", (400, {"message": "Validation error.", "errors": errors}, {}))
    with pytest.raises(SalgenError) as caught:
        zenodo._uploaded(archive, {}, at(address, state))
    said = "status 400 (Validation error.; metadata.title: Too short.; x: ['Bad'])"
    assert f"{address}: PUT /api/deposit/depositions/7: {said} (the draft" in str(caught.value)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((404, {"message": "PID does not exist."}, {}), r"status 404 \(PID does not exist\.\)$"),
        ((404, b"<html>", {}), "status 404$"),
        ((200, b"<html>", {}), "is not one of Zenodo's"),
        ((200, [1], {}), "is not one of Zenodo's"),
        ((200, b"[" * 100_000, {}), "is not one of Zenodo's"),
        ((201, {"id": 7}, {}), "names no draft"),
        ((201, {"id": "7/../8", "links": {"bucket": "x"}}, {}), "names no draft"),
    ],
)
def test_what_is_not_a_zenodo(archive, state, address, answer, message):
    state.plan("POST", "create", answer)
    with pytest.raises(SalgenError, match=message):
        zenodo._uploaded(archive, {}, at(address, state))
    assert len(state.seen) == 1


def test_the_token_goes_to_no_other_server(archive, state, address):
    other = State()
    with serving(other) as found:
        for status in (301, 302, 307, 308):
            state.plan("POST", "create", (status, {}, {"Location": f"{found.address}/api/deposit/depositions"}))
            with pytest.raises(SalgenError, match="the token is not sent on"):
                at(address, state).send("POST", "/api/deposit/depositions", {})
        for bucket in (f"{found.address}/api/files/b-1", f"{address}@{found.address[7:]}/x", f"{address}/a?b", "/a"):
            state.links = {"bucket": bucket}
            with pytest.raises(SalgenError, match="the token goes to no other place"):
                zenodo._uploaded(archive, {}, at(address, state))
    assert other.seen == []


@pytest.mark.parametrize("announced", [50, 200])
def test_a_file_that_changes_meanwhile(tmp_path, state, address, monkeypatch, announced):
    path = tmp_path / "x.tar"
    path.write_bytes(bytes(100))
    monkeypatch.setattr(zenodo_requests.Path, "stat", lambda self, **_: type("S", (), {"st_size": announced}))
    with pytest.raises(SalgenError, match="changed while it was sent"):
        at(address, state).upload(f"{address}/api/files/b-1", path)
    assert state.files == {}
    assert state.waits == []


def test_a_refusal_that_comes_before_the_file_was_read_is_understood(archive, state, address):
    state.plan("PUT", "file", refuse_and_reset)
    with pytest.raises(SalgenError, match=r"status 413 \(too large\)"):
        at(address, state).upload(f"{address}/api/files/b-1", archive)
    assert state.waits == []


# The command


def run(arguments, capsys):
    status = main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(retries, "BACKOFF_S", (0.0,) * 4)


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".zip"])
def test_a_failed_upload_is_repeated_without_writing_again(
    tmp_path, folder, state, address, capsys, monkeypatch, quick, suffix
):
    monkeypatch.setenv("ZENODO_TOKEN", TOKEN)
    out = tmp_path / f"x{suffix}"
    command = ["publish", folder, out, *OPTIONS, "--to", f"zenodo:{address}/"]
    state.plan("PUT", "file", *[(500, {}, {})] * 5)
    assert run(command, capsys)[0] == 2
    before, data = out.stat(), out.read_bytes()
    status, text, _ = run(command, capsys)
    assert status == 0
    assert text == f"{out}: uploaded as a draft, not published; look at it and publish it at  {address}/deposit/7\n"
    assert (out.stat().st_ino, out.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert state.files[out.name] == data


@pytest.mark.parametrize("change", ["bytes", "digest", "statements", "data set"])
def test_an_archive_that_is_there_must_be_what_would_be_written(tmp_path, folder, state, address, change):
    out, given = publish(folder, tmp_path / "x.tar", **STATED), dict(STATED)
    if change == "bytes":
        data = bytearray(out.read_bytes())
        data[-1] ^= 1
        out.write_bytes(data)
    elif change == "digest":
        (tmp_path / "x.tar.sha256").unlink()
    elif change == "statements":
        given["licence"] = "LicenseRef-Other"
    else:
        folder = made(tmp_path / "other", seed=1)
    before = contents(tmp_path)
    with edition(folder, **given) as found, pytest.raises(SalgenError, match=r"x\.tar is there already") as caught:
        deposit(found, out, at(address, state))
    assert "remove it" in str(caught.value)
    assert state.seen == []
    assert contents(tmp_path) == before


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
@pytest.mark.parametrize("kind", ["create", "file", "metadata"])
def test_the_token_is_nowhere(tmp_path, archive, folder, state, address, capfd, caplog, quick, status, kind, request):
    caplog.set_level(logging.DEBUG)
    secret = request.getfixturevalue("tmp_path_factory").mktemp("secret") / "token"
    secret.write_text(f"{TOKEN}\n")
    state.plan("POST" if kind == "create" else "PUT", kind, *[echo(status)] * 9)
    command = ["publish", folder, tmp_path / "x.tar", *OPTIONS, "--to", f"zenodo:{address}", "--token-file", secret]
    assert main([str(argument) for argument in command]) == 2
    out, errors = capfd.readouterr()
    assert f"status {status}" in errors
    assert "[token]" in errors
    assert len(errors.rstrip().partition("error: ")[2].splitlines()) == 1
    for text in (out, errors, caplog.text, *map(str, state.seen)):
        assert TOKEN not in text
    for name, data in contents(tmp_path).items():
        assert TOKEN.encode() not in data, name


def test_the_token_is_in_no_traceback_and_no_representation(state, address):
    state.plan("POST", "create", echo(400))
    with pytest.raises(SalgenError) as caught:
        at(address, state).send("POST", "/api/deposit/depositions", {})
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert TOKEN not in f"{caught.value!r} {at(address, state)!r}"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--to", "figshare:"], "--to 'figshare' is not known: give zenodo: (Zenodo's sandbox) or zenodo:https://"),
        (["--to", "https://zenodo.org"], "--to 'https' is not known"),
        (["--to", "zenodo:"], "no token for Zenodo: set ZENODO_TOKEN"),
        (["--to", "zenodo:", "--token-file", "nowhere"], "nowhere cannot be read: No such file"),
        (["--to", "zenodo:", "--token-file", "empty"], "empty is empty"),
        (["--to", "zenodo:", "--token-file", "two"], "not one word of visible characters"),
        (["--to", "zenodo:http://zenodo.org", "--token-file", "good"], "would send the token in the clear"),
        (["--to", "zenodo:ftp://zenodo.org", "--token-file", "good"], "would send the token in the clear"),
        (["--to", "zenodo:https://zenodo.org/api", "--token-file", "good"], "not an address of the form https://HOST"),
        (["--to", f"zenodo:https://a:{TOKEN}@b", "--token-file", "good"], "not an address of the form https://HOST"),
        (["--to", f"zenodo:https://a?t={TOKEN}", "--token-file", "good"], "not an address of the form https://HOST"),
        (["--to", "zenodo:https://a:port", "--token-file", "good"], "not an address of the form https://HOST"),
        (["--to", "zenodo:sandbox", "--token-file", "good"], "not an address of the form https://HOST"),
        (["--token-file", "good"], "--token-file is for an upload"),
    ],
)
def test_what_cannot_work_is_said_before_anything_is_written(
    tmp_path, folder, state, capsys, monkeypatch, options, message
):
    monkeypatch.chdir(tmp_path)
    for name, text in {"empty": " \n", "two": f"{TOKEN} {TOKEN}", "good": TOKEN}.items():
        (tmp_path / name).write_text(text)
    capsys.readouterr()
    status, _, errors = run(["publish", folder, "x.tar", *OPTIONS, *options], capsys)
    assert status == 2
    assert message in errors
    assert TOKEN not in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (tmp_path / "x.tar").exists()


def test_the_sandbox_is_where_it_goes_unless_another_is_named(state, monkeypatch):
    monkeypatch.setenv("ZENODO_TOKEN", TOKEN)
    found = server("zenodo:")
    assert (found.address, found.timeout) == ("https://sandbox.zenodo.org", 60.0)
    assert server("zenodo:https://zenodo.org").address == "https://zenodo.org"
