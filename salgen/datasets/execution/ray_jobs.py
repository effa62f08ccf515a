"""What all tasks of a Ray need, as a caller packs it and a worker unpacks it; and how a task's fault comes back."""

from __future__ import annotations

import pickle
import platform
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError, reason

SHARE = "all machines of a cluster must share the folder, under one path"


def pack(job: Any) -> bytes:
    """What all tasks need, and where this process finds modules, a plug-in's among them."""
    search_path = [entry or str(Path.cwd()) for entry in sys.path]
    return pickle.dumps((search_path, pickle.dumps(job)))


# In a worker of Ray ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """What went wrong in a task."""

    error: Exception


def here() -> str:
    """What a message calls the machine of this worker."""
    return f"the machine {platform.node()}"


def attempt(work: Callable[[], Any], called: str) -> Any:
    """The value of `work`, or a :class:`Fault`: what ends a local run with one line is handed on as it is."""
    try:
        return work()
    except (SalgenError, OSError, MemoryError) as error:
        return Fault(error)
    except Exception:
        return Fault(RuntimeError(f"{called}:\n{traceback.format_exc()}"))


def unpack(payload: bytes, what: str) -> Any:
    """The job of a payload; a message calls it `what`.

    Raises
    ------
    ChildProcessError
        If this machine cannot load it.
    """
    try:
        search_path, job = pickle.loads(payload)
        sys.path += [entry for entry in search_path if entry not in sys.path]
        return pickle.loads(job)
    except Exception as error:  # a plug-in that is not installed there
        raise ChildProcessError(f"{here()} cannot load {what} ({type(error).__name__}: {reason(error)})") from None


def check_libraries(wanted: Mapping[str, str], installed: Mapping[str, str], consequence: str) -> None:
    """Raise a ChildProcessError if a library here is another than where the work comes from."""
    other = {name: installed.get(name) for name, version in wanted.items() if installed.get(name) != version}
    if other:
        has = ", ".join(f"{name} {version or 'none'} for {wanted[name]}" for name, version in other.items())
        raise ChildProcessError(f"{here()} {consequence}: it has {has}")


def check_shared(path: Path) -> None:
    """Raise a ChildProcessError if this machine does not see a file or folder of the caller's."""
    if not path.exists():
        raise ChildProcessError(f"{here()} does not see {path}: {SHARE}")
