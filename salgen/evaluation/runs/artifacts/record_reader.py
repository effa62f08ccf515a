"""`run.json` as the report needs it: read, and checked entry by entry."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError, reason

ENTRIES = ("salgen", "created", "versions", "device", "metrics", "headline_variant")
REQUIRED: Mapping[str, tuple[str, ...]] = {
    "dataset": ("name", "fingerprint", "split", "tasks", "image_size"),
    "models": ("name", "seed", "accuracy", "n_images", "chance"),
    "methods": ("call", "name", "reference", "reduction", "signed", "native_resolution", "seconds", "control"),
    "samples": ("split_total", "considered", "with_mask", "without_mask"),
}
CERTIFICATE = ("name", "seed", "samples", "coverage", "uses_feature", "ignores_background", "needed")


def read_record(path: Path) -> dict[str, Any]:
    """The entries of a run's record.

    Raises
    ------
    SalgenError
        If the file is missing or damaged, or lacks an entry. Only ``certificates`` may be missing, as older
        versions wrote none.
    """
    if not path.is_file():
        raise SalgenError(
            f"{path} is missing: {path.parent} is not a run folder, or `salgen evaluate` has not finished"
        )
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(record, ensure_ascii=False).encode()  # half a character cannot be written into a page
    except (OSError, ValueError, RecursionError) as error:
        raise SalgenError(f"{path} is not JSON ({reason(error)}): evaluate again") from None
    for entry in (*ENTRIES, *REQUIRED):
        _require(path, record, entry, entry)
    for entry, keys in REQUIRED.items():
        _require_all(path, record[entry], keys, entry)
    if not record["dataset"]["tasks"]:
        raise SalgenError(f"{path} names no task: evaluate again with this version")
    if record.get("certificates") is not None:
        _require_all(path, record["certificates"], ("models", "reason"), "certificates")
        _require_all(path, record["certificates"]["models"], CERTIFICATE, "certificates.models")
    return dict(record)


def _require_all(path: Path, found: Any, keys: tuple[str, ...], name: str) -> None:
    for item in found if isinstance(found, list) else [found]:
        for key in keys:
            _require(path, item, key, f"{name}.{key}")


def _require(path: Path, item: Any, key: str, name: str) -> None:
    if not isinstance(item, dict) or key not in item:
        raise SalgenError(f"{path} has no entry {name!r}: evaluate again with this version")
