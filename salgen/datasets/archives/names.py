"""Rules for the names of files in archives: each must mean the same file, within the target, on every system."""

from __future__ import annotations

import re

from salgen.datasets.archives.members import shown
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
        The one folder that holds everything, once a name was seen.
    """

    def __init__(self) -> None:
        self.root = ""
        self._seen: dict[str, tuple[str, bool]] = {}  # in lower case: as first written, and whether it is a folder
        self._given: set[str] = set()

    def add(self, name: str, *, folder: bool) -> None:
        """Check one more name.

        Raises
        ------
        SalgenError
            If it is not safe on its own, or clashes with another one.
        """
        fault = _fault(name) or self._clash(name.split("/"), folder)
        if fault:
            raise SalgenError(f"member {shown(name)} {fault}")

    def _clash(self, parts: list[str], folder: bool) -> str:
        """The conflict of a name with earlier ones, or ""; the name counts as seen from now on."""
        name = "/".join(parts)
        self.root = self.root or parts[0]
        if parts[0] != self.root:
            return f"lies outside the folder {shown(self.root)} that holds the others"
        if len(parts) == 1 and not folder:
            return "lies in no folder: everything must lie in one"
        if name in self._given:
            return "is there twice"
        self._given.add(name)
        ways = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return next(filter(None, (self._place(way, True) for way in ways)), "") or self._place(name, folder)

    def _place(self, path: str, folder: bool) -> str:
        """Record a file or folder; the reason why it conflicts with an earlier one, or ""."""
        first, was_folder = self._seen.setdefault(path.lower(), (path, folder))
        if first != path:
            return f"differs from {shown(first)} only in upper and lower case"
        return "" if was_folder == folder else f"would need {shown(path)} to be a file and a folder at once"


def _fault(name: str) -> str:
    """The reason why a name is unsafe on its own, or "" if it is safe."""
    if not (name.isascii() and name.isprintable()):
        return "has a character that is not printable ASCII"
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    if name.startswith("/"):
        return "is an absolute path"
    found = next((character for character in FORBIDDEN if character in name), None)
    if found:
        return f"has the character {found!r}, which is not allowed"
    return next(filter(None, map(_part_fault, name.split("/"))), "")


def _part_fault(part: str) -> str:
    if part in ("", ".", ".."):
        return f"has the part {part!r}, which leads elsewhere"
    if part[-1] in ". " or part[0] == " ":
        return f"has the part {part!r}: a dot or space at its end or a space before it is lost on some systems"
    if RESERVED.fullmatch(part.partition(".")[0].rstrip()):
        return f"has the part {part!r}, which is a device on some systems"
    return f"has a part longer than {LONGEST_PART} characters" if len(part) > LONGEST_PART else ""
