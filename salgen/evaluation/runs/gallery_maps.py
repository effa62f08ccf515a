"""A few samples of every class with the maps of every method, kept for the report's pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.files import atomic_path

if TYPE_CHECKING:
    from salgen.evaluation.attribution.patterns import Patterns
    from salgen.evaluation.runs.artifacts.predictions import Predictions
    from salgen.evaluation.runs.evaluated_models import EvaluatedModel
    from salgen.evaluation.runs.plan import Plan

GALLERY = "gallery.npz"
PER_CLASS = 3
MOST = 12  # samples, since each is explained by every method


def save_gallery(plan: Plan, subject: EvaluatedModel, said: Predictions, patterns: Patterns | None, run: Path) -> None:
    """Explain the first samples of every class by every method and write ``gallery.npz``.

    The file holds ids (G,), images uint8 (G, H, W, C), masks bool (G, H, W), labels and predicted
    int64 (G,), methods (M,), maps float32 (M, G, H, W) and class_names.
    """
    chosen = _first_of_each_class(said.labels[: plan.considered])
    (batch,) = plan.dataset.batches(len(chosen), chosen)
    targets = plan.targets(batch.labels, lambda: said.predicted[chosen])
    view = ModelView.of(subject.classifier)
    explained = plan.explain(view, list(plan.methods), batch.images, targets, batch, patterns)
    maps = [np.asarray(explained[call].values.cpu()) for call in plan.methods]
    arrays = {
        "ids": np.array(batch.ids),
        "images": np.rint(batch.images.transpose(0, 2, 3, 1) * 255.0).astype(np.uint8),
        "masks": plan.masks(batch)[:, 0],
        "labels": batch.labels,
        "predicted": said.predicted[chosen],
        "methods": np.array(list(plan.methods)),
        "maps": np.stack(maps).astype(np.float32),
        "class_names": np.array(plan.dataset.tasks[plan.task]),
    }
    with atomic_path(run / GALLERY) as temporary, open(temporary, "wb") as handle:
        np.savez_compressed(handle, **arrays)


def _first_of_each_class(labels: np.ndarray) -> list[int]:
    """Indices of the first samples of each class, the last class first; of many classes some."""
    classes = sorted(set(labels.tolist()), reverse=True)
    classes = classes[:: -(-len(classes) // MOST)]
    each = min(PER_CLASS, MOST // len(classes))
    return [int(i) for label in classes for i in np.flatnonzero(labels == label)[:each]]
