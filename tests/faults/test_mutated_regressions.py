"""What mutated inputs once broke, each as one small case."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any
import nibabel
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from test_mutated_checkpoints import LEARNT
from trials import command
import salgen
from salgen.errors import LONGEST_MESSAGE, SalgenError, reason
from salgen.evaluation.runs.artifacts.certificate_table import read_certificates
from salgen.evaluation.runs.artifacts.run_record import RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import key_of, read_maps
from salgen.evaluation.scoring.metric_selection import create_metric
from salgen.evaluation.training.checkpoints import CARD, read_card
from salgen.generators.lesions.nifti import load_volume
from salgen.parameters import build
from salgen.registry import METRICS

TINY = {"image_size": [16, 16], "diameter": 3, "lesions": 1, "slices": 12}
DEEP = "[" * 20_000 + "]" * 20_000
SHARD = "data/test-00000-of-00001.parquet"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "tiny"
    return salgen.make("perlin-lesions", out, splits={"train": 1, "test": 2}, parameters=TINY, workers=1)


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "tiny"))


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(SalgenError) as caught:
        call()
    return str(caught.value)


def test_a_message_is_one_line_of_bounded_length() -> None:
    message = str(SalgenError("a\nb\r\0\ud800" + "x" * 5000 + " and what to do"))
    assert message.startswith("a b   x")
    assert message.endswith("x and what to do")
    assert message.isprintable()
    assert len(message) <= LONGEST_MESSAGE + 5
    assert reason(ValueError("  a\n  b")) == "a b"
    assert reason(MemoryError()) == "MemoryError"


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.rstrip("\n"),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("  ", " *", 1),
        lambda text: text + text.splitlines(keepends=True)[0],
        lambda text: "".join(reversed(text.splitlines(keepends=True))),
    ],
    ids=["no last line end", "other line ends", "marks of binary", "a line twice", "another order"],
)
def test_every_byte_of_the_checksums_counts(folder: Path, change: Callable[[str], str]) -> None:
    """Nothing else has a checksum of this file."""
    path = folder / "SHA256SUMS"
    path.write_bytes(change(path.read_text()).encode())
    assert salgen.verify(folder, samples=0)


def rewrite(path: Path, name: str, cells: list[Any]) -> None:
    table = pq.read_table(path)
    place = table.column_names.index(name)
    column = pa.array(cells, table.schema.field(name).type)
    pq.write_table(table.set_column(place, table.schema.field(name), column), path)


def test_names_that_are_no_text_are_refused(folder: Path) -> None:
    path = folder / SHARD
    path.write_bytes(path.read_bytes().replace(b"recipe", b"rec\xffpe"))
    assert str(path) in refusal(lambda: salgen.load(folder)[0])


@pytest.mark.parametrize("changes", [{"class_names": [1, 2]}, {"image_size": [True, 16]}])
def test_a_card_speaks_of_images_that_can_be(tmp_path: Path, changes: dict[str, Any]) -> None:
    (tmp_path / CARD).write_text(json.dumps({**asdict(LEARNT), **changes}))
    assert CARD in refusal(lambda: read_card(tmp_path))


@pytest.mark.parametrize("read", [lambda path: read_card(path.parent), RunRecord.read])
def test_json_that_is_nested_deep_is_refused(tmp_path: Path, read: Callable[[Path], object]) -> None:
    path = tmp_path / CARD
    path.write_text(DEEP)
    assert CARD in refusal(lambda: read(path))


@pytest.mark.parametrize(
    "setting",
    [
        {"splits": [["train", 2]]},
        {"splits": {"train": "2"}},
        {"parameters": 3},
        {"scale": 1.5},
        {"seed": [0]},
        {"workers": {}},
        {"twins": "no"},
        {"source": 1},
        {"parameters": {"image_size": [64, 2**33]}},
        DEEP,
    ],
    ids=lambda setting: str(setting)[:40],
)
def test_a_config_of_another_kind_is_refused(tmp_path: Path, setting: Any) -> None:
    config = tmp_path / "config.json"
    config.write_text(setting if setting is DEEP else json.dumps(setting))
    refusal(lambda: command("make", "drawn-figures", str(tmp_path / "out"), "--config", str(config)))
    assert not (tmp_path / "out").exists()


def test_damaged_maps_and_certificates_are_named(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    table = pa.table({"sample_id": ["a"]})
    for record in ({"native_resolution": [float("inf"), 1], "key": 1}, DEEP):
        text = record if isinstance(record, str) else json.dumps(record)
        pq.write_table(table.replace_schema_metadata({"salgen": text}), path)
        assert str(path) in refusal(lambda: read_maps(path))
    path.write_bytes(b"PAR1")
    assert key_of(path) is None
    assert str(path) in refusal(lambda: read_certificates(path))


def test_a_whole_number_that_no_float_holds_is_refused() -> None:
    assert "is not of type int" in refusal(lambda: create_metric("insertion-auc:step=" + "9" * 400))
    assert "is not of type float" in refusal(lambda: build(METRICS.load("iou"), {"threshold": 10**400}))


def test_nothing_is_logged_of_a_head_that_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A code that no orientation has is one of the faults of which nibabel speaks."""
    data = bytearray(nibabel.Nifti1Image(np.pad(np.ones((6, 6, 6), np.int16), 1), np.eye(4)).to_bytes())
    data[252:254] = (512).to_bytes(2, "little")
    (tmp_path / "a.nii").write_bytes(data)
    load_volume(tmp_path / "a.nii")
    assert caplog.messages == []
