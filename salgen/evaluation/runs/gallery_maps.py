"""A few samples of every class with the maps of every method, kept for the report's pictures."""

from __future__ import annotations

import numpy as np

from salgen.evaluation.runs.artifacts.saved_maps import GALLERY
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.files import atomic_path

PER_CLASS = 3
MAX_SAMPLES = 12  # since each is explained by every method


def save_gallery(runner: ModelRunner) -> None:
    """Explain the first samples of every class by every method and write ``gallery.npz``.

    The file holds ids (G,), images uint8 (G, H, W, C), masks bool (G, H, W), labels and predicted
    int64 (G,), methods (M,), maps float32 (M, G, H, W) and class_names.
    """
    plan, labels = runner.plan, runner.predictions.labels
    chosen = _first_of_each_class(labels[: plan.considered])
    (batch,) = plan.dataset.batches(len(chosen), chosen)
    predicted = runner.predictions.predicted[chosen]
    targets, masks = plan.targets(batch.labels, lambda: predicted), plan.masks(batch)[:, 0]
    explained = runner.explain(list(plan.methods), batch.images, targets, masks, batch.ids)
    maps = [np.asarray(explained[call].values.cpu()) for call in plan.methods]
    arrays = {
        "ids": np.array(batch.ids),
        "images": np.rint(batch.images.transpose(0, 2, 3, 1) * 255.0).astype(np.uint8),
        "masks": masks,
        "labels": batch.labels,
        "predicted": predicted,
        "methods": np.array(list(plan.methods)),
        "maps": np.stack(maps).astype(np.float32),
        "class_names": np.array(plan.dataset.tasks[plan.task]),
    }
    with atomic_path(runner.run / GALLERY) as temporary, open(temporary, "wb") as handle:
        np.savez_compressed(handle, **arrays)


def _first_of_each_class(labels: np.ndarray) -> list[int]:
    """Indices of the first samples of each class, the last class first; of many classes only some are used."""
    classes = sorted(set(labels.tolist()), reverse=True)
    classes = classes[:: -(-len(classes) // MAX_SAMPLES)]
    each = min(PER_CLASS, MAX_SAMPLES // len(classes))
    return [int(i) for label in classes for i in np.flatnonzero(labels == label)[:each]]
