"""A few samples of every class with the maps of every method, kept for the report's pictures."""

import numpy as np

from salgen.evaluation.runs.artifacts.saved_maps import GALLERY
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.files import atomic_path
from salgen.progress import progress


def save_gallery(runner: ModelRunner) -> None:
    """Write ``gallery.npz`` of the maps that were kept while chunks were explained, and explain the samples without.

    These are samples without a mask, which are not scored.

    The file holds ids (G,), images uint8 (G, H, W, C), masks bool (G, H, W), labels and predicted
    int64 (G,), methods (M,), maps float32 (M, G, H, W) and class_names.
    """
    plan, chosen = runner.plan, list(runner.pictures.places.values())
    (batch,) = plan.dataset.batches(len(chosen), chosen)
    predicted = runner.predictions.predicted[chosen]
    targets, masks = plan.targets(batch.labels, lambda: predicted), plan.masks(batch)[:, 0]
    maps = {call: runner.pictures.of_method(call) for call in plan.methods}
    lacking = {call: [row for row, index in enumerate(chosen) if index not in maps[call]] for call in plan.methods}
    with progress("explain pictures of the report", sum(map(len, lacking.values())), "maps") as advance:
        for group in plan.groups:
            rows, size = sorted({row for call in group for row in lacking[call]}), runner.piece_size(group[0])
            for start in range(0, len(rows), size):
                part = rows[start : start + size]
                ids = [batch.ids[row] for row in part]
                explained = runner.explain(group, batch.images[part], targets[part], masks[part], ids)
                for call in group:
                    values = explained[call].values.cpu().numpy()
                    runner.pictures.keep(call, ids, values)
                    maps[call] |= {chosen[row]: saliency for row, saliency in zip(part, values, strict=True)}
                    advance(len(set(part) & set(lacking[call])))
    arrays = {
        "ids": np.array(batch.ids),
        "images": np.rint(batch.images.transpose(0, 2, 3, 1) * 255.0).astype(np.uint8),
        "masks": masks,
        "labels": batch.labels,
        "predicted": predicted,
        "methods": np.array(list(plan.methods)),
        "maps": np.stack([[of_call[index] for index in chosen] for of_call in maps.values()]).astype(np.float32),
        "class_names": np.array(plan.dataset.tasks[plan.task]),
    }
    with atomic_path(runner.run / GALLERY) as temporary, open(temporary, "wb") as handle:
        np.savez_compressed(handle, **arrays)
