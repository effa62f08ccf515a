import hashlib
import json
import logging
import re
import sys
import threading
import local_server
import pytest
from local_server import reset
from made_datasets import STATED, contents, made
from salgen.cli.main import main
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.metadata.publication_metadata import LICENSES, Release, stated
from salgen.datasets.publishing import zenodo
from salgen.datasets.publishing.zenodo import Server, deposit, metadata, server
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.publishing.publishing import open_release, publish, upload

TOKEN = "s3cr3t/T0ken+that=nobody.may_see"
OPTIONS = ["--license", "CC-BY-4.0", "--date", "2026-01-31"]
KINDS = ["create", "file", "metadata"]


class Handler(local_server.Handler):
    """Depositions as Zenodo has them."""

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


class State(local_server.State):
    def __init__(self):
        super().__init__()
        self.files, self.metadata, self.links = {}, None, {}


@pytest.fixture
def state(monkeypatch):
    monkeypatch.delenv("ZENODO_TOKEN", raising=False)
    return State()


@pytest.fixture
def address(state):
    with local_server.serving(Handler, state) as found:
        yield found.address


@pytest.fixture(scope="module")
def archive(tmp_path_factory):
    """A file with its digest beside it."""
    path = tmp_path_factory.mktemp("zenodo") / "of squares.tar"
    path.write_bytes(bytes(range(256)) * (1 << 13) + b"end")
    path.with_name(f"{path.name}.sha256").write_text("a digest\n")
    return path


def sent(archive, address):
    return zenodo._upload(archive, {"title": "x"}, Server(address, TOKEN))


def echo(status):
    """An error that repeats all headers of the request, as a careless server would."""

    def fault(handler, size):
        said = json.dumps(dict(handler.headers))
        errors = [{"field": "headers", "messages": [said]}, {"field": f"Bearer {TOKEN}", "message": said}]
        return status, {"message": f"bad request: {said}", "errors": errors}, {"X-Echo": TOKEN}

    return fault


def test_a_draft_has_the_archive_its_digest_and_the_metadata(tmp_path, folder, state, address):
    with open_release(folder, creators=["A. Person", "B, C"], **STATED) as found:
        out, page = deposit(found, tmp_path / "x.tar", Server(address, TOKEN))
    assert page == f"{address}/deposit/7"
    assert state.files == {"x.tar": out.read_bytes(), "x.tar.sha256": (tmp_path / "x.tar.sha256").read_bytes()}
    assert state.seen == [
        ("create", "POST", "/api/deposit/depositions"),
        ("file", "PUT", "/api/files/b-1/x.tar"),
        ("file", "PUT", "/api/files/b-1/x.tar.sha256"),
        ("metadata", "PUT", "/api/deposit/depositions/7"),
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
    law = "<strong>Image and twin are equal, bit for bit, everywhere outside <code>mask</code>.</strong>"
    assert law in description
    assert "squares</h1>" not in description
    assert "Splits and labels" not in description


def test_the_bytes_go_as_one_stream_of_known_length_with_the_token_in_a_header(
    archive, state, address, tmp_path, monkeypatch
):
    netrc = tmp_path / "netrc"  # must not replace the token
    netrc.write_text("machine 127.0.0.1 login me password mine\n")
    monkeypatch.setenv("NETRC", str(netrc))
    sent(archive, address)
    assert state.files["of%20squares.tar"] == archive.read_bytes()
    assert state.headers[1]["Content-Length"] == str(archive.stat().st_size)
    assert "Transfer-Encoding" not in state.headers[1]
    assert {headers["Authorization"] for headers in state.headers} == {f"Bearer {TOKEN}"}
    assert not any(TOKEN in path for _, _, path in state.seen)


@pytest.mark.parametrize("license", [*LICENSES, "LicenseRef-Own", "https://example.org/terms"])
def test_a_license_without_a_name_at_zenodo_is_not_replaced_by_another(folder, license):
    with open_release(folder, license=license, date="2026-01-31") as found:
        if license in LICENSES:
            assert metadata(found)["license"] == license.lower()
            return
        with pytest.warns(SalgenWarning, match=re.escape(license)):
            values = metadata(found)
    assert "license" not in values
    assert values["notes"].endswith(f"License: {license}")


def test_the_description_is_the_cards_first_part_as_html():
    told = "Of <b> & `c < d`.\n\n- one\n- two\n\n| a |\n| - |\n| 1 |"
    card = f"---\na: b\n---\n\n# x\n\n{told}\n\n## Splits and labels\n\nno"
    found = Release({}, "x", "X", card, [], "1.0.0", "n", stated(**STATED))
    assert "".join(metadata(found)["description"].split("\n")) == (
        "<p>Of &lt;b&gt; &amp; <code>c &lt; d</code>.</p><ul><li>one</li><li>two</li></ul>"
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>"
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", [(500, b"<html>oops", {}), (429, {}, {}), reset])
def test_what_fails_and_may_pass_is_tried_again(archive, state, address, waits, kind, fault):
    state.plan(kind, fault, fault)
    assert sent(archive, address) == f"{address}/deposit/7"
    assert waits == [2.0]
    assert state.files["of%20squares.tar"] == archive.read_bytes()
    assert state.metadata == {"title": "x"}


def test_it_waits_as_long_as_it_is_asked_to(archive, state, address, waits):
    state.plan("file", (429, {}, {"Retry-After": "17"}))
    sent(archive, address)
    assert waits == [17]


@pytest.mark.parametrize(
    ("fault", "message"), [((500, {"message": "down"}, {}), 'status 500: {"message": "down"}'), (reset, "again later")]
)
def test_after_five_attempts_it_gives_up_and_names_the_draft(archive, state, address, waits, fault, message):
    state.plan("file", *[fault] * 9)
    with pytest.raises(SalgenError, match=message) as caught:
        sent(archive, address)
    assert len(state.plans["file"]) == 4
    assert waits == [2.0, 4.0, 8.0]
    assert f"the draft {address}/deposit/7 is incomplete" in str(caught.value)
    assert state.metadata is None


def test_a_server_that_does_not_answer_in_time(archive, state, address, waits, monkeypatch):
    ready = threading.Event()
    monkeypatch.setattr(zenodo, "TIMEOUT_S", 0.3)
    state.plan("file", lambda handler, size: ready.wait(30) and None)
    try:
        sent(archive, address)
    finally:
        ready.set()
    assert state.files["of%20squares.tar"] == archive.read_bytes()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((400, {"message": "Too\nshort."}, {}), r"status 400: .*Too\\nshort\."),
        ((401, {"message": "no"}, {}), "with the scope deposit:write"),
        ((403, {"message": "no"}, {}), "with the scope deposit:write"),
        ((404, b"<html>", {}), "status 404$"),
        ((307, b"", {"Location": "https://example.org"}), "status 307$"),
        ((200, b"<html>", {}), "Expecting value"),
        ((200, [1], {}), "names no draft"),
        ((201, {"id": 7}, {}), "names no draft"),
        ((201, {"id": "7/../8", "links": {"html": "x", "bucket": "x"}}, {}), "names no draft"),
    ],
)
def test_what_is_not_a_zenodo(archive, state, address, answer, message):
    state.plan("create", answer)
    with pytest.raises(SalgenError, match=f"^{re.escape(address)}.*{message}"):
        sent(archive, address)
    assert len(state.seen) == 1


def test_the_token_goes_to_no_other_server(archive, state, address):
    for bucket in ("http://127.0.0.1:9/api/files/b-1", f"{address}@127.0.0.1:9/x"):
        state.links = {"bucket": bucket}
        with pytest.raises(SalgenError, match="the token is not sent to another server"):
            sent(archive, address)
    assert set(state.kinds()) == {"create"}


def run(arguments, capsys):
    status = main([str(argument) for argument in arguments])
    return status, *capsys.readouterr()


@pytest.mark.parametrize("suffix", [".tar", ".tar.gz", ".zip"])
def test_a_failed_upload_is_repeated_without_writing_again(
    tmp_path, folder, state, address, capsys, monkeypatch, suffix
):
    monkeypatch.setenv("ZENODO_TOKEN", TOKEN)
    out = tmp_path / f"x{suffix}"
    command = ["publish", folder, out, *OPTIONS, "--to", f"zenodo:{address}/"]
    state.plan("file", (400, {}, {}))
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
        given["license"] = "LicenseRef-Other"
    else:
        folder = made(tmp_path / "other", seed=1)
    before = contents(tmp_path)
    with open_release(folder, **given) as found, pytest.raises(SalgenError, match=r"x\.tar already exists") as caught:
        deposit(found, out, Server(address, TOKEN))
    assert "remove it" in str(caught.value)
    assert state.seen == []
    assert contents(tmp_path) == before


@pytest.mark.parametrize("status", [400, 401, 404, 500])
@pytest.mark.parametrize("kind", KINDS)
def test_the_token_is_nowhere(tmp_path, folder, state, address, capfd, caplog, waits, status, kind, request):
    caplog.set_level(logging.DEBUG, "urllib3")
    secret = request.getfixturevalue("tmp_path_factory").mktemp("secret") / "token"
    secret.write_text(f"{TOKEN}\n")
    state.plan(kind, *[echo(status)] * 9)
    arguments = ["publish", folder, tmp_path / "x.tar", *OPTIONS, "--to", f"zenodo:{address}", "--token-file", secret]
    assert main([str(argument) for argument in arguments]) == 2
    out, errors = capfd.readouterr()
    assert f"status {status}" in errors
    assert "[token]" in errors
    assert len(errors.rstrip().partition("error: ")[2].splitlines()) == 1
    for text in (out, errors, caplog.text, repr(Server(address, TOKEN)), *map(str, state.seen)):
        assert TOKEN not in text
    for name, data in contents(tmp_path).items():
        assert TOKEN.encode() not in data, name


def test_the_sandbox_is_where_it_goes_unless_another_is_named(state, monkeypatch):
    monkeypatch.setenv("ZENODO_TOKEN", TOKEN)
    assert server("zenodo:") == Server("https://sandbox.zenodo.org", TOKEN)
    assert server("zenodo:https://zenodo.org").address == "https://zenodo.org"


@pytest.mark.parametrize("library", ["requests", "markdown_it"])
def test_without_the_libraries(tmp_path, folder, state, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(SalgenError, match=rf"needs {library}: pip install '\.\[zenodo\]' in a clone of salgen$"):
        upload(folder, "zenodo:", tmp_path / "x.tar", **STATED)
    assert not (tmp_path / "x.tar").exists()
