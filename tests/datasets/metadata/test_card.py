"""The card says what the folder holds, and its last code block makes the folder again."""

from __future__ import annotations

import re

import pytest
import yaml
from made_datasets import contents, made

from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.metadata.frontmatter import front_matter
from salgen.datasets.metadata.publication_metadata import hub_licence


def test_the_head_is_yaml_with_licence_files_and_features(folder):
    text = (folder / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license"] == "cc0-1.0"
    assert head["configs"][0]["data_files"][0] == {"split": "train", "path": "data/train-*.parquet"}
    assert head["dataset_info"]["features"][0] == {"name": "id", "dtype": "string"}
    assert head["size_categories"] == ["n<1K"]
    assert text.startswith(front_matter(read_manifest(folder)))


def test_a_licence_that_the_hub_does_not_know_is_other():
    assert hub_licence("CC-BY-4.0") == "cc-by-4.0"
    assert hub_licence("Free for research, ask the authors") == hub_licence("") == "other"


def test_it_names_what_a_reader_must_know(folder):
    text = (folder / "README.md").read_text()
    spec = read_manifest(folder).spec
    for said in (
        spec.fingerprint,
        "generator `squares` version 1, seed 0",
        "| `train` | 12 | 3 |",
        "0 = empty, 1 = square. Ground truth: region `square`",
        "equal, bit for bit, everywhere outside `mask`",
        "| `side` | `4` | side of the square |",
        "scored within the region `frame`",
    ):
        assert said in text
    assert "`twin` holds it" in text


@pytest.mark.parametrize(
    "arguments",
    [{}, {"scale": "demo", "splits": {"test": None, "test_odd": 3}, "twins": False, "seed": 9}],
    ids=["plain", "everything else"],
)
def test_its_code_makes_the_folder_again(tmp_path, arguments):
    folder = made(tmp_path / "squares", **arguments)
    code = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)[-1]
    exec(code.replace('"OUT"', repr(str(tmp_path / "again"))))
    assert contents(tmp_path / "again") == contents(folder)
