"""Samples as a batch for PyTorch: ``salgen.collate``."""

from collections.abc import Sequence
from typing import Any

LISTED = ("twin", "alternative_masks", "recipe")  # None for some samples, of another number for each, or no tensor


def collate(samples: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A batch of a data set's samples, as ``DataLoader(samples, collate_fn=salgen.collate)`` takes it.

    Parameters
    ----------
    samples
        What :meth:`salgen.datasets.reading.reader.Dataset.__getitem__` gives.

    Returns
    -------
    Tensors: ``image`` float32 (N, C, H, W), each task's classes int64 (N,), ``mask`` bool (N, H, W), ``regions``
    likewise by name. Lists of what not every sample has alike: ``id``, ``twin``, ``alternative_masks`` and ``recipe``.

    Examples
    --------
    >>> loader = DataLoader(salgen.open("perlin-lesions"), 32, collate_fn=salgen.collate)  # doctest: +SKIP
    """
    from torch.utils.data import default_collate

    together = {name: [sample[name] for sample in samples] for name in samples[0]}
    return {name: values if name in LISTED else default_collate(values) for name, values in together.items()}
