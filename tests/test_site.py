"""The pages of docs/ in a browser, with the style and scripts that docs/conf.py gives them."""

import subprocess
import sys
from pathlib import Path
import pytest
from browsers import CUT, browser, check_with_axe, watched  # noqa: F401

DOCS = Path(__file__).parents[1] / "docs"
LONG = "a " * 200
PAGES = {
    "index": f"""# Start
```{{toctree}}
:caption: Pages
signature
```
## Code
    {LONG}
## Table
|   | {" | ".join("columns")} |
|---|{"---|" * 7}
| a | {" | ".join([LONG[:60].replace(" ", "_")] * 7)} |
""",
    "signature": f"""# Signature
```{{eval-rst}}
.. py:function:: make({", ".join(f"parameter_{number}=None" for number in range(9))})

   Makes it.
```
""",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    for needed in ("furo", "myst_parser", "sphinx_gallery"):
        pytest.importorskip(needed, reason="no pages: pip install '.[docs]'")
    source = tmp_path_factory.mktemp("site")
    for name, text in PAGES.items():
        (source / f"{name}.md").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--conf-dir", str(DOCS)]
    subprocess.run([*command, "-D", "extensions=myst_parser", str(source), str(source / "html")], check=True)
    return source / "html"


@pytest.mark.parametrize("name", [*PAGES, "search"])
def test_axe_finds_no_violation(built, watched, name):  # noqa: F811
    page, _, _ = watched
    page.goto((built / f"{name}.html").as_uri())
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 800})
        page.evaluate("() => new Promise(requestAnimationFrame)")  # what scrolls now was made reachable
        assert page.evaluate("document.documentElement.scrollWidth") == width
        check_with_axe(page)


def test_no_table_is_cut_on_paper(built, watched):  # noqa: F811
    page, _, _ = watched
    page.goto((built / "index.html").as_uri())
    page.set_viewport_size({"width": 702, "height": 1031})  # A4 between margins of 12 mm
    page.emulate_media(media="print")
    assert page.locator("table").is_visible()
    assert page.evaluate(CUT) == []
