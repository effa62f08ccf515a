"""Squares planted into the images of a network, and a copy of it that has learnt to tell them."""

import copy
from dataclasses import replace
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from salgen.datasets.importers.derived.planted_artefacts import PlantedArtefacts
from salgen.evaluation.bench.judge_metrics import FrozenWorld
from salgen.evaluation.models.inspection.model_view import ModelView

BATCH, BATCHES, RATE = 16, 1000, 1e-3
RECENT, ENOUGH = 20, 0.95  # the copy is trained until it is right on this share of so many batches
SIDE = 8  # times the square's side are the image's: 8 of 64 pixels, as planted-artefacts has it


class Planted:
    """Images with a square each, whose colour says one of two classes, by chance.

    The classes are those that the network has the largest mean logits of, the colours those of ``planted-artefacts``.
    """

    def __init__(self, world: FrozenWorld) -> None:
        self.view, self.images = world.view, world.others
        self.classes = world.logits.mean(dim=0).topk(2).indices.cpu()
        colours = PlantedArtefacts(classes=("first", "second"), bit_depth=8).colours(self.images.shape[1])
        self.colours = torch.from_numpy(colours / 255).to(self.images)[:, :, None, None]
        self.random = np.random.default_rng(0)

    def plant(self, numbers: NDArray[np.int64]) -> tuple[Tensor, Tensor, NDArray[np.bool_], Tensor]:
        """The images with these numbers and a square each, the same with the other colour, squares and classes."""
        images, extents = self.images[numbers].clone(), self.images.shape[2:]
        twins, masks = images.clone(), np.zeros((len(images), *extents), dtype=bool)
        side, drawn = min(extents) // SIDE, self.random.integers(2, size=len(images))
        for image, twin, mask, colour in zip(images, twins, masks, drawn, strict=True):
            row, column = (self.random.integers(extent - side + 1) for extent in extents)
            square = np.s_[..., row : row + side, column : column + side]
            image[square], twin[square], mask[square] = self.colours[colour], self.colours[1 - colour], True
        return images, twins, masks, self.classes[drawn]

    def learnt(self) -> ModelView:
        """A copy of the network, trained until it tells the squares or time is up."""
        network = copy.deepcopy(self.view.network).requires_grad_(True).train()
        optimizer, right = torch.optim.Adam(network.parameters(), RATE), []
        while len(right) < BATCHES and (len(right) < RECENT or np.mean(right[-RECENT:]) < ENOUGH):
            planted, _, _, classes = self.plant(self.random.integers(len(self.images), size=BATCH))
            logits = network(self.view.normalise(planted))
            right.append(float((logits.argmax(dim=1) == classes).float().mean()))
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, classes).backward()
            optimizer.step()
        return replace(self.view, network=network.requires_grad_(False).eval())
