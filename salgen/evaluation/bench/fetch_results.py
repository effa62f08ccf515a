"""Published results of salgen-bench, with their frozen checkpoints, from an address or a folder."""

import shutil
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import urlretrieve
from salgen.datasets.archives.archive_formats import USUAL
from salgen.datasets.archives.unpacking import extract, named
from salgen.datasets.format.output_folder import workplace
from salgen.errors import SalgenError, reason
from salgen.evaluation.bench.published import SPEC, read_rows, read_summary
from salgen.evaluation.bench.verify_results import weight_problems
from salgen.evaluation.bench.versions import BenchSpec
from salgen.evaluation.bench.worlds import WORLDS


def fetch(spec: BenchSpec, source: str, out: Path) -> list[Path]:
    """Copy the outermost published results, worlds among them, of a folder or archive into a new folder."""
    if out.exists():
        raise SalgenError(f"{out} is there already: name a new folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with workplace(out) as place:
        folder = _folder(source, place)
        holders = {path.parents[1] for path in folder.rglob(SPEC)}
        if not holders:
            raise SalgenError(f"{source} holds no results of salgen-bench")
        outermost = min(holders, key=lambda holder: (len(holder.parts), holder))
        found = sorted(path.parent for path in outermost.glob(f"*/{SPEC}"))
        for results in found:
            read_rows(spec, results)
            read_summary(results)
        mains = [results for results in found if results.name in {entry.name for entry in spec.entries}]
        problems = [problem for results in mains for problem in weight_problems(spec, results)]
        if problems:
            raise SalgenError(f"{source}: {'; '.join(problems)}")
        for path in found:
            shutil.copytree(path, place / "results" / path.name)
        if (outermost / WORLDS).is_dir():
            shutil.copytree(outermost / WORLDS, place / "results" / WORLDS)
        (place / "results").rename(out)
    return [out / results.name for results in found]


def _folder(source: str, place: Path) -> Path:
    """The source as a folder, in `place` if it has to be fetched or unpacked."""
    path = Path(source)
    if path.is_dir():
        return path
    if source.startswith(("http://", "https://", "file://")):
        try:
            path = place / Path(urlparse(source).path).name
            urlretrieve(source, path)
        except (OSError, ValueError, HTTPException) as error:
            raise SalgenError(f"{source} cannot be fetched: {reason(error)}") from None
    if not path.is_file():
        raise SalgenError(f"{source} is no folder, file or address")
    with named(path):
        extract(path, place / "unpacked", USUAL, durable=False)
    return place / "unpacked"
