"""Pictures of Clever Hans suspects: image, map, and scores."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
import numpy as np
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.attribution.patterns import fit_patterns
from salgen.evaluation.diagnostics.clever_hans import Suspect
from salgen.evaluation.report.figures import save_figure
from salgen.evaluation.runs.artifacts.run_record import CHUNK, RECORD, RunRecord
from salgen.evaluation.runs.source_run import checkpoint_of
from salgen.evaluation.training.checkpoints import check_fits, load_checkpoint
from salgen.parameters import parse_call
from salgen.registry import METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 24
COLUMNS = 4


def save_gallery_of(suspects: Sequence[Suspect], run: str | Path, data: str | Path, method: str, path: Path) -> Path:
    """Draw the first suspects as pairs of image and map, the mask's outline on both, and write a PNG.

    The run must hold the models that it trained. A false positive's map explains the class that the image lacks.
    """
    record = RunRecord.read(Path(run) / RECORD)
    dataset, first = dataset_of(run, data, record), suspects[:MOST]
    figure = _figure(first, _maps(first, Path(run), dataset, record, method), dataset, method)
    save_figure(figure, path)
    return path


def dataset_of(run: str | os.PathLike[str], data: str | os.PathLike[str], record: RunRecord) -> Dataset:
    """The data set of a run, which must be the one that the run used."""
    dataset = open_dataset(data, record.dataset.split)
    if dataset.fingerprint != record.dataset.fingerprint:
        raise SalgenError(f"{data} is not the data set of {run}, which used {record.dataset.name}: give that one")
    return dataset


def _maps(suspects: Sequence[Suspect], run: Path, dataset: Dataset, record: RunRecord, method: str) -> list[Any]:
    """The map (H, W) of each suspect, explained by its own model under the run's conventions."""
    fitted = "patterns" in METHODS.load(parse_call(method)[0]).needs
    conventions = {name: record.conventions[name] for name in ("reduce", "score", "seed")}
    maps: dict[int, Any] = {}
    for key in dict.fromkeys((suspect.model, suspect.training_seed) for suspect in suspects):
        (digest,) = [model.weights_sha256 for model in record.models if (model.name, model.seed) == key]
        if (place := checkpoint_of(run, *key, digest)) is None:
            raise SalgenError(f"{run} does not hold the weights of {key[0]}, seed {key[1]}, by which maps are drawn")
        checkpoint = load_checkpoint(place)
        check_fits(checkpoint, dataset)
        model = checkpoint.classifier
        train = dataset.of_split("train").batches(CHUNK) if fitted else None
        patterns = fit_patterns(model, (batch.images for batch in train)) if train is not None else None
        for number, suspect in enumerate(suspects):
            if (suspect.model, suspect.training_seed) == key:
                sample = dataset[_index(suspect)]
                image, mask, ids = sample["image"][None], sample["mask"][None], [suspect.sample_id]
                how: dict[str, Any] = {"method": method, "masks": mask, "ids": ids, "patterns": patterns, **conventions}
                maps[number] = explain(model, image, suspect.class_number, **how).values[0].cpu().numpy()
    return [maps[number] for number in range(len(suspects))]


def _index(suspect: Suspect) -> int:
    return int(suspect.sample_id.rpartition("-")[2])


def _figure(suspects: Sequence[Suspect], maps: Sequence[Any], dataset: Dataset, method: str) -> Figure:
    from matplotlib.figure import Figure

    rows = max(1, -(-len(suspects) // COLUMNS))
    figure = Figure(figsize=(4.4 * COLUMNS, 2.9 * rows + 0.5), layout="constrained")
    axes = np.atleast_2d(figure.subplots(rows, 2 * COLUMNS))
    for axis in axes.ravel():
        axis.axis("off")
    pairs = axes.reshape(-1, 2)
    names = next(iter(dataset.tasks.values()))
    for suspect, saliency, (left, right) in zip(suspects, maps, pairs, strict=False):
        sample = dataset[_index(suspect)]
        image = sample["image"].transpose(1, 2, 0)
        left.imshow(image if image.shape[2] == 3 else image[..., 0], cmap="gray", vmin=0, vmax=1)
        top = float(np.percentile(np.abs(saliency), 99.5)) or 1.0
        signed = bool((saliency < 0).any())
        right.imshow(saliency, cmap="coolwarm" if signed else "magma", vmin=-top if signed else 0, vmax=top)
        for axis in (left, right) if sample["mask"].any() else ():
            axis.contour(sample["mask"], levels=[0.5], colors="#00b894", linewidths=1)
        left.set_title(f"{suspect.sample_id}\n{names[suspect.class_number]} {suspect.confidence:.3f}", fontsize=9)
        numbers = f"{suspect.model}, seed {suspect.training_seed}"
        if suspect.method:
            numbers += f"\nlocalised {suspect.localization:.2f}, faithful {suspect.faithfulness:.2f}"
        right.set_title(numbers, fontsize=9)
    figure.suptitle(f"{len(suspects)} suspects, maps by {method}" if suspects else "no suspects", fontsize=11)
    return figure
