"""How long `salgen evaluate` takes from the command to the first maps: ``python -m benchmarks.start``.

Processor time of a program that ends there, beside that of a program that imports torch and nothing else.
"""

import json
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any
from benchmarks.processes import in_a_process
from benchmarks.timing import Row, table

ROUNDS = 5


class FirstMaps(BaseException):
    """Ends the program; no code of salgen catches it."""


def rows() -> list[Row]:
    """The start of an evaluation of a checkpoint by two methods."""
    from salgen.datasets.making import make
    from salgen.evaluation.training.training import train

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data = make("perlin-lesions", folder / "data", splits={"train": 64, "val": 16, "test": 64})
        train(data, folder / "checkpoint", model="lesion-cnn", settings={"epochs": 1})
        times: dict[str, list[float]] = {"torch": [], "evaluate": []}
        for round_ in range(ROUNDS):
            for step, seconds in times.items():
                where = [str(data), str(folder / "checkpoint"), str(folder / f"run{round_}")]
                seconds.append(in_a_process("benchmarks.start", step, *where)["seconds"])
    torch_us, ours_us = (median(seconds) * 1e6 for seconds in times.values())
    step, held = "from the command to the first maps", "torch's import, without which there is no network"
    return [
        Row(step, "goal: 3 s", 3e6, ours_us, "≥ 1", held),
        Row(step, "importing torch alone", torch_us, ours_us, ""),
    ]


def _start(step: str, data: str, checkpoint: str, out: str) -> None:
    """Run one program, and print its processor seconds as JSON."""
    if step == "torch":
        import torch  # noqa: F401
    else:
        from salgen.cli.main import main as command_line
        from salgen.evaluation.attribution.batch_explainer import BatchExplainer

        explain = BatchExplainer.explain

        def explain_and_end(*arguments: Any, **options: Any) -> None:
            explain(*arguments, **options)
            raise FirstMaps

        BatchExplainer.explain = explain_and_end  # type: ignore[method-assign,assignment]
        with suppress(FirstMaps):
            command_line(["evaluate", data, "--model", checkpoint, "-m", "gradient", "-m", "grad-cam", "--out", out])
            raise SystemExit("there were no maps")
    print(json.dumps({"seconds": time.process_time()}))


if __name__ == "__main__":
    if sys.argv[1:]:
        _start(*sys.argv[1:])
    else:
        print(table(rows()))
