"""A split as training needs it: decoded once, kept on the device as integers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
import numpy as np
import torch
from torch import Tensor
from torch.utils.data import default_collate
from salgen.datasets.reading.reader import Dataset
from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.batch_size import memory_budget
from salgen.seeding import Stream

LISTED = ("twin", "alternative_masks", "recipe")  # None for some samples, of another number for each, or no tensor


@dataclass(frozen=True)
class DeviceSplit:
    """All images of a split on one device."""

    images: Tensor  # uint8 or uint16 (N, C, H, W)
    labels: Tensor  # int64 (N,), or where an image may show several classes float32 (N, K) of zeros and ones
    classes: Tensor  # int64 (N,): the class that each sample is about, of those that its image may show

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def chance(self) -> float:
        """Share of images that show the most frequent class."""
        return float(
            self.labels.mean(dim=0).max() if self.labels.ndim == 2 else torch.bincount(self.labels).max() / len(self)
        )

    def batch(self, indices: Tensor) -> tuple[Tensor, Tensor]:
        """Images as float32 (n, C, H, W) in [0, 1] and their labels; made on the device."""
        if self.images.dtype == torch.uint16:  # not every device can index this type
            images = self.images.view(torch.int16)[indices].view(torch.uint16)
        else:
            images = self.images[indices]
        return images.float().div_(torch.iinfo(images.dtype).max), self.labels[indices]


def load_split(
    dataset: Dataset,
    task: str,
    device: torch.device,
    max_memory_gb: float | None,
    images: Path | None = None,
    label_order: Stream | None = None,
) -> DeviceSplit:
    """Decode a split to a device; the folder `images` may stand in for its images, `label_order` permutes labels."""
    split = dataset.split
    height, width = dataset.spec.image_size
    size = len(dataset) * dataset[0]["image"].shape[0] * height * width * (dataset.spec.bit_depth // 8)
    allowed = max_memory_gb * 1e9 if max_memory_gb is not None else memory_budget(device, None)
    if size > allowed:
        raise SalgenError(
            f"split {split!r} of {dataset.path} takes {size / 1e9:.2f} GB decoded, and {allowed / 1e9:.2f} GB may be "
            f"used on {device}: set max_memory_gb higher, or use a smaller data set"
        )
    labels = classes = torch.tensor(dataset.column(task), dtype=torch.int64)
    if task in dataset.manifest.multi_label:
        labels = torch.from_numpy(dataset.classes_present(task)).float()
    if label_order is not None:
        labels = labels[torch.from_numpy(label_order.permutation(len(labels)))]
    pixels = dataset.images() if images is None else np.load(images / f"{split}.npy")
    return DeviceSplit(torch.from_numpy(pixels).to(device), labels.to(device), classes.to(device))


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
    >>> loader = DataLoader(salgen.load("perlin-lesions"), 32, collate_fn=salgen.collate)  # doctest: +SKIP
    """
    together = {name: [sample[name] for sample in samples] for name in samples[0]}
    return {name: values if name in LISTED else default_collate(values) for name, values in together.items()}
