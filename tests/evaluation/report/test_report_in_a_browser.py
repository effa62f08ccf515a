"""The report in a browser: maps over images, enlarged pictures, saved tables and figures, and narrow windows."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
import pytest
from browsers import BEYOND, UNFOLDED, check_page
from run_folders import METHODS, make_run
from salgen.evaluation.report import report
from salgen.evaluation.report.runs import read_runs
from salgen.registry import METRICS

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    path = make_run(tmp_path_factory.mktemp("page") / "run", metrics=("roc-auc", "insertion-auc"), samples=24, size=16)
    return path, report([path])


@pytest.fixture
def opened(watched, built):
    page, _, _ = watched
    page.set_viewport_size({"width": 1400, "height": 900})
    page.goto(built[1].as_uri())
    page.evaluate(UNFOLDED)
    return page


@pytest.mark.parametrize("width", [390, pytest.param(1000, marks=pytest.mark.torture), 1400])
def test_every_method_of_the_gallery_lies_within_the_window(opened, width):
    opened.set_viewport_size({"width": width, "height": 900})
    assert opened.evaluate("() => document.documentElement.scrollWidth") == width
    assert opened.evaluate(BEYOND) == []
    shown = opened.locator("#gallery .pictures").first.locator("li")
    names = [text.replace(": ", ":").replace(", ", ",").removesuffix(" ±") for text in shown.all_inner_texts()]
    assert {*METHODS, "random", "sobel", "oracle", "oracle-7x7"} < set(names)
    assert all(shown.nth(i).is_visible() for i in range(shown.count()))


def test_the_page_is_readable_on_a_phone_on_paper_and_without_sight(opened):
    check_page(opened)


def test_the_chart_of_a_phone_shows_the_best_method_first_and_its_score(opened):
    opened.set_viewport_size({"width": 360, "height": 740})
    chart = opened.locator("#answer .chart:visible")
    assert chart.count() == 1
    best = opened.locator(".means tbody.method .name").first.inner_text().replace(": ", ":")
    assert chart.locator(".name").first.text_content() == best
    box = chart.locator(".series").first.bounding_box()
    assert 0 < box["x"] < box["x"] + box["width"] < 360


def test_a_metrics_name_has_its_definition_as_a_tooltip(opened):
    definition = METRICS.entries["roc-auc"].summary
    shown = opened.locator("#answer .first code span")
    assert (shown.inner_text(), shown.get_attribute("title")) == ("roc-auc", definition)


def test_the_slider_lays_maps_over_their_images(opened):
    slider = opened.get_by_label("Map over the image").first
    drawn = opened.locator("#gallery .map").first
    assert drawn.evaluate("one => getComputedStyle(one).opacity") == "1"
    slider.fill("30")
    assert drawn.evaluate("one => getComputedStyle(one).opacity") == "0.3"
    below = drawn.evaluate("one => document.querySelector(one.previousSibling.getAttribute('href')).outerHTML")
    image = opened.locator("#gallery .pictures svg image").first
    assert below == image.evaluate("one => one.outerHTML")
    assert "30" in slider.locator("..").inner_text()
    cell = opened.locator("#gallery .pictures svg:has(.map)").first
    seen = cell.screenshot()
    slider.fill("0")
    assert cell.screenshot() != seen


def test_a_picture_opens_and_the_keys_lead_on(opened):
    pictures = opened.locator(".pictures svg")
    pictures.nth(2).click()
    dialog = opened.locator("dialog")
    label = lambda number: pictures.nth(number).get_attribute("aria-label")  # noqa: E731
    assert dialog.locator("strong").inner_text() == label(2)
    assert dialog.locator("svg").bounding_box()["width"] > 3 * pictures.nth(2).bounding_box()["width"]
    opened.keyboard.press("ArrowRight")
    assert dialog.locator("strong").inner_text() == label(3)
    opened.keyboard.press("ArrowLeft")
    opened.keyboard.press("ArrowLeft")
    assert dialog.locator("strong").inner_text() == label(1)
    dialog.get_by_label("Map over the image").fill("40")
    assert opened.locator(".overlay input").first.input_value() == "40"
    opened.keyboard.press("Escape")
    assert not dialog.is_visible()
    pictures.nth(0).press("Enter")
    assert dialog.is_visible()


def saved(page, form, name):
    """The text of the file that a button saves, and its name."""
    with page.expect_download() as started:
        page.get_by_role("button", name=f"{form} of {name}").first.click()
    return started.value.path().read_text(encoding="utf-8"), started.value.suggested_filename


def test_tables_are_saved_with_their_full_numbers_and_as_latex(opened, built):
    text, name = saved(opened, "CSV", "all images of perlin-lesions, region:brain")
    assert name == "all-images-of-perlin-lesions-region-brain.csv"
    head, *lines = csv.reader(io.StringIO(text))
    assert head == [
        *("group", "Method", "Mean rank", "roc-auc", "roc-auc low", "roc-auc high"),
        *("insertion-auc", "insertion-auc low", "insertion-auc high"),
    ]
    (run,) = read_runs([built[0]])
    rows = {line[1]: dict(zip(head, line, strict=True)) for line in lines}
    assert rows.keys() == {call for call, _ in run.keys("lesion-cnn")}
    for key in run.keys("lesion-cnn"):
        row, found = run.row("lesion-cnn", key, "roc-auc", "region:brain"), rows[key[0]]
        numbers = [float(found[column] or "nan") for column in head[3:6]]  # a constant map has no interval
        assert numbers == pytest.approx([row.mean, row.ci_low, row.ci_high], nan_ok=True)
        assert found["group"] == run.role(key[0])
    assert rows["oracle"]["insertion-auc"] == ""
    text, _ = saved(opened, "LaTeX", "all images of perlin-lesions, region:brain")
    lines = text.splitlines()
    assert "\\begin{tabular}{lrrr}" in lines
    assert "Method & Mean rank & roc-auc & insertion-auc \\\\" in lines
    assert lines.count("\\midrule") == 3
    best = max(run.under_test("lesion-cnn"), key=lambda key: run.row("lesion-cnn", key, "roc-auc", "region:brain").mean)
    (line,) = [line for line in lines if line.startswith(f"{best[0]} &")]
    mean = run.row("lesion-cnn", best, "roc-auc", "region:brain").mean
    assert f"\\textbf{{{mean:.3f}}}" in line
    assert not re.search(r"[^\x00-\x7f]|(?<!\\)[_%#]", "\n".join(lines[2:]))


def test_figures_are_saved_with_their_own_styles(opened):
    dark = opened.context.browser.new_page(color_scheme="dark")
    dark.goto(opened.url)
    dark.evaluate(UNFOLDED)
    text, name = saved(opened, "SVG", "Mean ranks")
    assert name == "mean-ranks-of-each-method-by-roc-auc-on-perlin-lesions.svg"
    root = ElementTree.fromstring(text)
    assert (root.tag, root.get("width")) == (f"{SVG}svg", "620")
    dots = list(root.iter(f"{SVG}circle"))
    assert dots
    assert all("fill:rgb(" in dot.get("style") for dot in dots)
    assert "var(" not in text
    assert saved(dark, "SVG", "Mean ranks")[0] == text  # in the light colours, on any screen
    dark.close()


def test_saved_curves_have_their_keys(watched, tmp_path):
    page, _, _ = watched
    metrics = ("iou:threshold=0.25", "iou", "iou:threshold=0.75")
    methods = ("gradient", "lrp-z", "random", "oracle")
    page.goto(report([make_run(tmp_path / "run", metrics=metrics, methods=methods, samples=8, pictures=0)]).as_uri())
    page.evaluate(UNFOLDED)
    root = ElementTree.fromstring(saved(page, "SVG", "iou against threshold")[0])
    assert [text.text for text in root.findall(f"{SVG}text")][-2:] == ["gradient", "lrp-z"]
    keys = root.findall(f"{SVG}svg")
    assert [key.get("y") for key in keys] == ["300", "318"]
    assert root.get("viewBox") == "0 0 620 336"


def test_a_figure_is_printed_alone_on_a_page_of_its_size(opened, browser):
    opened.get_by_role("button", name="PDF of Mean ranks").first.click()
    frame = opened.locator("iframe")
    sheet = browser.new_page()
    sheet.set_content(frame.get_attribute("srcdoc"))
    printed = sheet.pdf(prefer_css_page_size=True)
    sheet.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    (box,) = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", printed)
    assert float(box[0]) == pytest.approx(620 * 72 / 96, abs=1)


def test_without_scripts_the_page_has_no_idle_buttons(browser, built):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(built[1].as_uri())
    assert page.locator("button").count() == 0
    assert not page.get_by_label("Map over the image").first.is_visible()
    assert page.locator(".pictures svg").first.is_visible()
    context.close()


def test_the_first_screen_holds_the_answer_and_links_open_what_is_folded(watched, built):
    page, _, _ = watched
    page.set_viewport_size({"width": 1400, "height": 1000})
    page.goto(built[1].as_uri())
    for shown in ("#answer .first", "#answer .strip", "#answer .chart .method"):
        assert page.locator(shown).first.bounding_box()["y"] < 1000
    assert page.locator("nav a").count() <= 10
    assert not page.get_by_text("Somebody et al. 2015").first.is_visible()
    page.get_by_role("link", name="How it was made").first.click()
    page.get_by_text("Somebody et al. 2015").first.wait_for(state="visible", timeout=5_000)
