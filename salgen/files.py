"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import filecmp
import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

TEMPORARY = ".part"
FORMULA = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"  # what a formula begins with, in full width too
CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP, errno.ENOSYS, errno.EBADF)  # errors of network shares for a folder


@contextmanager
def atomic_path(path: Path, *, synced: bool = True) -> Iterator[Path]:
    """A temporary path to write to, absolute; on a clean exit it takes the name `path`.

    On an error, Ctrl-C included, the temporary file is removed and `path` is as it was. No two writers share a
    temporary path, even on two machines. If not `synced`, a power cut may leave an empty or partial file.
    """
    # Arrow takes a relative path that begins with "name:" for an address.
    temporary = path.absolute().with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}{TEMPORARY}")
    try:
        yield temporary
        if synced:
            with open(temporary, "rb") as handle:
                os.fsync(handle.fileno())
        temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):  # its folder may be a file
            temporary.unlink()
        if isinstance(error, OSError) and str(temporary) in str(error):  # the user knows no such file
            raise OSError(error.errno, os.strerror(error.errno or errno.EIO), str(path)) from error
        raise
    if synced:
        sync_folder(path.parent)


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text with ``\\n`` line ends, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, data: bytes) -> None:
    """Write bytes, whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def strict_json(text: str) -> Any:
    """The value of a JSON text; a ValueError for what JSON does not have: NaN, Infinity and lone surrogates."""
    value = json.loads(text)
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    return value


def read_csv(path: Path, **options: Any) -> pd.DataFrame:
    """A CSV file, each float the nearest to its text; before 3.1, pandas has to be told."""
    import pandas as pd

    if tuple(map(int, pd.__version__.split(".")[:2])) < (3, 1):
        options["float_precision"] = "round_trip"
    table: pd.DataFrame = pd.read_csv(path, **options)
    return table


def csv_cell(text: str) -> str:
    """A text for a table, safe from CSV injection (OWASP): an apostrophe before a formula, and no carriage return."""
    return f"{chr(39) if text.startswith(tuple(FORMULA)) else ''}{text}".replace("\r", " ")


def copy_file(source: Path, target: Path) -> None:
    """Copy a file, whole or not at all, unless the target is equal already; its folder is made."""
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target) as temporary:
        shutil.copyfile(source, temporary)


def remove_temporaries(folder: Path, *, below: bool = False) -> None:
    """Remove temporary files of killed processes directly in `folder`, and with `below` in all folders below it."""
    for path in (folder.rglob if below else folder.glob)(f".*{TEMPORARY}"):
        path.unlink(missing_ok=True)


def sha256_of(path: Path) -> str:
    """Hexadecimal SHA-256 of a file, read in pieces."""
    with open(path, "rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def cache_folder() -> Path:
    """The folder of derived data, which can be made again: ``$SALGEN_CACHE`` or the user's cache folder."""
    chosen = os.environ.get("SALGEN_CACHE")
    base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = Path(chosen) if chosen else base / "salgen"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the platform can."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in CANNOT_SYNC:
            raise
    finally:
        os.close(handle)
