"""Budding et al. 2021 from data made beforehand to the report, and the data that trainings take from it.

It runs in a process of its own, which is killed when the part's time is up; the next call goes on where it was, and
loses an epoch at most. The time end to end is that of all calls, with what they lost.
"""

import json
import os
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
import torch
from benchmarks.gpu.campaign import LEFT, Bench, Row, Step
from benchmarks.gpu.measuring import peak_gb, utilisation
from benchmarks.processes import within
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.protocols.budding2021 import MRI, PERLIN, Budding2021
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.training.checkpoints import CARD, read_card
from salgen.evaluation.training.trainer import batching
from salgen.evaluation.training.training_state import read_state
from salgen.files import write_text
from salgen.generators.factory import plugin_class

GOAL = "under 10 minutes on one H200, under 15 on one H100"
SETTINGS = {"widths": (4, 8), "hidden": 8, "epochs": 1}  # of the small training
CALLS = "calls.json"
UNFINISHED = "not finished when the time was up"


@dataclass(frozen=True)
class SmallBudding2021(Budding2021):
    """The same with few small images and a narrow network."""

    def datasets(self) -> dict[str, dict[str, Any]]:
        splits = {"train": 32, "val": 8, "test": 8}
        return {name: {"splits": splits, "parameters": plugin_class(name).quick} for name in (PERLIN, MRI)}

    def settings(self, dataset: str, model: str, scale: str) -> dict[str, Any]:
        return SETTINGS


def budding2021(bench: Bench) -> dict[str, Step]:
    """The data sets, which do not count, and the protocol on them."""
    making: dict[str, Step] = {f"make {name}": partial(_make, name, bench) for name in (PERLIN, MRI)}
    return {**making, "end to end": partial(_end_to_end, bench)}


def made(name: str, bench: Bench) -> Path:
    """A data set of the protocol, made unless it is there already."""
    protocol, scale = _protocol(bench.small)
    arguments = {"name": name, **protocol.datasets()[name]}
    return make(**arguments, out=bench.work / protocol.name / name, scale=scale, seed=protocol.seed)


def progress_of(folder: Path, data: Path) -> Row:
    """How far a training has come: seconds, epochs, images per second, and its accuracy if it is finished."""
    if (folder / CARD).exists():
        card = read_card(folder)
        row: Row = {"seconds": card.seconds, "epochs": len(card.history), "images/s": card.images_per_second}
        return row | {"test accuracy": card.test_accuracy}
    stored = read_state(folder)
    if stored is None or not stored[1].history:
        return {LEFT: UNFINISHED}
    setup, state, _ = stored
    epochs = len(state.history)
    size, steps = batching(len(open_dataset(data, "train")), setup.settings["batch_size"])
    images = epochs * size * steps
    return {"seconds": state.seconds, "epochs": epochs, "images/s": images / state.training_seconds, LEFT: UNFINISHED}


def on_device(kind: str) -> None:
    """Let this process see no GPU, where it is to use the processor."""
    if kind == "cpu":
        os.environ["CUDA_VISIBLE_DEVICES"] = ""


def _protocol(small: bool) -> tuple[Budding2021, str]:
    return (SmallBudding2021(), "demo") if small else (Budding2021(), "full")


def _make(name: str, bench: Bench) -> list[Row]:
    there, started = (bench.work / Budding2021.name / name).exists(), time.perf_counter()
    made(name, bench)
    return [{"note": "made before"} if there else {"seconds": time.perf_counter() - started}]


def _end_to_end(bench: Bench) -> list[Row]:
    protocol, scale = _protocol(bench.small)
    out = bench.work / protocol.name
    for name in protocol.datasets():
        made(name, bench)
    calls, started = _calls(out), time.perf_counter()
    try:
        with utilisation(bench.device) as busy:
            peak = within(bench.seconds_left, _reproduce, out, bench.small, bench.device.type)
    finally:
        calls["seconds"].append(time.perf_counter() - started)
        calls["busy"] += busy
        write_text(out / CALLS, json.dumps(calls))
    whole: Row = {"seconds": sum(calls["seconds"]), "note": f"calls: {len(calls['seconds'])}; goal: {GOAL}"}
    whole["GPU waits, share"] = 1 - statistics.fmean(calls["busy"]) if calls["busy"] else None
    if peak is None:
        whole[LEFT] = UNFINISHED
    elif len(calls["seconds"]) == 1:  # else it is that of the last call
        whole["peak, GB"] = peak["gb"]
    return [whole, *_stages(out, protocol, scale)]


def _reproduce(out: Path, small: bool, device: str) -> dict[str, float | None]:
    """The peak memory of this call."""
    on_device(device)
    protocol, scale = _protocol(small)
    protocol.run(out, scale)
    return {"gb": peak_gb(torch.device(device))}


def _stages(out: Path, protocol: Budding2021, scale: str) -> Iterator[Row]:
    """Each training, and the maps of each data set; what is left of the whole is scoring, certificates and report."""
    for name in protocol.datasets():
        run = out / f"{name}-run"
        for seed in range(protocol.training_seeds[scale]):
            trained = progress_of(run / f"lesion-cnn-seed{seed}", out / name)
            yield {"step": f"of it, train {name} seed {seed}", **trained}
        if (run / RECORD).exists():
            methods = json.loads((run / RECORD).read_text(encoding="utf-8"))["methods"]
            maps, spent = (sum(method[key] for method in methods) for key in ("maps", "seconds"))
            yield {"step": f"of it, {maps} maps of {name}", "seconds": spent}


def _calls(out: Path) -> dict[str, list[float]]:
    """The seconds of the calls so far, and the shares of the time in which the GPU was busy."""
    file = out / CALLS
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {"seconds": [], "busy": []}
