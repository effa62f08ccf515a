"""`run.json` as it is published: without paths of the machine, and without maps that show a restricted image."""

import re
from dataclasses import replace
from pathlib import PurePath
from typing import Any

from salgen.evaluation.runs.artifacts.run_record import MethodRecord, RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import folder_name, parts_of
from salgen.parameters import parse_call
from salgen.registry import METHODS

# An absolute path in a text; text after ``//`` is not a path of the machine.
_PATH = re.compile(r"(?<![\w/.])/(?:[^\s/:,;'\"()]+/)+([^\s/:,;'\"()]+)")


def published_record(record: RunRecord, *, pixels: bool) -> RunRecord:
    """The record that is published.

    Parameters
    ----------
    record
        That of the run.
    pixels
        True if images may be passed on. If not, the maps of methods that show the image are left out, and
        `maps_left_out` names the methods.
    """
    hidden = [] if pixels else [method.call for method in record.methods if _shows_image(method)]
    folders = set(map(folder_name, hidden))
    return replace(
        RunRecord.from_json(_without_paths(record.to_json())),
        command=None if record.command is None else [_last_parts(word) for word in record.command],
        maps={name: key for name, key in record.maps.items() if parts_of(name)[0] not in folders},
        maps_left_out=list(dict.fromkeys([*(record.maps_left_out or []), *(hidden if record.maps else [])])),
    )


def _last_parts(word: str) -> str:
    """A word of a command, with a path cut to its last part."""
    option, equals, value = word.partition("=")
    if equals and "/" not in option:
        return f"{option}={_last_parts(value)}"
    return PurePath(word).name or word


def _without_paths(value: Any) -> Any:
    """JSON values in whose texts absolute paths are cut to their last part."""
    if isinstance(value, str):
        return _PATH.sub(r"\1", value)
    if isinstance(value, dict):
        return {key: _without_paths(inner) for key, inner in value.items()}
    return [_without_paths(inner) for inner in value] if isinstance(value, list) else value


def _shows_image(method: MethodRecord) -> bool:
    """True if a method's maps show the image, or it is not declared whether they do, as where it is not salgen's."""
    if method.files or method.foreign:
        return True
    return bool(getattr(METHODS.create(*parse_call(method.call)), "shows_image", True))
