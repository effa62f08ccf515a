"""Do models use the cause, trained plainly and for reliance? ``python -m benchmarks.reliance FOLDER [NAME...]``.

Prints the table of docs/reliance.md: a row for each drawn generator and training, at scale demo (SCALE sets another,
SEEDS the number of trainings, TRAIN that of training images). Data, models and runs stay in FOLDER, and what is
finished there is not done again.
``FOLDER/NAME.png`` shows maps of both models.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
import matplotlib.pyplot as plt
import numpy as np
import pyarrow.parquet as pq
from salgen.datasets.making import make
from salgen.evaluation.report.reliance import reliance_effects
from salgen.evaluation.report.runs import LoadedRun, read_runs
from salgen.evaluation.runs.artifacts.certificate_table import CERTIFICATES
from salgen.evaluation.runs.running import evaluate
from salgen.generators.interfaces import Movable
from salgen.registry import GENERATORS

SCALE, SEEDS = os.environ.get("SCALE", "demo"), int(os.environ.get("SEEDS", "1"))
TRAIN = int(os.environ["TRAIN"]) if "TRAIN" in os.environ else None  # by default the scale's
IMAGES = 200  # test images that are scored, at most
METHODS = (
    *("gradient", "input-x-gradient", "smoothgrad:n=10", "integrated-gradients:steps=10", "guided-backprop"),
    *("deep-taylor", "lrp-alpha-beta:alpha=1,beta=0", "grad-cam"),
)
DRAWN = ("gradient", "integrated-gradients:steps=10", "guided-backprop", "lrp-alpha-beta:alpha=1,beta=0", "grad-cam")
PICTURES = 3
LESION_MODEL, MODEL = "lesion-cnn", "scnn"


def names() -> list[str]:
    """The generators that draw images to learn from, and can draw a background again and the feature elsewhere."""
    drawn = [name for name in GENERATORS.names() if isinstance(GENERATORS.load(name), type)]
    return [name for name in drawn if issubclass(GENERATORS.load(name), Movable)]


def runs(name: str, folder: Path) -> list[LoadedRun]:
    """Both runs of a generator: the model trained plainly, and for reliance."""
    data = make(name, folder / name, scale=SCALE, splits={"train": TRAIN, "val": None, "test": None})
    model = LESION_MODEL if name.endswith("-lesions") else MODEL
    how: dict[str, Any] = {"model": model, "scale": SCALE, "n_trainings": SEEDS, "methods": METHODS, "limit": IMAGES}
    trained = {kind: folder / f"{name}-{'reliance' if kind else 'plain'}" for kind in (False, True)}
    return read_runs([evaluate(data, reliance=kind, out=out, **how) for kind, out in trained.items()])


def tolerance_for(run: LoadedRun, share: float) -> float:
    """The least tolerance at which such a share of all scored samples and trainings is certified."""
    table = pq.read_table(run.path / CERTIFICATES).to_pandas()
    needed = np.where(table["uses_feature"].fillna(value=False), table["tolerance"], np.inf)
    return float(np.quantile(needed, share, method="inverted_cdf"))


def row(run: LoadedRun, effect: dict[str, Any] | None) -> str:
    """A row of the table."""
    entries = run.record.certificates.models
    elsewhere = [entry.holds_elsewhere for entry in entries if entry.holds_elsewhere is not None]
    cells = [
        run.record.dataset.name,
        run.models[0].name,
        "for reliance" if run.reliant else "plain",
        _percent([model.accuracy for model in run.models]),
        _percent([entry.coverage or 0.0 for entry in entries]),
        f"{tolerance_for(run, 0.9):.2f}",
        _percent(elsewhere) if elsewhere else "-",
        "" if effect is None else "{:.2f} ({:.2f} to {:.2f})".format(effect["tau"], *effect["tau_bounds"]),
    ]
    return f"| {' | '.join(cells)} |"


def _percent(shares: Sequence[float]) -> str:
    return ", ".join(f"{100 * share:.1f} %" for share in shares)


def draw_maps(plain: LoadedRun, reliant: LoadedRun, file: Path) -> None:
    """Draw maps of the first training of both, for the same images: a row for each image and training."""
    galleries = [dict(np.load(run.path / "gallery.npz")) for run in (plain, reliant)]
    shown = [row for row, mask in enumerate(galleries[0]["masks"]) if mask.any()][:PICTURES]
    calls = [call for call in galleries[0]["methods"] if call in DRAWN]
    rows = [(image, kind) for image in shown for kind in (0, 1)]
    figure, axes = plt.subplots(len(rows), 1 + len(calls), figsize=(1.3 * (1 + len(calls)), 1.35 * len(rows)))
    for (image, kind), line in zip(rows, axes, strict=True):
        own = galleries[kind]
        place = list(own["ids"]).index(galleries[0]["ids"][image])
        line[0].imshow(own["images"][place].squeeze(), cmap="gray")
        line[0].set_ylabel(("plain", "for reliance")[kind], fontsize=8)
        for call, axis in zip(calls, line[1:], strict=True):
            saliency = own["maps"][list(own["methods"]).index(call), place]
            bound = abs(saliency).max() or 1.0
            axis.imshow(saliency, cmap="RdBu_r", vmin=-bound, vmax=bound)
        for axis in line:
            axis.contour(own["masks"][place], levels=[0.5], colors="lime", linewidths=0.8)
            axis.set(xticks=[], yticks=[])
    for axis, title in zip(axes[0], ["image", *calls], strict=True):
        axis.set_title(title.partition(":")[0], fontsize=8)
    figure.tight_layout(pad=0.3)
    figure.savefig(file, dpi=80)
    plt.close(figure)


def main(folder: Path, chosen: Sequence[str]) -> None:
    """Print the table, a generator at a time."""
    print("| data | model | training | accuracy | certified | tolerance for 90 % | holds elsewhere | Kendall's tau |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for name in chosen or names():
        plain, reliant = runs(name, folder)
        (effect,) = reliance_effects([(run, run.models[0].name) for run in (plain, reliant)])
        print(row(plain, None), row(reliant, effect), sep="\n", flush=True)
        draw_maps(plain, reliant, folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
