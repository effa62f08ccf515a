"""Rows of a data set that somebody changed, with checksums that fit."""

import re
import pyarrow as pa
import pyarrow.parquet as pq
from salgen.datasets.format import png
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.format.schema import pixels_digest
from salgen.files import sha256_of

SHARD = "data/train-00001-of-00003.parquet"


def forge(folder, change, shard=SHARD):
    """Rewrite a shard's rows, a dict each, and make the checksums fit."""
    table, path = pq.read_table(folder / shard), folder / shard
    rows = table.to_pylist()
    change(rows)
    forged = pa.Table.from_pylist(rows, table.schema)
    pq.write_table(forged, path, row_group_size=read_manifest(folder).rows_per_group)
    sums = (folder / "SHA256SUMS").read_text()
    (folder / "SHA256SUMS").write_text(re.sub(f"[0-9a-f]{{64}}  {shard}", f"{sha256_of(path)}  {shard}", sums))


def brighten(rows):
    image = png.decode(rows[0]["image"]["bytes"]).copy()
    image[0, 0] ^= 1
    rows[0]["image"]["bytes"] = png.encode(image)


def brighten_and_sign(rows):
    brighten(rows)
    rows[0]["pixels_sha256"] = pixels_digest(png.decode(rows[0]["image"]["bytes"]))
