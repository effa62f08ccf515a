"""Disks that have no room, and the moments between their changes: each fault is set up in a forked process."""

import errno
import os
import resource
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

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

    The figure is how many changes there were.
    """

    folder: str  # changes elsewhere are not counted, nor those of a log, which a command can do without
    nth: int = -1  # which one fails, from 0; -1 for none
    # `once`: the next one succeeds; `lasting`: nothing can be written from there on, not even by libraries in C;
    # `killed`: the process dies of SIGKILL before the change
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
