"""Damaged archives: opened, unpacked and verified."""

from collections.abc import Callable
from pathlib import Path
from random import Random
import pytest
from mutations import mutated_bytes
from trials import Box, BrokenError, Calls, Change, command, damage, verified
import salgen
from salgen.errors import SalgenError

TINY = ("image_size=16,16", "diameter=3", "lesions=1", "slices=12")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one data set as an archive of each form."""
    place = tmp_path_factory.mktemp("original")
    made, folder = place / "tiny", place / "shipped"
    folder.mkdir()
    words = [f"--set={pair}" for pair in TINY]
    command("make", "perlin-lesions", str(made), "--train=2", "--val=1", "--test=2", "--workers=1", *words)
    for form in (".tar", ".tar.gz", ".zip"):
        command("publish", str(made), str(folder / f"tiny{form}"), "--license", "CC0-1.0", "--date", "2026-11-22")
    return folder


def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
    """Open, unpack and verify an archive, of which it or the file of its digest was altered."""
    archive = path.with_name(path.name.removesuffix(".sha256"))
    target = box.out / "unpacked"
    calls: dict[str, Callable[[], object]] = {
        "verify": lambda: verified(archive, altered, 1),
        "unpack": lambda: unpacked(archive, target),
        "open": lambda: salgen.load(archive)[0],
    }
    if rng.random() < 0.05:
        calls["salgen verify"] = lambda: command("verify", str(archive), "--samples", "1")
        calls["salgen unpack"] = lambda: command("unpack", str(archive), str(box.out / "by-command"))
    return archive.name, calls


def unpacked(archive: Path, target: Path) -> None:
    """Unpack: all of it or nothing."""
    try:
        salgen.unpack(archive, target)
    except SalgenError:
        left = [path.name for path in target.parent.iterdir()]
        if left:
            raise BrokenError(f"refused, but left {left}") from None
        raise
    if salgen.verify(target, samples=0):
        raise BrokenError("what was unpacked is not sound")


@pytest.mark.parametrize(
    ("kind", "large", "files", "change"),
    [
        ("archives .tar", 500, "tiny.tar", mutated_bytes),
        ("archives .tar.gz", 400, "tiny.tar.gz", mutated_bytes),
        ("archives .zip", 500, "tiny.zip", mutated_bytes),
        ("digests of archives", 200, "*.sha256", mutated_bytes),
    ],
)
def test_damaged(request: pytest.FixtureRequest, box: Box, kind: str, large: int, files: str, change: Change) -> None:
    damage(request, box, kind, large, files, change, look)
