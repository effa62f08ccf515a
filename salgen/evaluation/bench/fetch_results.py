"""Published results of salgen-bench, with the weights that are kept, from an address or a folder."""

import shutil
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import urlretrieve
from salgen.datasets.archives.unpacking import extract, named
from salgen.datasets.format.output_folder import workplace
from salgen.errors import SalgenError, reason
from salgen.evaluation.bench.judge_metrics import JUDGES
from salgen.evaluation.bench.standing import COSTS
from salgen.evaluation.bench.worlds import WORK, WORLDS, WorldSpec, read_worlds


def fetch(spec: WorldSpec, source: str, out: Path) -> list[Path]:
    """Copy the outermost published results of a folder or archive into a new folder."""
    if out.exists():
        raise SalgenError(f"{out} is there already: name a new folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    with workplace(out) as place:
        folder = _folder(source, place)
        holders = [path for path in folder.rglob(WORLDS) if path.is_dir()]
        if not holders:
            raise SalgenError(f"{source} holds no results of salgen-bench")
        outermost = min(holders, key=lambda holder: (len(holder.parts), holder))
        found = [world.folder.name for world in read_worlds(spec, outermost)]
        shutil.copytree(outermost, place / "results" / WORLDS, ignore=shutil.ignore_patterns(WORK))
        for name in (COSTS, JUDGES):
            if (outermost.parent / name).is_file():
                shutil.copyfile(outermost.parent / name, place / "results" / name)
        (place / "results").rename(out)
    return [out / WORLDS / name for name in found]


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
        extract(path, place / "unpacked")
    return place / "unpacked"
