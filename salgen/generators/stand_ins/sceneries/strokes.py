"""Strokes: bars, ribbons along the ground, stems and leaves."""

from salgen.generators.stand_ins.sceneries.stage import Stage

# depths of a ribbon's corners
DEPTHS = (0.8, 1.0, 1.2, 1.45, 1.75, 2.1, 2.6, 3.3, 4.2, 5.5, 7.5, 10.0, 15.0, 24.0, 40.0)


def line(
    stage: Stage,
    *,
    a: tuple[float, float, float],
    b: tuple[float, float, float],
    width: float = 0.02,
    ink: str = "metal",
    light: float = 1.0,
    u: float = 0.0,
    z: float = 0.0,
) -> None:
    """A bar from one place to another; its width is that at depth 1, and u and z move it."""
    (x0, y0), (x1, y1) = stage.at(a[0] + u, a[1], a[2] + z), stage.at(b[0] + u, b[1], b[2] + z)
    flat = abs(x1 - x0) > abs(y1 - y0)
    near, far = width / 2 / (a[2] + z), width / 2 / (b[2] + z)
    if flat:
        points = [(x0, y0 - near), (x1, y1 - far), (x1, y1 + far), (x0, y0 + near)]
    else:
        points = [(x0 - near, y0), (x1 - far, y1), (x1 + far, y1), (x0 + near, y0)]
    stage.fill(points, stage.ink(ink), light)


def ribbon(
    stage: Stage,
    *,
    w: float,
    ink: str,
    u: float = 0.5,
    v: float = 1.0,
    bend: float = 0.0,
    sway: float = 0.0,
    light: float = 1.0,
    far: float = 40.0,
) -> None:
    """A road, a river, a line on the ground; it bends to one side, and sways before that."""
    depths = [depth for depth in DEPTHS if depth <= far]
    middles = [u + bend * (z - 1) * (z - 1) + sway * (z - 1) * (4 - z) * (z < 4) for z in depths]
    left = [stage.at(middle - w / 2, v, z) for middle, z in zip(middles, depths, strict=True)]
    right = [stage.at(middle + w / 2, v, z) for middle, z in zip(middles, depths, strict=True)]
    stage.fill([*left, *reversed(right)], stage.ink(ink), light, -0.1)


def stem(
    stage: Stage,
    *,
    x: float,
    w: float,
    ink: str = "stalk*",
    top: float = -0.05,
    foot: float = 1.05,
    lean: float = 0.0,
    joints: int = 0,
    light: float = 1.0,
) -> None:
    """A trunk or a pole from foot to top of the image, rounded by its shading; joints make it bamboo."""
    paint = stage.ink(ink)
    for share, tone, offset in ((1.0, 0.7, 0.0), (0.66, 0.95, -0.1), (0.3, 1.15, -0.16)):
        half, middle = w * share / 2, x + w * offset
        points = [
            (middle + lean - half, top),
            (middle + lean + half, top),
            (middle + half, foot),
            (middle - half, foot),
        ]
        stage.fill(points, paint, tone * light)
    for joint in range(joints):
        y = top + (joint + stage.dice.between(0.3, 0.7)) * (foot - top) / joints
        middle = x + lean * (foot - y) / (foot - top)
        stage.rectangle(middle - 0.56 * w, y, middle + 0.56 * w, y + 0.22 * w, paint, 0.5 * light)
        stage.rectangle(middle - 0.56 * w, y - 0.2 * w, middle + 0.56 * w, y, paint, 1.3 * light)


def leaf(
    stage: Stage, *, x: float, y: float, length: float, droop: float, ink: str = "leaf*", light: float = 1.0
) -> None:
    """A narrow leaf that hangs to one side."""
    tip, half = (x + length, y + droop), 0.13 * abs(length) + 0.004
    middle = (x + 0.5 * length, y + 0.35 * droop)
    points = [(x, y), (middle[0], middle[1] - half), tip, (middle[0], middle[1] + half)]
    stage.fill(points, stage.ink(ink), light, 0.2)
