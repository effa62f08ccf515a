"""A chart with a line for each method, and the ticks and marks that all charts share, as inline SVG."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from salgen.types import Float64

WIDTH = 620
ROW = 19
GAP = 9
TOP = 24
BOTTOM = 30
RIGHT = 16
CHARACTER = 7.2  # mean width at 11.5 px, of names with many wide letters


@dataclass
class Chart:
    """A horizontal chart with a line for each method: its layout, and the marks so far.

    `labels` are names with roles, with gaps between roles if `apart`; `right` and `head` are margins in pixels.
    """

    labels: Sequence[tuple[str, str]]
    low: float
    high: float
    title: str
    right: float = RIGHT
    apart: bool = True
    head: float = 0.0
    left: float = 0.0
    marks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.left = 14 + CHARACTER * max(len(label) for label, _ in self.labels)
        if self.low == self.high:
            self.low, self.high = self.low - 0.5, self.high + 0.5

    def x(self, value: float) -> float:
        """The position of a value, in pixels from the left."""
        return self.left + (WIDTH - self.left - self.right) * (value - self.low) / (self.high - self.low)

    def y(self, number: int) -> float:
        """The middle of a line, in pixels from the top, gaps between roles included."""
        roles = [role for _, role in self.labels[: number + 1]]
        gaps = sum(before != after for before, after in pairwise(roles)) if self.apart else 0
        return TOP + self.head + ROW * (number + 0.5) + GAP * gaps

    @property
    def bottom(self) -> float:
        """The position of the axis, in pixels from the top."""
        return self.y(len(self.labels) - 1) + ROW / 2

    def add(self, markup: str) -> None:
        """Draw on top of the marks so far."""
        self.marks.append(markup)

    def svg(self) -> str:
        """The chart as markup."""
        grid = "".join(
            f'<line class="grid" x1="{self.x(t):.1f}" x2="{self.x(t):.1f}" y1="{TOP}" y2="{self.bottom:.1f}"/>'
            f'<text class="tick" x="{self.x(t):.1f}" y="{self.bottom + 15:.1f}">{t:g}</text>'
            for t in round_ticks(self.low, self.high)
        )
        names = "".join(
            f'<text class="name {role}" x="{self.left - 8:.1f}" y="{self.y(i) + 4:.1f}">{escape(label)}</text>'
            for i, (label, role) in enumerate(self.labels)
        )
        height = self.bottom + BOTTOM
        return (
            f'<svg class="chart" viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(self.title)}">'
            f"{grid}{names}{''.join(self.marks)}</svg>"
        )


def marker(place: int, x: float, y: float) -> str:
    """The shape that stands for a data set: disc, diamond, square, triangle."""
    r, d = 3.6, 4.6
    shapes = (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>',
        f'<path d="M{x - d:.1f} {y:.1f}L{x:.1f} {y - d:.1f}L{x + d:.1f} {y:.1f}L{x:.1f} {y + d:.1f}Z"/>',
        f'<rect x="{x - r + 0.4:.1f}" y="{y - r + 0.4:.1f}" width="{2 * r - 0.8:.1f}" height="{2 * r - 0.8:.1f}"/>',
        f'<path d="M{x - r:.1f} {y + r:.1f}L{x:.1f} {y - r:.1f}L{x + r:.1f} {y + r:.1f}Z"/>',
    )
    return shapes[place % 4]


def round_ticks(low: float, high: float) -> list[float]:
    """Round numbers that divide a range into about five."""
    from matplotlib.ticker import MaxNLocator  # takes a fifth of a second

    ticks = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high)
    return [float(tick) for tick in ticks if low - 1e-9 <= tick <= high + 1e-9]


def domain(values: Float64) -> tuple[float, float]:
    """The range of an axis: 0 to 1 where all scores lie in it, as most metrics' do; otherwise that of the scores."""
    low, high = float(values.min()), float(values.max())
    return (0.0, 1.0) if low >= 0.0 and high <= 1.0 else (low, high)


def mean_dot(x: float, y: float, radius: float = 3.4) -> str:
    """A disc at a mean."""
    return f'<circle class="mean" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'


def bar(style: str, start: float, end: float, y: float, height: float) -> str:
    """A horizontal bar about the height `y`, at least a pixel long."""
    width = max(end - start, 1.0)
    return (
        f'<rect class="{style}" x="{start:.1f}" y="{y - height / 2:.1f}" width="{width:.1f}" '
        f'height="{height}" rx="1.5"/>'
    )
