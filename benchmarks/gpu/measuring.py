"""Seconds and peak memory on a device, the time in which it waits, and its rate of matrix products."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
import torch
from torch.autograd import DeviceType  # type: ignore[attr-defined]
from torch.profiler import ProfilerActivity, profile
from benchmarks.gpu.campaign import in_one_line
from benchmarks.timing import medians_us

ROUNDS, LONG = 3, 5.0  # what takes more seconds together is timed once after its first run
Work = Callable[[], object]


@dataclass(frozen=True)
class Cost:
    """What a piece of work costs.

    Attributes
    ----------
    seconds
        The median of runs after the first one.
    peak_gb
        Memory that PyTorch allocated at most in the first run, what was there before included; None on a processor.
    """

    seconds: float
    peak_gb: float | None


def costs(work: Mapping[str, Work], device: torch.device) -> tuple[dict[str, Cost], dict[str, str]]:
    """The cost of each piece of work, and the errors of those that fail in their first run.

    The first run warms up; then they are timed in turns.
    """
    peaks, failures, runs, first = {}, {}, {}, 0.0
    for name, run in work.items():
        runs[name] = partial(seconds, run, device)  # which waits for the device
        try:
            if device.type == "cuda":
                torch.cuda.reset_peak_memory_stats(device)
            first += seconds(run, device)
            peaks[name] = peak_gb(device)
        except Exception as error:  # other libraries fail in any way
            failures[name] = in_one_line(error)
    rounds = ROUNDS if first < LONG and device.type == "cuda" else 1
    times = medians_us({name: runs[name] for name in peaks}, rounds)
    return {name: Cost(times[name] / 1e6, peak) for name, peak in peaks.items()}, failures


def seconds(run: Work, device: torch.device) -> float:
    """Seconds of one run."""
    wait(device)
    started = time.perf_counter()
    run()
    wait(device)
    return time.perf_counter() - started


def wait(device: torch.device) -> None:
    """Wait until the device has done what it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def peak_gb(device: torch.device) -> float | None:
    """Memory that PyTorch allocated on a GPU at most since its peak was reset, in GB."""
    return torch.cuda.max_memory_allocated(device) / 1e9 if device.type == "cuda" else None


def share_waited(run: Work, device: torch.device) -> float | None:
    """The share of the time in which no kernel runs on a GPU; kernels are timed in a second run, by the profiler."""
    if device.type != "cuda":
        return None
    whole = seconds(run, device)
    with profile(activities=[ProfilerActivity.CUDA]) as profiled:
        run()
        wait(device)
    on_device = (event for event in profiled.events() or () if event.device_type == DeviceType.CUDA)
    kernels = sum(event.time_range.elapsed_us() for event in on_device if not event.is_user_annotation) / 1e6
    return max(1 - kernels / whole, 0.0)


@contextmanager
def utilisation(device: torch.device) -> Iterator[list[float]]:
    """Collect the shares of the time in which a kernel ran on the first GPU, as nvidia-smi states them twice a second.

    They are there at the end; none on a processor, or without nvidia-smi.
    """
    shares: list[float] = []
    program = shutil.which("nvidia-smi")
    if device.type != "cuda" or program is None:
        yield shares
        return
    query = ["--id=0", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "--loop-ms=500"]
    process = subprocess.Popen([program, *query], stdout=subprocess.PIPE, text=True)
    try:
        yield shares
    finally:
        process.terminate()
        shares += [int(text) / 100 for text in process.communicate()[0].split() if text.isdecimal()]


@contextmanager
def arithmetic(name: str) -> Iterator[None]:
    """Let products of float32 run in TF32, or not."""
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest" if name == "fp32" else "high")
    torch.backends.cudnn.allow_tf32 = name != "fp32"
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]


def matrix_tflops(side: int, kind: torch.dtype, device: torch.device) -> float:
    """The device's rate for a square matrix product in the arithmetic that is set."""
    one, two = torch.randn(2, side, side, device=device).to(kind)
    repeats = 20

    def products() -> None:
        for _ in range(repeats):
            one @ two

    products()
    return 2 * side**3 * repeats / seconds(products, device) / 1e12
