"""A small classifier of small images, for metrics that ask a model."""

import numpy as np
from torch import nn
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.normalisation import Normalisation


def classifier(size, channels=2):
    """Three classes, float64; each channel is normalised by its own numbers."""
    network = nn.Sequential(
        nn.Conv2d(channels, 4, 3, padding=1), nn.Tanh(), nn.Flatten(), nn.Linear(4 * size[0] * size[1], 3)
    )
    mean, spread = ([first + 0.1 * channel for channel in range(channels)] for first in (0.4, 0.2))
    return Classifier(network, Normalisation(mean, spread)).double().eval()


def case(size, seed=0, count=4, channels=2):
    """Maps, images and targets, as `salgen.score` takes them."""
    rng = np.random.default_rng(seed)
    return {
        "maps": rng.normal(size=(count, *size)).astype(np.float32),
        "images": rng.random((count, channels, *size)).astype(np.float32),
        "targets": rng.integers(0, 3, count),
    }
