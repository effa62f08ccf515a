import re
from dataclasses import replace
from html.parser import HTMLParser
from urllib.parse import unquote
import pytest
import yaml
from made_datasets import contents, made
from markdown_it import MarkdownIt
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.metadata.card import card_text, markdown, markdown_code, markdown_link, markdown_table
from salgen.datasets.metadata.publication_metadata import PublicationMetadata, hub_license
from salgen.generators.factory import plugin_class


def test_the_head_is_yaml_with_license_files_and_features(folder):
    text = (folder / "README.md").read_text()
    head = yaml.safe_load(text.split("---\n")[1])
    assert head["license"] == "cc0-1.0"
    assert head["configs"][0]["data_files"][0] == {"split": "train", "path": "data/train-*.parquet"}
    assert head["dataset_info"]["features"][0] == {"name": "id", "dtype": "string"}
    assert head["size_categories"] == ["n<1K"]


def test_a_license_that_the_hub_does_not_know_is_other():
    assert hub_license("CC-BY-4.0") == "cc-by-4.0"
    assert hub_license("Free for research, ask the authors") == hub_license("") == "other"


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
    [{}, {"scale": "demo", "splits": {"train": 4, "test_odd": 3}, "twins": False, "seed": 9}],
    ids=["plain", "everything else"],
)
def test_its_code_makes_the_folder_again(tmp_path, arguments):
    folder = made(tmp_path / "squares", **arguments)
    code = re.findall(r"```python\n(.*?)```", (folder / "README.md").read_text(), re.DOTALL)[-1]
    exec(code.replace('"OUT"', repr(str(tmp_path / "again"))))
    assert contents(tmp_path / "again") == contents(folder)


HOSTILE = [
    "<img src=x onerror=alert(1)>", "![a](javascript:alert(1))", "[a](http://x.example)", "**bold**", "_a_", "`b`<i>",
    "```<i>", "`` ` <i> `", "\\` <i> `", "&lt;b&gt;", "<http://x.example>", "a\n\n# b", "a\r\n- b", "a | b", "]: x",
]  # fmt: skip
ORDINARY = ["snow_leopard", "dog, domestic", "R&D", "C++", "50 % (half)", "Zoë", "a-b", "#1"]


def elements(html):
    """The tags of a page, and its text without them."""
    found, text = [], []

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            found.append((tag, dict(attributes)))

        def handle_data(self, data):
            text.append(data)

    Reader().feed(html)
    return found, "".join(text)


@pytest.mark.parametrize("text", [*HOSTILE, *ORDINARY])
def test_a_text_is_shown_as_it_is(text):
    """CommonMark's own reading is the oracle: a paragraph, with code where backticks enclose some."""
    reader = MarkdownIt("commonmark").enable("table")
    shown = f"before {markdown(text)} after"
    tags, read = elements(reader.render(shown))
    assert {tag for tag, _ in tags} <= {"p", "code"}
    if "`" not in text:
        assert read.strip() == " ".join(f"before {text} after".split())
    tags, read = elements(reader.render(f"before {markdown_code(text)} after"))
    assert [tag for tag, _ in tags] == ["p", "code"]
    assert read.strip() == " ".join(f"before {text} after".split())
    tags, _ = elements(reader.render(markdown_table(("a", "b"), [(markdown(text), markdown_code(text))])))
    assert [tag for tag, _ in tags].count("td") == 2
    if text in ORDINARY:
        assert markdown(text) == text


@pytest.mark.parametrize(
    "address", ["https://x.example/a_(b)", "https://x.example/)<img%20src=x>`*[", 'http://x/"><i>']
)
def test_a_link_leads_to_its_address_and_nowhere_else(address):
    for shown in (markdown_link(address), markdown_link(address, "<b>`")):
        tags, _ = elements(MarkdownIt("commonmark").render(f"before {shown} after"))
        assert [tag for tag, _ in tags] == ["p", "a"]
        assert unquote(tags[1][1]["href"]) == unquote(address)


def test_the_card_of_a_data_set_from_elsewhere_has_no_markup_of_its_own(folder):
    """Classes, tasks, regions, source, license, notes and creators may hold anything."""
    bad = "x<img src=x onerror=alert(1)>"
    held = read_manifest(folder)
    regions = (bad, *held.regions)
    hostile = replace(
        held, tasks={bad: (bad, "b")}, targets={bad: bad}, regions=regions, valid_region=bad, license=bad, notes=bad,
        spec=replace(held.spec, source=f"`{bad}", source_digest="0"), redistributable=True,
    )  # fmt: skip
    publication = PublicationMetadata("https://x.example/<img>)", "2026-01-31", (bad,), "https://x.example/><img>")
    for one in (hostile, replace(hostile, pixels=False), replace(hostile, recipes_only=True)):
        card = card_text(one, plugin_class(held.spec.generator), publication).split("---\n", 2)[2]
        tags, read = elements(MarkdownIt("commonmark").enable("table").render(card))
        assert "img" not in {tag for tag, _ in tags}
        assert bad in read
