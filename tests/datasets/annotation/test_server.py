"""What the server takes and refuses, by requests that no browser would send."""

import http.client
import platform
import sys
import numpy as np
import pytest
from drawing_pages import ITEMS
from own_image_files import H, W
from salgen.cli.main import main

BITS = np.packbits(np.eye(H, W, dtype=bool)).tobytes()


def ask(server, method, path, body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request(method, path, body, {"Host": f"127.0.0.1:{server.port}", **headers})
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer, content


def own(server, **headers):
    return {"Origin": server.url.rstrip("/"), "If-Match": "*", **headers}


def test_a_mask_is_written_read_and_told_apart(server):
    answer, content = ask(server, "GET", "/masks/rob/0")
    assert (answer.status, content, answer.headers["ETag"]) == (200, b"", '"none"')
    answer, _ = ask(server, "PUT", "/masks/rob/0", BITS, **own(server, **{"If-Match": '"none"'}))
    assert answer.status == 204
    assert np.array_equal(server.masks.read("rob", ITEMS[0]), np.eye(H, W, dtype=bool))
    again, content = ask(server, "GET", "/masks/rob/0")
    assert (content, again.headers["ETag"]) == (BITS, answer.headers["ETag"])
    same, _ = ask(server, "PUT", "/masks/rob/0", BITS, **own(server, **{"If-Match": '"none"'}))
    assert same.status == 204  # the answer to it was lost
    other, _ = ask(server, "PUT", "/masks/rob/0", bytes(70), **own(server, **{"If-Match": '"none"'}))
    assert other.status == 412
    assert np.array_equal(server.masks.read("rob", ITEMS[0]), np.eye(H, W, dtype=bool))


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://elsewhere.example"}, {"Origin": "null"}, {"Origin": "http://localhost:1"}, {}]
)
@pytest.mark.parametrize(("method", "path"), [("PUT", "/masks/mallory/0"), ("POST", "/finish")])
def test_writing_asks_for_the_servers_own_origin(server, method, path, headers):
    answer, _ = ask(server, method, path, BITS, **{"If-Match": "*"}, **headers)
    assert answer.status == 403
    assert "mallory" not in server.masks.annotators


def test_another_name_of_the_host_is_refused(server):
    for path in ("/", "/state/rob", "/images/0"):
        assert ask(server, "GET", path, Host=f"rebound.example:{server.port}")[0].status == 400
    rebound = {"Host": f"rebound.example:{server.port}", "Origin": f"http://rebound.example:{server.port}"}
    assert ask(server, "PUT", "/masks/mallory/0", BITS, **{"If-Match": "*"}, **rebound)[0].status == 400
    assert ask(server, "GET", "/", Host=f"localhost:{server.port}")[0].status == 200


@pytest.mark.parametrize(
    "path",
    ["/images/4", "/images/-1", "/images/../../etc/passwd", "/images/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "/loopback.py",
     "/..%2floopback.py", "/masks/..%2f..%2fup/0", "/masks/rob/4", "/masks/..rob/0", "/masks/ROB/0", "/images/%C2%B2"],
)  # fmt: skip
def test_paths_outside_are_refused(server, path):
    before = sorted(server.out.parent.rglob("*"))
    assert ask(server, "GET", path)[0].status in (404, 409)
    assert ask(server, "PUT", path, BITS, **own(server))[0].status in (404, 405, 409)
    assert sorted(server.out.parent.rglob("*")) == before


@pytest.mark.parametrize("size", [0, len(BITS) - 1, len(BITS) + 1, 10_000_000])
def test_a_mask_of_another_size_is_refused(server, size):
    answer, _ = ask(server, "PUT", "/masks/sizes/0", bytes(size), **own(server))
    assert answer.status == 413
    assert "sizes" not in server.masks.annotators


def test_it_listens_on_this_machine_alone(server):
    with open("/proc/net/tcp", encoding="ascii") as handle:
        sockets = [line.split()[1] for line in list(handle)[1:] if line.split()[3] == "0A"]
    assert [one for one in sockets if one.endswith(f":{server.port:04X}")] == [f"0100007F:{server.port:04X}"]


def test_a_port_that_is_taken_is_an_error_in_one_line(server, capsys):
    assert main(["annotate", str(server.images), "--port", str(server.port)]) == 2
    assert f"error: port {server.port} cannot be used" in capsys.readouterr().err


def test_a_second_server_is_refused_and_told_of_the_first(server, capsys):
    for more in (["--port", "0"], ["--finish"]):
        assert main(["annotate", str(server.images), *more]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{server.out} is being written by another salgen process" in line
        assert f"(process {server.process.pid} on {platform.node()})" in line


def test_without_the_packages_of_the_extra(server, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert main(["annotate", str(server.images), "--port", "0"]) == 2
    said = "a page to draw or rate on needs starlette: pip install '.[annotate]'"
    assert said in capsys.readouterr().err
