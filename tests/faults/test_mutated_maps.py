"""Damaged maps that a run kept: read, scored again under other metrics, and verified."""

import io
from dataclasses import replace
from pathlib import Path
from random import Random
import numpy as np
import pyarrow.parquet as pq
import pytest
from mutations import either, mutated_bytes, mutated_json, mutated_table
from test_mutated_checkpoints import LEARNT
from trials import Box, BrokenError, Calls, damage
import salgen
from salgen.evaluation.runs.artifacts.saved_maps import SavedMaps, key_of, read_maps, write_maps
from salgen.evaluation.runs.rescoring import rescore
from salgen.evaluation.training.checkpoints import build_classifier, save_checkpoint

IDS = [f"test-{index:06d}" for index in range(4)]
TINY = {"image_size": [16, 16], "diameter": 3, "lesions": 1, "slices": 12}


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


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of a network that learnt nothing, on four images, with its maps."""
    place = tmp_path_factory.mktemp("original")
    splits = {"train": 2, "test": 4}
    data = salgen.make("perlin-lesions", place / "tiny", splits=splits, parameters=TINY, workers=1)
    task, classes = next(iter(salgen.load(data).tasks.items()))
    card = replace(LEARNT, task=task, class_names=list(classes))
    save_checkpoint(place / "network", build_classifier(card).state_dict(), card)
    network, out = str(place / "network"), place / "run"
    return salgen.evaluate(data, model=network, methods=["gradient"], metrics=["roc-auc"], out=out, keep_maps=True).path


def other_file(data: bytes, rng: Random) -> bytes:
    if data.startswith(b"{"):
        return mutated_json(data, rng)
    maps = data.startswith(b"PAR1") and b"salgen" in (pq.read_schema(io.BytesIO(data)).metadata or {})
    return either(mutated_bytes, *([mutated_table] if maps else []))(data, rng)


@pytest.mark.torture
def test_damaged_runs_are_scored_again(request: pytest.FixtureRequest, evaluated: Path) -> None:
    box = Box(evaluated)

    def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
        return box.inside.name, {
            "rescore": lambda: rescore(box.inside, metrics=["m-gt"], out=box.out / "again"),
            "verify": lambda: salgen.verify(box.inside, samples=2),
        }

    damage(request, box, "runs scored again", 100, "**/*.parquet **/*.json **/*.safetensors", other_file, look)
    box.remove()
