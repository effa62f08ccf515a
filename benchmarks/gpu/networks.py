"""The networks that parts explain and ask, with images and masks."""

from typing import NamedTuple
import torch
from torch import Tensor
from benchmarks.gpu.campaign import Bench
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.registry import MODELS

PAPER, NATURAL = (140, 192), (224, 224)
SMALL = (32, 32)


class Shown(NamedTuple):
    """A classifier with random weights on the device, in the layout in which salgen loads checkpoints.

    `images` are (n, C, H, W) in [0, 1] on the device, `masks` bool (n, H, W).
    """

    classifier: Classifier
    view: ModelView
    images: Tensor
    masks: Tensor


def shown(name: str, count: int, bench: Bench) -> Shown:
    """A registered model whole: lesion-cnn as in its paper, any other one for 1000 classes of natural images."""
    channels, classes, size = (1, 2, PAPER) if name == "lesion-cnn" else (3, 1000, NATURAL)
    if bench.small:
        classes, size = 5, SMALL
    declared = MODELS.load(name)
    plugin = MODELS.create(name, declared.quick if bench.small else declared.scales["full"])
    torch.manual_seed(0)
    network = plugin.build(channels, classes, size)
    classifier = Classifier(network, plugin.normalise(channels), plugin.cam_layer(network)).eval()
    classifier = classifier.to(bench.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    images = torch.rand(count, channels, *size, device=bench.device)
    return Shown(classifier, ModelView.of(classifier), images, lesion_masks(count, size))


def lesion_masks(count: int, size: tuple[int, int]) -> Tensor:
    """One lesion of a twelfth of the image's side in every image."""
    masks = torch.zeros(count, *size, dtype=torch.bool)
    side = max(min(size) // 12, 2)
    masks[:, side : 2 * side, side : 2 * side] = True
    return masks
