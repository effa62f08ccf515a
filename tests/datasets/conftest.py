import os
from pathlib import Path
import pytest
from made_datasets import made
from tiles import write_tiles
from salgen.registry import GENERATORS, IMPORTERS, Entry

os.environ["HF_DATASETS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register the tests' generator and importer, as an entry point of a third party would."""
    entry = Entry("squares", "squares", "A bright square on coloured noise.")
    monkeypatch.setitem(vars(GENERATORS), "entries", {**GENERATORS.entries, "squares": entry})
    tiles = Entry("tiles", "tiles", "Coloured tiles.")
    monkeypatch.setitem(vars(IMPORTERS), "entries", {**IMPORTERS.entries, "tiles": tiles})


@pytest.fixture(autouse=True)
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five samples per shard, so that tiny data sets have several."""
    monkeypatch.setattr("salgen.datasets.format.manifest.SAMPLES_PER_SHARD", 5)
    monkeypatch.setattr("salgen.datasets.format.manifest.ROWS_PER_GROUP", 2)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A complete data set: 12 train, 4 val and 6 test samples."""
    return made(tmp_path / "squares")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A user's own copy of tiles, whose pixels may not be passed on."""
    return write_tiles(tmp_path / "copy", {"train": 7, "val": 2, "test": 3})


@pytest.fixture
def tiles(copy: Path, tmp_path: Path) -> Path:
    """The data set of that copy."""
    from salgen.datasets.making import make

    return make("tiles", tmp_path / "tiles", source=str(copy), workers=1)
