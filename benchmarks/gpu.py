"""Images per second of training, of every method and of metrics, on one device: ``python -m benchmarks.gpu``.

At the paper's scale by default: 60,000 images of 140x192 as bytes on the device, and the eight-layer
network 32 to 256 channels wide in batches of 128. Training is compared with the device's own rate of
matrix products, measured in the same run and in the same arithmetic.

It has not been run on a GPU yet; on a CPU it runs at small sizes:

    python -m benchmarks.gpu --device cpu --images 64 --size 32x32 --batch 16 --explain 4 --few 1 \\
        --models lesion-cnn,resnet18 --natural 64 --methods demo
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from lightning_fabric import Fabric
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode

import salgen
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.scoring.metric_selection import DEFAULT
from salgen.evaluation.training.trainer import Trainer
from salgen.evaluation.training.training_data import DeviceSplit
from salgen.evaluation.training.training_settings import choose_settings
from salgen.registry import MODELS

ASKING = ("average-drop", "insertion-auc", "insertion-auc:baseline=mean", "deletion-auc")
ARITHMETIC = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16}


@dataclass(frozen=True)
class Speed:
    """One measured step.

    Attributes
    ----------
    step, arithmetic
        What was done, and in what.
    images_per_second
        NaN where the step failed; `note` then says why.
    tflops, fraction
        Trillions of floating-point operations per second, and their share of the matrix rate; NaN
        where they are not counted.
    """

    step: str
    arithmetic: str
    images_per_second: float
    tflops: float = float("nan")
    fraction: float = float("nan")
    note: str = ""


@dataclass(frozen=True)
class Scale:
    """How much is done, and where."""

    device: torch.device
    images: int
    size: tuple[int, int]
    natural: tuple[int, int]
    batch: int
    explain: int
    few: int
    methods: str
    matrix: int
    channels_last: bool


def training(scale: Scale, arithmetic: str) -> Speed:
    """A whole epoch after one that warms up, data on the device."""
    with _arithmetic(arithmetic):
        classifier = _classifier(scale)
        _, settings = choose_settings("lesion-cnn", "full", {"batch_size": scale.batch})
        precision = "bf16-mixed" if arithmetic == "bf16" else "32-true"
        fabric = Fabric(accelerator=scale.device.type, devices=1, precision=precision)
        operations = _operations_per_image(classifier, scale)
        learner = Trainer.prepare(fabric, classifier, settings, scale.images)
        split = _random_split(scale)
        order = torch.randperm(scale.images, device=scale.device)
        seconds = _seconds(lambda: learner.epoch(split, order, lambda count=1, /: None), scale.device)
        rate = learner.batching.images / seconds
        tflops = rate * operations / 1e12
        return Speed("training", arithmetic, rate, tflops, tflops / _matrix_tflops(scale, ARITHMETIC[arithmetic]))


def explaining(scale: Scale, model: str) -> Iterator[Speed]:
    """Every method that the model has, each alone, and those of few passes together; weights are random."""
    classifier, images, masks = _model(scale, model)
    methods, left_out = select_methods(["all"], scale.methods).defined_for(classifier, images[:1])
    patterns = salgen.fit_patterns(classifier, images) if "pattern-net" in methods else None
    view = ModelView.of(classifier)

    def speed(step: str, calls: list[str], count: int) -> Speed:
        chosen = [methods[call] for call in calls]
        seconds = _seconds(
            lambda: salgen.explain_all(
                view, images[:count], 1, methods=chosen, masks=masks[:count], patterns=patterns, batch_size=scale.batch
            ),
            scale.device,
        )
        return Speed(f"{model}: {step}", "fp32", count / seconds)

    together = [call for call, method in methods.items() if method.shares == "passes"]
    yield speed(f"{len(together)} methods of few passes, together", together, scale.explain)
    for call, method in methods.items():
        yield speed(call, [call], scale.explain if method.shares == "passes" else min(scale.explain, scale.few))
    for call, why in left_out.items():
        yield Speed(f"{model}: {call}", "fp32", float("nan"), note=why)


def scoring(scale: Scale) -> Iterator[Speed]:
    """A run's default metrics, which copy no map from the device, and all that need only a mask: some of these do."""
    maps, masks = torch.randn(scale.explain, *scale.size, device=scale.device), _masks(scale.explain, scale.size)
    for step, metrics in (("score, a run's metrics", DEFAULT), ("score, all metrics", "all")):
        seconds = _seconds(lambda metrics=metrics: salgen.score(maps, masks, metrics), scale.device)  # type: ignore[misc]
        yield Speed(step, "fp32", scale.explain / seconds)


def asking(scale: Scale, model: str) -> Iterator[Speed]:
    """Metrics that ask the model about changed images, each alone, from maps of noise; weights are random."""
    classifier, images, _ = _model(scale, model)
    images, view = images[: min(scale.explain, scale.few)], ModelView.of(classifier)
    maps, targets = torch.randn(len(images), *images.shape[2:]), torch.ones(len(images), dtype=torch.int64)
    for metric in ASKING:
        seconds = _seconds(
            lambda metric=metric: salgen.score(maps, None, metric, model=view, images=images, targets=targets),  # type: ignore[misc]
            scale.device,
        )
        yield Speed(f"{model}: {metric}", "fp32", len(images) / seconds)


def table(speeds: list[Speed]) -> str:
    """The measurements in Markdown."""
    lines = ["| step | arithmetic | images/s | TFLOP/s | of the matrix rate |", "| --- | --- | --- | --- | --- |"]
    for speed in speeds:
        counted = speed.tflops == speed.tflops
        rates = f"{speed.tflops:,.3f} | {speed.fraction:.1%}" if counted else " | "
        lines.append(
            f"| {speed.step} | {speed.arithmetic} | {speed.note or f'{speed.images_per_second:,.1f}'} | {rates} |"
        )
    return "\n".join(lines)


def main() -> None:
    arguments = _arguments()
    height, width = (int(extent) for extent in arguments.size.split("x"))
    device = torch.device(arguments.device)
    if device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("no CUDA device here: use --device cpu with small sizes, see --help")
    matrix = 8192 if device.type == "cuda" else 512
    scale = Scale(
        device=device,
        images=arguments.images,
        size=(height, width),
        natural=(arguments.natural, arguments.natural),
        batch=arguments.batch,
        explain=arguments.explain,
        few=arguments.few,
        methods=arguments.methods,
        matrix=matrix,
        channels_last=arguments.channels_last,
    )
    speeds = [training(scale, arithmetic) for arithmetic in arguments.arithmetic.split(",")]
    for model in arguments.models.split(","):
        speeds += explaining(scale, model)
        speeds += asking(scale, model)
    speeds += scoring(scale)
    print(table(speeds))
    record = {
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else platform.processor() or "cpu",
        "torch": torch.__version__,
        "scale": asdict(scale) | {"device": str(device)},
        "speeds": [asdict(speed) for speed in speeds],
    }
    text = json.dumps(record, indent=2)
    if arguments.out:
        Path(arguments.out).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="cuda or cpu")
    parser.add_argument("--images", type=int, default=60_000, help="training images on the device")
    parser.add_argument("--size", default="140x192", help="height x width")
    parser.add_argument("--batch", type=int, default=128, help="images per training step")
    parser.add_argument("--explain", type=int, default=200, help="images to explain and maps to score")
    parser.add_argument("--few", type=int, default=8, help="images for methods and metrics of many passes")
    parser.add_argument("--models", default=",".join(MODELS.names()), help="registered models to explain")
    parser.add_argument("--natural", type=int, default=224, help="side of the images that all but lesion-cnn explain")
    parser.add_argument("--methods", default="full", help="scale of the methods: full, small or demo")
    parser.add_argument("--arithmetic", default=",".join(ARITHMETIC), help="for training: some of fp32,tf32,bf16")
    parser.add_argument("--channels-last", action="store_true", help="keep the network's weights channels last")
    parser.add_argument("--out", help="file for the JSON; printed if not given")
    return parser.parse_args()


@contextmanager
def _arithmetic(name: str) -> Iterator[None]:
    """Let products of float32 run in TF32, or not."""
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest" if name == "fp32" else "high")
    torch.backends.cudnn.allow_tf32 = name != "fp32"
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]


def _classifier(scale: Scale) -> Classifier:
    plugin, _ = choose_settings("lesion-cnn", "full")
    network = plugin.build(1, 2, scale.size)
    layout = torch.channels_last if scale.channels_last else torch.contiguous_format
    return Classifier(network, cam_layer=plugin.cam_layer(network)).to(scale.device, memory_format=layout)


def _model(scale: Scale, name: str) -> tuple[Classifier, torch.Tensor, torch.Tensor]:
    """A registered model whole, images as it takes them, and their masks."""
    channels, size = (1, scale.size) if name == "lesion-cnn" else (3, scale.natural)
    plugin, _ = choose_settings(name, "full")
    network = plugin.build(channels, 2, size)
    layout = torch.channels_last if scale.channels_last else torch.contiguous_format
    classifier = Classifier(network, plugin.normalise(channels), cam_layer=plugin.cam_layer(network))
    images = torch.rand(scale.explain, channels, *size, device=scale.device)
    return classifier.eval().to(scale.device, memory_format=layout), images, _masks(scale.explain, size)


def _random_split(scale: Scale) -> DeviceSplit:
    images = torch.randint(256, (scale.images, 1, *scale.size), dtype=torch.uint8, device=scale.device)
    return DeviceSplit(images, torch.randint(2, (scale.images,), device=scale.device))


def _masks(count: int, size: tuple[int, int]) -> torch.Tensor:
    """One lesion of a twelfth of the image's side in every image."""
    masks = torch.zeros(count, *size, dtype=torch.bool)
    side = max(min(size) // 12, 2)
    masks[:, side : 2 * side, side : 2 * side] = True
    return masks


def _operations_per_image(classifier: Classifier, scale: Scale) -> float:
    """Floating-point operations of forward and backward for one image: convolutions and products."""
    images = torch.rand(2, 1, *scale.size, device=scale.device)
    with FlopCounterMode(display=False) as counter:
        cross_entropy(classifier(images), torch.zeros(2, dtype=torch.int64, device=scale.device)).backward()
    classifier.zero_grad()
    return counter.get_total_flops() / 2


def _matrix_tflops(scale: Scale, kind: torch.dtype) -> float:
    """The device's rate for a square matrix product in the arithmetic that is set."""
    one, two = torch.randn(2, scale.matrix, scale.matrix, device=scale.device).to(kind)
    repeats = 20
    seconds = _seconds(lambda: [one @ two for _ in range(repeats)], scale.device)
    return 2 * scale.matrix**3 * repeats / seconds / 1e12


def _seconds(work: Callable[[], object], device: torch.device) -> float:
    """Seconds of a second run; the first warms up."""
    work()
    _wait(device)
    started = time.perf_counter()
    work()
    _wait(device)
    return time.perf_counter() - started


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


if __name__ == "__main__":
    main()
