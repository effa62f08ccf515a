"""Fixtures of a browser; tests that use them are skipped where there is none."""

from pathlib import Path
import pytest

CHROMIUM = Path("/usr/bin/chromium")

# Tables, figures and items of lists that reach beyond the window and are not in a box that scrolls.
BEYOND = """() => [...document.querySelectorAll("table, svg, li")].filter(one => !one.closest(".scroll")
    && one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 80))"""

UNFOLDED = "() => document.querySelectorAll('details').forEach(one => { one.open = true })"

# Words that are shown smaller than 12 pixels; a drawing's are as large as the drawing is scaled.
SMALL = """() => {
    const found = [], words = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
        const one = words.currentNode.parentElement, text = words.currentNode.textContent.trim();
        if (!text || one.matches("script, style, option, title, .hidden") || !one.checkVisibility()) continue;
        const drawing = one.closest("svg[viewBox]");
        const scale = drawing ? drawing.getBoundingClientRect().width / drawing.viewBox.baseVal.width : 1;
        if (scale * parseFloat(getComputedStyle(one).fontSize) < 11.99) found.push(text);
    }
    return found;
}"""

# Tables, figures and pictures that a sheet of A4 cuts.
CUT = """() => [...document.querySelectorAll("table, .chart, img")].filter(one => one.checkVisibility()
    && one.getBoundingClientRect().right > innerWidth + 1).map(one => one.outerHTML.slice(0, 80))"""

# What axe finds; of colours on the gradient at the edge of a box that scrolls it says nothing, so that is taken away.
FAULTS = """() => {
    document.querySelectorAll(".scroll").forEach(one => { one.style.background = "none" });
    return axe.run({ preload: false }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes[0].html]));
}"""


def check_page(page, on_paper=True):
    """A page is whole and readable on a phone and on paper, and axe finds no violation in the light and in the dark."""
    page.evaluate(UNFOLDED)
    if on_paper:
        page.set_viewport_size({"width": 718, "height": 1040})  # A4 between margins of 10 mm
        page.emulate_media(media="print")
        assert page.evaluate(CUT) == []
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(media="screen")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate(BEYOND) == page.evaluate(SMALL) == []
    check_with_axe(page)


def check_with_axe(page):
    """axe finds no violation, in the light and in the dark."""
    axe = pytest.importorskip("axe_playwright_python", reason="no axe: pip install '.[test]'")
    page.evaluate(Path(axe.__file__).with_name("axe.min.js").read_text(encoding="utf-8"))
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(FAULTS) == [], scheme


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def watched(browser):
    """A page, the addresses that it asks for, and what its console says."""
    page = browser.new_page(viewport={"width": 400, "height": 800})
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page, asked, said
    page.close()
    assert said == []
    assert all(url.startswith(("file:", "data:", "blob:", "about:")) for url in asked)
