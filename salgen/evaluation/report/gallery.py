"""The gallery: samples of every class, their ground truth, and the map of each method."""

import base64
import io
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.errors import readable
from salgen.evaluation.report.runs import CEILING, FLOOR, METHOD, LoadedRun
from salgen.types import Mask

GALLERY = "gallery.npz"
ARRAYS = ("ids", "images", "masks", "labels", "predicted", "methods", "maps", "class_names")
LONGEST = 128  # pixels of a picture's longer side; larger ones are averaged down
LEVELS = 127  # odd, so that zero has a colour of its own
SATURATED = 99.5  # percentile of a map that gets the strongest colour

UNDEFINED_COLOUR = (128, 128, 128)
NOTHING = "ground truth: nothing to find"

HABIT = ("grad-cam", "integrated-gradients")  # methods that most papers show

GalleryArrays = dict[str, NDArray[Any]]
Gallery = SimpleNamespace  # samples of one run under some methods, as :func:`make_gallery` makes it


def gallery(run: LoadedRun, order: list[str]) -> Gallery | None:
    """The pictures of a run, its methods in the given order; None if it has no ``gallery.npz``."""
    path = run.path / GALLERY
    if not path.exists():
        return None
    data = read_gallery(path)
    methods = [name for name in order if name in data["methods"].tolist()]
    columns = [(name, role) for role in (METHOD, FLOOR, CEILING) for name in methods if run.role(name) == role]
    return make_gallery(run.label, explained(run), data, columns, range(len(data["ids"])))


def strip(run: LoadedRun, best_first: Sequence[str]) -> Gallery | None:
    """The first sample with a mask under the best of some methods, the one that most papers show, and the worst."""
    path = run.path / GALLERY
    data = read_gallery(path) if path.exists() else {}
    known = [name for name in best_first if data and name in data["methods"].tolist()]
    if len(known) < 2 or not data["masks"].any():
        return None
    habit = [(name, "habit") for name in HABIT if name in known[1:-1]][:1]
    columns = [(known[0], "best"), *habit, (known[-1], "worst")]
    return make_gallery(run.label, explained(run), data, columns, [int(data["masks"].any(axis=(1, 2)).argmax())])


def make_gallery(
    run: str, model: str, data: GalleryArrays, columns: Sequence[tuple[str, str]], samples: Iterable[int]
) -> Gallery:
    """Some samples of a ``gallery.npz``, with a column for each of the (method, role) given.

    The pictures of a row are the image, the mask, then a map for each column: each a URL and its alternative text.
    """
    methods, classes = data["methods"].tolist(), data["class_names"].tolist()
    heads = [(name, role, bool((data["maps"][methods.index(name)] < 0).any())) for name, role in columns]
    rows = []
    for sample in samples:
        mask, name, label = data["masks"][sample], str(data["ids"][sample]), int(data["labels"][sample])
        predicted, truth = int(data["predicted"][sample]), "ground truth" if mask.any() else NOTHING
        pictures = [
            picture(image_url(data["images"][sample]), f"{name}, {classes[label]}", contour=False),
            picture(image_url(mask[..., None] * np.uint8(255)), f"{truth}, {name}", contour=False),
        ]
        for method, _, signed in heads:
            values = data["maps"][methods.index(method), sample].astype(np.float32)
            pictures.append(picture(map_url(values, signed), f"{method}, {name}"))
        row = SimpleNamespace(
            id=name,
            true_class=classes[label],
            predicted_class=classes[predicted],
            right=label == predicted,
            contour=outline(mask),
            pictures=pictures,
        )
        rows.append(row)
    height, width = data["masks"].shape[1:]
    return Gallery(run=run, model=model, height=height, width=width, columns=heads, rows=rows)


def picture(url: str, alt: str, *, contour: bool = True) -> SimpleNamespace:
    """A PNG as a data URL (empty where there is no map), its alternative text, and whether the mask is drawn on it."""
    return SimpleNamespace(url=url, alt=alt, contour=contour)


def explained(run: LoadedRun) -> str:
    """The trained model whose maps a run's gallery holds."""
    return f"{run.models[0].name}, training seed {run.models[0].seed}"


def read_gallery(path: Path) -> GalleryArrays:
    """The arrays of a ``gallery.npz``: see :func:`salgen.evaluation.runs.gallery_maps.GalleryMaps.write`."""
    with readable(f"{path.name} is damaged", ": remove it or evaluate again"), open(path, "rb") as file:
        archive = np.load(file)
        return {name: archive[name] for name in ARRAYS}


def image_url(image: NDArray[np.uint8]) -> str:
    """A picture uint8 (H, W, 1 or 3) as a PNG data URL."""
    from PIL import Image

    full = Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image)
    full.thumbnail((LONGEST, LONGEST), Image.Resampling.LANCZOS, reducing_gap=None)
    return _png(full)


def map_url(values: NDArray[np.float32], signed: bool) -> str:
    """A map float32 (H, W) in false colours; empty if it has no finite value.

    Unsigned maps run from zero to the 99.5th percentile, signed ones as far on both sides of zero: a few extreme pixels
    do not darken the rest.
    """
    from PIL import Image

    if not np.isfinite(values).any():
        return ""
    picture = Image.fromarray(values)
    picture.thumbnail((LONGEST, LONGEST), Image.Resampling.BOX, reducing_gap=None)
    small = np.asarray(picture)
    finite = np.isfinite(small)
    scaled = np.where(finite, small, 0.0) / strongest(small)
    index = np.rint(np.clip((scaled + signed) / (1 + signed), 0.0, 1.0) * (LEVELS - 1)).astype(np.uint8)
    picture = Image.fromarray(np.where(finite, index, LEVELS).astype(np.uint8), mode="P")
    picture.putpalette(_palette("coolwarm" if signed else "magma"))
    return _png(picture)


def strongest(values: NDArray[Any]) -> float:
    """The absolute value that gets the strongest colour: the 99.5th percentile; where that is 0 the largest, or 1."""
    sizes = np.abs(values[np.isfinite(values)])
    return (float(np.percentile(sizes, SATURATED)) or float(sizes.max()) or 1.0) if sizes.size else 1.0


def _palette(name: str) -> bytes:
    """`LEVELS` colours of a colour map, and one more for undefined pixels."""
    import matplotlib as mpl

    colours = np.asarray(mpl.colormaps[name](np.linspace(0.0, 1.0, LEVELS)))[:, :3]
    return np.rint(colours * 255.0).astype(np.uint8).tobytes() + bytes(UNDEFINED_COLOUR)


def legend_urls() -> dict[str, str]:
    """The two colour bars."""
    bar = np.linspace(0.0, 1.0, LEVELS, dtype=np.float32)[None].repeat(6, axis=0)
    return {"sequential": map_url(bar, False), "diverging": map_url(bar * 2 - 1, True)}


def _png(image: Any) -> str:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return png_url(buffer.getvalue())


def png_url(data: bytes) -> str:
    """A PNG file as a data URL."""
    return "data:image/png;base64," + base64.b64encode(data).decode()


def outline(mask: Mask) -> str:
    """The border of a mask as an SVG path along pixel edges, in pixels."""
    padded = np.pad(mask, 1)
    across = _runs(padded[1:, 1:-1] != padded[:-1, 1:-1], lambda row, start, end: f"M{start} {row}H{end}")
    down = _runs((padded[1:-1, 1:] != padded[1:-1, :-1]).T, lambda column, start, end: f"M{column} {start}V{end}")
    return across + down


def _runs(edges: Mask, draw: Callable[[int, int, int], str]) -> str:
    """Draw each unbroken run of edges, bool (lines, places), as SVG path commands."""
    steps = np.diff(np.pad(edges, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    starts, ends = np.argwhere(steps == 1), np.argwhere(steps == -1)
    return "".join(draw(int(line), int(start), int(end)) for (line, start), (_, end) in zip(starts, ends, strict=True))
