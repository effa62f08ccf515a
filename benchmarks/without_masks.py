"""What choosing without exact masks can go by: ``python -m benchmarks.without_masks`` writes results/judges.parquet.

The networks of salgen-bench that are kept explain ten test images by the methods of a few passes. Judges score the
maps: metrics without masks, masks as people draw them, ten grids of test images, and squares planted into ten, which a
copy of the network has learnt to tell. The truth is the mean average precision of all certified test images, on
photographs of all. Networks that the table has are asked again by ``--judges NAME ...`` alone. ``--photographs
DATASET`` asks EfficientNet-Lite0. ``salgen bench judges`` prints mean regrets with intervals, and ``python -m
benchmarks.regret`` reads the table.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from skimage.morphology import convex_hull_image, dilation, disk
from torch.nn import functional
import salgen
from benchmarks.planted import Planted
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.bench import judge_metrics as judges
from salgen.evaluation.bench.judge_metrics import IMAGES, TRUTH, FrozenWorld, Judge
from salgen.evaluation.bench.worlds import kept_worlds, world_spec
from salgen.evaluation.choosing.judges import ROAD
from salgen.evaluation.models.own_networks import places_called
from salgen.evaluation.runs.given_models import trained_network

RESULTS = Path(__file__).parents[1] / "results"
TABLE = RESULTS / judges.JUDGES
PHOTOGRAPHS = "photographs-efficientnet-lite0"
INSERTION, DELETION = "insertion-auc", "deletion-auc"
DIFFERENCE = f"{INSERTION} - {DELETION}"
PLANTED = "planted artefacts"
METRICS = ("average-drop", "average-increase", "srg", "infidelity", "sensitivity-n", "irof", ROAD, "saco")


def boxes(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The bounding box of a mask, bool (H, W)."""
    rows, columns = (between(np.asarray(mask.any(axis=axis))) for axis in (1, 0))
    return np.logical_and.outer(rows, columns)


def between(marked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """True from the first to the last marked place."""
    return np.logical_or.accumulate(marked) & np.logical_or.accumulate(marked[::-1])[::-1]


def loose(mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A mask as people outline it: its convex hull, wider by a sixteenth of the image."""
    return np.asarray(dilation(convex_hull_image(mask), disk(round(max(mask.shape) / 16))))


def in_grids(halved: bool) -> Judge:
    """Average precision for the cell of the class, in 2 x 2 grids with three images that are taken for others."""

    def judge(world: FrozenWorld, maps: Mapping[str, Any]) -> dict[str, float]:
        images, cells = grids(world, halved)
        try:
            found = salgen.explain(world.view, images, world.targets[:IMAGES], method=list(world.methods().values()))
        except SalgenError as error:  # some networks take images of one size alone
            print(f"{world.name}: {error}", file=sys.stderr)
            return {}
        return {call: precision(of, cells) for call, of in found.items()}

    return judge


def by_masks(change: Callable[[NDArray[np.bool_]], NDArray[np.bool_]]) -> Judge:
    """The mean average precision for changed masks of the images."""

    def judge(world: FrozenWorld, maps: Mapping[str, Any]) -> dict[str, float]:
        masks = np.stack([change(mask) for mask in world.masks[:IMAGES]])
        usable = ~masks.all(axis=(1, 2))
        return {call: precision(of, masks, usable) for call, of in maps.items()} if usable.any() else {}

    return judge


def by_planted(world: FrozenWorld, maps: Mapping[str, Any]) -> dict[str, float]:
    """Average precision for squares in the images that a copy of the network has learnt to tell, and does use."""
    planted = Planted(world)
    view = planted.learnt()
    images, twins, squares, classes = planted.plant(np.arange(IMAGES))
    with torch.no_grad():
        shown, of_twin = (view.logits(view.normalise(of)).argmax(dim=1) for of in (images, twins))
    used = (shown == classes) & (of_twin != classes)
    print(f"{world.name}: its copy uses {int(used.sum())} of {IMAGES} artefacts", file=sys.stderr)
    if not used.any():
        return {}
    found = salgen.explain(view, images[used], classes[used], method=list(world.methods().values()))
    return {call: precision(of, squares[used.numpy()]) for call, of in found.items()}


def precision(maps: Any, masks: NDArray[np.bool_], usable: Any = slice(None)) -> float:
    """The mean average precision of the usable maps; one that failed has 0."""
    return float(salgen.score(maps, masks, [TRUTH]).worst_case[TRUTH][usable].mean())


def grids(world: FrozenWorld, halved: bool) -> tuple[torch.Tensor, NDArray[np.bool_]]:
    """Grids of the first images, and the cell of each."""
    random = np.random.default_rng(0)
    made, cells = [], []
    predicted = world.logits.argmax(dim=1).numpy()
    for pixels, target in zip(world.images[:IMAGES], world.targets[:IMAGES], strict=True):
        elsewhere = np.flatnonzero(predicted != target)
        placed = list(world.others[random.choice(elsewhere, 3, replace=len(elsewhere) < 3)])
        place = int(random.integers(4))
        placed.insert(place, pixels)
        grid = torch.cat([torch.cat(placed[:2], dim=2), torch.cat(placed[2:], dim=2)], dim=1)
        grid = functional.avg_pool2d(grid, 2) if halved else grid
        height, width = (extent // 2 for extent in grid.shape[1:])
        cell = np.zeros(grid.shape[1:], dtype=bool)
        row, column = divmod(place, 2)
        cell[row * height : (row + 1) * height, column * width : (column + 1) * width] = True
        made.append(grid)
        cells.append(cell)
    return torch.stack(made), np.stack(cells)


CHEAP: dict[str, Judge] = {name: judges.by_metric(name) for name in (INSERTION, DELETION)}
GRIDS: dict[str, Judge] = {
    "grids of halved images": in_grids(halved=True),
    "grids of whole images": in_grids(halved=False),
}
JUDGES: dict[str, Judge] = {
    **{name: judges.by_metric(name) for name in METRICS},
    "exact masks": by_masks(lambda mask: mask),
    "bounding boxes": by_masks(boxes),
    "loose outlines": by_masks(loose),
    **GRIDS,
    PLANTED: by_planted,
}


def with_difference(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows, and those of insertion minus deletion."""
    key = ["world", "data", "kind", "method"]
    both = rows[rows["judge"].isin(CHEAP)].groupby(key, sort=False)[["value", "passes"]].sum().reset_index()
    return pd.concat([rows, both.assign(judge=DIFFERENCE)], ignore_index=True)


def photographs(path: str) -> FrozenWorld:
    """The photographs of a data set that EfficientNet-Lite0 classifies rightly, without the truth."""
    dataset = salgen.load(path)
    network, labels = trained_network("efficientnet-lite0")
    classes = np.array([places_called(name, labels)[0] for name in next(iter(dataset.tasks.values()))])
    given = network, dataset, classes, len(dataset), pd.Series(dtype=float)
    return FrozenWorld.of(PHOTOGRAPHS, *given, data="photographs", kind="efficientnet-lite0")


def on_photographs(path: str) -> FrozenWorld:
    """The same, with the mean average precision of methods on all."""
    world = photographs(path)
    maps = salgen.explain(world.view, world.images, world.targets, method=list(world.methods().values()))
    for call, of in maps.items():
        world.truth[call] = precision(of, world.masks)
    return world


def note(rows: pd.DataFrame) -> None:
    """Put rows into the table, and what follows from them."""
    if TABLE.exists():
        rows = pd.concat([pd.read_parquet(TABLE), rows]).drop_duplicates(["world", "judge", "method"], keep="last")
    rows = with_difference(rows[rows["judge"] != DIFFERENCE])
    rows.to_parquet(TABLE, index=False, compression="zstd")


def main() -> None:
    """Write the table, a network at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photographs", help="a data set of photographs with classes of ImageNet and masks")
    parser.add_argument("--judges", nargs="+", choices=[*CHEAP, *JUDGES], default=[], help="ask these of every network")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", SalgenWarning)
    known = set(pd.read_parquet(TABLE)["world"]) if TABLE.exists() and not asked.judges else set()
    kept = [world for world in kept_worlds(world_spec(), RESULTS) if world.name not in known]
    judging = {name: judge for name, judge in (CHEAP | JUDGES).items() if not asked.judges or name in asked.judges}
    for world in [on_photographs(asked.photographs)] if asked.photographs else judges.frozen_worlds(kept):
        note(world.judged(judging))


if __name__ == "__main__":
    main()
