"""Rows of a data set that somebody changed, with checksums that fit."""

import pyarrow as pa
import pyarrow.parquet as pq

from salgen.datasets.format import png
from salgen.datasets.format.checksums import write_checksums
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.format.schema import pixels_digest

SHARD = "data/train-00001-of-00003.parquet"


def forge(folder, change):
    """Rewrite a shard's rows and make the checksums fit."""
    table = pq.read_table(folder / SHARD)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(pa.Table.from_pylist(rows, table.schema), folder / SHARD, row_group_size=2)
    write_checksums(folder, read_manifest(folder))


def brighten(rows):
    image = png.decode(rows[0]["image"]["bytes"]).copy()
    image[0, 0] ^= 1
    rows[0]["image"]["bytes"] = png.encode(image)


def brighten_and_sign(rows):
    brighten(rows)
    rows[0]["pixels_sha256"] = pixels_digest(png.decode(rows[0]["image"]["bytes"]))
