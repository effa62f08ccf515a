"""What `fuzzed.py` fuzzes: salgen's own readers, each with sound inputs that salgen wrote and what must hold."""

import json
import ntpath
import struct
import tarfile
import tempfile
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import nibabel
import numpy as np
from mutations import mutated_bytes, mutated_json
from trials import BrokenError

import salgen
from salgen.datasets.archives.archive_formats import USUAL, members
from salgen.datasets.archives.writing import pack
from salgen.datasets.format import png
from salgen.datasets.format.checksums import FILE, read_checksums
from salgen.datasets.format.manifest import Manifest, describe
from salgen.datasets.metadata.publication_metadata import stated
from salgen.errors import SalgenError
from salgen.evaluation.scoring.metric_selection import choose_metrics
from salgen.generators.lesions.nifti import load_volume
from salgen.parameters import call_text, parse_call, parse_pairs
from salgen.registry import METHODS
from salgen.spec import DatasetSpec

SPEC = DatasetSpec("perlin-lesions", "1", {"lesions": 2, "angles": [0.5, 1]}, {"train": 3}, 0, (16, 16), 8, "", "")
FILES: dict[str, Path | bytes] = {"SHA256SUMS": b"a" * 64, "data/train.parquet": b"PAR1" * 9, "salgen.json": b"{}"}
METHOD_CALLS = ("lrp-alpha-beta:alpha=1,beta=0", "occlusion:window=15,15,stride=8", "rise:n=10,grid=7", "grad-cam")
METRIC_CALLS = ("iou:threshold=0.3|0.5", "prec99:compat=authors_exact", "roc-auc", "insertion-auc:step=10", "all")
NAMES_GIVEN = "tiny/salgen.json\ntiny/data/train-00000-of-00001.parquet\ntiny/SHA256SUMS\ntiny/data/"
STATED = (
    "CC0-1.0\n2025-03-31\n\nAda Lovelace",
    "LicenseRef-own\n2024-02-29\nhttps://example.org/data?v=1#top",
    "https://example.org/licence\n2025-12-01\nhttp://example.org:8080\nA\nB",
)
HEAD = 352  # bytes before the first voxel


@dataclass(frozen=True)
class Reader:
    """One reader: sound inputs, how it is called with an input, and how an input is damaged."""

    sound: Callable[[], list[bytes]]
    read: Callable[[bytes, Path], object]
    damaged: Callable[[bytes, Random], bytes] = mutated_bytes


def expect(law: bool, what: str) -> None:
    """What is read without a refusal must be what it says."""
    if not law:
        raise BrokenError(what)


# Archives --------------------------------------------------------------------------------------------


def archive(form: str) -> list[bytes]:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / f"x{form}"
        pack(FILES, path, "tiny")
        return [path.read_bytes()]


def read_members(data: bytes, path: Path) -> None:
    """Take everything in an archive; it is never more than the limits allow."""
    path.write_bytes(data)
    taken = sum(len(piece) for member in members(path) for piece in member.pieces)
    expect(taken <= USUAL.expanded(len(data)), f"{len(data)} bytes held {taken}")


def read_tar(data: bytes, place: Path) -> None:
    """As it is, and with the checksums of its headers put right."""
    with suppress(SalgenError):
        read_members(data, place / "a.tar")
    read_members(with_sums(data), place / "a.tar")


def with_sums(data: bytes) -> bytes:
    found = bytearray(data)
    for start in range(0, len(data) - tarfile.BLOCKSIZE + 1, tarfile.BLOCKSIZE):
        if data[start + 257 : start + 262] == b"ustar":
            found[start + 148 : start + 156] = b" " * 8
            found[start + 148 : start + 156] = b"%06o\0 " % sum(found[start : start + tarfile.BLOCKSIZE])
    return bytes(found)


def read_names(data: bytes, place: Path) -> None:
    """Names that are taken lie within the target on every system."""
    with tarfile.open(place / "a.tar", "w", format=tarfile.GNU_FORMAT) as out:
        for line in data.decode("latin-1").split("\n"):
            info = tarfile.TarInfo(line.removesuffix("/"))
            info.type = tarfile.DIRTYPE if line.endswith("/") else tarfile.REGTYPE
            out.addfile(info)
    for member in members(place / "a.tar"):
        inside = ntpath.normpath(ntpath.join("C:\\target", member.name))
        expect(inside == "C:\\target\\" + member.name.replace("/", "\\"), f"{member.name!r} leads to {inside!r}")


# Texts of data sets ----------------------------------------------------------------------------------


def sums() -> list[bytes]:
    return ["".join(f"{number:064x}  data/{number}.parquet\n" for number in range(count)).encode() for count in (1, 5)]


def read_sums(data: bytes, place: Path) -> None:
    """Every byte counts: no other text means the same."""
    (place / FILE).write_bytes(data)
    found = read_checksums(place)
    written = "".join(f"{digest}  {name}\n" for name, digest in found.items()).encode()
    expect(written == data, "checksums were read otherwise than they stand there")


def manifest() -> list[bytes]:
    made = salgen.generator("perlin-lesions", image_size=(16, 16), diameter=3, lesions=1)
    return [describe(made, SPEC).to_text().encode()]


def read_manifest(data: bytes, _: Path) -> None:
    """As it is, and with a fingerprint that is its spec's: what is taken can be written and read again."""
    text = data.decode("utf-8", "replace")
    with suppress(SalgenError):
        Manifest.from_text(text)
    found = Manifest.from_text(with_fingerprint(text))
    expect(Manifest.from_text(found.to_text()) == found, "a manifest is another once it was written")


def with_fingerprint(text: str) -> str:
    with suppress(SalgenError, ValueError, TypeError, KeyError, RecursionError):
        values = json.loads(text)
        return json.dumps({**values, "fingerprint": DatasetSpec.from_json(values["spec"]).fingerprint})
    return text


def read_spec(data: bytes, _: Path) -> None:
    try:
        values = json.loads(data)
    except (ValueError, RecursionError):
        raise SalgenError("no JSON") from None
    found = DatasetSpec.from_json(values)
    again = DatasetSpec.from_json(json.loads(json.dumps(found.to_json())))
    expect(again.fingerprint == found.fingerprint, "a spec is another once it was written")


def damaged_json(data: bytes, rng: Random) -> bytes:
    """Entries are changed where it is JSON, else bytes."""
    try:
        return mutated_json(data.decode(), rng)
    except (ValueError, RecursionError):
        return mutated_bytes(data, rng)


def read_statement(data: bytes, _: Path) -> None:
    """Licence, date, address and creators, a line each."""
    licence, date, url, *creators = [*data.decode("utf-8", "replace").split("\n"), "", "", ""]
    found = stated(licence, date, [name for name in creators if name], url or None)
    expect(found.date == date and found.licence.lower() == licence.lower(), "something else is stated")
    expect(found.licence_url is None or found.licence_url.startswith("http"), "the licence's address is none")


# Calls -----------------------------------------------------------------------------------------------


def read_calls(data: bytes, _: Path) -> None:
    """The lines of any text as pairs, and all of it as a call."""
    text = data.decode("utf-8", "replace")
    with suppress(SalgenError):
        parse_pairs(text.split("\n"))
    parse_call(text)


def read_metric(data: bytes, _: Path) -> None:
    for metric in choose_metrics([data.decode("utf-8", "replace")], ("mask",)).values():
        expect(choose_metrics([call_text(metric)]) == {call_text(metric): metric}, f"{metric} is another once written")


def read_method(data: bytes, _: Path) -> None:
    method = METHODS.create(*parse_call(data.decode("utf-8", "replace")))
    expect(METHODS.create(*parse_call(call_text(method))) == method, f"{method} is another once it was written")


def lines(texts: tuple[str, ...]) -> Callable[[], list[bytes]]:
    return lambda: [text.encode() for text in texts]


# Images ----------------------------------------------------------------------------------------------


def pngs() -> list[bytes]:
    kinds = ((np.uint8, 1), (np.uint8, 3), (np.uint16, 1))
    return [
        png.encode_mask(np.eye(16, dtype=np.bool_)),
        *(png.encode(np.ones((16, 16, channels), dtype=kind)) for kind, channels in kinds),
    ]


def read_png(data: bytes, _: Path) -> None:
    """As it is, and with the checksums of its chunks put right."""
    for stored in (data, with_checks(data)):
        for decode in (png.decode, png.decode_mask):
            with suppress(SalgenError):
                png.check_size(stored, (16, 16))
                shape = decode(stored).shape
                expect(shape[0] * shape[1] <= 16 * 16, f"{shape} of a PNG that announces less")
    png.decode(data)


def with_checks(data: bytes) -> bytes:
    found, place = bytearray(data), len(png.SIGNATURE)
    while place + 12 <= len(data):
        end = place + 8 + struct.unpack_from(">I", data, place)[0]
        if end + 4 > len(data):
            break
        struct.pack_into(">I", found, end, zlib.crc32(data[place + 4 : end]))
        place = end + 4
    return bytes(found)


def heads() -> list[bytes]:
    """The first bytes of small volumes, of both versions of the form."""
    values = np.pad(np.full((6, 6, 6), 3, dtype=np.int16), 1)
    return [kind(values, np.eye(4)).to_bytes() for kind in (nibabel.Nifti1Image, nibabel.Nifti2Image)]


def read_volume(data: bytes, place: Path) -> None:
    (place / "a.nii").write_bytes(data)
    found = load_volume(place / "a.nii")
    expect(found.values.ndim == 3 and np.isfinite(found.values).all(), f"{found.values.shape} is no brain")


def damaged_head(data: bytes, rng: Random) -> bytes:
    """Most bytes are voxels, of which any is a voxel."""
    return mutated_bytes(data[:HEAD], rng) + data[HEAD:]


READERS = {
    "tar": Reader(lambda: archive(".tar"), read_tar),
    "tar.gz": Reader(lambda: archive(".tar.gz"), lambda data, place: read_members(data, place / "a.tar.gz")),
    "zip": Reader(lambda: archive(".zip"), lambda data, place: read_members(data, place / "a.zip")),
    "names in archives": Reader(lines((NAMES_GIVEN,)), read_names),
    "SHA256SUMS": Reader(sums, read_sums),
    "salgen.json": Reader(manifest, read_manifest, damaged_json),
    "specs": Reader(lambda: [json.dumps(SPEC.to_json()).encode()], read_spec, damaged_json),
    "statements": Reader(lines(STATED), read_statement),
    "calls and pairs": Reader(lines(("threshold=0.5\nsteps=10", "a=1", *METHOD_CALLS, *METRIC_CALLS)), read_calls),
    "metric calls": Reader(lines(METRIC_CALLS), read_metric),
    "method calls": Reader(lines(METHOD_CALLS), read_method),
    "PNG": Reader(pngs, read_png),
    "NIfTI": Reader(heads, read_volume, damaged_head),
}
