"""What choosing without masks can go by: ``python -m benchmarks.without_masks`` writes results/without_masks.csv.

Each network of salgen-bench that was trained for reliance explains ten test images by the methods of a few passes, and
its first training ten grids of test images, too. Stand-ins for masks score the maps. The truth is the mean average
precision of all test images. ``--photographs DATASET`` adds EfficientNet-Lite0. ``python -m benchmarks.regret`` reads
the table.
"""

import argparse
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch.nn import functional
import salgen
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.bench.run_entry import make_data
from salgen.evaluation.bench.versions import bench_spec
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.own_networks import places_called
from salgen.evaluation.runs.given_models import trained_network
from salgen.types import Float64

RESULTS = Path(__file__).parents[1] / "results"
TABLE = RESULTS / "without_masks.csv"
COUNT = 10
TRUTH = "average-precision"
FAITHFULNESS = {"insertion": "insertion-auc", "deletion": "deletion-auc"}
SRG = "insertion - deletion (SRG)"


class Images(NamedTuple):
    """Test images with masks that the network classifies rightly, and all images that grids may show."""

    view: ModelView
    pixels: torch.Tensor  # (N, C, H, W)
    masks: NDArray[np.bool_]
    targets: NDArray[np.int64]
    others: torch.Tensor  # (M, C, H, W)
    logits: torch.Tensor  # (M, K) of the others

    @classmethod
    def of(cls, view: ModelView, dataset: Dataset, targets: NDArray[np.int64], first: int) -> "Images":
        """Of the first images of a data set; `targets` are the outputs for its classes."""
        batch = next(dataset.batches(first))
        pixels, masks = torch.from_numpy(batch.images), batch.masks
        labels = targets[batch.labels]
        with torch.no_grad():
            logits = torch.cat([view.logits(view.normalise(view.like(part))) for part in pixels.split(25)])
        usable = masks.any(axis=(1, 2)) & ~masks.all(axis=(1, 2)) & (logits.argmax(dim=1).numpy() == labels)
        return cls(view, pixels[usable], masks[usable], labels[usable], pixels, logits)


def grids(data: Images, halved: bool) -> tuple[torch.Tensor, NDArray[np.bool_]]:
    """2 x 2 grids, each with one of the images and three that the network takes for another class; and its cell."""
    random = np.random.default_rng(0)
    made, cells = [], []
    for pixels, target in zip(data.pixels[:COUNT], data.targets[:COUNT], strict=True):
        elsewhere = np.flatnonzero(data.logits.argmax(dim=1).numpy() != target)
        placed = list(data.others[random.choice(elsewhere, 3, replace=len(elsewhere) < 3)])
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


def by_faithfulness(data: Images, methods: dict[str, object]) -> pd.DataFrame:
    """Insertion, deletion and their difference (SRG), means by method."""
    images, targets = data.pixels[:COUNT], data.targets[:COUNT]
    rows = {}
    for call, maps in salgen.explain(data.view, images, targets, method=list(methods.values())).items():
        scores = salgen.score(maps, None, list(FAITHFULNESS.values()), model=data.view, images=images, targets=targets)
        means = {name: float(np.nanmean(scores[metric])) for name, metric in FAITHFULNESS.items()}
        rows[call] = {"insertion": means["insertion"], "deletion": -means["deletion"]}
        rows[call][SRG] = means["insertion"] - means["deletion"]
    return pd.DataFrame.from_dict(rows, orient="index")


def by_cells(data: Images, methods: dict[str, object], halved: bool) -> pd.Series:
    """Mean average precision for the cell of the class, by method."""
    images, cells = grids(data, halved)
    maps = salgen.explain(data.view, images, data.targets[:COUNT], method=list(methods.values()))
    return pd.Series({call: average_precision(of, cells).mean() for call, of in maps.items()})


def average_precision(maps: object, masks: NDArray[np.bool_]) -> Float64:
    """Of each map; one that failed has 0."""
    return salgen.score(maps, masks, [TRUTH]).worst_case[TRUTH]


def candidates(data: Images) -> dict[str, object]:
    """The methods of a few passes."""
    selected, _ = select_methods(["all"]).defined_for(data.view, data.pixels[:1], {"patterns": "is fitted"})
    return {call: method for call, method in selected.items() if not method.control and method.shares == "passes"}


def stand_ins(data: Images, methods: dict[str, object]) -> pd.DataFrame:
    """A row for each method, a column for each stand-in, all the better the higher."""
    found = by_faithfulness(data, methods)
    for name, halved in {"grids of halved images": True, "grids of whole images": False}.items():
        try:
            found[name] = by_cells(data, methods, halved)
        except SalgenError as error:
            print(f"{name}: {error}", file=sys.stderr)
    return found


def on_bench(note: Callable[[pd.DataFrame], None]) -> None:
    """Every network of salgen-bench that was trained for reliance, by grids the first training alone."""
    spec = bench_spec()
    with tempfile.TemporaryDirectory() as folder:
        for entry in (entry for entry in spec.entries if entry.reliance):
            made = Path(folder) / entry.data.name
            if not made.exists():
                make_data(spec, entry.data, made, recipes_only=True)
            dataset = salgen.load(made)
            classes = np.arange(len(next(iter(dataset.tasks.values()))))
            rows = pd.read_parquet(RESULTS / entry.name / "scores.parquet")
            rows = rows[(rows["metric"] == TRUTH) & rows["correct"]]
            for seed in range(spec.trainings):
                truth = rows[rows["training_seed"] == seed].groupby(["method", "cluster"])["value"].mean()
                (checkpoint,) = (RESULTS / entry.name).glob(f"*-seed{seed}")
                data = Images.of(ModelView.of(trained_network(str(checkpoint))[0]), dataset, classes, spec.images)
                found = (by_faithfulness if seed else stand_ins)(data, candidates(data))
                note(found.assign(truth=truth.groupby("method").mean(), world=f"{entry.name}-seed{seed}"))


def photographs(path: str) -> Images:
    """The photographs of a data set that EfficientNet-Lite0 classifies rightly."""
    dataset = salgen.load(path)
    network, labels = trained_network("efficientnet-lite0")
    classes = np.array([places_called(name, labels)[0] for name in next(iter(dataset.tasks.values()))])
    return Images.of(ModelView.of(network), dataset, classes, len(dataset))


def on_photographs(path: str, note: Callable[[pd.DataFrame], None]) -> None:
    """EfficientNet-Lite0 on a data set of photographs."""
    data = photographs(path)
    methods = candidates(data)
    explained = salgen.explain(data.view, data.pixels, data.targets, method=list(methods.values()))
    truth = {call: average_precision(maps, data.masks).mean() for call, maps in explained.items()}
    note(stand_ins(data, methods).assign(truth=pd.Series(truth), world="photographs-efficientnet-lite0"))


def main() -> None:
    """Write the table, a network at a time; what another call wrote of other networks stays."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photographs", help="a data set of photographs with classes of ImageNet and masks")
    asked = parser.parse_args()
    warnings.simplefilter("ignore", SalgenWarning)

    def note(rows: pd.DataFrame) -> None:
        rows = rows.rename_axis("method").reset_index().set_index(["world", "method"]).dropna(subset="truth")
        if TABLE.exists():
            known = pd.read_csv(TABLE, index_col=["world", "method"])
            rows = pd.concat([known.drop(index=rows.index.unique("world"), level="world", errors="ignore"), rows])
        rows.to_csv(TABLE, float_format="%.4f", lineterminator="\n")

    if asked.photographs:
        on_photographs(asked.photographs, note)
    else:
        on_bench(note)


if __name__ == "__main__":
    main()
