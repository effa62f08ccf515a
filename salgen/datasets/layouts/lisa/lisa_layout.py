"""The published layout of the LISA traffic lights: folders, annotation files, frames.

::

    PATH/Annotations/Annotations/dayTrain/dayClip1/frameAnnotationsBOX.csv      and frameAnnotationsBULB.csv
    PATH/Annotations/Annotations/daySequence1/frameAnnotationsBOX.csv           and frameAnnotationsBULB.csv
    PATH/dayTrain/dayTrain/dayClip1/frames/dayClip1--00000.jpg
    PATH/daySequence1/daySequence1/frames/daySequence1--00000.jpg

and the same for night. Archives unpack to doubled folders; the single ones are read too. A copy may hold some
of the clips only, and frames as PNG where the tables say JPEG.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from salgen.datasets.layouts.lisa.lamp_masks import Rectangle
from salgen.datasets.layouts.lisa.lisa_rows import BOX, BULB, LampRow, clip_of, read_rows
from salgen.errors import SalgenError

LABELS = {"go": 0, "stop": 1}  # the tags that are used; arrows and yellow lights are not
ANNOTATIONS = "Annotations"
ENDINGS = (".jpg", ".jpeg", ".png")  # suffixes of frames; tables say .jpg
CLIP = re.compile(r"(day|night)(Clip|Sequence)(\d+)")


@dataclass(frozen=True)
class Light:
    """A traffic light that is annotated as go or stop and whose bulb is annotated too."""

    name: str  # the annotated clip, and the line in its BOX file: unique in a copy
    frame: str  # the frame's file name
    night: bool  # whether the clip was filmed at night
    label: int  # 0 for go, 1 for stop
    # rectangles of the whole light and of its lit bulb, in pixels of the frame, not clipped to it
    box: Rectangle
    bulb: Rectangle


@dataclass(frozen=True)
class Copy:
    """Contents of a copy."""

    files: Mapping[str, Path]  # name to path, of the annotation files and of each frame in which there is a light
    splits: Mapping[str, str]  # frame to split
    lights: tuple[Light, ...]  # all lights, in the order of clips, frames and lines
    left_out: Mapping[str, int]  # reason to the number of rows that are no light
    without_frames: tuple[str, ...] = ()  # annotated clips of which the copy has no frames


def read_copy(root: Path) -> Copy:
    """Read all annotations of a copy and find their frames."""
    annotated = _annotated_clips(root)
    frames = _Frames(root)
    clips = {clip: folder for clip, folder in annotated.items() if frames.of(clip)}
    if not clips:
        raise SalgenError(
            f"{root}: no frames of {', '.join(annotated)}; expected {frames.expected(next(iter(annotated)))}"
            f"{_folder_above(root)}"
        )
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
            path = frames.of(row.clip).get(Path(row.frame).stem)
            reason = _reason_to_skip(row, bulb, seen) or ("" if path else "its frame is not there")
            seen.add((row.frame, row.tag, row.rectangle))
            if reason or bulb is None or path is None:
                left_out[reason] += 1
                continue
            files[row.frame] = path
            night, name = row.clip.startswith("night"), f"{clip}:{row.line}"
            lights.append(Light(name, row.frame, night, LABELS[row.tag], row.rectangle, bulb))
    if not lights:
        reasons = ", ".join(f"{reason} ({count})" for reason, count in left_out.items()) or "there are none at all"
        raise SalgenError(
            f"{_spelled(root, ANNOTATIONS)}: no row of a {BOX} can be used; expected the tags {' and '.join(LABELS)} "
            f"with a row in {BULB} each; of the rows there, {reasons}"
        )
    lights.sort(key=lambda light: (_number(clip_of(light.frame)), light.frame, int(light.name.rpartition(":")[2])))
    owners = {light.frame: splits[clip_of(light.frame)] for light in lights}
    without = tuple(clip for clip in annotated if clip not in clips)
    return Copy(files, owners, tuple(lights), dict(sorted(left_out.items())), without)


def split_clips(clips: Iterable[str]) -> dict[str, str]:
    """The split of each clip: sequences are for test, of the others some whole ones for val.

    These are every fifth in the order of their numbers, day and night counted apart; where there are fewer
    than five the last one, if it is not the only one. Frames of one clip are nearly equal, so no clip is divided.

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
    inside = [
        (across, down, bulb) for across, down, bulb in centres if left <= across <= right and top <= down <= bottom
    ]
    return min(inside, key=lambda place: (place[0] - x) ** 2 + (place[1] - y) ** 2, default=(0, 0, None))[2]


def _annotated_clips(root: Path) -> dict[str, Path]:
    """Clip name to the folder of its annotations, in the order of clips."""
    if not root.is_dir():
        raise SalgenError(f"{root}: there is no such folder; give the one of your copy of the LISA traffic lights")
    top = _spelled(root, ANNOTATIONS)
    places = [top, *(_spelled(top, f"{time}Train") for time in ("day", "night"))]
    folders = {
        folder.name: folder
        for place, kind in zip(places, ("Sequence", "Clip", "Clip"), strict=True)
        if place.is_dir()
        for folder in place.iterdir()
        if folder.is_dir() and CLIP.fullmatch(folder.name) and kind in folder.name
    }
    if not folders:
        raise SalgenError(
            f"{root}: no annotations of the LISA traffic lights; "
            f"expected {root / ANNOTATIONS / ANNOTATIONS / 'dayTrain' / 'dayClip1' / BOX}, or one {ANNOTATIONS} less"
            f"{_folder_above(root)}"
        )
    return {clip: folders[clip] for clip in sorted(folders, key=_number)}


def _reason_to_skip(row: LampRow, bulb: Rectangle | None, seen: Collection[tuple[str, str, Rectangle]]) -> str:
    """The reason why a BOX row is not a light, or "" if it is one."""
    if row.tag not in LABELS:
        return f"its tag is {row.tag!r}"
    if (row.frame, row.tag, row.rectangle) in seen:
        return "an earlier BOX row is the same"
    return "" if bulb else "there is no BULB row for it"


class _Frames:
    """The frames of clips; each folder is listed once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._listed: dict[str, Mapping[str, Path]] = {}

    def of(self, clip: str) -> Mapping[str, Path]:
        """The frames of a clip by their names without the ending; none where it has no folder."""
        if clip not in self._listed:
            top, inside = self._place(clip)
            folder = _spelled(self._root, top) / inside
            found = sorted(folder.iterdir()) if folder.is_dir() else []
            self._listed[clip] = {path.stem: path for path in found if path.suffix.lower() in ENDINGS}
        return self._listed[clip]

    def expected(self, clip: str) -> str:
        """Where the frames of a clip should be."""
        top, inside = self._place(clip)
        return f"{self._root / top / top / inside} or {self._root / top / inside}"

    def _place(self, clip: str) -> tuple[str, Path]:
        sequence = "Sequence" in clip
        top = clip if sequence else "nightTrain" if clip.startswith("night") else "dayTrain"
        return top, Path("frames") if sequence else Path(clip, "frames")


def _folder_above(root: Path) -> str:
    """Advice if the folder of the annotations was given instead of the one above it, else ""."""
    above = root.absolute()
    while above.name == ANNOTATIONS:
        above = above.parent
    return "" if above == root.absolute() else f"; give the folder above {ANNOTATIONS}: {above}"


def _spelled(parent: Path, name: str) -> Path:
    """The doubled folder ``name/name`` where there is one, else the single one."""
    doubled = parent / name / name
    return doubled if doubled.is_dir() else parent / name


def _number(clip: str) -> tuple[str, str, int]:
    time, kind, number = CLIP.fullmatch(clip).groups()  # type: ignore[union-attr]
    return time, kind, int(number)
