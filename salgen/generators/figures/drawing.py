"""Flat drawings with clean edges: polygons and ellipses in plain colours, laid over one another.

A drawing is made on a grid with 4 x 4 samples per pixel; each sample has one colour, and a pixel is the mean
of its samples. Only + - * / and square roots decide which samples a shape covers, so that every machine draws
the same bits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
import numpy as np
from salgen.generators.drawing.choices import Tint
from salgen.generators.drawing.outlines import bar
from salgen.generators.drawing.shapes import FINE, covered, following, means, oval
from salgen.types import Float64

Points = Sequence[Sequence[float]] | Float64
INK: Tint = (34, 28, 44)
LINE = 0.009  # width of outlines


@dataclass(frozen=True)
class Placement:
    """The placement of figure coordinates in an image: (down, across) in shares of its side, turned and moved."""

    origin: tuple[float, float]  # (row, column) in pixels of the figure's (0, 0)
    side: float  # pixels per unit
    turn: float = 0.0  # the tangent of half the angle that the figure is turned by; no trigonometry is needed

    def places(self, points: Points) -> Float64:
        """Figure coordinates as (row, column) in pixels, float64 (N, 2)."""
        down, across = np.asarray(points, dtype=np.float64).T
        square = self.turn * self.turn
        along, aside = (1 - square) / (1 + square) * self.side, 2 * self.turn / (1 + square) * self.side
        row, column = self.origin
        return np.stack([row + down * along + across * aside, column + across * along - down * aside], axis=1)


class Drawing:
    """A picture in progress: for each sample the number of the colour laid there last; `frame` places the shapes."""

    def __init__(self, image_size: tuple[int, int], frame: Placement) -> None:
        self.frame = frame
        self.tints: list[Tint] = [(0, 0, 0)]  # number 0 is where nothing was drawn
        self.fine = np.zeros((image_size[0] * FINE, image_size[1] * FINE), dtype=np.uint8)

    def fill(self, points: Points, tint: Tint, over: int = 0) -> int:
        """Fill a polygon where colours numbered `over` and above lie, and return its colour's number."""
        return self.fill_all([points], tint, over)

    def fill_all(self, polygons: Sequence[Points], tint: Tint, over: int = 0) -> int:
        """Fill several polygons at once; overlapping ones must run the same way round."""
        if tint != self.tints[-1] or len(self.tints) == 1:
            self.tints.append(tint)
        number = len(self.tints) - 1
        corners = self.frame.places(np.concatenate([np.asarray(points) for points in polygons])) * FINE
        window, inside = covered(corners, [len(points) for points in polygons], self.fine.shape)
        part = self.fine[window]
        part[inside & (part >= over) if over else inside] = number
        return number

    def outlined(self, points: Points, tint: Tint) -> int:
        """Fill a polygon with an ink line around it."""
        self.fill(widened(points, LINE), INK)
        return self.fill(points, tint)

    def line(self, points: Points, width: float, tint: Tint) -> int:
        """Draw a line with round joints and ends."""
        places = np.asarray(points, dtype=np.float64)
        joints = [oval(place, (width / 2, width / 2)) for place in places]
        return self.fill_all([*joints, *(bar(start, end, width / 2) for start, end in pairwise(places))], tint)

    def picture(self) -> tuple[Float64, Float64]:
        """The colours, float64 (H, W, 3) in [0, 1] and already multiplied by the coverage, (H, W)."""
        tints = np.array(self.tints, dtype=np.uint8)
        colours = [means(np.take(channel, self.fine)) / 255.0 for channel in tints.T]
        return np.stack(colours, axis=2), means((self.fine > 0).view(np.uint8))

    def coverage(self) -> Float64:
        """The share of each pixel that was drawn on, float64 (H, W) in [0, 1]."""
        return means((self.fine > 0).view(np.uint8))

    def share(self, number: int) -> Float64:
        """The share of each pixel that shows the colour with a number, float64 (H, W) in [0, 1]."""
        return means((self.fine == number).view(np.uint8))


def rounded(points: Points, times: int = 3) -> Float64:
    """A closed polygon with its corners cut (Chaikin 1974), again and again, until it is smooth."""
    places = np.asarray(points, dtype=np.float64)
    for _ in range(times):
        after = places[following((len(places),))]
        cut = np.empty((2 * len(places), 2))
        cut[0::2], cut[1::2] = 0.75 * places + 0.25 * after, 0.25 * places + 0.75 * after
        places = cut
    return places


def widened(points: Points, width: float) -> Float64:
    """A smooth closed polygon moved outwards."""
    places = np.asarray(points, dtype=np.float64)
    count = len(places)
    after = places[following((count,))]
    down, across = (after - places[np.arange(-1, count - 1)]).T
    length = np.sqrt(down * down + across * across)
    length[length == 0] = 1.0
    turned = (places[:, 0] * after[:, 1] - places[:, 1] * after[:, 0]).sum()
    step = (width if turned < 0 else -width) / length
    return np.stack([places[:, 0] - across * step, places[:, 1] + down * step], axis=1)
