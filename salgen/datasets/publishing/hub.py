"""Uploads to dataset repositories on the Hugging Face hub, file by file, so that its viewer shows them.

References
----------
Hugging Face, *HfApi client* (https://huggingface.co/docs/huggingface_hub/package_reference/hf_api).
"""

import json
import os
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from salgen.datasets.metadata.publication_metadata import Release
from salgen.datasets.publishing.tokens import check_address, token, without_token
from salgen.errors import SalgenError
from salgen.import_paths import needed
from salgen.progress import progress

SCHEME = "hf://"
TOKEN = "HF_TOKEN"
ENDPOINT = "https://huggingface.co"
KIND = "dataset"
ATTRIBUTES = ".gitattributes"  # the hub's own file, which says what is a Git LFS object
BATCH = 32  # files sent before the progress bar moves
TIMEOUT_S = 60.0  # without an answer; the library would wait forever
BACKOFF_S = (1.0, 2.0, 4.0, 8.0)  # between five attempts
CLIENTS = ("requests", "httpx", "httpx2")  # huggingface_hub 0, 1 and 2 use these
RETRIED = (408, 412, 429)  # and all from 500; 412: the repository changed after it was listed


@dataclass(frozen=True)
class Repository:
    """A dataset repository ``ORG/NAME`` on the hub at an address, and a token with the right to write there."""

    name: str
    endpoint: str
    token: str = field(repr=False)


def repository(to: str, token_file: str | os.PathLike[str] | None = None) -> Repository:
    """The repository ``hf://ORG/NAME``, with the token of a file or of the environment variable ``HF_TOKEN``.

    The hub is that of the environment variable ``HF_ENDPOINT``, else Hugging Face's.
    """
    _import_library()
    from huggingface_hub.utils import HFValidationError, validate_repo_id

    name = to.removeprefix(SCHEME)
    try:
        validate_repo_id(name)
    except HFValidationError:
        name = ""
    if "/" not in name:  # the text may be a secret, so it is not repeated
        form = f"{SCHEME}ORG/NAME, of at most 96 letters, digits, '-', '_' and '.'"
        raise SalgenError(f"--to {SCHEME}... does not name a dataset repository: give {form}")
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or ENDPOINT
    check_address(endpoint, "HF_ENDPOINT", ENDPOINT)
    return Repository(name, endpoint, token("the hub", TOKEN, token_file))


def push(release: Release, at: Repository) -> str:
    """Make a repository hold the files of a release and no others, in one commit, and return its address.

    Large files are sent first, except those that the hub has; passing faults are retried from the beginning.
    """
    _import_library()
    from huggingface_hub.errors import HfHubHTTPError

    for wait in (*BACKOFF_S, None):
        try:
            _push_once(release, at)
            return f"{at.endpoint}/datasets/{at.name}"
        except (HfHubHTTPError.__mro__[1], OSError, ValueError, RuntimeError) as error:  # type: ignore[misc]
            # The library wraps what its threads raise in a RuntimeError.
            cause = error.__cause__ or error if isinstance(error, RuntimeError) else error
        status = cause.response.status_code if isinstance(cause, HfHubHTTPError) else 0
        # A gateway may answer with a page of its own instead of JSON.
        broken = isinstance(cause, json.JSONDecodeError) or type(cause).__module__.partition(".")[0] in CLIENTS
        passing = broken or status in RETRIED or status >= 500
        if wait is None or not passing:
            advice = ": run the same command again later" if passing else ""
            message = without_token(f"{type(cause).__name__}: {cause}", at.token)
            raise SalgenError(f"{at.endpoint}: {message}{advice}")
        time.sleep(wait)
    raise AssertionError("the last attempt returns or raises")


def _push_once(release: Release, at: Repository) -> None:
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi, get_session
    from huggingface_hub.utils import disable_progress_bars

    get_session().timeout = TIMEOUT_S  # without effect before huggingface_hub 1
    api = HfApi(endpoint=at.endpoint, token=at.token, library_name="salgen", library_version=version("salgen"))
    api.create_repo(at.name, repo_type=KIND, private=True, exist_ok=True)
    head = api.dataset_info(at.name, timeout=TIMEOUT_S).sha
    stale = set(api.list_repo_files(at.name, revision=head, repo_type=KIND)) - set(release.files) - {ATTRIBUTES}
    additions = [CommitOperationAdd(name, content) for name, content in release.files.items()]
    total = sum(addition.upload_info.size for addition in additions)
    disable_progress_bars()
    with progress(f"uploading to {at.name}", total, "bytes") as advance:
        for start in range(0, len(additions), BATCH):
            batch = additions[start : start + BATCH]
            # An earlier upload's .gitignore would keep files out of the commit without a word.
            api.preupload_lfs_files(at.name, batch, repo_type=KIND, free_memory=False, gitignore_content="")
            advance(sum(addition.upload_info.size for addition in batch))
        api.create_commit(
            at.name,
            [*(CommitOperationDelete(name) for name in sorted(stale)), *additions],
            commit_message=release.title,
            commit_description=release.note,
            repo_type=KIND,
            parent_commit=head,
        )


def _import_library() -> None:
    """Import huggingface_hub with Xet and telemetry off, as both write files in the user's home."""
    os.environ.setdefault("HF_HUB_DISABLE_XET", "1")
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    needed("huggingface_hub", "uploading to a hub", "hub")
