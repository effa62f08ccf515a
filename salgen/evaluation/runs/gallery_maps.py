"""A few samples of every class with the maps of every method, kept while chunks are explained, for the report."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
import numpy as np
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.evaluation.runs.artifacts.chunk_files import WORK, provenance
from salgen.evaluation.runs.artifacts.predictions import Classes
from salgen.evaluation.runs.artifacts.saved_maps import GALLERY
from salgen.evaluation.runs.model_files import ModelFiles
from salgen.files import atomic_path
from salgen.progress import progress
from salgen.types import Explained, Float32

PER_CLASS = 3
MAX_SAMPLES = 12  # since each is kept for every method


@dataclass(frozen=True)
class GalleryMaps:
    """The maps that the report shows, which are those of a run's first model."""

    files: ModelFiles

    @cached_property
    def places(self) -> dict[str, int]:
        """The samples that the report shows, and their places in the split."""
        plan = self.files.plan
        chosen = first_of_each_class(np.asarray(plan.dataset.column(plan.task))[: plan.considered])
        return {plan.dataset.ids[index]: index for index in chosen}

    def keep(self, call: str, ids: Sequence[str], maps: Values) -> None:
        """Keep those of a method's maps (N, H, W) that the report shows."""
        rows = [row for row, name in enumerate(ids) if name in self.places]
        if not rows or self.files.model is not self.files.plan.models[0]:
            return
        for row in rows:
            path = self._path(call, self.places[ids[row]])
            path.parent.mkdir(exist_ok=True)
            with atomic_path(path, synced=False) as temporary, open(temporary, "wb") as handle:
                np.save(handle, maps[row])

    def write(self, explain: Callable[..., Explained], predicted: Classes) -> None:
        """Write ``gallery.npz``; lacking maps are explained now. `predicted`, int64 (N,), is of the whole split."""
        plan, chosen = self.files.plan, list(self.places.values())
        (batch,) = plan.dataset.batches(len(chosen), chosen)
        predicted = predicted[chosen]
        targets, masks = plan.targets(batch.labels, lambda: predicted), plan.masks(batch)[:, 0]
        maps = {call: self._kept(call) for call in plan.methods}
        lacking = {call: [row for row, index in enumerate(chosen) if index not in maps[call]] for call in plan.methods}
        with progress("explain pictures of the report", sum(map(len, lacking.values())), "maps") as advance:
            for group in plan.groups:
                rows, size = sorted({row for call in group for row in lacking[call]}), self.files.piece_size(group[0])
                for start in range(0, len(rows), size):
                    part = rows[start : start + size]
                    ids = [batch.ids[row] for row in part]
                    explained = explain(group, batch.images[part], targets[part], masks[part], ids)
                    for call in group:
                        values = explained[call].values.cpu().numpy()
                        self.keep(call, ids, values)
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
        with atomic_path(self.files.run / GALLERY) as temporary, open(temporary, "wb") as handle:
            np.savez_compressed(handle, **arrays)

    def _kept(self, call: str) -> dict[int, Float32]:
        """The kept maps (H, W) of a method by the places of their samples in the split."""
        kept: dict[int, Float32] = {}
        for index in self.places.values():
            with suppress(OSError, ValueError, EOFError):  # a missing or damaged one is made again
                kept[index] = np.load(self._path(call, index))
        return kept

    def _path(self, call: str, index: int) -> Path:
        key = provenance({**self.files.maps_depend_on(call, [index]), "kind": "pictures"})
        return self.files.run / WORK / f"picture-{key}.npy"


def first_of_each_class(labels: Classes) -> list[int]:
    """Indices of the first samples of each class, the last class first; of many classes only some are used."""
    classes = sorted(set(labels.tolist()), reverse=True)
    classes = classes[:: -(-len(classes) // MAX_SAMPLES)]
    each = min(PER_CLASS, MAX_SAMPLES // len(classes))
    return [int(i) for label in classes for i in np.flatnonzero(labels == label)[:each]]
