"""Measure parts of the campaign, and print the tables of all that are measured.

    python -m benchmarks.gpu training methods-resnet50     # each nine minutes at most; again, to go on
    python -m benchmarks.gpu                               # only prints
    python -m benchmarks.gpu metrics --device cpu --small  # a trial in seconds

Data sets and models of parts that are not finished are kept in --work. `make bench` puts the tables into RESULTS.md.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
import torch
from benchmarks.gpu.campaign import RESULTS, Bench, Step, folder_of, read_records, run_part, tables
from benchmarks.gpu.methods import methods
from benchmarks.gpu.metrics import metrics
from benchmarks.gpu.reproduction import budding2021
from benchmarks.gpu.training import training
from benchmarks.gpu.worlds import worlds

PARTS: Mapping[str, Callable[[Bench], dict[str, Step]]] = {
    "training": training,
    "methods-resnet50": partial(methods, "resnet50"),
    "methods-vit-b-16": partial(methods, "vit-b-16"),
    "metrics": metrics,
    "worlds": worlds,
    "budding2021": budding2021,
}


def main(given: Sequence[str] | None = None) -> None:
    """Measure the parts that are named, and print all tables."""
    arguments = _arguments(given)
    device = torch.device(arguments.device)
    if arguments.parts and device.type == "cuda" and not torch.cuda.is_available():
        sys.exit("no CUDA device here: use --device cpu --small for a trial")
    default = Path("runs/gpu-trial") if arguments.small or device.type == "cpu" else RESULTS
    out = arguments.out or default
    for part in arguments.parts:
        folder = folder_of(device)
        ends = time.monotonic() + 60 * arguments.minutes
        work = (arguments.work or Path("runs/gpu-work")) / f"{folder}{'-small' * arguments.small}"
        bench = Bench(device, arguments.small, work, ends)
        run_part(part, PARTS[part](bench), bench, out / folder)
    print(tables(read_records(out)) or f"nothing is measured yet in {out}: name one of {', '.join(PARTS)}")


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.gpu", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    choices = [*PARTS, []]  # argparse looks up an empty list among the choices
    parser.add_argument("parts", nargs="*", choices=choices, metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try it on a processor")
    parser.add_argument("--minutes", type=float, default=9.0, help="time of each part; a step is not begun after it")
    parser.add_argument("--out", type=Path, help=f"folder of the JSON files; by default {RESULTS.parent.name}/results")
    parser.add_argument("--work", type=Path, help="folder of data sets and models; by default runs/gpu-work")
    return parser.parse_args(given)


if __name__ == "__main__":
    main()
