"""The board: every number is that of the tables, every link leads somewhere, and a browser shows it."""

import dataclasses
import io
import re
import shutil
from pathlib import Path
import numpy as np
import pandas as pd
import pytest
from run_folders import edited_record
from scipy.stats import kendalltau
from scipy.stats import t as student
from salgen.cli.main import main
from salgen.evaluation.bench.board import board, standing_figure
from salgen.evaluation.bench.board_rows import against_floors, board_rows, read_groups
from salgen.evaluation.bench.rankings import main_entries, method_scores, metric_agreement, standing_by
from salgen.evaluation.bench.run_entry import RESULTS
from salgen.evaluation.bench.standing import standing
from salgen.evaluation.bench.versions import bench_spec

ENTRY = "perlin-lesions-lesion-cnn-reliance"


@pytest.fixture(scope="module")
def results(out, tmp_path_factory):
    return shutil.copytree(out / RESULTS, tmp_path_factory.mktemp("board") / "published")


@pytest.fixture(scope="module")
def site(spec, results):
    board(spec, results, results.parent / "site")
    return results.parent / "site"


def test_there_is_a_page_for_each_method_and_data_set_and_all_links_lead_somewhere(site):
    pages = sorted(str(path.relative_to(site)) for path in site.rglob("*.html"))
    methods = ["methods/grad-cam.html", "methods/gradient.html", "methods/input-x-gradient.html"]
    assert pages == ["data/perlin-lesions.html", "index.html", *methods]
    for page in site.rglob("*.html"):
        for link in re.findall(r'href="([^"#]+)"', page.read_text(encoding="utf-8")):
            assert link.startswith(("https:", "data:")) or (page.parent / link).is_file(), (page, link)


def test_the_picture_shows_every_place_and_pales_methods_that_differ_from_the_first():
    values = np.random.default_rng(0).normal(size=(6, 2, 3, 4))
    values[..., 0] += 100  # wins on all of six data sets
    values[0, :, :, 3] = np.nan
    found = standing(values, ["best", "b", "c", "d"])
    picture = standing_figure(found, [f"set-{number}" for number in range(6)], "Places")
    assert re.findall(r'class="name (\w+)"[^>]*>([\w-]+)<', picture) == [
        ("floor" if method in "bc" else "method", method) for method in found.methods
    ]
    for method, places in zip(found.methods, found.by_dataset, strict=True):
        shown = dict(re.findall(rf">{method} on (set-\d): ([\d.]+)<", picture))
        assert {name: float(place) for name, place in shown.items()} == pytest.approx(
            {f"set-{d}": place for d, place in enumerate(places) if place == place}, abs=5e-4
        )


def rows_of(text, group=0):
    """Method, place and regret of the rows of a group in the table of the standing."""
    cells = r'data-value="([^"]+)".*?data-value="([\d.]+)".*?<td>(.*?)</td><td class="right" data-value="([\d.]+)"'
    return re.findall(rf'<tr class="\w+" data-group="{group}".*?{cells}', text)


def test_the_first_page_has_the_standing_with_floors_and_the_p_value_of_each_pair(spec, results, site):
    found = standing_by(spec, method_scores(spec, results, main_entries(spec)))
    text = (site / "index.html").read_text(encoding="utf-8")
    rows = rows_of(text)
    shown = {method: float(place) for method, place, _, _ in rows}
    assert {"random", "sobel"} < shown.keys()
    assert [method for method in shown if method in found.methods] == found.methods
    assert [shown[method] for method in found.methods] == pytest.approx(found.places, abs=5e-7)
    assert list(shown.values()) == sorted(shown.values())
    assert found.methods[0] in text[: text.index("has the best mean place")]
    pairs = text[text.index("p of each pair") : text.index('<section id="yours">')]
    assert re.findall(r'class="name">\d+ ([a-z-]+)<', pairs) == found.methods
    assert pairs.count("<td") == len(found.methods) ** 2
    assert "salgen bench rank my_package.saliency:mine" in text


def test_regret_floors_and_the_share_ahead_of_grad_cam_follow_from_the_scores(spec, results):
    group = next(read_groups(spec, results))
    rows = pd.read_parquet(results / ENTRY / "scores.parquet").query("metric == 'average-precision'")
    means = rows.groupby(["training_seed", "method"], observed=True)["value"].mean().round(5).unstack()
    table = group.rows.set_index("method")
    methods = list(table.index[table["role"] == "method"])
    for name, row in table.iterrows():
        assert row.regret == pytest.approx((means[methods].max(axis=1) - means[name]).mean(), abs=1e-6)
        if name != "grad-cam":
            ahead = (means[name] > means["grad-cam"]) + (means[name] == means["grad-cam"]) / 2
            assert row.ahead_of_grad_cam == pytest.approx(ahead.mean())
    assert np.isnan(table.ahead_of_grad_cam["grad-cam"])
    assert set(table.family[["gradient", "grad-cam", "sobel"]]) == {"gradient", "grad cam", "floor"}


def test_a_floor_stands_by_the_share_of_methods_ahead_of_it():
    def scores(values):
        rows = [
            {"method": name, "metric": metric, "training_seed": 0, "sample_id": "a", "floor": name == "f", "better": v}
            for metric in ("average-precision", "pointing-game")
            for name, v in values.items()
        ]
        return pd.DataFrame(rows)

    given = {"one": {"gradient": 0.9, "lrp-z": 0.5, "f": 0.7}, "other": {"gradient": 0.2, "lrp-z": 0.1, "f": 0.1}}
    spec = dataclasses.replace(bench_spec(), trainings=1)
    standing, rows = board_rows(spec, {name: scores(of) for name, of in given.items()}, {"lrp-z": 6.0})
    table = rows.set_index("method")
    assert table.place["f"] == pytest.approx((1 / 2 + (1 + 1 / 2) / 2) / 2)
    assert list(table.place[standing.methods]) == [0.0, 1.0], "floors move no method"
    assert list(table.cost[["lrp-z", "gradient"]]) == ["up to 100 passes", "not measured"]


def test_a_card_and_a_data_sets_page_open_with_their_conclusion(spec, results, site):
    found = against_floors(spec, results)
    scores = pd.read_parquet(results / ENTRY / "scores.parquet").query("metric == 'average-precision'")
    means = scores.groupby("method", observed=True)["value"].mean()
    for row in found.itertuples():
        assert row.difference == pytest.approx(means[row.method] - means[row.floor], abs=1e-6)
        assert row.outcome == ("better" if row.low > 0 else "worse" if row.high < 0 else "not told apart")
        page = (site / "methods" / f"{row.method}.html").read_text(encoding="utf-8")
        (listed,) = re.findall(rf"<dt>{row.outcome}.*?</dt><dd>(.*?)</dd>", page, re.IGNORECASE)
        assert f"perlin-lesions</a> ({row.difference:.2f})".replace("-0", "\N{MINUS SIGN}0") in listed
        assert page.index('class="lead"') < page.index("strongest floor") < page.index("Where it stands")
    data = (site / "data" / "perlin-lesions.html").read_text(encoding="utf-8")
    assert '<p class="lead">Dark lesions on Perlin noise' in data
    assert f"{(found['outcome'] == 'better').sum()} of 3 methods beat the strongest floor" in data


def test_rows_and_citation_are_downloaded_without_a_network(site, results, spec, watched):
    page, _, _ = watched
    page.goto((site / "index.html").as_uri())
    texts = []
    for name in ("CSV", "BibTeX"):
        with page.expect_download() as started:
            page.get_by_role("link", name=name, exact=True).click()
        texts.append(started.value.path().read_text(encoding="utf-8"))
    table = pd.read_csv(io.StringIO(texts[0]))
    expected = pd.concat([group.rows.assign(group=group.title) for group in read_groups(spec, results)])
    assert list(table["method"]) == list(expected["method"])
    assert list(table["regret"]) == pytest.approx(list(expected["regret"]), abs=1e-6)
    assert re.match(r"@misc\{salgen-bench-1,\n(  \w+ = \{.*\},?\n)+\}\n$", texts[1])
    assert spec.digest[:12] in texts[1]


def test_the_standing_is_sorted_and_filtered(site, watched):
    page, _, _ = watched
    page.goto((site / "index.html").as_uri())
    shown = lambda: page.locator("table[data-filtered] tbody tr:visible th").all_inner_texts()  # noqa: E731
    assert page.get_by_role("status").text_content() == f"{len(shown())} rows"
    page.get_by_role("button", name="Regret").click()
    regrets = page.locator("table[data-filtered] tbody tr:visible td:nth-child(4)").all_inner_texts()
    assert [float(text.split()[0]) for text in regrets] == sorted(float(text.split()[0]) for text in regrets)
    page.get_by_label("Floors").uncheck()
    assert sorted(shown()) == ["grad-cam", "gradient", "input-x-gradient"]
    page.get_by_label("Networks and images").select_option(label="lesion-cnn")
    page.get_by_label("Family").select_option("gradient")
    page.reload()  # the address holds the view
    assert sorted(shown()) == ["gradient", "input-x-gradient"]
    assert page.locator("table[data-filtered] caption").text_content().endswith("lesion-cnn, gradient")
    for form, head in (("CSV", "Ahead of Grad-CAM unit"), ("LaTeX", r"Ahead of Grad-CAM (\%)")):
        with page.expect_download() as started:
            page.get_by_role("button", name=f"{form} of Standing").click()
        saved = started.value.path().read_text(encoding="utf-8")
        rows = re.findall("^(gradient|input-x-gradient|grad-cam|sobel)[ ,]", saved, re.MULTILINE)
        assert (head in saved, sorted(rows)) == (True, ["gradient", "input-x-gradient"])


@pytest.mark.parametrize(("shares", "named"), [((0.25, 0.5), True), ((0.25, 0.75), False)])
def test_no_method_is_best_where_networks_use_the_cause_on_fewer_than_half_of_the_images(
    spec, results, tmp_path, capsys, monkeypatch, shares, named
):
    monkeypatch.setattr("salgen.evaluation.bench.versions.bench_spec", lambda: spec)
    folder = shutil.copytree(results, tmp_path / "results")
    with edited_record(folder / ENTRY) as record:
        for model, share in zip(record["certificates"]["models"], shares, strict=True):
            model["coverage"] = share
    text = board(spec, folder, tmp_path / "site").read_text(encoding="utf-8")
    assert text.index(">Standing</h2>") < text.index("Which networks use the cause?")
    lead = text[text.index('class="lead"') : text.index('<section id="standing">')]
    assert ("No method is called the best" in lead) == named
    assert "certified images have an order of their own" not in text, "no image is certified"
    assert ("On perlin-lesions fewer than half of the images are" in text) == named
    assert main(["bench", "table", "--results", str(folder)]) == 0
    assert ("on fewer than half of the images of perlin-lesions" in capsys.readouterr().err) == named
    assert main(["bench", "table", "--results", str(folder), "--samples", "certified"]) == 2
    assert "no image of these results is certified" in capsys.readouterr().err


def test_a_methods_page_has_its_means_and_a_data_sets_page_pictures(results, site):
    page = (site / "methods" / "gradient.html").read_text(encoding="utf-8")
    summary = pd.read_csv(results / ENTRY / "summary.csv").query("method == 'gradient'")
    for row in summary[summary["samples"].isin(["all", "certified"])].itertuples():
        assert f"{row.mean:.3f}" in page
        assert f"{row.ci_low:.3f} to {row.ci_high:.3f}" in page
    assert "studentised over clusters, or Gaffke" in page
    pictures = (site / "data" / "perlin-lesions.html").read_text(encoding="utf-8")
    assert pictures.count("<image") > 8
    assert "lesion-cnn-plain" in pictures


def test_a_method_that_only_another_network_has_has_a_page(spec, results, tmp_path):
    """A second network on the same data, under which one method is another one."""
    data = dataclasses.replace(spec.data[0], networks=[*spec.data[0].networks, "resnet18"])
    wider = dataclasses.replace(spec, data=[data])
    folder = shutil.copytree(results, tmp_path / "results")
    other = shutil.copytree(folder / ENTRY, folder / "perlin-lesions-resnet18-reliance")
    for name in ("run.json", "summary.csv"):
        text = (other / name).read_text(encoding="utf-8")
        (other / name).write_text(text.replace("grad-cam", "raw-attention"), encoding="utf-8")
    rows = pd.read_parquet(other / "scores.parquet")
    rows.assign(method=rows["method"].replace("grad-cam", "raw-attention")).to_parquet(other / "scores.parquet")
    text = board(wider, folder, tmp_path / "site").read_text(encoding="utf-8")
    (number,) = re.findall(r'<option value="(\d+)">resnet18<', text)
    assert {"raw-attention", "gradient", "sobel"} <= {method for method, *_ in rows_of(text, number)}
    assert "methods/raw-attention.html" in text
    page = (tmp_path / "site" / "methods" / "raw-attention.html").read_text(encoding="utf-8")
    assert "It is defined on none of the networks that methods are ranked by" in page
    row = pd.read_csv(other / "summary.csv").query("method == 'raw-attention'").iloc[0]
    assert f"{row['mean']:.3f}" in page
    table = (tmp_path / "site" / "data" / "perlin-lesions.html").read_text(encoding="utf-8")
    assert "../methods/raw-attention.html" in table


def test_the_agreement_is_kendalls_tau_of_means_with_students_interval_over_data_sets():
    rng = np.random.default_rng(0)
    scores, values = {}, []
    for name in ("one", "two", "three"):
        table = rng.normal(size=(6, 2))
        values.append(kendalltau(*table.T).statistic)
        samples = [pd.DataFrame(table + noise, columns=["a", "b"]).assign(method=list("uvwxyz")) for noise in (-9, 9)]
        scores[name] = pd.concat(samples).melt("method", var_name="metric", value_name="better")
    found = metric_agreement(scores, ["a", "b"])
    low, high = student.interval(0.95, 2, np.mean(values), np.std(values, ddof=1) / np.sqrt(3))
    for table, expected in zip(found, (np.mean(values), max(-1.0, low), min(1.0, high)), strict=True):
        assert table.at["a", "b"] == table.at["b", "a"] == pytest.approx(expected)
    assert found.mean.at["a", "a"] == 1.0


def test_the_command_takes_a_folder_of_results_and_replaces_the_site(spec, results, site, monkeypatch, capsys):
    monkeypatch.setattr("salgen.evaluation.bench.versions.bench_spec", lambda: spec)
    (site / "methods" / "gradient.html").unlink()
    assert main(["leaderboard", str(results), "--out", str(site)]) == 0
    assert capsys.readouterr().out == f"leaderboard: {site / 'index.html'}\n"
    assert (site / "methods" / "gradient.html").is_file()


def test_pages_are_readable_on_a_phone_on_paper_and_without_sight(site, watched):
    from browsers import check_page

    page, _, _ = watched
    for name in ("index", "methods/gradient", f"data/{next((site / 'data').iterdir()).stem}"):
        page.goto((site / f"{name}.html").as_uri())
        check_page(page)


def test_p_of_each_pair_of_37_methods_is_printed_on_one_sheet_across(site, watched):
    from browsers import CUT

    page, _, _ = watched
    page.goto((site / "index.html").as_uri())
    page.evaluate("""() => {
        const pairs = document.getElementById("pairs"), table = pairs.querySelector("tbody");
        while (table.rows.length < 37) table.append(table.rows[0].cloneNode(true));
        for (const row of pairs.querySelectorAll("tr")) {
            while (row.cells.length < 38) row.append(row.cells[1].cloneNode(true));
            [...row.cells].slice(1).forEach((cell) => { cell.textContent = "1.000" });
        }
        table.lastChild.cells[0].textContent = "37 contrastive-excitation-backprop";
        pairs.open = true;
    }""")
    printed = page.pdf(prefer_css_page_size=True, format="A4")
    sheets = re.findall(rb"/MediaBox\s*\[0 0 ([\d.]+) ([\d.]+)\]", printed)
    assert [float(width) > float(height) for width, height in sheets].count(True) == 1
    page.set_viewport_size({"width": 1032, "height": 700})  # A4 across between margins of 12 mm
    page.emulate_media(media="print")
    assert page.evaluate(CUT) == []


def test_pages_open_from_a_file_on_a_phone_and_by_keyboard(site, watched):
    page, asked, _ = watched
    page.goto((site / "index.html").as_uri())
    closed = page.locator("details:not([open]) > summary").first
    closed.focus()
    page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 1, "all was folded"
    page.locator("#standing tbody a").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/methods/*.html")
    assert page.locator("h1").inner_text() in {"grad-cam", "gradient", "input-x-gradient"}
    assert asked


def test_the_published_results_have_a_site(tmp_path):
    results = Path(__file__).parents[3] / "results"
    board(bench_spec(), results, tmp_path / "site")
    page = (tmp_path / "site" / "methods" / "gradient.html").read_text(encoding="utf-8")
    assert "parameter-randomization" in page
