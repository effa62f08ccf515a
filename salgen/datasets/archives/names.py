"""Rules for the names of files in archives: each must mean the same file, within the target, on every system."""

from __future__ import annotations

import re

from salgen.datasets.archives.members import quoted
from salgen.errors import SalgenError

LONGEST_NAME = 240
LONGEST_PART = 120
FORBIDDEN = '<>:"|?*\\'  # drive letters and streams have a colon
RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|com[0-9]|lpt[0-9])", re.IGNORECASE)


class Names:
    """The member names that were read from an archive so far.

    Attributes
    ----------
    root
        The one folder that holds everything, once a name was added.
    folders
        The number of folders, those that are only named in paths included.
    """

    def __init__(self) -> None:
        self.root = ""
        self.folders = 0
        self._seen: dict[str, tuple[str, bool]] = {}  # lower-case name to its first spelling, and True for a folder
        self._names: set[str] = set()

    def add(self, name: str, *, folder: bool) -> None:
        """Check one more name."""
        fault = _fault(name) or self._clash(name.split("/"), folder)
        if fault:
            raise SalgenError(f"member {quoted(name)} {fault}")

    def _clash(self, parts: list[str], folder: bool) -> str:
        """The conflict of a name with earlier ones, or ""; the name counts as seen from now on."""
        name = "/".join(parts)
        self.root = self.root or parts[0]
        if parts[0] != self.root:
            return f"lies outside the folder {quoted(self.root)} that holds the other members"
        if len(parts) == 1 and not folder:
            return "lies in no folder: everything must lie in one folder"
        if name in self._names:
            return "appears twice"
        self._names.add(name)
        parents = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return next(filter(None, (self._record(parent, True) for parent in parents)), "") or self._record(name, folder)

    def _record(self, path: str, folder: bool) -> str:
        """Record a file or folder; the reason why it conflicts with an earlier one, or ""."""
        self.folders += folder and path.lower() not in self._seen
        first, was_folder = self._seen.setdefault(path.lower(), (path, folder))
        if first != path:
            return f"differs from {quoted(first)} only in upper and lower case"
        return "" if was_folder == folder else f"would need {quoted(path)} to be a file and a folder at once"


def _fault(name: str) -> str:
    """The reason why a name is unsafe on its own, or "" if it is safe."""
    if not (name.isascii() and name.isprintable()):
        return "has a character that is not printable ASCII"
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    if name.startswith("/"):
        return "is an absolute path"
    forbidden = next((character for character in FORBIDDEN if character in name), None)
    if forbidden:
        return f"has the character {forbidden!r}, which is not allowed"
    return next(filter(None, map(_part_fault, name.split("/"))), "")


def _part_fault(part: str) -> str:
    if part in ("", ".", ".."):
        return f"has the part {part!r}, which leads elsewhere"
    if part[-1] in ". " or part[0] == " ":
        return f"has the part {part!r}: a dot or space at its end or a space before it is lost on some systems"
    if RESERVED.fullmatch(part.partition(".")[0].rstrip()):
        return f"has the part {part!r}, which is a device on some systems"
    return f"has a part longer than {LONGEST_PART} characters" if len(part) > LONGEST_PART else ""
