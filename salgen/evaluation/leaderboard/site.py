"""The leaderboard's folder: built in a temporary place, then moved to its own as a whole."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from salgen.datasets.format.output_folder import workplace
from salgen.errors import SalgenError
from salgen.evaluation.leaderboard.index import MARK, index_html
from salgen.evaluation.leaderboard.naming import BoardEntry, entries
from salgen.evaluation.leaderboard.rows import COLUMNS, BoardRow, rows_of
from salgen.evaluation.report.page import render
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.runs.artifacts.run_record import content_faults
from salgen.evaluation.statistics.summary import csv_text
from salgen.files import sync_folder, write_text
from salgen.progress import progress

INDEX, TABLE, PAGES = "index.html", "leaderboard.csv", "runs"
FOLDERS = (PAGES, "methods", "data")  # folders of pages; salgen-bench's board has the latter two
REMEDY = "choose another folder, or move what is there"


def leaderboard(runs: Sequence[Path | str], out: Path | str) -> Path:
    """Write a static site about runs, and return its first page.

    The folder holds ``index.html``, the table of all means; the same rows as ``leaderboard.csv``; and the report of
    each run under ``runs``. The same runs give the same bytes. An existing leaderboard is replaced once
    the new one is complete.

    Parameters
    ----------
    runs
        Run folders, in any order.
    out
        The folder to write.
    """
    named_runs = entries(runs)
    with site_folder(Path(out)) as site:
        _build(named_runs, site)
    return Path(out) / INDEX


@contextmanager
def site_folder(out: Path) -> Iterator[Path]:
    """A folder in which a site is built; it takes the place of `out`, an earlier site, once it is complete."""
    site = out.resolve()
    _check_free(site, out)
    try:
        site.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SalgenError(f"cannot write {out}: {error.strerror}") from None
    with workplace(site) as place:
        (place / "site").mkdir()
        yield place / "site"
        if site.exists():
            site.rename(place / "replaced")
        (place / "site").rename(site)
        sync_folder(site.parent)


def _build(named_runs: Sequence[BoardEntry], folder: Path) -> None:
    (folder / PAGES).mkdir()
    rows: list[BoardRow] = []
    with progress("pages", len(named_runs), "runs") as advance:
        for entry in named_runs:
            rows += _write_page(entry, folder / PAGES)
            advance()
    write_text(folder / TABLE, csv_text(COLUMNS, rows))
    write_text(folder / INDEX, index_html(rows, PAGES, TABLE))


def _write_page(entry: BoardEntry, folder: Path) -> list[BoardRow]:
    """Write the report of one run, and return its rows."""
    with content_faults([entry.path]):
        (run,) = read_runs([entry.path])
        html = render([run], back=f"../{INDEX}")
        rows = rows_of(run, entry.dataset, entry.page)
    write_text(folder / entry.page, html.strip() + "\n")
    return rows


def _check_free(site: Path, out: Path) -> None:
    """Raise a SalgenError unless the folder is missing, empty, or a leaderboard with nothing added to it."""
    if not site.exists():
        return
    if not site.is_dir():
        raise SalgenError(f"{out} is a file: name a folder for the leaderboard")
    if site in (Path.cwd(), *Path.cwd().parents):
        raise SalgenError(f"{out} contains the working directory, and would be replaced: name another folder")
    contents = sorted(path.name for path in site.iterdir())
    if contents and not _is_leaderboard(site):
        raise SalgenError(f"{out} is not empty and not a leaderboard: {REMEDY}")
    pages = [path for folder in FOLDERS for path in sorted((site / folder).glob("*"))]
    strange = [f"{path.parent.name}/{path.name}" for path in pages if path.suffix != ".html" or path.is_dir()]
    foreign = [name for name in contents if name not in (INDEX, TABLE, *FOLDERS)] + strange
    if foreign:
        raise SalgenError(f"{out} is a leaderboard but also holds {foreign[0]}, which would be lost: {REMEDY}")


def _is_leaderboard(site: Path) -> bool:
    index = site / INDEX
    if not index.is_file():
        return False
    with open(index, encoding="utf-8", errors="replace") as handle:
        return MARK in handle.read(1000)
