"""What is published as a dataset repository on the Hugging Face hub, file by file, so that its viewer shows it.

References
----------
Hugging Face, *Hub API endpoints* (https://huggingface.co/docs/hub/api), which the library huggingface_hub calls.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from salgen.datasets.metadata.release import Release
from salgen.datasets.publishing.tokens import check_address, check_token, message, token
from salgen.errors import SalgenError
from salgen.progress import progress

if TYPE_CHECKING:
    from huggingface_hub import CommitOperationAdd, HfApi

    from salgen.datasets.publishing.hub_requests import Conversation

SCHEME = "hf://"
TOKEN = "HF_TOKEN"
ENDPOINT = "https://huggingface.co"
TIMEOUT_S = 60.0
THREADS = 4
BATCH_FILES, BATCH_BYTES = 100, 1 << 28  # sent before the bar moves on
LARGEST_TEXT = 1 << 25  # larger files are not held in memory, whatever the hub asks for
_PART = r"(?![.-])(?!.*(?:--|\.\.))[A-Za-z0-9_.-]{1,96}(?<![.-])"
_NAME = re.compile(rf"{_PART}/{_PART}(?<!\.git)")


@dataclass(frozen=True)
class Repository:
    """A dataset repository, and the token with which one may write there.

    Attributes
    ----------
    name
        ``ORG/NAME``.
    endpoint
        The hub: ``https://HOST``, or ``http://127.0.0.1:PORT``.
    token
        Sent in a header to the hub alone. It is in no message and no log, not even where the hub repeats it.
    timeout
        Seconds without an answer after which a connection counts as broken.
    sleep
        Waits between two tries.

    Raises
    ------
    SalgenError
        If name or address is not of that form, or the token is not one word.
    """

    name: str
    endpoint: str
    token: str = field(repr=False)
    timeout: float = TIMEOUT_S
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        _check_name(self.name)
        check_address(self.endpoint, "HF_ENDPOINT", ENDPOINT)
        check_token(self.token, "the hub")

    @property
    def page(self) -> str:
        """The address at which a person finds it."""
        return f"{self.endpoint}/datasets/{self.name}"

    def clean(self, text: str) -> str:
        """A text in one line, without the token and not too long."""
        return message(text, self.token)


def repository(to: str, token_file: str | os.PathLike[str] | None = None) -> Repository:
    """Where to upload, with the token from a file or the environment.

    Parameters
    ----------
    to
        ``hf://ORG/NAME``. The hub is that of the environment variable ``HF_ENDPOINT``, else Hugging Face's.
    token_file
        A file with the token; otherwise it is that of the environment variable ``HF_TOKEN``.

    Raises
    ------
    SalgenError
        If the name or the hub's address is none, there is no token, or huggingface_hub is not installed.
    """
    name = to.removeprefix(SCHEME)
    _check_name(name)
    endpoint = os.environ.get("HF_ENDPOINT", "").rstrip("/") or ENDPOINT
    check_address(endpoint, "HF_ENDPOINT", ENDPOINT)
    found = Repository(name, endpoint, token("the hub", TOKEN, token_file))
    _check_library()
    return found


def push(edition: Release, at: Repository) -> str:
    """Make a repository hold the files of an edition, and no others; it is private if it was not there before.

    Large files are sent first. Then one commit changes all that differs, so a repository never shows a part.
    What arrived is not sent again, so an upload that was stopped goes on when it is repeated.

    Parameters
    ----------
    edition
        What is published.
    at
        Where it goes.

    Returns
    -------
    The address of the repository.

    Raises
    ------
    SalgenError
        If a file cannot be read, or the hub refuses or does not answer.
    """
    _check_library()
    from salgen.datasets.publishing import hub_changes, hub_requests

    with hub_requests.talking(at) as ask:
        files = hub_changes.additions_of(edition.files)
        ask("finding or making the repository", lambda api: _make(api, at.name))
        there = ask("listing the repository", lambda api: hub_changes.files_there(api, at.name)[1])
        _upload(hub_changes.missing(files, there), at, ask)
        ask("committing", lambda api: _commit(api, at.name, files, edition))
    return at.page


def _check_library() -> None:
    try:
        from salgen.datasets.publishing import hub_requests  # noqa: F401
    except ImportError as error:
        needed = f"uploading to a hub needs huggingface_hub ({error}): pip install 'salgen[hub]'"
        raise SalgenError(" ".join(needed.split())) from None


def _make(api: HfApi, name: str) -> None:
    """Make the repository, where there is none; a token may be good for one that is there, but not for making any."""
    from huggingface_hub.errors import HfHubHTTPError

    try:
        api.dataset_info(name)
    except HfHubHTTPError as error:
        if error.response.status_code != 404:
            raise
        api.create_repo(name, repo_type="dataset", private=True, exist_ok=True)


def _upload(additions: Sequence[CommitOperationAdd], at: Repository, ask: Conversation) -> None:
    """Send what is large, ahead of the commit that names it."""
    total = sum(addition.upload_info.size for addition in additions)
    with progress(f"uploading to {at.name}", total, "bytes") as advance:
        for batch in _batches(additions):
            ask(f"uploading {_named(batch)}", partial(_send, name=at.name, batch=batch))
            advance(sum(addition.upload_info.size for addition in batch))


def _send(api: HfApi, name: str, batch: list[CommitOperationAdd]) -> None:
    # No .gitignore counts: one that an earlier upload left would silently keep files out of the commit.
    api.preupload_lfs_files(
        name, batch, repo_type="dataset", num_threads=THREADS, free_memory=False, gitignore_content=""
    )
    for addition in batch:
        if addition._upload_mode == "regular" and addition.upload_info.size > LARGEST_TEXT:
            raise SalgenError(
                f"the hub takes {addition.path_in_repo} only as a text: its .gitattributes must name such files"
            )


def _batches(additions: Sequence[CommitOperationAdd]) -> Iterator[list[CommitOperationAdd]]:
    """Some files at a time, so that a bar moves and a try that failed repeats little."""
    batch: list[CommitOperationAdd] = []
    for addition in additions:
        batch.append(addition)
        if len(batch) == BATCH_FILES or sum(item.upload_info.size for item in batch) >= BATCH_BYTES:
            yield batch
            batch = []
    if batch:
        yield batch


def _named(batch: Sequence[CommitOperationAdd]) -> str:
    more = f" and {len(batch) - 1} more" if len(batch) > 1 else ""
    return f"{batch[0].path_in_repo}{more}"


def _commit(api: HfApi, name: str, files: Sequence[CommitOperationAdd], edition: Release) -> None:
    """Change all that differs at once; a commit whose answer was lost is found to be there at the next try."""
    from salgen.datasets.publishing.hub_changes import changes, files_at, files_there

    head, there = files_there(api, name)
    different = changes(files, there)
    if not different:
        return
    made = api.create_commit(
        name,
        different,
        commit_message=edition.title,
        commit_description=edition.note,
        repo_type="dataset",
        num_threads=THREADS,
        parent_commit=head,
    )
    if left := changes(files, files_at(api, name, made.oid)):
        raise SalgenError(f"{name} is not what was uploaded: {left[0].path_in_repo} differs: run the command again")


def _check_name(name: str) -> None:
    """What else was written is not repeated, as it may be a secret."""
    if not _NAME.fullmatch(name):
        raise SalgenError(
            f"--to {SCHEME}... does not name a dataset repository: give {SCHEME}ORG/NAME, each of at most 96 letters, "
            "digits, '-', '_' and '.'"
        )
