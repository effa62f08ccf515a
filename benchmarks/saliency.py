"""Saliency: methods beside the library that users would call for them, ResNet-18 on eight images of 224x224.

Every work is called as its user writes it: from a model in evaluation mode and a batch of images to
maps. Weights are random, which costs the same as trained ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import captum.attr
import numpy as np
import pytorch_grad_cam
import torch
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
from pytorch_grad_cam.utils.svd_on_activations import get_2d_projection
from torch import Tensor, nn
from torchvision.models import resnet18

import salgen
from benchmarks.timing import Row, medians_us, table
from salgen.evaluation.explaining import explain_all
from salgen.evaluation.methods.eigen_cam import principal_component

BATCH, SIZE, ROUNDS = 8, 224, 3
CAMS = {
    "grad-cam": pytorch_grad_cam.GradCAM,
    "grad-cam++": pytorch_grad_cam.GradCAMPlusPlus,
    "layer-cam": pytorch_grad_cam.LayerCAM,
    "eigen-cam": pytorch_grad_cam.EigenCAM,
    "eigen-grad-cam": pytorch_grad_cam.EigenGradCAM,
}
LAYERS = {"7x7": (512, 7, 7), "14x14": (512, 14, 14)}
IG_BATCH, IG_STEPS = 2, 10


def cams() -> list[Row]:
    """Five class activation maps at layer4, in microseconds per image."""
    images, targets = _images(), list(range(BATCH))
    peers, plain, last = _network(), _network(), _network().to(memory_format=torch.channels_last)
    calls = [f"{name}:layer=layer4" for name in CAMS]

    def ours(network: nn.Module, images: Tensor) -> Callable[[], object]:
        return lambda: explain_all(network, images, targets, methods=calls)

    work = {
        "pytorch-grad-cam": lambda: _five_calls(peers, images, targets),
        "plain": ours(plain, images),
        "channels last": ours(last, images.contiguous(memory_format=torch.channels_last)),
    }
    times = medians_us(work, ROUNDS)
    step, peer = "five class activation maps at layer4", "pytorch-grad-cam, five calls"
    return [
        Row(step, peer, times["pytorch-grad-cam"] / BATCH, times["plain"] / BATCH, "≥ 10"),
        Row(
            f"{step}, ours channels last",
            peer,
            times["pytorch-grad-cam"] / BATCH,
            times["channels last"] / BATCH,
            "≥ 15",
        ),
    ]


def principal_components() -> list[Row]:
    """The first principal component of a layer's activations, in microseconds per image."""
    return [_principal_component(name, shape) for name, shape in LAYERS.items()]


def gradients() -> list[Row]:
    """The gradient, and integrated gradients of a few steps, in microseconds per image."""
    images, targets, network, peer = _images(), torch.arange(BATCH), _network(), _network()
    few, steps = images[:IG_BATCH], {"n_steps": IG_STEPS}
    work: dict[str, Callable[[], object]] = {
        "captum, gradient": lambda: captum.attr.Saliency(peer).attribute(
            images.clone().requires_grad_(), target=targets, abs=False
        ),
        "gradient": lambda: salgen.explain(network, images, targets, method="gradient"),
        "captum, integrated": lambda: captum.attr.IntegratedGradients(peer).attribute(
            few, target=targets[:IG_BATCH], internal_batch_size=IG_BATCH, **steps
        ),
        "integrated": lambda: salgen.explain(
            network, few, targets[:IG_BATCH], method="integrated-gradients", steps=IG_STEPS
        ),
    }
    times = medians_us(work, ROUNDS)
    return [
        Row("gradient", "captum", times["captum, gradient"] / BATCH, times["gradient"] / BATCH, "≥ 1.3"),
        Row(
            f"integrated gradients, {IG_STEPS} steps",
            "captum",
            times["captum, integrated"] / IG_BATCH,
            times["integrated"] / IG_BATCH,
            "≥ 1.3",
        ),
    ]


# A comparison of further methods (occlusion beside captum, RISE beside its authors' way) is one more function here.
PARTS: tuple[Callable[[], list[Row]], ...] = (cams, principal_components, gradients)


def rows() -> list[Row]:
    """Every comparison of saliency methods, in microseconds per image."""
    return [row for part in PARTS for row in part()]


def main() -> None:
    """Print the table."""
    print(table(rows()))


def _network() -> nn.Module:
    torch.manual_seed(0)
    network: nn.Module = resnet18(weights=None)
    return network.eval()


def _images() -> Tensor:
    return torch.rand(BATCH, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(0))


def _five_calls(network: Any, images: Tensor, targets: list[int]) -> list[np.ndarray]:
    found = []
    for method in CAMS.values():
        with method(model=network, target_layers=[network.layer4]) as cam:
            found.append(cam(input_tensor=images, targets=[ClassifierOutputTarget(target) for target in targets]))
    return found


def _principal_component(name: str, shape: tuple[int, int, int]) -> Row:
    generator = torch.Generator().manual_seed(0)
    common = torch.randn(BATCH, 1, *shape[1:], generator=generator)  # real activations have one strong component
    values = torch.relu(torch.randn(BATCH, *shape, generator=generator) + common)
    as_array = values.numpy()
    work = {"peer": lambda: get_2d_projection(as_array), "ours": lambda: principal_component(values)}
    times = medians_us(work, 3 * ROUNDS, {"ours": 5})
    step = f"first principal component of 512 channels, {name}"
    return Row(step, "full SVD (pytorch-grad-cam)", times["peer"] / BATCH, times["ours"] / BATCH, "≥ 25")


if __name__ == "__main__":
    main()
