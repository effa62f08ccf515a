"""Damaged brain volumes, given as the source of a data set."""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
import nibabel
import numpy as np
import pytest
from mutations import mutated_bytes, mutated_text
from trials import Box, command, run
import salgen

TINY = {"image_size": (16, 16), "diameter": 3, "lesions": 1, "slices": 6}
HEAD = 352  # bytes before the first voxel
TABLE = "path,split\na.nii,train\nb.nii.gz,val\nc.nii.gz,test\n"


@pytest.fixture(scope="module")
def brains(tmp_path_factory: pytest.TempPathFactory) -> Path:
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


@pytest.fixture
def box(brains: Path) -> Iterator[Box]:
    made = Box(brains)
    yield made
    made.remove()


def tried(box: Box, name: str, data: bytes, rng: Random) -> str:
    """Put other bytes into one file, draw a sample from it and from the folder, and make a data set of it."""
    path = box.inside / name
    path.write_bytes(data)
    calls: dict[str, Callable[[], object]] = {"folder": lambda: draw(box.inside)}
    if path.suffix != ".csv":
        calls["file"] = lambda: draw(path)
    if rng.random() < 0.05:
        words = [f"--set={key}={','.join(map(str, np.atleast_1d(value)))}" for key, value in TINY.items()]
        sizes = ("--train", "2", "--val", "1", "--test", "1", "--workers", "1", f"--set=source={box.inside}")
        calls["salgen make"] = lambda: command("make", "mri-lesions", str(box.out / "made"), *sizes, *words)
    # a whole table may name other splits, of which a fault speaks without naming the table
    return box.attempt("" if path.suffix == ".csv" else name, calls)


def draw(source: Path) -> None:
    salgen.generator("mri-lesions", source=str(source), **TINY).sample(0, "train", 0)


def test_mutated_volumes(request: pytest.FixtureRequest, box: Box) -> None:
    def trial(rng: Random) -> str:
        box.fresh()
        data = (box.inside / "a.nii").read_bytes()
        if rng.random() < 0.7:  # most bytes are voxels, of which any is a voxel
            return tried(box, "a.nii", mutated_bytes(data[:HEAD], rng) + data[HEAD:], rng)
        return tried(box, "a.nii", mutated_bytes(data, rng), rng)

    run(request, "NIfTI volumes .nii", 700, trial)


def test_mutated_packed_volumes(request: pytest.FixtureRequest, box: Box) -> None:
    def trial(rng: Random) -> str:
        box.fresh()
        data = (box.inside / "b.nii.gz").read_bytes()
        if rng.random() < 0.5:
            return tried(box, "b.nii.gz", mutated_bytes(data, rng), rng)
        plain = gzip.decompress(data)
        return tried(
            box, "b.nii.gz", gzip.compress(mutated_bytes(plain[:HEAD], rng) + plain[HEAD:], compresslevel=1), rng
        )

    run(request, "NIfTI volumes .nii.gz", 500, trial)


def test_mutated_participants(request: pytest.FixtureRequest, box: Box) -> None:
    def trial(rng: Random) -> str:
        box.fresh()
        if rng.random() < 0.5:
            data = mutated_bytes(TABLE.encode(), rng)
        else:
            data = mutated_text(TABLE, rng).encode("utf-8", "surrogatepass")
        return tried(box, "participants.csv", data, rng)

    run(request, "participants.csv", 200, trial)


def test_the_original_is_sound(brains: Path) -> None:
    """Or nothing that is refused here would mean anything."""
    draw(brains)
    draw(brains / "a.nii")
