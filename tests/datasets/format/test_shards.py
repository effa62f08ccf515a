"""A shard depends on nothing but generator, spec, split and number."""

import pyarrow.parquet as pq
import pytest
from made_datasets import made
from salgen.datasets.format.manifest import describe, read_manifest
from salgen.datasets.format.shards import Shard, shards_of, write_shard
from salgen.errors import SalgenError
from salgen.generators.factory import generator


@pytest.fixture
def squares():
    return generator("squares")


def test_shards_cover_each_split_once(squares):
    manifest = describe(squares, squares.spec({"train": 12, "val": 5, "test": 1}, 0))
    assert [(shard.path, shard.start, shard.stop) for shard in shards_of(manifest)] == [
        ("data/train-00000-of-00003.parquet", 0, 5),
        ("data/train-00001-of-00003.parquet", 5, 10),
        ("data/train-00002-of-00003.parquet", 10, 12),
        ("data/val-00000-of-00001.parquet", 0, 5),
        ("data/test-00000-of-00001.parquet", 0, 1),
    ]


def test_any_order_and_repetition_gives_the_same_bytes(squares, tmp_path):
    manifest = describe(squares, squares.spec({"train": 12}, 0))
    written = []
    for turn, order in enumerate([(0, 1, 2), (2, 0, 1), (1, 1, 2, 0)]):
        folder = tmp_path / str(turn)
        (folder / "data").mkdir(parents=True)
        for number in order:
            write_shard(squares, manifest, folder, shards_of(manifest)[number])
        written.append([(folder / shard.path).read_bytes() for shard in shards_of(manifest)])
    assert written[0] == written[1] == written[2]


def test_a_longer_split_begins_with_the_shards_of_a_shorter_one(squares, tmp_path):
    short, long = (made(tmp_path / str(n), splits={"train": n}) for n in (10, 20))
    for number in range(2):
        first, second = (
            pq.read_table(folder / shards_of(read_manifest(folder), "train")[number].path) for folder in (short, long)
        )
        assert first.equals(second)


def test_rows_are_grouped_and_hold_page_checksums_but_no_image_statistics(folder):
    file = pq.ParquetFile(folder / "data/train-00000-of-00003.parquet")
    assert [file.metadata.row_group(k).num_rows for k in range(file.num_row_groups)] == [2, 2, 1]
    columns = [file.metadata.row_group(0).column(k) for k in range(file.metadata.num_columns)]
    with_statistics = {column.path_in_schema for column in columns if column.is_stats_set}
    assert with_statistics == {"id", "label", "corner", "factors.row", "factors.column"}
    assert {column.compression for column in columns} == {"UNCOMPRESSED"}
    assert not file.schema_arrow.pandas_metadata


def test_twins_can_be_left_out(tmp_path):
    folder = made(tmp_path / "squares", twins=False)
    table = pq.read_table(folder / "data")
    assert table["twin"].null_count == len(table) == 22


def test_a_sample_that_fails_leaves_no_file(tmp_path):
    squares = generator("squares", fail_at=4)
    manifest = describe(squares, squares.spec({"train": 12}, 0))
    (tmp_path / "data").mkdir()
    with pytest.raises(SalgenError, match="no place for the square in sample 4"):
        write_shard(squares, manifest, tmp_path, Shard("train", 0, 3, 0, 5))
    assert list((tmp_path / "data").iterdir()) == []
