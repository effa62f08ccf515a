"""Fetching the German Traffic Sign Recognition Benchmark through torchvision."""

from __future__ import annotations

import importlib
import shutil
from http.client import HTTPException
from pathlib import Path

from filelock import FileLock

from salgen.errors import SalgenError
from salgen.files import TEMPORARY, cache_folder
from salgen.generators.traffic_signs.gtsrb_layout import TRAINING

NAME = "gtsrb"  # of its folder in the cache


def fetched() -> Path:
    """The benchmark's root in the cache, downloaded if it is not there."""
    try:
        root = cache_folder() / NAME
    except OSError as error:
        raise SalgenError(
            f"GTSRB cannot be kept in the cache ({error}); name another folder for it in the variable SALGEN_CACHE"
        ) from None
    try:
        if not root.exists():
            locks = root.parent / "locks"
            locks.mkdir(exist_ok=True)
            with FileLock(locks / f"{NAME}.lock"):
                _download(root)
    except (ImportError, OSError, RuntimeError, HTTPException) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SalgenError(
            f"GTSRB could not be downloaded to {root} ({reason}): fetch it on a machine with a network and give "
            f"its folder, which holds gtsrb/{TRAINING}"
        ) from None
    return root


def _download(root: Path) -> None:
    """Into a folder beside `root`, which takes its name when all is there: torchvision trusts any folder it finds."""
    if root.exists():  # another process fetched it while this one waited
        return
    partial = root.with_name(f".{root.name}{TEMPORARY}")
    shutil.rmtree(partial, ignore_errors=True)  # of a process that was killed
    try:
        datasets = importlib.import_module("torchvision.datasets")  # loads torch, which nothing else here needs
        for split in ("train", "test"):
            datasets.GTSRB(str(partial), split=split, download=True)
        partial.replace(root)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
