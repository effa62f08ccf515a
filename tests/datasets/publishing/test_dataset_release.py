"""A published data set says what it is, is the same bytes each time, and holds no pixels that may not be passed on."""

import hashlib
import json
import re
import datasets
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml
from forged_rows import forge
from made_datasets import STATED, contents, made, published
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.format.schema import pixels_digest
from salgen.datasets.making import make
from salgen.datasets.metadata.citation import papers
from salgen.datasets.metadata.publication_metadata import LICENSES
from salgen.datasets.preview.dataset_summary import describe
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.publishing.publishing import open_release
from salgen.evaluation.verification.verifying import verify
from salgen.generators.drawing.photographs import photographs
from salgen.generators.factory import generator, plugin_class
from salgen.generators.lesions.volumes import open_brains
from salgen.registry import GENERATORS, IMPORTERS, PROTOCOLS
from salgen.sources import Nothing

COUNTS = {"train": 7, "val": 2, "test": 3}


def bytes_of(folder, **stated):
    """What is published of a folder, name to bytes."""
    with open_release(folder, **{**STATED, **stated}) as found:
        return {name: data if isinstance(data, bytes) else data.read_bytes() for name, data in found.files.items()}


def test_twice_the_same_bytes_in_the_order_of_names(folder, tiles, tmp_path):
    again = made(tmp_path / "again" / "squares", workers=2)
    assert bytes_of(folder) == bytes_of(folder) == bytes_of(again)
    assert bytes_of(tiles) == bytes_of(tiles)
    for there in (folder, tiles):
        files = bytes_of(there)
        assert list(files) == sorted(files)
        assert str(tmp_path) not in "".join(data.decode() for name, data in files.items() if "parquet" not in name)


def test_all_of_a_redistributable_set_is_there_and_only_the_texts_differ(folder):
    files, there = bytes_of(folder), contents(folder)
    assert set(files) == {*there, "CITATION.cff"}
    differing = {name for name in there if files[name] != there[name]}
    assert differing == {"README.md", "croissant.json", "SHA256SUMS"}
    for line in files["SHA256SUMS"].decode().splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256(files.pop(name)).hexdigest() == digest
    assert set(files) == {"SHA256SUMS"}


@pytest.mark.parametrize("arguments", [{}, {"twins": False}, {"parameters": {"bit_depth": 16}}])
def test_it_verifies_loads_and_is_published_again_from_there(tmp_path, arguments):
    folder = made(tmp_path / "squares", **arguments)
    out = published(folder, tmp_path / "out")
    assert verify(out, samples=30) == []
    assert bytes_of(out) == contents(out)
    loaded = datasets.load_dataset(str(out), split="train", cache_dir=str(tmp_path / "cache"))
    assert len(loaded) == 12
    here = open_dataset(out, "train")[3]
    levels = np.float32(65535 if arguments.get("parameters") else 255)
    np.testing.assert_array_equal(np.asarray(loaded[3]["image"]).astype(np.float32) / levels, here["image"][0])


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"license": None}, "no license is stated: give one of CC0-1.0, "),
        ({"license": "free"}, "license 'free' is unknown: give one of CC0-1.0, "),
        ({"license": "ftp://host/x"}, "is unknown"),
        ({"license": "https://"}, "is unknown"),
        ({"license": "https://host/a b"}, "is unknown"),
        ({"license": "https://host/a\n"}, "is unknown"),
        ({"license": "LicenseRef-"}, "is unknown"),
        ({"date": ""}, "date '': write it as YYYY-MM-DD"),
        ({"date": "2025-02-30"}, "date '2025-02-30': write it as YYYY-MM-DD"),
        ({"date": "20250301"}, "YYYY-MM-DD"),
        ({"date": "\u0662\u0660\u0662\u0665-\u0660\u0663-\u0660\u0661"}, "YYYY-MM-DD"),
        ({"creators": ["A. Author", " "]}, "give names"),
        ({"creators": ["A\nB"]}, "give names"),
        ({"url": "here"}, "url 'here'"),
    ],
)
def test_what_is_not_stated_or_malformed_is_refused(folder, stated, said):
    with pytest.raises(SalgenError, match=said):
        bytes_of(folder, **stated)


def test_what_is_altered_incomplete_or_of_another_version_is_refused(folder, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(plugin_class("squares"), "version", "2")
        with pytest.raises(SalgenError, match="made by squares version 1, but version 2 is installed"):
            bytes_of(folder)
    shard = folder / "data/val-00000-of-00001.parquet"
    data = shard.read_bytes()
    shard.write_bytes(data[:100] + bytes([data[100] ^ 1]) + data[101:])
    with pytest.raises(SalgenError, match=r"cannot be published: data/val-00000-of-00001\.parquet: was altered"):
        bytes_of(folder)
    with pytest.raises(SalgenError, match="does not exist"):
        bytes_of(folder / "none")


def test_a_full_disk_is_said_in_a_line_and_leaves_nothing(tiles, tmp_path, monkeypatch):
    def full(*given, **named):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("salgen.datasets.publishing.dataset_release.shard_writer", full)
    with pytest.raises(SalgenError, match=r"No space left on device\); set TMPDIR"):
        bytes_of(tiles)
    assert not list(tmp_path.glob("salgen-publish-*"))


def head_of(files):
    return yaml.safe_load(files["README.md"].decode().split("---\n")[1])


@pytest.mark.parametrize("license", [*LICENSES, "https://example.org/terms?x=1", "LicenseRef-Our-Terms"])
def test_every_text_has_the_license(folder, license):
    files = bytes_of(folder, license=license)
    if license in LICENSES:
        assert bytes_of(folder, license=license.lower()) == files
    head, card = head_of(files), files["README.md"].decode()
    croissant, citation = json.loads(files["croissant.json"]), yaml.safe_load(files["CITATION.cff"])
    if license in LICENSES:
        assert head["license"] == LICENSES[license]
        assert citation["license"] == license
        assert croissant["license"] == f"https://spdx.org/licenses/{license}"
    elif license.startswith("https"):
        assert (head["license"], head["license_link"]) == ("other", license)
        assert citation["license-url"] == croissant["license"] == license
    else:
        assert (head["license"], head["license_name"]) == ("other", "licenseref-our-terms")
        assert croissant["license"] == license
        assert not {"license", "license-url"} & set(citation)
    said = re.search(r"This data set is published under (.+), as its publisher states\.", card)
    assert license in said[1]


def test_the_license_of_the_material_stays_beside_it(tiles):
    card = bytes_of(tiles, license="ODbL-1.0")["README.md"].decode()
    assert "under [ODbL-1.0](https://spdx.org/licenses/ODbL-1.0), as its publisher states." in card
    assert "Outside material: `own copy`" in card
    assert "Its license: CC0-1.0" in card


def test_the_citation_says_what_is_known_and_no_more(folder, tiles):
    fingerprint = read_manifest(folder).spec.fingerprint
    assert yaml.safe_load(bytes_of(folder)["CITATION.cff"]) == {
        "cff-version": "1.2.0",
        "type": "dataset",
        "message": "If you use this data set, please cite it as below.",
        "title": "squares (a data set made by salgen)",
        "abstract": "A bright square on coloured noise.",
        "version": "1.0.0",
        "authors": [{"name": "salgen"}],
        "license": "CC-BY-4.0",
        "date-released": "2026-01-31",
        "identifiers": [
            {"type": "other", "value": fingerprint, "description": "SHA-256 of the data set's description"}
        ],
    }
    known = {"creators": ['Ada Ämter: the "first"', "𠮷田 \\ud83d 😀"], "url": "https://example.org/d"}
    files = bytes_of(folder, **known)
    citation = yaml.safe_load(files["CITATION.cff"])
    assert [author["name"] for author in citation["authors"]] == known["creators"]
    assert citation["url"] == known["url"]
    croissant = json.loads(files["croissant.json"])
    assert [creator["name"] for creator in croissant["creator"]] == known["creators"]
    assert (croissant["url"], croissant["datePublished"]) == (known["url"], "2026-01-31")
    assert all(part in croissant["citeAs"] for part in (*known["creators"], known["url"], "2026-01-31", fingerprint))


def test_every_paper_has_its_authors_and_one_title():
    plugins = [registry.load(name) for registry in (GENERATORS, IMPORTERS, PROTOCOLS) for name in registry.names()]
    found = {(p["authors"][0]["name"], p["year"], p["title"]) for plugin in plugins for p in papers(plugin)}
    assert [authors for authors, _, _ in found if not re.fullmatch(r"[^\W\d]+( et al\.| and [^\W\d]+)?", authors)] == []
    assert len({(authors, year) for authors, year, _ in found}) == len(found)
    assert ("Roth et al.", 2015, "DeepOrgan") in found
    known = {("Budding et al.", 2021), ("Szczepankiewicz et al.", 2023), ("Jensen et al.", 2016)}
    assert known <= {(authors, year) for authors, year, _ in found}
    assert papers(plugin_class("squares")) == []


def test_sources_say_whether_they_may_be_passed_on(copy, tmp_path):
    assert Nothing().redistributable
    assert photographs().redistributable
    assert open_brains("mni152").redistributable
    (tmp_path / "brain.nii.gz").touch()
    assert not open_brains(str(tmp_path / "brain.nii.gz")).redistributable
    assert not generator("tiles", source=str(copy)).source.redistributable


def test_no_pixels_of_others_are_published_but_all_the_rest(tiles):
    with pytest.warns(SalgenWarning, match=r"images and twins of .*tiles are left out.*--may-redistribute"):
        files = bytes_of(tiles)
    everything = b"".join(files.values())
    there = contents(tiles)
    assert set(files) == {*there, "CITATION.cff"}
    for name in (name for name in there if name.endswith("parquet")):
        whole = pq.read_table(tiles / name)
        left = pq.read_table(pa.BufferReader(files[name]))
        assert left.schema.equals(whole.schema, check_metadata=True)
        assert left["image"].null_count == left["twin"].null_count == len(whole)
        assert left.drop_columns(["image", "twin"]).equals(whole.drop_columns(["image", "twin"]))
        for image in whole["image"].to_pylist():
            assert image["bytes"] not in everything
            assert image["bytes"] in there[name]
            assert image["bytes"][50:-20] not in everything


def test_pixels_are_published_where_the_user_says_that_they_may_be(tiles, tmp_path):
    files = bytes_of(tiles, may_redistribute=True)
    shards = {name: data for name, data in contents(tiles).items() if "parquet" in name}
    assert {name: files[name] for name in files if "parquet" in name} == shards
    card = files["README.md"].decode()
    assert "whoever published this stated that they do" in " ".join(card.split())
    assert "Pixels are not included" not in card
    out = published(tiles, tmp_path / "out", may_redistribute=True)
    assert not read_manifest(out).redistributable
    assert b"Pixels are not included" in bytes_of(out)["README.md"]  # who passes it on has to say so too


def test_its_card_makes_it_again_from_the_copy(copy, tiles, tmp_path):
    out = published(tiles, tmp_path / "out")
    card = (out / "README.md").read_text()
    assert "## Pixels are not included" in card
    assert "salgen make tiles OUT --set source=PATH" in card
    assert "published without pixels" in card
    assert "images and twins are null" in json.loads((out / "croissant.json").read_text())["description"]
    code = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    again = code[-1].replace('"OUT"', repr(str(tmp_path / "again"))).replace('"PATH TO THE SOURCE"', repr(str(copy)))
    exec(again)
    assert contents(tmp_path / "again") == contents(tiles)
    digests = open_dataset(out, "test").column("pixels_sha256")
    images = open_dataset(tmp_path / "again", "test").images().transpose(0, 2, 3, 1)
    assert digests == [pixels_digest(np.ascontiguousarray(image)) for image in images]
    shown = {"datasets": datasets, "out": str(out)}
    exec(code[0].replace('"PATH"', "out"), shown)
    assert shown["samples"][0]["image"] is None
    np.testing.assert_array_equal(np.asarray(shown["samples"][0]["mask"]) > 0, shown["batch"].masks[0])
    assert shown["batch"].masks.shape == (3, 16, 16)


def test_a_set_without_pixels_is_read_as_far_as_it_goes(tiles, tmp_path):
    out = published(tiles, tmp_path / "out")
    for split, count in COUNTS.items():
        whole, left = open_dataset(tiles, split), open_dataset(out, split)
        (here,), (there,) = left.batches(20), whole.batches(20)
        assert len(here) == count
        np.testing.assert_array_equal(here.masks, there.masks)
        np.testing.assert_array_equal(here.acceptable, there.acceptable)
        assert here.recipes == there.recipes
        for looked_at in (lambda: left[0], left.images, lambda: here.images, here.twin_levels):  # noqa: B023
            with pytest.raises(SalgenError, match="published without pixels: its README"):
                looked_at()
    assert "none, as the images were imported" in describe(out)
    with pytest.raises(SalgenError, match="pixels is False there and True here"):
        make("tiles", out, source=str(tmp_path / "copy"), workers=1)


def test_a_set_without_pixels_verifies_with_and_without_the_source(copy, tiles, tmp_path):
    out = published(tiles, tmp_path / "out")
    assert verify(out) == []
    assert verify(out, source=str(copy), samples=30) == []
    assert bytes_of(out) == bytes_of(out, may_redistribute=True) == contents(out)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda row: row["mask"].update(bytes=b"PNG"), "sample train-000000 could not be rendered again"),
        (lambda row: row.update(mask=row["mask_top"]), "train-000000: rendered again, .* in mask"),
        (lambda row: row.update(pixels_sha256="0" * 64), "rendered again, .* in pixels_sha256"),
    ],
)
def test_every_fault_of_a_set_without_pixels_is_found(copy, tiles, tmp_path, change, said):
    out = published(tiles, tmp_path / "out")
    forge(out, lambda rows: change(rows[0]), "data/train-00000-of-00002.parquet")
    assert any(re.search(said, problem) for problem in verify(out, source=str(copy), samples=30))
    assert verify(out) == []
