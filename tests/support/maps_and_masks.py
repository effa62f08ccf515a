"""Small maps with many ties, masks on them, and the metrics that take both."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from salgen.evaluation.metrics.inputs.ranking import Ranking

FLOATS = st.floats(-1e3, 1e3, width=32)
COARSE = st.integers(-2, 2).map(float)
# metrics of masks with other parameters than their defaults
VARIANTS = (
    "prec99:compat=authors_exact",
    "pointing-game:tolerance=1.5",
    "pointing-game:ties=first",
    "pointing-game:compat=xaibenchmark",
    *(f"{name}:select=area" for name in ("iou", "dice", "precision", "recall")),
    *(f"{name}:compat=xaibenchmark" for name in ("iou", "precision", "recall")),
    "iou:compat=aabid",
    "iosr:threshold=0.99",
    "energy-pointing-game:within=mask",
    "energy-pointing-game:relative=true",
    "energy-pointing-game:within=mask,relative=true",
    "soft-f1:within=box",
    "box-accuracy:within=mask,threshold=image",
    "warping-error:warp=reference",
)


@st.composite
def cases(draw, min_negatives=1, max_side=7):
    """A float32 map of mostly tied or mostly distinct values, and a mask with at least one pixel."""
    shape = draw(st.tuples(st.integers(1, max_side), st.integers(2, max_side)))
    saliency = draw(arrays(np.float32, shape, elements=st.one_of(COARSE, FLOATS) if draw(st.booleans()) else COARSE))
    size = shape[0] * shape[1]
    count = draw(st.integers(1, size - min_negatives))
    mask = np.zeros(size, dtype=bool)
    mask[draw(st.permutations(range(size)))[:count]] = True
    return saliency, mask.reshape(shape)


def value(metric, saliency, mask, valid=None):
    """The value alone; a reason must come with NaN and only with it."""
    result, reason = metric(Ranking(np.asarray(saliency), np.asarray(mask), valid))
    assert bool(reason) == np.isnan(result)
    return result


def odd_maps(side, kind):
    """Maps (side, side) that break arithmetic, by name, and one with nothing wrong."""
    limits = np.finfo(kind)
    huge, tiny = (3e38, 1e-45) if kind == np.float32 else (1.7e308, 5e-324)
    ordinary = np.random.default_rng(0).normal(size=(side, side)).astype(kind)
    flat = np.zeros((side, side), dtype=kind)
    maps = {
        "ordinary": ordinary,
        "positive": np.abs(ordinary),
        "zero": flat,
        "minus zero": -flat,
        "constant": flat + kind(0.1),
        "constant negative": flat - kind(0.1),
        "all negative": -np.abs(ordinary) - kind(1),
        "huge": flat + kind(huge),
        "huge negative": flat - kind(huge),
        "largest": flat + limits.max,
        "denormal": flat + kind(tiny),
        "denormal negative": flat - kind(tiny),
        "normal noise, huge": np.clip(ordinary, -1, 1) * kind(huge),
    }
    for name, value in {"hot": 1, "nan": np.nan, "inf": np.inf, "-inf": -np.inf, "hot denormal": tiny}.items():
        maps[name] = _with_one(ordinary if name in ("nan", "inf", "-inf") else flat, kind(value))
    maps["hot among huge negatives"] = _with_one(maps["huge negative"], kind(huge))
    maps["denormal among huge negatives"] = _with_one(maps["huge negative"], kind(tiny))
    every_second = np.tile(np.arange(side) % 2 == 1, (side, 1))
    maps["half huge"] = np.where(every_second, maps["huge"], flat)
    maps["denormals of two sizes"] = np.where(every_second, maps["denormal"], 2 * maps["denormal"])
    return maps


def _with_one(values, hot):
    """A copy with one pixel changed, away from the edges if it can be."""
    values = values.copy()
    values[len(values) // 3, len(values) // 2] = hot
    return values


def odd_masks(side):
    """Masks (side, side) by name: empty, full, one pixel, at the edges, in two equal parts, a block."""
    masks = {name: np.zeros((side, side), dtype=bool) for name in ("empty", "pixel", "edges", "parts", "block")}
    masks["full"] = np.ones((side, side), dtype=bool)
    masks["pixel"][side // 2, side // 2] = True
    masks["edges"][0, :] = masks["edges"][:, -1] = True
    masks["parts"][: side // 4 + 1, : side // 4 + 1] = masks["parts"][-(side // 4) - 1 :, -(side // 4) - 1 :] = True
    masks["block"][side // 4 : side // 2 + 1, side // 4 : side // 2 + 1] = True
    return masks
