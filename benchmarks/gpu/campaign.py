"""Steps of a part, measured one after the other until its time is up; their rows as JSON, and as tables.

A part is a function that gives its steps by name. What is measured is written at once, so a part that is cut off keeps
it, and the next call goes on with the steps that are left.
"""

import json
import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any
import torch
from salgen.files import write_text

RESULTS = Path(__file__).with_name("results")
LIBRARIES = ("salgen", "torch", "torchvision", "captum", "grad-cam")
NOT_RUN = "not run: the part's time was up"
LEFT, NOTE = "left", "note"
EXPLAINED = (
    "Salgen over peer is above 1 where salgen explains more images a second. Methods and metrics run in single "
    "precision with PyTorch's defaults: convolutions may run in TF32, products do not. Peaks are what PyTorch "
    "allocated, the networks themselves included."
)

Row = dict[str, Any]  # column to cell; under `LEFT`, the reason why the step has to be run again
Step = Callable[[], list[Row]]


@dataclass(frozen=True)
class Bench:
    """Where a part is measured, and for how long.

    Attributes
    ----------
    small
        Whether all sizes are small, for a processor.
    work
        Folder of data sets and models, with which a later call goes on.
    ends
        When the part's time is up, in seconds of `time.monotonic`.
    """

    device: torch.device
    small: bool
    work: Path
    ends: float

    @property
    def seconds_left(self) -> float:
        """Seconds until the time is up."""
        return self.ends - time.monotonic()


def run_part(part: str, steps: Mapping[str, Step], bench: Bench, folder: Path) -> None:
    """Measure the steps that ``<folder>/<part>.json`` lacks, and write each one's rows there at once.

    A file of another day, device or version is begun anew.
    """
    file, record = folder / f"{part}.json", _record(part, bench)
    before = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    kept = before.get("rows", {}) if before | {"rows": None} == record | {"rows": None} else {}
    rows = {step: kept.get(step, [{LEFT: NOT_RUN}]) for step in steps}
    for step, measure in steps.items():
        if any(LEFT in row for row in rows[step]) and bench.seconds_left > 0:
            try:
                rows[step] = measure()
            except Exception as error:  # whatever stops one step, the others are measured
                rows[step] = [{LEFT: f"failed: {in_one_line(error)}"}]
        _write(file, record | {"rows": rows})
        if bench.device.type == "cuda":
            torch.cuda.empty_cache()


def read_records(folder: Path) -> list[dict[str, Any]]:
    """What was written below a folder, by device and part."""
    return [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*/*.json"))]


def results_text() -> str:
    """The tables of all parts that have run on a GPU, or a sentence that none has."""
    records = [record for record in read_records(RESULTS) if record["on"] == "cuda" and not record["small"]]
    return f"{EXPLAINED}\n\n{tables(records)}" if records else "It has not run on a GPU yet."


def tables(records: Iterable[Mapping[str, Any]]) -> str:
    """The records in Markdown, each under the device and the day."""
    return "\n\n".join(_table(record) for record in records)


def device_name(device: torch.device) -> str:
    """The GPU's name, or ``cpu``."""
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


def folder_of(device: torch.device) -> str:
    """The device's name as one of a folder."""
    return re.sub(r"\W+", "-", device_name(device))


def in_one_line(error: BaseException) -> str:
    """The kind of an error and its first line, shortened."""
    if isinstance(error, torch.OutOfMemoryError):
        return "out of memory"
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0][:120]}"


def _record(part: str, bench: Bench) -> dict[str, Any]:
    return {
        "part": part,
        "on": bench.device.type,
        "device": device_name(bench.device),
        "small": bench.small,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def _write(file: Path, record: Mapping[str, Any]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(record, indent=1) + "\n")


def _table(record: Mapping[str, Any]) -> str:
    versions = ", ".join(f"{name} {number}" for name, number in record["versions"].items())
    rows = [{"step": step, **row} for step, of_step in record["rows"].items() for row in of_step]
    columns = [name for name in dict.fromkeys(key for row in rows for key in row) if name not in (NOTE, LEFT)]
    lines = [f"| {' | '.join(columns)} | note |", f"| --- |{' --- |' * len(columns)}"]
    for row in rows:
        note = "; ".join(row[key] for key in (NOTE, LEFT) if key in row).replace("|", "/")
        lines.append(f"| {' | '.join([*(_cell(row.get(column)) for column in columns), note])} |")
    size = ", small sizes" if record["small"] else ""
    heading = f"### {record['part']}, {record['device']}{size}, {record['date']}"
    return "\n\n".join([heading, f"With {versions}.", "\n".join(lines)])


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return "" if value is None else str(value)
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"
