"""Do 53 kinds of objects on 100 kinds of scenes rank saliency methods otherwise than BAM's ten on ten?

``python -m benchmarks.catalogues FOLDER`` takes ten minutes of a core, and prints a table: rank correlations of
the methods' mean scores between runs of the same catalogue and between runs of the two.
"""

import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
from scipy.stats import kendalltau, spearmanr
from salgen.datasets.making import make
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.training.training import train
from salgen.generators.composites.bam import Bam
from salgen.generators.interfaces import Context
from salgen.generators.stand_ins import cutouts, sceneries
from salgen.registry import GENERATORS, Entry

CATALOGUES = {"10 x 10": (10, 10), "53 x 100": (53, 100)}
SEEDS = (0, 1, 2)
SPLITS = {"train": 3500, "val": 200, "test": 48}
SETTINGS = {"epochs": 12, "widths": (16, 32, 64, 64), "learning_rate": 6e-3}
METHODS = (
    *("gradient", "smoothgrad:n=8", "input-x-gradient", "integrated-gradients:steps=10", "guided-backprop"),
    *("deconvnet", "deep-lift", "lrp-z", "lrp-alpha-beta:alpha=1,beta=0", "deep-taylor", "excitation-backprop"),
    *("full-grad", "cam", "grad-cam++", "layer-cam", "xgrad-cam", "eigen-cam", "eigen-grad-cam", "guided-grad-cam"),
)
MODEL_FREE = ("intensity", "laplace", "sobel", "center", "random")  # the last three are always run
METRICS = ("roc-auc", "average-precision", "relevance-mass", "pointing-game")


@dataclass(frozen=True)
class ScatteredBam(Bam):
    """BAM with every image from a block of its own, so that few images still show many pictures of each class."""

    name: ClassVar[str] = "scattered-bam"

    def draw(self, context: Context) -> dict[str, Any]:
        """As in `bam`, of a place in another block for each image."""
        block = len(self.objects) * len(self.scenes)
        return super().draw(replace(context, index=context.index * (block + 1)))


GENERATORS.entries[ScatteredBam.name] = Entry(ScatteredBam.name, "benchmarks.catalogues", ScatteredBam.__doc__ or "")


def run(catalogue: str, seed: int, folder: Path) -> Path:
    """Make a data set, train a model of its objects and score the maps; the run folder."""
    objects, scenes = CATALOGUES[catalogue]
    values = {"objects": cutouts.KINDS[:objects], "scenes": sceneries.KINDS[:scenes], "pictures": 40}
    place = folder / f"{catalogue.replace(' ', '')}-{seed}"
    data = make(
        ScatteredBam.name,
        place / "data",
        splits=SPLITS,
        seed=seed,
        parameters={**values, "image_size": (48, 48)},
        workers=1,
        twins=False,
    )
    train(data, place / "model", model="scnn", seed=seed, settings=SETTINGS)
    methods = (*METHODS, "intensity", "laplace")
    return evaluate(data, model=place / "model", methods=methods, metrics=METRICS, out=place / "run")


def scores(folder: Path, metric: str, methods: tuple[str, ...]) -> list[float]:
    """The mean of a metric over all samples, for each method."""
    with (folder / "summary.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["samples"] == "all" and row["metric"] == metric]
    means = {row["method"]: float(row["mean"]) for row in rows}
    return [means[method] for method in methods]


def table(runs: dict[str, list[Path]]) -> Iterator[str]:
    """Lines of Markdown: Spearman's and Kendall's correlation, the mean over pairs of runs."""
    ten, many = runs
    pairs = {
        **{f"{name}, two seeds": list(combinations(folders, 2)) for name, folders in runs.items()},
        f"{ten} and {many}": list(product(runs[ten], runs[many])),
    }
    yield f"| metric | methods | {' | '.join(pairs)} |"
    yield f"| --- | --- {'| --- ' * len(pairs)}|"
    for metric, methods in product(METRICS, ((*METHODS, *MODEL_FREE), METHODS)):
        cells = []
        for folders in pairs.values():
            both = [[scores(folder, metric, methods) for folder in pair] for pair in folders]
            cells.append(
                " / ".join(f"{np.mean([of(*pair)[0] for pair in both]):.2f}" for of in (spearmanr, kendalltau))
            )
        yield f"| {metric} | {len(methods)} | {' | '.join(cells)} |"


def main() -> None:
    """Run what is not there yet, and print accuracies and the table."""
    folder = Path(sys.argv[1])
    runs: dict[str, list[Path]] = {name: [] for name in CATALOGUES}
    for seed, name in product(SEEDS, CATALOGUES):
        runs[name].append(run(name, seed, folder))
        card = json.loads((runs[name][-1].parent / "model" / "model.json").read_text())
        print(f"{name}, seed {seed}: {card['history'][-1]['val_accuracy']:.0%} of validation images classified rightly")
    print("\n".join(table(runs)))


if __name__ == "__main__":
    main()
