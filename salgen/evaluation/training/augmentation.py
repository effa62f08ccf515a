"""Training images turned and mirrored at random, their masks with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from salgen.evaluation.training.training_settings import TrainingSettings


@dataclass(frozen=True)
class Augmentation:
    """A turn by up to `rotation` degrees either way, then a mirroring along each axis with probability 1/2 if `flips`.

    Each image has a turn and mirrorings of its own, from torch's random numbers. Images are interpolated
    bilinearly, masks take the nearest pixel, and what a turn brings in from outside is black and no mask.
    """

    rotation: float
    flips: bool

    @classmethod
    def of(cls, settings: TrainingSettings) -> Augmentation | None:
        """The augmentation that the settings ask for, or None."""
        return cls(settings.rotation, settings.flips) if settings.rotation or settings.flips else None

    def images(self, images: Tensor) -> Tensor:
        """Images float (N, C, H, W), augmented."""
        transform = self._transform()
        return torch.stack([transform(image) for image in images])

    def pairs(self, images: Tensor, masks: Tensor) -> tuple[Tensor, Tensor]:
        """Images float (N, C, H, W) and masks bool (N, H, W), each mask moved as its image is."""
        from torchvision.tv_tensors import Image, Mask

        transform = self._transform()
        moved = [transform(Image(image), Mask(mask)) for image, mask in zip(images, masks, strict=True)]
        return torch.stack([image for image, _ in moved]), torch.stack([mask for _, mask in moved])

    def _transform(self) -> Any:
        from torchvision.transforms import InterpolationMode, v2

        turn = [v2.RandomRotation(self.rotation, InterpolationMode.BILINEAR)] if self.rotation else []
        return v2.Compose([*turn, *([v2.RandomHorizontalFlip(), v2.RandomVerticalFlip()] if self.flips else [])])
