"""Pictures of a library that a detector agrees with, in a library of their own; its weights are the user's."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from pathlib import Path
import numpy as np
from PIL import Image
from salgen.cache import cache_errors, cached_json
from salgen.datasets.picture_libraries.picture_file import PictureFile, Pixels, Place, library_path, write_library
from salgen.datasets.picture_libraries.picture_sampling import FEWEST, SPLITS
from salgen.errors import SalgenError
from salgen.files import sha256_of
from salgen.generators.composites.libraries import Library
from salgen.progress import progress
from salgen.registry import DETECTORS

DETECTOR = "detector"  # folder of the weights
FORMS = ("fasterrcnn_resnet50_fpn_coco-*.pth", "*.safetensors")
PUBLISHED = "https://download.pytorch.org/models/fasterrcnn_resnet50_fpn_coco-258fb6c6.pth"
EXPECTED = f"torchvision's weights ({PUBLISHED}) or a .safetensors file of your own"
VERSION = "1"  # changes whenever other pictures pass
CONFIDENCE = 0.5  # above which something is found
TOGETHER = 16  # pictures that the detector is shown at once
KEPT = "kept"

Verdicts = Mapping[str, Mapping[str, Sequence[str]]]  # by class and split, for each picture
Finding = tuple[str, float]  # category, confidence


def weights_in(root: Path) -> Path:
    """The file of weights in the folder ``detector`` of a user's folder."""
    folder = root / DETECTOR
    if not folder.is_dir():
        raise SalgenError(f"{folder} is missing: pictures of your own are filtered by a detector; put {EXPECTED} there")
    files = sorted(file for file in folder.iterdir() if any(fnmatch(file.name, form) for form in FORMS))
    if len(files) != 1:
        raise SalgenError(f"{folder} holds {len(files)} files of weights, but one is expected: {EXPECTED}")
    return files[0]


@dataclass(frozen=True, eq=False)
class Filtered:
    """A filtered library, the dropped classes with the reason, and the numbers of pictures kept and in all."""

    library: PictureFile
    dropped: Mapping[str, str]
    kept: int
    total: int


def on_black(picture: Pixels, image_size: tuple[int, int], longest: int) -> Pixels:
    """An object, uint8 (h, w, 4), in the middle of a black image, at the largest size it is pasted in."""
    height, width = image_size
    scale = longest / max(image_size) / max(picture.shape[0] / height, picture.shape[1] / width)
    tall, wide = (max(round(side * scale), 1) for side in picture.shape[:2])
    resized = np.asarray(Image.fromarray(picture).resize((wide, tall), Image.Resampling.BILINEAR)).astype(np.float64)
    image = np.zeros((height, width, 3), dtype=np.uint8)
    top, left = (height - tall) // 2, (width - wide) // 2
    image[top : top + tall, left : left + wide] = np.rint(resized[..., :3] * resized[..., 3:] / 255.0)
    return image


def filtered(
    kind: str, library: Library, weights: Path, size: tuple[int, int] = (0, 0), longest: int = 0, fewest: int = FEWEST
) -> Filtered:
    """The pictures that pass, of classes of which enough do; verdicts are kept too, so another `fewest` asks nobody.

    ``"objects"`` are shown on black in images of a size and pass if they are found by their own names, whatever else
    is found. ``"scenes"`` pass if nothing is found.
    """
    depends_on = [VERSION, kind, library.digest, list(library.classes), sha256_of(weights), CONFIDENCE]
    depends_on.append([*size, longest] if kind == "objects" else [])
    judge = partial(_judged, kind, library, weights, size, longest)
    verdicts: dict[str, dict[str, list[str]]] = cached_json(f"judged-{kind}", depends_on, judge)
    dropped = {name: reason for name in library.classes if (reason := _shortage(verdicts[name], fewest))}
    kept = [name for name in library.classes if name not in dropped]
    if len(kept) < 2:
        raise SalgenError(
            f"the detector leaves {' and '.join(kept) or 'none'} of the classes of {kind}, and two are needed: "
            + "; ".join(f"{name}: {why}" for name, why in dropped.items())
        )
    with cache_errors(kind):
        path = library_path(f"filtered-{kind}", [*depends_on, fewest])
        if not path.exists():
            write_library(path, _passed(library, kept, verdicts))
    every = [verdict for splits in verdicts.values() for listed in splits.values() for verdict in listed]
    return Filtered(PictureFile(path, kept), dropped, every.count(KEPT), len(every))


def _judged(
    kind: str, library: Library, weights: Path, image_size: tuple[int, int], longest: int
) -> dict[str, dict[str, list[str]]]:
    """The verdict on each picture, in the order of the file."""
    detector = DETECTORS.load("torchvision")(weights)
    classes = sorted(library.classes)
    places = [(split, name, n) for split in SPLITS for name in classes for n in range(library.count(split, name))]
    verdicts: dict[str, dict[str, list[str]]] = {name: {split: [] for split in SPLITS} for name in library.classes}
    with progress(f"looking for objects in {kind}", len(places), "pictures") as advance:
        for start in range(0, len(places), TOGETHER):
            batch = places[start : start + TOGETHER]
            images = [library.load(*place) for place in batch]
            if kind == "objects":
                images = [on_black(image, image_size, longest) for image in images]
            for (split, name, _), findings in zip(batch, detector.detect(images), strict=True):
                sure = [category for category, confidence in findings if confidence > CONFIDENCE]
                verdicts[name][split].append(_verdict(kind, name, sure))
            advance(len(batch))
    return verdicts


def _verdict(kind: str, name: str, found: Sequence[str]) -> str:
    """`KEPT` or, in a few words, the reason why not, from the class and the detected names, the surest first."""
    if kind == "scenes":
        return f"shows {found[0]}" if found else KEPT
    return KEPT if name in found else f"found as {found[0]}" if found else "not found"


def _shortage(verdicts: Mapping[str, Sequence[str]], fewest: int) -> str:
    """The reason why a class is dropped, or "" if it is kept."""
    for split, needed in (("train", fewest), ("val", FEWEST), ("test", FEWEST)):
        kept = list(verdicts[split]).count(KEPT)
        if kept < needed:
            return f"{kept} of {len(verdicts[split])} pictures for {split} pass, and {needed} are needed"
    return ""


def _passed(library: Library, kept: Sequence[str], verdicts: Verdicts) -> Iterator[tuple[Place, Pixels]]:
    for split in SPLITS:
        for name in sorted(kept):
            passed = [number for number, verdict in enumerate(verdicts[name][split]) if verdict == KEPT]
            for place, number in enumerate(passed):
                yield (split, name, place), library.load(split, name, number)
