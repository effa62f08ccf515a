"""Cluttered backgrounds: a piece of a photograph with blobs of colour and of other photographs on it."""

from collections.abc import Mapping
from typing import Any
import numpy as np
from salgen.generators.drawing.outlines import turned
from salgen.generators.drawing.photographs import Photographs, of_split
from salgen.generators.drawing.pictures import Pixels, resize_rgb
from salgen.generators.drawing.shapes import paint, polygon
from salgen.generators.interfaces import Context
from salgen.seeding import Stream
from salgen.types import Float64

# Eight corners around a blob, before each is drawn nearer or farther.
AROUND = np.array([(1, 0), (0.7, 0.7), (0, 1), (-0.7, 0.7), (-1, 0), (-0.7, -0.7), (0, -1), (0.7, -0.7)])


def draw_background(context: Context, most: int) -> dict[str, Any]:
    """Choose two photographs of the split and a piece of each, the light, and up to `most` blobs."""
    names = of_split(context.material, context.split)
    stream = context.stream("background")
    chosen, pieces, light = stream.integers(len(names), 2), stream.uniform(6), stream.uniform(3, 0.75, 1.1)
    return {
        "photographs": [names[int(number)] for number in chosen],
        "pieces": [[float(value) for value in piece] for piece in pieces.reshape(2, 3)],
        "mirrored": int(stream.integers(2, 1)[0]),
        "tint": [float(value) for value in light],
        "blobs": int(context.stream("blobs").integers(most + 1, 1)[0]),
        "clutter": context.stream("clutter").key(),
    }


def cluttered(parameters: Mapping[str, Any], material: Photographs, image_size: tuple[int, int]) -> Float64:
    """The background that :func:`draw_background` drew, float64 (H, W, 3) in [0, 1]."""
    base, overlay = (
        _piece(material.load(name), piece, image_size) / 255.0
        for name, piece in zip(parameters["photographs"], parameters["pieces"], strict=True)
    )
    canvas = np.array(base[:, ::-1] if parameters["mirrored"] else base)
    stream = Stream.from_key(parameters["clutter"], "clutter")
    for _ in range(parameters["blobs"]):
        _paint_blob(canvas, overlay, stream)
    canvas *= np.array(parameters["tint"])
    return np.clip(canvas, 0.0, 1.0, out=canvas)


def _paint_blob(canvas: Float64, overlay: Float64, stream: Stream) -> None:
    """Paint a blob of one colour or of the overlay photograph anywhere on the canvas."""
    draws, colour = stream.uniform(16), stream.uniform(3)
    height, width = canvas.shape[:2]
    size = (0.06 + 0.16 * draws[0]) * min(height, width)
    corners = AROUND * (0.5 + draws[8:16])[:, None] * (1.0, 0.4 + 0.6 * draws[1])
    corners = turned(corners, 2 * draws[2] - 1) * size + np.array([draws[3] * height, draws[4] * width])
    low = np.clip(np.floor(corners.min(axis=0)), 0, (height - 1, width - 1)).astype(int)
    high = np.clip(np.ceil(corners.max(axis=0)), low + 1, (height, width)).astype(int)
    window = slice(low[0], high[0]), slice(low[1], high[1])
    covered = polygon(corners - low, (int(high[0] - low[0]), int(high[1] - low[1])))
    if draws[5] < 0.5:
        paint(canvas[window], overlay[window], covered)
    else:
        downwards = np.linspace(1.1, 0.7, covered.shape[0])[:, None, None]
        paint(canvas[window], colour * downwards, covered)


def _piece(photograph: Pixels, piece: list[float], image_size: tuple[int, int]) -> Pixels:
    """A piece of the photograph with the image's proportions, a third of the largest one to all of it, resized."""
    height, width = image_size
    whole = min(photograph.shape[0] / height, photograph.shape[1] / width)
    scale = whole * (1 + 2 * piece[0]) / 3
    rows, columns = (max(1, int(scale * pixels)) for pixels in image_size)
    top = int(piece[1] * (photograph.shape[0] - rows + 1))
    left = int(piece[2] * (photograph.shape[1] - columns + 1))
    return resize_rgb(photograph[top : top + rows, left : left + columns], image_size)
