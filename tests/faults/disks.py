"""Disks that have no room, and the moments between their changes: each fault is set up in a forked process."""

import ctypes
import errno
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_PRIVATE_RECURSIVE = 0x44000
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True)
class SmallFiles:
    """No file grows beyond `size` bytes: the write that would fails, whoever makes it."""

    size: int

    def __call__(self) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (self.size, resource.RLIM_INFINITY))


@dataclass(frozen=True)
class FailingDisk:
    """The n-th change of the folder fails for want of room: a file opened to write, a rename, a new folder, a sync.

    Attributes
    ----------
    folder
        Changes elsewhere are not counted, nor those of a log, which a command can do without.
    nth
        Which one fails, from 0; -1 for none. The figure is how many there were.
    how
        ``once``: the next one succeeds. ``lasting``: from there on nothing can be written, by libraries that are not
        written in Python either. ``killed``: the process dies of SIGKILL before the change.
    """

    folder: str
    nth: int = -1
    how: str = "once"

    def __call__(self) -> Callable[[], Any]:
        count = 0
        sync = os.fsync

        def change(what: str) -> None:
            nonlocal count
            count += 1
            at = count - 1 - self.nth
            if at == 0 and self.how == "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            if at == 0 and self.how == "lasting":
                resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
            if self.nth >= 0 and (at == 0 or (at > 0 and self.how == "lasting")):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), what)

        def watch(event: str, details: tuple[Any, ...]) -> None:
            name = details[0] if details else None
            if event == "open" and not (isinstance(details[2], int) and details[2] & WRITES):
                return
            if event == "os.mkdir" and os.path.isdir(name):  # noqa: PTH112 - there already: nothing changes
                return
            if event in ("open", "os.rename", "os.mkdir") and isinstance(name, (str, os.PathLike)) and self._has(name):
                change(os.fspath(name))

        def failing_sync(handle: int) -> None:
            change(f"file {handle}")
            sync(handle)

        os.fsync = failing_sync
        sys.addaudithook(watch)
        return lambda: count

    def _has(self, name: str | os.PathLike[str]) -> bool:
        path = os.path.abspath(name)  # noqa: PTH100 - Path would ask the disk
        return path.startswith(self.folder) and not path.endswith(".log")


@dataclass(frozen=True)
class SmallDisk:
    """A disk of its own of `size` bytes in the folder `place`, which goes with the process; the figure is its files."""

    place: Path
    size: int

    def __call__(self) -> Callable[[], Any]:
        libc = ctypes.CDLL(None, use_errno=True)
        own = 0 if os.geteuid() == 0 else CLONE_NEWUSER
        _checked(libc.unshare(CLONE_NEWNS | own))
        _checked(libc.mount(b"none", b"/", None, MS_PRIVATE_RECURSIVE, None))
        _checked(libc.mount(b"none", str(self.place).encode(), b"tmpfs", 0, f"size={self.size}".encode()))
        os.chdir(self.place)
        (self.place / "tmp").mkdir()
        return lambda: sum(path.is_file() for path in self.place.rglob("*"))


def _checked(result: int) -> None:
    if result:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
