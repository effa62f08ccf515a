"""Names in a leaderboard: of each run's page, and of its data sets, which these tell apart."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from salgen.evaluation.report.runs import check_run_folders
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord, content_faults

LONGEST = 80
RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)


@dataclass(frozen=True)
class BoardEntry:
    """A run folder, the name of its page, and the name of its data set in the table."""

    path: Path
    page: str
    dataset: str


def entries(paths: Sequence[Path | str]) -> list[BoardEntry]:
    """The runs in the order of the table, whatever the order of `paths`."""
    check_run_folders(paths)
    records = {Path(path): _dataset(Path(path)) for path in paths}
    ordered = sorted(records, key=lambda path: (*records[path].values(), path.resolve().name, str(path.resolve())))
    pages = page_names([path.resolve().name for path in ordered])
    names = _dataset_names(list(records.values()))
    return [
        BoardEntry(path, page, names[records[path]["name"], records[path]["fingerprint"]])
        for path, page in zip(ordered, pages, strict=True)
    ]


def _dataset(path: Path) -> Mapping[str, str]:
    with content_faults([path]):
        dataset = RunRecord.read(path / RECORD).dataset
        return {"name": dataset.name, "fingerprint": dataset.fingerprint, "split": dataset.split}


def page_names(folders: Sequence[str]) -> list[str]:
    """File names for the pages of run folders: plain characters, and distinct even without regard to case.

    >>> page_names(["a b", "a-b", "nul"])
    ['a-b.html', 'a-b-2.html', 'run-nul.html']
    """
    taken: set[str] = set()
    names = []
    for folder in folders:
        stem = _plain(folder)
        name, count = stem, 1
        while name.lower() in taken:
            count += 1
            name = f"{stem}-{count}"
        taken.add(name.lower())
        names.append(f"{name}.html")
    return names


def _plain(folder: str) -> str:
    stem = re.sub(r"[^A-Za-z0-9._=+-]+", "-", folder)[:LONGEST].strip("-.") or "run"
    return f"run-{stem}" if RESERVED.match(stem) else stem


def _dataset_names(datasets: Sequence[Mapping[str, str]]) -> dict[tuple[str, str], str]:
    """(name, fingerprint) to the name, with the fingerprint where data sets of one name differ."""
    distinct = sorted({(dataset["name"], dataset["fingerprint"]) for dataset in datasets})
    names = [name for name, _ in distinct]
    return {
        (name, fingerprint): f"{name} ({fingerprint[:8]})" if names.count(name) > 1 else name
        for name, fingerprint in distinct
    }
