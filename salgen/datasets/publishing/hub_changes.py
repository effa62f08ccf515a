"""What must change in a repository on a hub, so that it holds given files and no others."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from huggingface_hub import CommitOperationAdd, CommitOperationDelete, HfApi
from huggingface_hub.hf_api import RepoFile

from salgen.datasets.metadata.release import Files
from salgen.errors import SalgenError

KIND = "dataset"
KEPT = ".gitattributes"  # the hub's own, which says what is a large file
PIECE = 1 << 20  # bytes of a file held in memory at a time

Change = CommitOperationAdd | CommitOperationDelete


def additions_of(files: Files) -> list[CommitOperationAdd]:
    """Files as the library takes them; those on disk are not read yet."""
    made = []
    for name, content in files.items():
        try:
            made.append(CommitOperationAdd(name, content if isinstance(content, bytes) else content.absolute()))
        except OSError as error:
            raise SalgenError(f"{content!s} cannot be read: {error.strerror or error}") from None
        except ValueError as error:
            raise SalgenError(f"{name} cannot be uploaded: {error}") from None
    return made


def files_there(api: HfApi, name: str) -> tuple[str | None, dict[str, RepoFile]]:
    """The last commit of a repository, and its files by name."""
    head = api.dataset_info(name).sha
    return head, files_at(api, name, head)


def files_at(api: HfApi, name: str, commit: str | None) -> dict[str, RepoFile]:
    """The files of a repository at a commit, by name."""
    entries = api.list_repo_tree(name, recursive=True, revision=commit, repo_type=KIND)
    return {entry.path: entry for entry in entries if isinstance(entry, RepoFile)}


def changes(files: Sequence[CommitOperationAdd], there: Mapping[str, RepoFile]) -> list[Change]:
    """What must be deleted and written, so that a repository holds the files and nothing else."""
    stale = set(there) - {file.path_in_repo for file in files} - {KEPT}
    return [*(CommitOperationDelete(name, is_folder=False) for name in sorted(stale)), *missing(files, there)]


def missing(files: Sequence[CommitOperationAdd], there: Mapping[str, RepoFile]) -> list[CommitOperationAdd]:
    """The files that a repository does not have, or has with other bytes."""
    return [file for file in files if not _is_there(file, there)]


def _is_there(file: CommitOperationAdd, there: Mapping[str, RepoFile]) -> bool:
    """Whether a repository has just these bytes under this name."""
    found = there.get(file.path_in_repo)
    if found is None or found.size != file.upload_info.size:
        return False
    if found.lfs is not None:
        return bool(found.lfs.sha256 == file.upload_info.sha256.hex())
    return found.blob_id == _blob_id(file)


def _blob_id(file: CommitOperationAdd) -> str:
    """What Git calls a file that it holds itself."""
    digest = hashlib.sha1(b"blob %d\0" % file.upload_info.size, usedforsecurity=False)
    with file.as_file() as handle:
        while piece := handle.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()
