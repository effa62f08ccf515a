"""Saliency: methods beside the library that users would call for them, ResNet-18 on images of 224x224.

Ours run as in ``salgen evaluate``: on a view of the model that is made once, its weights as torch
lays them out or channels last, which is how checkpoints are loaded. Weights are random, which costs
the same as trained ones.
"""

from collections.abc import Callable, Mapping
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
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.methods.eigen_cam import principal_component
from salgen.evaluation.models.inspection.model_view import ModelView

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
PLAIN, LAST = "plain", "channels last"
GOALS = {PLAIN: "≥ 1.3", LAST: "≥ 1.3"}
SAME = "both are the same passes through the network"


def cams() -> list[Row]:
    """Five class activation maps at layer4, in microseconds per image."""
    images, targets, peers = _images(), list(range(BATCH)), _network()
    calls = [f"{name}:layer=layer4" for name in CAMS]
    work: dict[str, Callable[[], object]] = {"peer": lambda: _five_calls(peers, images, targets)}
    for layout, view in views().items():
        work[layout] = lambda view=view: explain(view, images, targets, method=calls)  # type: ignore[misc]
    goals = {PLAIN: "≥ 10", LAST: "≥ 15"}
    held = "the one pass through the network that is left"
    return compare("five class activation maps at layer4", "pytorch-grad-cam, five calls", work, BATCH, goals, held)


def principal_components() -> list[Row]:
    """The first principal component of a layer's activations, in microseconds per image."""
    return [_principal_component(name, shape) for name, shape in LAYERS.items()]


def gradients() -> list[Row]:
    """The gradient, and integrated gradients of a few steps, in microseconds per image."""
    images, targets, peer = _images(), torch.arange(BATCH), _network()
    few, few_targets = images[:IG_BATCH], targets[:IG_BATCH]
    gradient: dict[str, Callable[[], object]] = {
        "peer": lambda: captum.attr.Saliency(peer).attribute(images.clone().requires_grad_(), target=targets, abs=False)
    }
    integrated: dict[str, Callable[[], object]] = {
        "peer": lambda: captum.attr.IntegratedGradients(peer).attribute(
            few, target=few_targets, internal_batch_size=IG_BATCH, n_steps=IG_STEPS
        )
    }
    for layout, view in views().items():
        gradient[layout] = lambda view=view: salgen.explain(view, images, targets, method="gradient")  # type: ignore[misc]
        integrated[layout] = lambda view=view: salgen.explain(  # type: ignore[misc]
            view, few, few_targets, method="integrated-gradients", steps=IG_STEPS
        )
    return [
        *compare("gradient", "captum", gradient, BATCH, GOALS),
        *compare(f"integrated gradients, {IG_STEPS} steps", "captum", integrated, IG_BATCH, GOALS),
    ]


def views() -> dict[str, ModelView]:
    """The network as torch lays out its weights, and channels last."""
    return {
        PLAIN: ModelView.of(_network()),
        LAST: ModelView.of(_network().to(memory_format=torch.channels_last)),  # type: ignore[call-overload]
    }


def compare(
    step: str,
    peer: str,
    work: Mapping[str, Callable[[], object]],
    count: int,
    goals: Mapping[str, str],
    held_by: str = SAME,
) -> list[Row]:
    """A row for each layout, in microseconds per each of `count`; the library's work is called ``peer``."""
    times = medians_us(work, ROUNDS)
    return [
        Row(f"{step}, {layout}", peer, times["peer"] / count, times[layout] / count, goal, held_by)
        for layout, goal in goals.items()
    ]


def rows() -> list[Row]:
    """Every comparison, in microseconds per image."""
    return [*cams(), *principal_components(), *gradients()]


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
    held = "LAPACK's eigenvectors of the smaller Gram matrix"
    return Row(step, "full SVD (pytorch-grad-cam)", times["peer"] / BATCH, times["ours"] / BATCH, "≥ 25", held)


if __name__ == "__main__":
    main()
