"""The lines of the annotation files of the LISA traffic lights."""

import csv
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from salgen.datasets.layouts.lisa.lamp_masks import Rectangle
from salgen.errors import SalgenError

BOX, BULB = "frameAnnotationsBOX.csv", "frameAnnotationsBULB.csv"
CORNERS = ("Upper left corner X", "Upper left corner Y", "Lower right corner X", "Lower right corner Y")
COLUMNS = ("Filename", "Annotation tag", *CORNERS)


class LampRow(NamedTuple):
    """A line of an annotation file."""

    where: str
    line: int
    clip: str
    frame: str
    tag: str
    rectangle: Rectangle


def clip_of(frame: str) -> str:
    """The clip that a frame belongs to, by its file name."""
    return frame.partition("--")[0]


def read_rows(path: Path, clips: Iterable[str]) -> list[LampRow]:
    """The lines of an annotation file.

    Parameters
    ----------
    path
        A BOX or BULB file.
    clips
        Those that a frame may belong to.
    """
    try:
        with open(path, encoding="utf-8-sig", newline="") as handle:
            return list(_rows(path, csv.reader(handle, delimiter=";"), frozenset(clips)))
    except FileNotFoundError:
        raise SalgenError(f"{path}: there is no such file; each annotated clip has a {BOX} and a {BULB}") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SalgenError(f"{path}: cannot be read as annotations ({error})") from None


def _rows(path: Path, lines: Iterator[list[str]], clips: frozenset[str]) -> Iterator[LampRow]:
    header = [title.strip() for title in next(lines, [])]
    missing = [column for column in COLUMNS if column not in header]
    if missing:
        raise SalgenError(f"{path}, line 1: no column {missing[0]!r}; expected, separated by ';': {'; '.join(COLUMNS)}")
    for number, line in enumerate(lines, start=2):
        if line:
            yield _row(f"{path}, line {number}", number, header, line, clips)


def _row(where: str, number: int, header: list[str], line: list[str], clips: frozenset[str]) -> LampRow:
    if len(line) < len(header):
        raise SalgenError(f"{where}: {len(line)} fields separated by ';', expected {len(header)}")
    fields = {title: text.strip() for title, text in zip(header, line, strict=False)}
    frame = re.split(r"[/\\]", fields["Filename"])[-1]  # the folder before it is not the one that it lies in
    clip = clip_of(frame)
    if "--" not in frame or clip not in clips:
        raise SalgenError(
            f"{where}: Filename {fields['Filename']!r}: expected CLIP--NUMBER.jpg with one of the clips that are "
            f"annotated, such as {min(clips)}"
        )
    left, top, right, bottom = (_pixels(where, column, fields[column]) for column in CORNERS)
    return LampRow(where, number, clip, frame, fields["Annotation tag"], (left, top, right, bottom))


def _pixels(where: str, column: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SalgenError(f"{where}: {column} is {text!r}, expected a whole number of pixels") from None
