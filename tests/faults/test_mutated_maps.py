"""Damaged maps that a run kept."""

from pathlib import Path
from random import Random
import numpy as np
import pytest
from mutations import either, mutated_bytes, mutated_table
from trials import Box, BrokenError, Calls, damage
from salgen.evaluation.runs.artifacts.saved_maps import SavedMaps, key_of, read_maps, write_maps

IDS = [f"test-{index:06d}" for index in range(4)]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with one file of maps."""
    folder = tmp_path_factory.mktemp("original") / "maps"
    folder.mkdir()
    values = np.random.default_rng(0).normal(size=(4, 16, 16)).astype(np.float32)
    flags, targets = np.ones(4, dtype=bool), np.zeros(4, dtype=np.int64)
    write_maps(folder / "a.parquet", SavedMaps(IDS, targets, flags, flags, values, "sum", (16, 16), 0.5), "f" * 64)
    return folder


def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
    calls = {"all": lambda: checked(read_maps(path)), "some": lambda: checked(read_maps(path, IDS[1:3]))}
    return path.name, {**calls, "key": lambda: key_of(path) and None}


def test_damaged(request: pytest.FixtureRequest, box: Box) -> None:
    damage(request, box, "kept maps", 600, "a.parquet", either(mutated_bytes, mutated_table), look)


def checked(kept: SavedMaps) -> None:
    """What is read must be what a run can go on with."""
    count, _, _ = kept.values.shape
    lengths = {len(kept.ids), len(kept.targets), len(kept.correct), len(kept.there), count}
    if kept.values.dtype != np.float32 or len(lengths) != 1:
        raise BrokenError(f"maps of {kept.values.dtype}, {sorted(lengths)}")
