"""The published layout of the LISA traffic lights: folders, annotation files, frames.

::

    PATH/Annotations/Annotations/dayTrain/dayClip1/frameAnnotationsBOX.csv      and frameAnnotationsBULB.csv
    PATH/Annotations/Annotations/daySequence1/frameAnnotationsBOX.csv           and frameAnnotationsBULB.csv
    PATH/dayTrain/dayTrain/dayClip1/frames/dayClip1--00000.jpg
    PATH/daySequence1/daySequence1/frames/daySequence1--00000.jpg

and the same for night. Archives unpack to doubled folders; the single ones are read too. A copy may hold some
of the clips only, and frames as PNG where the tables say JPEG.
"""

import csv
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from salgen.datasets.layouts.lisa.lamp_masks import Rectangle
from salgen.errors import SalgenError, readable

LABELS = {"go": 0, "stop": 1}  # the tags that are used; arrows and yellow lights are not
ANNOTATIONS = "Annotations"
BOX, BULB = "frameAnnotationsBOX.csv", "frameAnnotationsBULB.csv"
CORNERS = ("Upper left corner X", "Upper left corner Y", "Lower right corner X", "Lower right corner Y")
COLUMNS = ("Filename", "Annotation tag", *CORNERS)
ENDINGS = (".jpg", ".jpeg", ".png")  # suffixes of frames; tables say .jpg
CLIP = re.compile(r"(day|night)(Clip|Sequence)(\d+)")


@dataclass(frozen=True)
class Light:
    """A traffic light that is annotated as go or stop and whose bulb is annotated too."""

    name: str  # the annotated clip, and the line in its BOX file: unique in a copy
    frame: str  # the frame's file name
    label: int  # 0 for go, 1 for stop
    # rectangles of the whole light and of its lit bulb, in pixels of the frame, not clipped to it
    box: Rectangle
    bulb: Rectangle


@dataclass(frozen=True)
class Layout:
    """Contents of a copy."""

    files: Mapping[str, Path]  # name to path, of the annotation files and of each frame in which there is a light
    splits: Mapping[str, str]  # frame to split
    lights: tuple[Light, ...]  # all lights, in the order of clips, frames and lines
    left_out: Mapping[str, int]  # reason to the number of rows that are no light
    without_frames: tuple[str, ...]  # annotated clips of which the copy has no frames


class LampRow(NamedTuple):
    """A line of an annotation file."""

    line: int
    frame: str
    tag: str
    rectangle: Rectangle


def read_layout(root: Path) -> Layout:
    """Read all annotations of a copy and find their frames."""
    annotated = _annotated_clips(root)
    frames = {clip: _frames_of(root, clip) for clip in annotated}
    clips = {clip: folder for clip, folder in annotated.items() if frames[clip]}
    if not clips:
        top, inside = _frame_folder(next(iter(annotated)))
        expected = f"{root / top / top / inside}, or one {top} less"
        raise SalgenError(f"{root}: no frames of {', '.join(annotated)}; expected {expected}")
    splits = split_clips(clips)
    files: dict[str, Path] = {}
    lights: list[Light] = []
    left_out: Counter[str] = Counter()
    seen = set[tuple[str, str, Rectangle]]()
    for clip, folder in clips.items():
        files |= {f"{clip}/{name}": folder / name for name in (BOX, BULB)}
        bulbs: defaultdict[tuple[str, str], list[Rectangle]] = defaultdict(list)
        for row in read_rows(folder / BULB, annotated):
            bulbs[row.frame, row.tag].append(row.rectangle)
        for row in read_rows(folder / BOX, annotated):
            bulb = nearest_bulb(row.rectangle, bulbs[row.frame, row.tag])
            path = frames[clip_of(row.frame)].get(Path(row.frame).stem)
            reasons = {
                f"its tag is {row.tag!r}": row.tag not in LABELS,
                "an earlier BOX row is the same": (row.frame, row.tag, row.rectangle) in seen,
                "there is no BULB row for it": bulb is None,
                "its frame is not there": path is None,
            }
            seen.add((row.frame, row.tag, row.rectangle))
            if any(reasons.values()) or bulb is None or path is None:
                left_out[next(reason for reason, holds in reasons.items() if holds)] += 1
                continue
            files[row.frame] = path
            lights.append(Light(f"{clip}:{row.line}", row.frame, LABELS[row.tag], row.rectangle, bulb))
    if not lights:
        why = ", ".join(f"{reason} ({count})" for reason, count in left_out.items()) or "there are none at all"
        raise SalgenError(
            f"{_spelled(root, ANNOTATIONS)}: no row of a {BOX} can be used; expected the tags {' and '.join(LABELS)} "
            f"with a row in {BULB} each; of the rows there, {why}"
        )
    lights.sort(key=lambda light: (_number(clip_of(light.frame)), light.frame, int(light.name.rpartition(":")[2])))
    owners = {light.frame: splits[clip_of(light.frame)] for light in lights}
    without = tuple(clip for clip in annotated if clip not in clips)
    return Layout(files, owners, tuple(lights), dict(sorted(left_out.items())), without)


def split_clips(clips: Iterable[str]) -> dict[str, str]:
    """The split of each clip: sequences are for test, of the others some whole ones for val.

    These are every fifth in the order of their numbers, day and night counted apart. Of two to four it is the last
    one. Frames of one clip are nearly equal, so no clip is divided.

    Examples
    --------
    >>> split_clips(["dayClip1", "dayClip2", "nightClip1", "daySequence1"])
    {'dayClip1': 'train', 'dayClip2': 'val', 'nightClip1': 'train', 'daySequence1': 'test'}
    """
    splits = {clip: "test" if "Sequence" in clip else "train" for clip in clips}
    for time in ("day", "night"):
        numbered = [clip for clip in sorted(splits, key=_number) if clip.startswith(f"{time}Clip")]
        splits |= dict.fromkeys(numbered[4::5] or numbered[1:][-1:], "val")
    return splits


def nearest_bulb(box: Rectangle, bulbs: Iterable[Rectangle]) -> Rectangle | None:
    """Of the bulbs whose centre lies in a box, the one nearest to the box's centre; None if there is none."""
    left, top, right, bottom = (2 * edge for edge in box)
    x, y = box[0] + box[2], box[1] + box[3]
    centres = [(bulb[0] + bulb[2], bulb[1] + bulb[3], bulb) for bulb in bulbs]  # all doubled, so whole numbers
    inside = [place for place in centres if left <= place[0] <= right and top <= place[1] <= bottom]
    return min(inside, key=lambda place: (place[0] - x) ** 2 + (place[1] - y) ** 2, default=(0, 0, None))[2]


def clip_of(frame: str) -> str:
    """The clip that a frame belongs to, by its file name."""
    return frame.partition("--")[0]


def read_rows(path: Path, clips: Collection[str]) -> list[LampRow]:
    """The lines of a BOX or BULB file, whose frames may belong to some clips."""
    rows = []
    expected = f"; expected the columns {'; '.join(COLUMNS)}"
    with readable(f"{path}: cannot be read as annotations", expected), open(path, encoding="utf-8-sig") as handle:
        reader = csv.DictReader(handle, delimiter=";")
        reader.fieldnames = [title.strip() for title in reader.fieldnames or ()]
        for fields in reader:
            frame = re.split(r"[/\\]", fields["Filename"].strip())[-1]  # its folder is not the one that it lies in
            if "--" not in frame or clip_of(frame) not in clips:
                raise ValueError(f"{frame!r} is not named CLIP--NUMBER.jpg after an annotated clip")
            left, top, right, bottom = (int(fields[corner]) for corner in CORNERS)
            rows.append(LampRow(reader.line_num, frame, fields["Annotation tag"].strip(), (left, top, right, bottom)))
    return rows


def _annotated_clips(root: Path) -> dict[str, Path]:
    """Clip name to the folder of its annotations, in the order of clips."""
    top = _spelled(root, ANNOTATIONS)
    folders = {
        folder.name: folder
        for place, kind in ((top, "Sequence"), *((_spelled(top, f"{time}Train"), "Clip") for time in ("day", "night")))
        for folder in place.glob(f"*{kind}*")
        if folder.is_dir() and CLIP.fullmatch(folder.name)
    }
    if not folders:
        raise SalgenError(
            f"{root}: no annotations of the LISA traffic lights; "
            f"expected {root / ANNOTATIONS / ANNOTATIONS / 'dayTrain' / 'dayClip1' / BOX}, or one {ANNOTATIONS} less"
        )
    return {clip: folders[clip] for clip in sorted(folders, key=_number)}


def _frames_of(root: Path, clip: str) -> dict[str, Path]:
    """The frames of a clip by their names without the ending; none where it has no folder."""
    top, inside = _frame_folder(clip)
    folder = _spelled(root, top) / inside
    found = sorted(folder.iterdir()) if folder.is_dir() else []
    return {path.stem: path for path in found if path.suffix.lower() in ENDINGS}


def _frame_folder(clip: str) -> tuple[str, str]:
    """The top folder of a clip's frames, which may be doubled, and the folder in it."""
    if "Sequence" in clip:
        return clip, "frames"
    return "nightTrain" if clip.startswith("night") else "dayTrain", f"{clip}/frames"


def _spelled(parent: Path, name: str) -> Path:
    """The doubled folder ``name/name`` where there is one, else the single one."""
    doubled = parent / name / name
    return doubled if doubled.is_dir() else parent / name


def _number(clip: str) -> tuple[str, str, int]:
    time, kind, number = CLIP.fullmatch(clip).groups()  # type: ignore[union-attr]
    return time, kind, int(number)
