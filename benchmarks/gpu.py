"""Images per second of training, of every method and of scoring, on one device: ``python -m benchmarks.gpu``.

At the paper's scale by default: 60,000 images of 140x192 as bytes on the device, and the eight-layer
network 32 to 256 channels wide in batches of 128. Training is compared with the device's own rate of
matrix products, measured in the same run and in the same arithmetic.

It has not been run on a GPU yet; on a CPU it runs at small sizes:

    python -m benchmarks.gpu --device cpu --images 64 --size 32x32 --batch 16 --explain 8
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
from salgen.evaluation.classifier import Classifier
from salgen.evaluation.learner import Learner
from salgen.evaluation.training_data import DeviceSplit
from salgen.evaluation.training_settings import choose_settings
from salgen.registry import METHODS

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
    batch: int
    explain: int
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
        learner = Learner.prepare(fabric, classifier, settings, scale.images)
        split = _random_split(scale)
        order = torch.randperm(scale.images, device=scale.device)
        seconds = _seconds(lambda: learner.epoch(split, order, lambda count=1, /: None), scale.device)
        rate = learner.batching.images / seconds
        tflops = rate * operations / 1e12
        return Speed("training", arithmetic, rate, tflops, tflops / _matrix_tflops(scale, ARITHMETIC[arithmetic]))


def explaining(scale: Scale) -> Iterator[Speed]:
    """Every registered method on random images, with the paper's network untrained."""
    classifier = _classifier(scale).eval()
    images = torch.rand(scale.explain, 1, *scale.size, device=scale.device)
    masks = _masks(scale)
    for name in METHODS.names():
        try:
            seconds = _seconds(
                lambda method=name: salgen.explain(classifier, images, 1, method=method, masks=masks), scale.device
            )
        except salgen.SalgenError as error:
            yield Speed(f"explain {name}", "fp32", float("nan"), note=str(error))
        else:
            yield Speed(f"explain {name}", "fp32", scale.explain / seconds)


def scoring(scale: Scale) -> Speed:
    """All metrics that need only a mask, from maps on the device."""
    maps, masks = torch.randn(scale.explain, *scale.size, device=scale.device), _masks(scale)
    seconds = _seconds(lambda: salgen.score(maps, masks, "all"), scale.device)
    return Speed("score, all metrics", "fp32", scale.explain / seconds)


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
        device, arguments.images, (height, width), arguments.batch, arguments.explain, matrix, arguments.channels_last
    )
    speeds = [training(scale, arithmetic) for arithmetic in arguments.arithmetic.split(",")]
    speeds += [*explaining(scale), scoring(scale)]
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


def _random_split(scale: Scale) -> DeviceSplit:
    images = torch.randint(256, (scale.images, 1, *scale.size), dtype=torch.uint8, device=scale.device)
    return DeviceSplit(images, torch.randint(2, (scale.images,), device=scale.device))


def _masks(scale: Scale) -> torch.Tensor:
    """One lesion of a twelfth of the image's side in every image."""
    masks = torch.zeros(scale.explain, *scale.size, dtype=torch.bool)
    side = max(min(scale.size) // 12, 2)
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
