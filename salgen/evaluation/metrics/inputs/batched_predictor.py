"""A model that metrics ask about many changed images."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
import numpy as np
import torch
from torch import Tensor
from salgen.evaluation.attribution.batch_explainer import FORWARD_BATCH_SIZE
from salgen.evaluation.models.inspection.batch_size import MicroBatches, images_at_once, memory_budget
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.types import Float32, Float64


@dataclass(frozen=True, eq=False)
class BatchedPredictor:
    """A model in evaluation mode, asked in parts that fit into memory and without gradient."""

    view: ModelView  # the model
    images: Any  # float32 (N, C, H, W), as the model takes them before its normalisation, on any device
    max_memory: float | None = None  # GB that may be used, or None for half of what is free

    @cached_property
    def pixels(self) -> Tensor:
        """The images on the model's device, in its floating-point type."""
        return self.view.like(torch.tensor(self.images))

    @cached_property
    def inputs(self) -> Tensor:
        """The normalised images (N, C, h, w)."""
        return self.normalised(self.pixels)

    def normalised(self, pixels: Tensor) -> Tensor:
        """Images mapped through the model's normalisation."""
        with torch.no_grad(), self.view.failures(pixels):
            inputs: Tensor = self.view.normalise(pixels.clone())
        return inputs

    @cached_property
    def black(self) -> Tensor:
        """Black mapped through the normalisation, (1, C, h, w)."""
        with torch.no_grad():
            return self.view.corners(self.pixels)[0]

    @cached_property
    def batches(self) -> MicroBatches:
        """The batches in which images pass through the network."""
        budget = memory_budget(self.pixels.device, self.max_memory)
        return MicroBatches(images_at_once(self.view, self.inputs[:1], FORWARD_BATCH_SIZE, budget, 1))

    @cached_property
    def original(self) -> Tensor:
        """Probabilities float64 (N, K) of the images themselves."""
        return self.view.probabilities(self.original_logits.double())

    @cached_property
    def original_logits(self) -> Tensor:
        """Checked logits (N, K) of the images themselves."""
        return self.batches.values(self.view, len(self.inputs), lambda part: self.inputs[part].clone())


def logits_of(view: ModelView, max_memory: float | None) -> Callable[[Float32], Float64]:
    """A model as a function of images (n, C, H, W) in [0, 1], asked in parts that fit into `max_memory` GB."""

    def ask(images: Float32) -> Float64:
        logits = BatchedPredictor(view, images, max_memory).original_logits
        return np.asarray(logits.cpu().double().numpy())

    return ask
