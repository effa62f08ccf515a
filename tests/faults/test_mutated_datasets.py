"""Damaged data set folders: checksums, cards and shards."""

from collections.abc import Callable
from pathlib import Path
from random import Random
import pytest
from mutations import mutated_bytes
from trials import Box, Calls, Change, command, damage, verified
import salgen

TINY = {"image_size": [16, 16], "diameter": 3, "lesions": 1, "slices": 12}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete data set: 3 train and 3 test samples of 16 x 16 pixels."""
    out = tmp_path_factory.mktemp("original") / "tiny"
    return salgen.make("perlin-lesions", out, splits={"train": 3, "test": 3}, parameters=TINY, workers=1)


def read_all(folder: Path) -> None:
    """All that a user can look at in a data set."""
    for split in ("train", "test"):
        samples = salgen.load(folder, split)
        samples[0], samples[-1]
        for batch in samples.batches(2):
            batch.images, batch.regions["lesions"], batch.acceptable, batch.twins, batch.recipes
        samples.images(), samples.column("id"), samples.column("recipe"), samples.present("lesions")


def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
    """Read, verify and show the data set."""
    calls: dict[str, Callable[[], object]] = {
        "open": lambda: read_all(box.inside),
        "verify": lambda: verified(box.inside, altered, 2),
    }
    if rng.random() < 0.1:
        calls["salgen verify"] = lambda: command("verify", str(box.inside), "--samples", "1")
        calls["salgen show"] = lambda: command("show", str(box.inside), "--out", str(box.out / "sheet.png"))
    return str(box.inside), calls


@pytest.mark.parametrize(
    ("kind", "large", "files", "change"),
    [
        ("SHA256SUMS", 300, "SHA256SUMS", mutated_bytes),
        ("README, croissant.json", 200, "README.md croissant.json", mutated_bytes),
        ("Parquet bytes", 1500, "data/*", mutated_bytes),
    ],
)
def test_damaged(request: pytest.FixtureRequest, box: Box, kind: str, large: int, files: str, change: Change) -> None:
    damage(request, box, kind, large, files, change, look)
