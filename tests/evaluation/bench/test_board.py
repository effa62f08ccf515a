"""The board: every number is that of the tables, every link leads somewhere, and a browser shows it."""

import dataclasses
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


def test_the_first_page_has_the_standing_and_the_p_value_of_each_pair(spec, results, site):
    found = standing_by(spec, method_scores(spec, results, main_entries(spec)))
    text = (site / "index.html").read_text(encoding="utf-8")
    table = text[text.index("<details open>") : text.index("</details>")]
    rows = re.findall(r'methods/([a-z-]+)\.html">.*?<td class="right mean">([0-9.]+)</td>', table)
    assert [method for method, _ in rows] == found.methods
    assert [float(place) for _, place in rows] == pytest.approx(found.places, abs=5e-4)
    assert found.methods[0] in text[: text.index("has the best mean place")]
    pairs = text[text.index("p of each pair") : text.index("Networks with weights in closed form")]
    assert re.findall(r'class="name">\d+ ([a-z-]+)<', pairs) == found.methods
    assert pairs.count("<td") == len(found.methods) ** 2


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
    main_view = text[text.index("<details open>") : text.index("</details>")]
    assert ("No method is called the best." in main_view) == named
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
    networks = text[text.index('<section id="networks">') : text.index('<section id="agreement">')]
    assert "perlin-lesions-resnet18-reliance" in networks
    assert "methods/raw-attention.html" in networks
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


def test_pages_open_from_a_file_on_a_phone_and_by_keyboard(site, watched):
    page, asked, _ = watched
    page.goto((site / "index.html").as_uri())
    closed = page.locator("details:not([open]) > summary").first
    closed.focus()
    page.keyboard.press("Enter")
    assert page.locator("details[open]").count() == 2
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
