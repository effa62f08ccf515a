"""A Hugging Face hub on this machine: it speaks what huggingface_hub calls, and fails as a test plans it.

Repositories are lists of commits; a commit is a mapping of names to bytes. Parquet files are Git LFS objects, which
are kept by their digests, committed or not.
"""

import base64
import hashlib
import json
import re
from urllib.parse import parse_qs, unquote, urlsplit
import local_server
from local_server import reset

TOKEN = "hf_s3cr3t/T0ken+that=nobody.may_see"
REPO = r"/(?:api/)?datasets/(?P<repo>[^/]+/[^/]+?)"
ROUTES = [
    ("create", "POST", r"/api/repos/create"),
    ("harnesses", "GET", r"/api/agent-harnesses"),
    ("validate", "POST", r"/api/validate-yaml"),
    ("preupload", "POST", rf"{REPO}/preupload/(?P<rev>[^/]+)"),
    ("commit", "POST", rf"{REPO}/commit/(?P<rev>[^/]+)"),
    ("batch", "POST", rf"{REPO}\.git/info/lfs/objects/batch"),
    ("verify", "POST", r"/lfs/verify"),
    ("put", "PUT", r"/lfs/(?P<oid>[0-9a-f]{64})"),
    ("tree", "GET", rf"{REPO}/tree/(?P<rev>[^/]+)"),
    ("info", "GET", rf"{REPO}(?:/revision/(?P<rev>[^/]+))?"),
]


class State(local_server.State):
    """What a hub holds, what it was asked, and what a test wants to go wrong."""

    def __init__(self):
        super().__init__()
        self.repositories, self.private, self.objects = {}, {}, {}
        self.sent, self.messages, self.verified, self.tokens = [], [], [], {f"Bearer {TOKEN}"}

    def files(self, name):
        """What a reader sees."""
        return {path: data for path, data in self.repositories[name][-1].items() if path != ".gitattributes"}


def commit_oid(name, number):
    return hashlib.sha1(f"{name} {number}".encode()).hexdigest()


def is_large(path):
    return path.endswith(".parquet")


class Handler(local_server.Handler):
    """A hub's usual answers."""

    def route(self):
        path = unquote(urlsplit(self.path).path)
        for kind, method, pattern in ROUTES:
            if method == self.command and (found := re.fullmatch(pattern, path)):
                return kind, found.groupdict()
        return "other", {}

    def kind(self):
        return self.route()[0]

    def usual(self, body):
        (kind, found), query = self.route(), parse_qs(urlsplit(self.path).query)
        state, name = self.server.state, found.get("repo")
        if kind not in ("put", "validate", "harnesses") and self.headers["Authorization"] not in state.tokens:
            return 401, {"error": "Invalid username or password."}, {}
        if name is not None and name not in state.repositories:
            return 404, {"error": "Repository not found"}, {"X-Error-Code": "RepoNotFound"}
        return getattr(self, f"on_{kind}", self.on_other)(found, body, query)

    def on_other(self, found, body, query):
        return 404, {"error": "Sorry, we can't find the page you are looking for."}, {}

    def on_harnesses(self, found, body, query):
        return 200, {"standardEnvVars": ["AGENT"], "harnesses": {}}, {}

    def on_create(self, found, body, query):
        asked, state = json.loads(body), self.server.state
        assert asked["type"] == "dataset"
        name = f"{asked['organization']}/{asked['name']}"
        url = {"url": f"{self.server.address}/datasets/{name}"}
        if name in state.repositories:
            return 409, {"error": "You already created this dataset repo", **url}, {}
        state.repositories[name] = [{".gitattributes": b"*.parquet filter=lfs\n"}]
        state.private[name] = asked.get("private") or asked.get("visibility") == "private"
        return 200, url, {}

    def on_validate(self, found, body, query):
        return 200, {"errors": [], "warnings": []}, {}

    def commit_of(self, name, revision):
        commits = self.server.state.repositories[name]
        if revision in (None, "main"):
            return len(commits) - 1
        return [commit_oid(name, number) for number in range(len(commits))].index(revision)

    def entry(self, path, data):
        entry = {"type": "file", "path": path, "size": len(data)}
        git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        if not is_large(path):
            return {**entry, "oid": git}
        digest = hashlib.sha256(data).hexdigest()
        return {**entry, "oid": "0" * 40, "lfs": {"oid": digest, "size": len(data), "pointerSize": 130}}

    def on_info(self, found, body, query):
        name, number = found["repo"], self.commit_of(found["repo"], found["rev"])
        about = {"id": name, "sha": commit_oid(name, number), "private": self.server.state.private[name], "tags": []}
        return 200, {**about, "lastModified": "2026-01-01T00:00:00.000Z", "siblings": []}, {}

    def on_tree(self, found, body, query):
        """Two entries at a time, so that whoever lists must ask for all pages."""
        assert query["recursive"][0].lower() == "true"
        files = self.server.state.repositories[found["repo"]][self.commit_of(found["repo"], found["rev"])]
        entries = [self.entry(path, data) for path, data in files.items()]
        start = int(query.get("cursor", ["0"])[0])
        following = f"{self.server.address}{urlsplit(self.path).path}?recursive=True"
        link = {"Link": f'<{following}&cursor={start + 2}>; rel="next"'} if start + 2 < len(entries) else {}
        return 200, entries[start : start + 2], link

    def on_preupload(self, found, body, query):
        asked = json.loads(body)
        assert asked.get("gitIgnore") == ""
        there = self.server.state.repositories[found["repo"]][-1]
        answer = []
        for file in asked["files"]:
            path = file["path"]
            entry = self.entry(path, there[path]) if path in there else {}
            oid = entry["lfs"]["oid"] if "lfs" in entry else entry.get("oid")
            mode = "lfs" if is_large(path) else "regular"
            answer.append({"path": path, "uploadMode": mode, "shouldIgnore": False, **({"oid": oid} if oid else {})})
        return 200, {"files": answer, "commitOid": "0" * 40}, {}

    def on_batch(self, found, body, query):
        state, answer = self.server.state, []
        for asked in json.loads(body)["objects"]:
            oid, size = asked["oid"], asked["size"]
            entry = {"oid": oid, "size": size}
            if oid not in state.objects:
                entry["actions"] = {
                    "verify": {"href": f"{self.server.address}/lfs/verify"},
                    "upload": {"href": f"{self.server.address}/lfs/{oid}"},
                }
            answer.append(entry)
        return 200, {"transfer": "basic", "objects": answer}, {}

    def on_put(self, found, body, query):
        self.server.state.sent.append((found["oid"], len(body)))
        self.server.state.objects[found["oid"]] = body
        return 200, b"", {"ETag": f'"{found["oid"]}"'}

    def on_verify(self, found, body, query):
        asked, objects = json.loads(body), self.server.state.objects
        data = objects[asked["oid"]]
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (asked["oid"], asked["size"])
        self.server.state.verified.append(asked["oid"])
        return 200, {}, {}

    def on_commit(self, found, body, query):
        state, name = self.server.state, found["repo"]
        lines = [json.loads(line) for line in body.splitlines()]
        header, commits = lines[0]["value"], state.repositories[name]
        if header["parentCommit"] != commit_oid(name, len(commits) - 1):
            return 412, {"error": "A commit has happened since. Please refresh and try again."}, {}
        files = dict(commits[-1])
        for line in lines[1:]:
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = state.objects[value["oid"]]
            else:
                assert line["key"] == "deletedFile"
                del files[value["path"]]
        commits.append(dict(sorted(files.items())))
        state.messages.append((header["summary"], header["description"]))
        oid = commit_oid(name, len(commits) - 1)
        return 200, {"commitUrl": f"{self.server.address}/datasets/{name}/commit/{oid}", "commitOid": oid}, {}


def lost_answer(handler, size):
    """Do what is asked, and hang up without saying so."""
    body = handler.rfile.read(size)
    with handler.server.state.lock:
        assert handler.usual(body)[0] == 200
    reset(handler, 0)


def echo(status):
    """An error that repeats all headers of the request."""

    def fault(handler, size):
        said = json.dumps({**dict(handler.headers), "token": f"Bearer {TOKEN}"})
        return status, {"error": said, "errors": [{"message": said}]}, {"X-Error-Message": TOKEN}

    return fault
