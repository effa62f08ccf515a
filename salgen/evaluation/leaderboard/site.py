"""The leaderboard's folder: built in a temporary place, then moved to its own as a whole."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from salgen.datasets.format.output_folder import workplace
from salgen.errors import SalgenError
from salgen.evaluation.leaderboard.index import MARK, index_html
from salgen.evaluation.leaderboard.rows import COLUMNS, rows_of
from salgen.evaluation.report.page import render
from salgen.evaluation.report.runs import check_run_folders, read_runs
from salgen.evaluation.runs.artifacts.run_record import RECORD, RunRecord
from salgen.evaluation.statistics.summary import csv_text
from salgen.files import sync_folder, write_text
from salgen.progress import progress

INDEX, TABLE, PAGES = "index.html", "leaderboard.csv", "runs"
FOLDERS = (PAGES, "methods", "data")  # folders of pages; salgen-bench's board has the latter two
REMEDY = "choose another folder, or move what is there"
LONGEST = 80  # characters of a page's name


def leaderboard(runs: Sequence[Path | str], out: Path | str) -> Path:
    """Write a static site about runs, and return its first page; the same runs in any order give the same bytes."""
    check_run_folders(runs)
    datasets = {path: RunRecord.read(path / RECORD).dataset for path in map(Path, runs)}
    order = {
        path: (one.name, one.fingerprint, one.split, path.resolve().name, str(path.resolve()))
        for path, one in datasets.items()
    }
    ordered = sorted(order, key=order.__getitem__)
    names = [name for name, _ in {(one.name, one.fingerprint) for one in datasets.values()}]
    rows: list[SimpleNamespace] = []
    with site_folder(Path(out)) as site, progress("pages", len(ordered), "runs") as advance:
        (site / PAGES).mkdir()
        for path, page in zip(ordered, page_names([path.resolve().name for path in ordered]), strict=True):
            (run,) = read_runs([path])
            name, fingerprint = datasets[path].name, datasets[path].fingerprint
            rows += rows_of(run, f"{name} ({fingerprint[:8]})" if names.count(name) > 1 else name, page)
            write_text(site / PAGES / page, render([run], back=f"../{INDEX}"))
            advance()
        write_text(site / TABLE, csv_text(COLUMNS, map(vars, rows)))
        write_text(site / INDEX, index_html(rows, PAGES, TABLE))
    return Path(out) / INDEX


def page_names(folders: Sequence[str]) -> list[str]:
    """File names for the pages of run folders: plain characters, and distinct even without regard to case.

    >>> page_names(["a b", "a-b"])
    ['a-b.html', 'a-b-2.html']
    """
    taken: set[str] = set()
    names = []
    for folder in folders:
        stem = re.sub(r"[^A-Za-z0-9._=+-]+", "-", folder)[:LONGEST].strip("-.") or "run"
        name, count = stem, 1
        while name.lower() in taken:
            count += 1
            name = f"{stem}-{count}"
        taken.add(name.lower())
        names.append(f"{name}.html")
    return names


@contextmanager
def site_folder(out: Path) -> Iterator[Path]:
    """A folder in which a site is built; it takes the place of `out`, an earlier site, once it is complete."""
    site = out.resolve()
    _check_free(site, out)
    site.parent.mkdir(parents=True, exist_ok=True)
    with workplace(site) as place:
        (place / "site").mkdir()
        yield place / "site"
        if site.exists():
            site.rename(place / "replaced")
        (place / "site").rename(site)
        sync_folder(site.parent)


def _check_free(site: Path, out: Path) -> None:
    """Raise a SalgenError unless the folder is missing, empty, or a leaderboard with nothing added to it."""
    if not site.exists():
        return
    if not site.is_dir():
        raise SalgenError(f"{out} is a file: name a folder for the leaderboard")
    if site in (Path.cwd(), *Path.cwd().parents):
        raise SalgenError(f"{out} contains the working directory, and would be replaced: name another folder")
    contents = sorted(path.name for path in site.iterdir())
    index = site / INDEX
    if contents and not (index.is_file() and MARK in index.read_text(encoding="utf-8", errors="replace")):
        raise SalgenError(f"{out} is not empty and not a leaderboard: {REMEDY}")
    pages = [path for folder in FOLDERS for path in sorted((site / folder).glob("*"))]
    strange = [f"{path.parent.name}/{path.name}" for path in pages if path.suffix != ".html" or path.is_dir()]
    foreign = [name for name in contents if name not in (INDEX, TABLE, *FOLDERS)] + strange
    if foreign:
        raise SalgenError(f"{out} is a leaderboard but also holds {foreign[0]}, which would be lost: {REMEDY}")
