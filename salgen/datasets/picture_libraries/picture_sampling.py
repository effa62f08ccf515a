"""Pictures gathered from a copy of a data set into a library: in a random order, as many usable ones as wanted."""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from salgen.cache import cache_errors
from salgen.datasets.picture_libraries.picture_file import PictureFile, Pixels, Place, library_path, write_library
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import TOO_LARGE, TooLargeError, read_rgb
from salgen.progress import progress

VERSION = "3"  # changes whenever other pictures are made of the same files, or the form of the library's file
SPLITS = ("test", "train", "val")
FEWEST = 2  # pictures of a class in a split
LEAST = 10  # pictures of a class to gather for a split, if there are so many
HELD_OUT = 10  # one of so many pictures is for validation, and one for test where the data has no such part

Make = Callable[[], Pixels]


class UnusableError(SalgenError):
    """The reason why a picture is passed over, in few words and without its name: reasons are counted."""


@contextmanager
def counted(skipped: Counter[str]) -> Iterator[None]:
    """Count the reason why something is passed over, where an UnusableError ends the ``with`` block."""
    try:
        yield
    except UnusableError as error:
        skipped[str(error)] += 1


# Candidates by split and class, in the order in which they are tried, each of which raises UnusableError if it cannot
# be used; and the number of pictures passed over so far, by reason.
Selection = tuple[Mapping[tuple[str, str], Sequence[Make]], Mapping[str, int]]


def gather(
    kind: str, origin: str, classes: Sequence[str], pictures: int, size: object, select: Callable[[], Selection]
) -> tuple[PictureFile, str]:
    """A library out of a copy, and a note on its pictures; `select` is called if it is not in the cache."""
    with cache_errors(kind):
        path = library_path(kind, [VERSION, kind, origin, list(classes), pictures, size])
    if not path.exists():
        _build(path, kind, sorted(classes), pictures, *select())
    library = PictureFile(path, classes)
    counts = {split: sum(library.count(split, name) for name in classes) for split in SPLITS}
    numbers = f"There are {counts['train']:,} {kind} for training, {counts['val']:,} for validation, "
    return library, f"{numbers}{counts['test']:,} for test. {listed(library.skipped)}".strip()


def most_of(split: str, pictures: int) -> int:
    """The most pictures of a class in a split: those for training, or a tenth of that and ten at least."""
    return pictures if split == "train" else max(pictures // 10, LEAST)


def split_of(rank: int, count: int, *, tested: bool) -> str:
    """The split of the picture at a rank among `count`; `tested` if other pictures are for test."""
    held_out = ("val",) if tested else ("val", "test")
    part = rank // (count // HELD_OUT) if count >= HELD_OUT else len(held_out)
    return held_out[part] if part < len(held_out) else "train"


def read_picture(path: Path) -> Pixels:
    """A picture's colours, uint8 (H, W, 3)."""
    with usable(path):
        return read_rgb(path)


@contextmanager
def usable(path: Path, kind: str = "image", fault: str = "") -> Iterator[None]:
    """Raise an UnusableError for a file that is missing, or for any error within the ``with`` block."""
    if not path.is_file():
        raise UnusableError(f"missing {kind}")
    try:
        yield
    except UnusableError:
        raise
    except TooLargeError:
        raise UnusableError(f"{kind} {TOO_LARGE}") from None
    except Exception:  # libraries meet a damaged file with errors of a dozen kinds
        raise UnusableError(fault or f"unreadable {kind}") from None


def found_at(what: str, *places: Path) -> Path:
    """The first of some places of a published layout that is there; a SalgenError says `what` has it if none is."""
    for place in places:
        if place.exists():
            return place
    raise SalgenError(f"{places[0]} is missing: {what}")


def names_and_sizes(files: Iterable[Path | os.DirEntry[str]]) -> str:
    """SHA-256 over the sorted names of files and their sizes: to read them all would take too long."""
    total = hashlib.sha256()
    sizes = ((os.fspath(file), file.stat().st_size if file.is_file() else -1) for file in files)  # links to nowhere too
    for name, size in sorted(sizes):
        total.update(f"{Path(name).name}\0{size}\n".encode(errors="surrogateescape"))
    return total.hexdigest()


def listed(skipped: Mapping[str, int]) -> str:
    """A sentence on the pictures passed over, or "" if there are none."""
    return "Skipped: " + ", ".join(f"{why} ({skipped[why]:,})" for why in sorted(skipped)) + "." if skipped else ""


def _build(
    path: Path,
    kind: str,
    classes: Sequence[str],
    pictures: int,
    candidates: Mapping[tuple[str, str], Sequence[Make]],
    passed_over: Mapping[str, int],
) -> None:
    places = [(split, name) for split in SPLITS for name in classes]
    _check_enough(kind, {place: len(candidates.get(place, ())) for place in places}, "there")
    skipped, usable = Counter(passed_over), dict.fromkeys(places, 0)

    def made() -> Iterator[tuple[Place, Pixels]]:
        total = sum(min(most_of(place[0], pictures), len(candidates[place])) for place in places)
        with progress(f"gathering {kind}", total, "pictures") as advance:
            for split, name in places:
                for pixels in islice(_usable(candidates[split, name], skipped), most_of(split, pictures)):
                    yield (split, name, usable[split, name]), pixels
                    advance()
                    usable[split, name] += 1
        _check_enough(kind, usable, "usable")

    with cache_errors(kind):
        write_library(path, made(), skipped)


def _usable(candidates: Sequence[Make], skipped: Counter[str]) -> Iterator[Pixels]:
    for make in candidates:
        with counted(skipped):
            yield make()


def _check_enough(kind: str, counts: Mapping[tuple[str, str], int], state: str) -> None:
    """Raise a SalgenError that names every class with too few pictures in a split."""
    short = [f"{name!r} ({n} {state} for {split})" for (split, name), n in counts.items() if n < FEWEST]
    if short:
        advice = "leave these out, or give a copy that has more"
        raise SalgenError(f"{kind} of {', '.join(short)}: each split needs at least {FEWEST}; {advice}")
