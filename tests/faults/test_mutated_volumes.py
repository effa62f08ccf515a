"""Damaged brain volumes, given as the source of a data set."""

import gzip
from collections.abc import Callable
from pathlib import Path
from random import Random
import nibabel
import numpy as np
import pytest
from mutations import either, mutated_bytes, mutated_text
from trials import Box, Calls, Change, command, damage
import salgen

TINY = {"image_size": (16, 16), "diameter": 3, "lesions": 1, "slices": 6}
HEAD = 352  # bytes before the first voxel
TABLE = "path,split\na.nii,train\nb.nii.gz,val\nc.nii.gz,test\n"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three small heads, and a table of their splits."""
    folder = tmp_path_factory.mktemp("original") / "brains"
    folder.mkdir()
    for seed, name in enumerate(("a.nii", "b.nii.gz", "c.nii.gz")):
        nibabel.save(nibabel.Nifti1Image(head(seed), np.diag([5.0, 5.0, 5.0, 1.0])), folder / name)
    (folder / "participants.csv").write_text(TABLE)
    return folder


def head(seed: int) -> np.ndarray:
    """An ellipsoid of random grey levels, int16 (27, 37, 25)."""
    places = (np.indices((27, 37, 25)).T - (13, 18, 12)).T / np.array([13, 18, 12])[:, None, None, None]
    levels = np.random.default_rng(seed).integers(400, 900, places.shape[1:])
    return np.where((places**2).sum(axis=0) < 0.9, levels, 0).astype(np.int16)


def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
    """Draw a sample from the file and from the folder, and make a data set of it."""
    calls: dict[str, Callable[[], object]] = {"folder": lambda: draw(box.inside)}
    if path.suffix != ".csv":
        calls["file"] = lambda: draw(path)
    if rng.random() < 0.05:
        words = [f"--set={key}={','.join(map(str, np.atleast_1d(value)))}" for key, value in TINY.items()]
        sizes = ("--train", "2", "--val", "1", "--test", "1", "--workers", "1", f"--set=source={box.inside}")
        calls["salgen make"] = lambda: command("make", "mri-lesions", str(box.out / "made"), *sizes, *words)
    # a whole table may name other splits, of which a fault speaks without naming the table
    return "" if path.suffix == ".csv" else path.name, calls


def draw(source: Path) -> None:
    salgen.generator("mri-lesions", source=str(source), **TINY).sample(0, "train", 0)


def other_head(data: bytes, rng: Random) -> bytes:
    """Most bytes are voxels, of which any is a voxel: of packed ones or not, other bytes before them."""
    packed = data.startswith(b"\x1f\x8b")
    plain = gzip.decompress(data) if packed else data
    changed = mutated_bytes(plain[:HEAD], rng) + plain[HEAD:]
    return gzip.compress(changed, compresslevel=1) if packed else changed


def other_text(data: bytes, rng: Random) -> bytes:
    return mutated_text(data.decode(), rng).encode("utf-8", "surrogatepass")


@pytest.mark.parametrize(
    ("kind", "large", "files", "change"),
    [
        ("NIfTI volumes .nii", 700, "a.nii", either(other_head, other_head, mutated_bytes)),
        ("NIfTI volumes .nii.gz", 500, "b.nii.gz", either(other_head, mutated_bytes)),
        ("participants.csv", 200, "participants.csv", either(other_text, mutated_bytes)),
    ],
)
def test_damaged(request: pytest.FixtureRequest, box: Box, kind: str, large: int, files: str, change: Change) -> None:
    damage(request, box, kind, large, files, change, look)
