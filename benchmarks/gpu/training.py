"""Training at the paper's scale: images per second in three arithmetics, and three seeds until the stopping rule.

60,000 images of 140x192 as bytes on the device, and the eight-layer network 32 to 256 channels wide in batches of 128.
TFLOP/s are compared with the device's own rate of matrix products, measured in the same step and arithmetic.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
import torch
from lightning_fabric import Fabric
from torch.nn.functional import cross_entropy
from torch.utils.flop_counter import FlopCounterMode
from benchmarks.gpu.campaign import Bench, Row, Step
from benchmarks.gpu.measuring import arithmetic, matrix_tflops, peak_gb, seconds, share_waited
from benchmarks.gpu.networks import PAPER, SMALL
from benchmarks.gpu.reproduction import SETTINGS, made, on_device, progress_of
from benchmarks.processes import within
from salgen.evaluation.protocols.budding2021 import PERLIN
from salgen.evaluation.training.trainer import Trainer
from salgen.evaluation.training.training import train
from salgen.evaluation.training.training_data import DeviceSplit
from salgen.evaluation.training.training_settings import choose_settings

ARITHMETIC = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16}
SEEDS = 3
STEPS = 20  # that warm up, and that are profiled


def training(bench: Bench) -> dict[str, Step]:
    """An epoch in each arithmetic, then whole trainings in bf16."""
    steps: dict[str, Step] = {f"an epoch in {name}": partial(_epoch, name, bench) for name in ARITHMETIC}
    for seed in range(1 if bench.small else SEEDS):
        steps[f"until the stopping rule in bf16, seed {seed}"] = partial(_whole, seed, bench)
    return steps


def _epoch(name: str, bench: Bench) -> list[Row]:
    device, size, images = (bench.device, SMALL, 64) if bench.small else (bench.device, PAPER, 60_000)
    plugin, settings = choose_settings("lesion-cnn", "full", {"batch_size": 16, **_network()} if bench.small else None)
    with arithmetic(name):
        classifier = plugin.build(1, 2, size).to(device)
        operations = _operations_per_image(classifier, size, device)
        precision = "bf16-mixed" if name == "bf16" else "32-true"
        fabric = Fabric(accelerator=device.type, devices=1, precision=precision)  # type: ignore[arg-type]
        learner = Trainer.prepare(fabric, classifier, settings, images)
        few = replace(learner, steps=min(STEPS, learner.steps))
        labels = torch.randint(2, (images,), device=device)
        pixels = torch.randint(256, (images, 1, *size), dtype=torch.uint8, device=device)
        split, order = DeviceSplit(pixels, labels, labels), torch.randperm(images, device=device)

        def epoch(trainer: Trainer) -> float:
            return trainer.epoch(split, order, lambda count=1, /: None)

        epoch(few)
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        rate = learner.size * learner.steps / seconds(partial(epoch, learner), device)
        row: Row = {"images/s": rate, "peak, GB": peak_gb(device)}
        row["GPU waits, share"] = share_waited(partial(epoch, few), device)
        row["TFLOP/s"] = rate * operations / 1e12
        side = 8192 if device.type == "cuda" else 256
        row["of the matrix rate"] = row["TFLOP/s"] / matrix_tflops(side, ARITHMETIC[name], device)
    return [row]


def _whole(seed: int, bench: Bench) -> list[Row]:
    """One training to its end, in as many calls as it takes."""
    data = made(PERLIN, bench)
    out = bench.work / f"bf16-seed{seed}"
    within(bench.seconds_left, _train, data, out, seed, bench.small, bench.device.type)
    return [progress_of(out, data)]


def _train(data: Path, out: Path, seed: int, small: bool, device: str) -> bool:
    on_device(device)
    settings = {"precision": "bf16-mixed", **(SETTINGS if small else {})}
    train(data, out, scale="full", settings=settings, seed=seed)
    return True


def _network() -> dict[str, object]:
    return {key: SETTINGS[key] for key in ("widths", "hidden")}


def _operations_per_image(classifier: torch.nn.Module, size: tuple[int, int], device: torch.device) -> float:
    """Floating-point operations of forward and backward for one image: convolutions and products."""
    images = torch.rand(2, 1, *size, device=device)
    with FlopCounterMode(display=False) as counter:
        cross_entropy(classifier(images), torch.zeros(2, dtype=torch.int64, device=device)).backward()
    classifier.zero_grad()
    return counter.get_total_flops() / 2
