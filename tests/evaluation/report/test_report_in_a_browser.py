"""The report in a browser: maps over images, enlarged pictures, saved tables and figures, and narrow windows."""

import csv
import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
import pytest
from browsers import BEYOND, UNFOLDED, check_page
from run_folders import METHODS, make_run
import salgen
from salgen.evaluation.report import report
from salgen.evaluation.report.formatting import call
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.report.verdicts import verdict
from salgen.registry import METRICS

SAVE = Path(salgen.__file__).parent / "evaluation" / "report" / "save.js"
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


def test_the_chart_of_a_phone_shows_the_best_method_first_on_a_readable_page(opened):
    opened.set_viewport_size({"width": 360, "height": 740})
    chart = opened.locator("#answer .chart:visible")
    assert chart.count() == 1
    best = opened.locator(".means tbody.method .name").first.inner_text().replace(": ", ":")
    assert chart.locator(".name").first.text_content() == best
    box = chart.locator(".series").first.bounding_box()
    assert 0 < box["x"] < box["x"] + box["width"] < 360
    check_page(opened)


def test_a_metrics_name_has_its_definition_as_a_tooltip_and_maps_lie_over_their_images(opened):
    definition = METRICS.entries["roc-auc"].summary
    shown = opened.locator("#answer .first code span")
    assert (shown.inner_text(), shown.get_attribute("title")) == ("roc-auc", definition)
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


def test_a_table_is_saved_as_csv_with_units_in_columns_of_their_own_and_as_latex(opened, built):
    text, name = saved(opened, "CSV", "all images of perlin-lesions, region:brain")
    assert name == "all-images-of-perlin-lesions-region-brain.csv"
    head, *lines = csv.reader(io.StringIO(text))
    parts = ("", " low", " high", " normalised", " verdict", " images")
    insertion = [f"insertion-auc{part}" for part in parts if part != " normalised"]
    assert head == ["group", "Method", "Mean rank", *(f"roc-auc{part}" for part in parts), *insertion]
    (run,) = read_runs([built[0]])
    rows = {line[1]: dict(zip(head, line, strict=True)) for line in lines}
    assert rows.keys() == {call for call, _ in run.keys("lesion-cnn")}
    outcome = verdict(run, "lesion-cnn", "roc-auc")
    for key in run.keys("lesion-cnn"):
        row, found = run.row("lesion-cnn", key, "roc-auc", "region:brain"), rows[key[0]]
        numbers = [float(found[column] or "nan") for column in head[3:7]]  # a constant map has no interval
        assert numbers == pytest.approx([row.mean, row.ci_low, row.ci_high, row.normalised], nan_ok=True)
        assert found["group"] == run.role(key[0])
        assert int(found["roc-auc images"]) == row.n_samples
        said = found["roc-auc verdict"]
        assert said.startswith("best") == (key in outcome.winners)
        assert said.startswith("tied") == (key in outcome.tied)
        assert ("not better than the strongest floor" in said) == (key in outcome.below_floor)
    assert rows["oracle"]["insertion-auc"] == ""
    text, _ = saved(opened, "LaTeX", "all images of perlin-lesions, region:brain")
    head, *rows = check_latex(text)
    assert head == ["Method", "Mean rank", "roc-auc", "insertion-auc"]
    cells = {row[0]: row[2] for row in rows}
    for key in run.under_test("lesion-cnn"):
        row, cell = outcome.row(key), cells[call(key[0])]
        mean = rf"\textbf{{{row.mean:.3f}}}" if key in outcome.winners else f"{row.mean:.3f}"
        assert cell.startswith(mean)
        assert cell.endswith(rf"{{\scriptsize [{row.ci_low:.3f}, {row.ci_high:.3f}]}}")
        assert (r"\approx" in cell, r"\nabla" in cell) == (key in outcome.tied, key in outcome.below_floor)
    opened.set_content(f"""<div class="scroll" aria-label="t"><table><caption>c</caption><thead><tr><th>Name</th>
        <th>Accuracy</th><th data-unit="forward passes">Cost</th></tr></thead><tbody><tr><td>a</td><td>61.2\u00a0%</td>
        <td>4</td></tr><tr hidden><td>b</td><td>–</td><td>5</td></tr><tr><td>c</td><td>–</td><td>6</td></tr></tbody>
        </table></div><script type="module">{SAVE.read_text(encoding="utf-8")}</script>""")  # noqa: RUF001
    assert saved(opened, "CSV", "t")[0].splitlines() == [
        "Name,Accuracy,Accuracy unit,Cost,Cost unit",
        "a,61.2,%,4,forward passes",
        "c,,,6,forward passes",  # no row that a filter hides
    ]


COMMANDS = (
    "documentclass|usepackage|begin|end|centering|caption|sbox|toprule|midrule|bottomrule|ifdim|wd|textwidth|resizebox|"
    "usebox|else|fi|textbf|scriptsize|approx|nabla|medskip"
)


def check_latex(text):
    """A document of balanced groups and environments, of known commands, each row with as many cells as columns."""
    assert text.isascii()
    assert not re.search(r"(?<!\\)[_#&]", text.replace(" & ", ""))
    assert all(re.fullmatch(COMMANDS, name) for name in re.findall(r"\\([A-Za-z]+)", text))
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
        assert kind == "begin" or opened.pop() == name
        opened += [name] if kind == "begin" else []
    assert not opened
    plain, depth = re.sub(r"\\[{}$%]|%\n", "", text), 0
    assert plain.count("$") % 2 == 0
    for sign in re.findall("[{}]", plain):
        depth += 1 if sign == "{" else -1
        assert depth >= 0
    assert depth == 0
    (columns, body) = re.search(r"\\begin\{tabular\}\{([lr]+)\}\n(.*?)\\end\{tabular\}", text, re.DOTALL).groups()
    rows = [line for line in body.splitlines() if not line.endswith("rule")]
    assert all(row.endswith(r" \\") and row.count(" & ") == len(columns) - 1 for row in rows)
    assert r"\ifdim\wd0>\textwidth\resizebox{\textwidth}{!}{\usebox0}\else\usebox0\fi" in text
    return [row.removesuffix(r" \\").split(" & ") for row in rows]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no pdflatex")
def test_every_table_compiles_as_latex_without_overfull_lines(opened, tmp_path):
    buttons = opened.get_by_role("button", name="LaTeX of").all()
    assert len(buttons) > 5
    for number, button in enumerate(buttons):
        with opened.expect_download() as started:
            button.click()
        place = tmp_path / f"{number}.tex"
        started.value.save_as(place)
        command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", place.name]
        told = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, encoding="latin-1")
        assert told.returncode == 0, told.stdout[-2000:]
        assert "Overfull" not in told.stdout
        assert place.with_suffix(".pdf").is_file()


def test_figures_are_saved_with_their_own_styles_and_printed_alone_on_a_page_of_their_size(opened, browser):
    dark = opened.context.browser.new_page(color_scheme="dark")
    dark.goto(opened.url)
    dark.evaluate(UNFOLDED)
    text, name = saved(opened, "SVG", "Mean ranks")
    assert name == "mean-ranks-of-each-method-by-roc-auc-on-perlin-lesions.svg"
    root = ElementTree.fromstring(text)
    assert (root.tag, root.get("width")) == (f"{SVG}svg", "6.9in")
    dots = list(root.iter(f"{SVG}circle"))
    assert dots
    assert all("fill:rgb(" in dot.get("style") for dot in dots)
    assert "mean rank by roc-auc" in {text.text for text in root.iter(f"{SVG}text")}, "the axis has a title"
    assert "var(" not in text
    assert saved(dark, "SVG", "Mean ranks")[0] == text  # in the light colours, on any screen
    dark.close()
    opened.get_by_role("button", name="PDF of Mean ranks").first.click()
    frame = opened.locator("iframe")
    sheet = browser.new_page()
    sheet.set_content(frame.get_attribute("srcdoc"))
    printed = sheet.pdf(prefer_css_page_size=True)
    sheet.close()
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) == 1
    (box,) = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", printed)
    assert float(box[0]) == pytest.approx(72 * 6.9, abs=1)
    assert b"/FontFile2" in printed, "a TrueType font is embedded"


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


def test_without_scripts_the_page_has_no_idle_buttons(browser, built):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(built[1].as_uri())
    assert page.locator("button").count() == 0
    assert not page.get_by_label("Map over the image").first.is_visible()
    assert page.locator(".pictures svg").first.is_visible()
    context.close()


def test_the_first_screen_holds_the_answer_and_a_folded_report_has_few_stops_and_sheets(watched, built):
    page, _, _ = watched
    page.set_viewport_size({"width": 1400, "height": 1000})
    page.goto(built[1].as_uri())
    for shown in ("#answer .first", "#answer .strip", "#answer .chart .method"):
        assert page.locator(shown).first.bounding_box()["y"] < 1000
    assert page.locator("nav a").count() <= 10
    assert not page.get_by_text("Somebody et al. 2015").first.is_visible()
    page.get_by_role("link", name="How it was made").first.click()
    page.get_by_text("Somebody et al. 2015").first.wait_for(state="visible", timeout=5_000)
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(built[1].as_uri())
    stops = page.evaluate("""() => [...document.querySelectorAll("a[href], button, input, select, summary, [tabindex]")]
        .filter((one) => one.tabIndex >= 0 && one.checkVisibility()).length""")
    assert 10 < stops <= 120
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf(format="A4", prefer_css_page_size=True))) <= 8
