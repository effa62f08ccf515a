"""Maps of the report's pictures, kept while chunks are explained, so that none is made again."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from salgen.evaluation.metrics.inputs.device_maps import DeviceMaps
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.evaluation.runs.artifacts.chunk_files import WORK
from salgen.evaluation.runs.artifacts.predictions import Classes
from salgen.evaluation.runs.artifacts.provenance import provenance
from salgen.evaluation.runs.model_files import ModelFiles
from salgen.files import atomic_path
from salgen.types import Float32

PER_CLASS = 3
MAX_SAMPLES = 12  # since each is kept for every method


@dataclass(frozen=True)
class Pictures:
    """The maps that the report shows, which are those of a run's first model."""

    files: ModelFiles

    @cached_property
    def places(self) -> dict[str, int]:
        """The samples that the report shows, and their places in the split."""
        plan = self.files.plan
        chosen = first_of_each_class(np.asarray(plan.dataset.column(plan.task))[: plan.considered])
        return {plan.dataset.ids[index]: index for index in chosen}

    def keep(self, call: str, ids: Sequence[str], maps: Values | DeviceMaps) -> None:
        """Keep those of a method's maps (N, H, W) that the report shows."""
        rows = [row for row, name in enumerate(ids) if name in self.places]
        values = np.asarray(maps) if rows and self.files.model is self.files.plan.models[0] else ()
        for row, path in [(row, self._path(call, self.places[ids[row]])) for row in rows if len(values)]:
            path.parent.mkdir(exist_ok=True)
            with atomic_path(path, synced=False) as temporary, open(temporary, "wb") as handle:
                np.save(handle, values[row])

    def of_method(self, call: str) -> dict[int, Float32]:
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
