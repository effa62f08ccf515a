"""The documentation says what the code says."""

import doctest
import importlib
import importlib.util
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
generate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(generate)


@pytest.mark.parametrize("name", generate.pages())
def test_generated_pages_are_up_to_date(name):
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == generate.pages()[name], "run python docs/generate.py"


@pytest.mark.parametrize(
    "page", ["README.md", "CHANGELOG.md", *(f"docs/{path.name}" for path in ROOT.glob("docs/*.md"))]
)
def test_links_between_pages_lead_somewhere(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)\)", text):
        if not target.startswith("http"):
            assert ((ROOT / page).parent / target).exists(), f"{page} links to {target}"


EXAMPLES = sorted(path for path in (ROOT / "salgen").rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_in_docstrings_give_what_they_show(path):
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(importlib.import_module(name), optionflags=flags).failed == 0


@pytest.mark.parametrize("folder", ["salgen", "docs", "README.md"])
def test_no_command_installs_salgen_from_an_index(folder):
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".md")] or [ROOT / folder]
    assert [path for path in files if re.search(r"pip install '?salgen", path.read_text(encoding="utf-8"))] == []


def test_what_is_said_to_install_is_an_extra_of_the_package():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    text = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "salgen").rglob("*.py"))
    named = set(re.findall(r"\{install\('(\w+)'\)\}", text))
    assert named == {"ray", "coco", "hub", "zenodo", "noise"}
    assert named <= set(extras)
