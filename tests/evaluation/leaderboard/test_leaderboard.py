"""A leaderboard holds the runs' own numbers, comes out the same every time, and replaces nothing but a leaderboard."""

import csv
import json
import math
import re
import shutil
from html import unescape
from types import SimpleNamespace
import pytest
from browsers import check_page
from hypothesis import given
from hypothesis import strategies as st
from run_folders import edited_record, make_run
from salgen.errors import SalgenError
from salgen.evaluation.leaderboard import site
from salgen.evaluation.leaderboard.index import matrices
from salgen.evaluation.leaderboard.rows import DIRECTIONS
from salgen.evaluation.leaderboard.site import leaderboard, page_names
from salgen.evaluation.statistics.run_tables import write_tables

METHODS = ("gradient", "lrp-z", "random", "sobel", "oracle")
NUMBERS = (
    *("n_clusters", "n_samples", "n_invalid_maps", "mean", "ci_low", "ci_high"),
    *("mean_worst_case", "normalised", "variant"),
)
SMALL = {"samples": 8, "pictures": 2, "size": 16, "methods": METHODS, "metrics": ("relevance-mass", "mae")}


def table(page, region="All results"):
    """The words in the cells of one of the page's tables, by row."""
    (found,) = re.findall(f'aria-label="{region}">(.*?)</table>', page, re.DOTALL)
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in found.split("<tr")[1:]]
    return [[unescape(re.sub("<[^>]*>", "", cell)) for cell in row] for row in rows]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two data sets; one of them with a model that learnt nothing, and three trainings."""
    folder = tmp_path_factory.mktemp("runs")
    unlearnt = {"name": "b & <i>", "model": "scnn", "seeds": 3, "accuracy": (0.5, 0.51, 0.49), "shift": -0.3}
    return [make_run(folder / "one", **SMALL), make_run(folder / "other", **unlearnt, **SMALL)]


@pytest.fixture(scope="module")
def built(runs, tmp_path_factory):
    out = tmp_path_factory.mktemp("leaderboard") / "site"
    assert leaderboard(runs, out) == out / "index.html"
    return out


def bytes_of(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def rows_in(folder):
    with open(folder / "leaderboard.csv", encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def summary_of(run):
    """The rows of ``summary.csv`` that a leaderboard should have, by what names them."""
    headline = json.loads((run / "run.json").read_text())["headline_variant"]
    write_tables(run)
    with open(run / "summary.csv", encoding="utf-8", newline="") as handle:
        rows = [r for r in csv.DictReader(handle) if r["samples"] == "all" and r["training_seed"] == "all"]
    return {(r["model"], r["method"], r["metric"]): r for r in rows if r["variant"] == headline}


def test_rows_are_the_summaries_best_first_with_failed_maps_as_the_worst(runs, built):
    found = rows_in(built)
    expected = {key: row for run in runs for key, row in summary_of(run).items()}
    assert len(found) == len(expected) == 2 * 2 * len(METHODS)
    for row in found:
        own = expected[row["model"], row["method"], row["metric"]]
        assert {key: row[key] for key in NUMBERS} == {key: own[key] for key in NUMBERS}
    of_runs = ("model", "dataset", "accuracy", "warning", "trainings")
    expected = {("lesion-cnn", "perlin-lesions", "0.9925", "", "1"), ("scnn", "b & <i>", "0.5", "near chance", "3")}
    assert {tuple(row[name] for name in of_runs) for row in found} == expected
    roles = dict(zip(METHODS, ("method", "method", "floor", "floor", "ceiling"), strict=True))
    assert all(row["role"] == roles[row["method"]] for row in found)
    directions = {("relevance-mass", "more is better"), ("mae", "less is better")}
    assert {(row["metric"], row["direction"]) for row in found} == directions
    page = (built / "index.html").read_text(encoding="utf-8")
    assert re.search(r"with 5 failed", page)  # lrp-z, relevance-mass
    for model in ("lesion-cnn", "scnn"):
        for metric, sign in (("relevance-mass", -1), ("mae", 1)):
            rows = [row for row in rows_in(built) if (row["model"], row["metric"]) == (model, metric)]
            means = [sign * float(row["mean_worst_case"]) for row in rows]
            assert means == sorted(means)


def test_the_page_shows_the_same_rows_and_standings_and_links_to_pages_that_exist(built):
    page = (built / "index.html").read_text(encoding="utf-8")
    head, *shown = table(page)
    found = rows_in(built)
    assert len(shown) == len(found)
    for cells, row in zip(shown, found, strict=True):
        cell = dict(zip(head, cells, strict=True))
        mean = cell["Mean"].split()[0].replace("\N{MINUS SIGN}", "-")
        assert float(mean) == pytest.approx(float(row["mean"]), abs=5.1e-4)
        assert (cell["Data set"], cell["Metric"].split()[0]) == (row["dataset"], row["metric"])
        assert cell["Method"].split() == [row["method"], *([row["role"]] if row["role"] != "method" else [])]
        assert (cell["Normalised"] == "–") == (row["normalised"] == "")  # noqa: RUF001
    links = {link for link in re.findall(r' (?:href|src|action)="([^#"]+)"', page) if link != "data:,"}
    assert links == {"leaderboard.csv", *(f"runs/{row['page']}" for row in found)}
    assert all((built / link).is_file() for link in links)
    for name in {row["page"] for row in found}:
        assert '<a href="../index.html">' in (built / "runs" / name).read_text(encoding="utf-8")
    for metric, choose in (("relevance-mass", max), ("mae", min)):
        head, *lines = table(page, f"{metric} by method and data set")
        assert "one" in head[3]
        assert "near chance" in head[2]
        methods = {cells[0]: cells[1:] for cells in lines if len(cells) > 1}
        found = {(row["method"], row["model"]): row for row in rows_in(built) if row["metric"] == metric}
        for (method, model), row in found.items():
            cell = methods[method][{"scnn": 1, "lesion-cnn": 2}[model]]
            assert float(cell) == pytest.approx(float(row["mean_worst_case"]), abs=5.1e-4)
        learnt = {method: float(methods[method][2]) for method in ("gradient", "lrp-z")}
        assert min(learnt, key=lambda method: float(methods[method][0])) == choose(learnt, key=learnt.get)
        assert [methods[control][0] for control in ("random", "oracle")] == ["", ""]
    heads = re.findall(r'<a class="block unit" href="runs/(\w+).html">(\w+)</a>', page)
    assert heads == [("other", "other"), ("one", "one")] * 2


def test_models_that_mostly_use_something_else_are_not_ranked_and_reliant_ones_are_told_apart(tmp_path):
    paths = [make_run(tmp_path / name, coverage=share, **SMALL) for name, share in (("p", 0.25), ("r", 1.0))]
    for path, settings in zip(paths, ({}, {"reliance": 2.0}), strict=True):
        with edited_record(path) as record:
            record["models"][0]["settings"] = settings
    leaderboard(paths, tmp_path / "site")
    text = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    heads = text[text.index('<table class="matrix">') : text.index("</thead>")]
    assert "25\u00a0% certified" in heads
    found = {(row["model"], float(row["certified"]), row["warning"]) for row in rows_in(tmp_path / "site")}
    assert found == {
        ("lesion-cnn", 0.25, "certified on fewer than half of the images"),
        ("lesion-cnn, for reliance", 1.0, ""),
    }


def row_of(**changes):
    usual = {"model": "", "warning": "", "direction": DIRECTIONS[True], "role": "method"}
    return SimpleNamespace(**usual | changes, standing=changes["mean"])


def test_a_matrix_names_all_that_share_the_best_mean_and_ranks_on_models_that_learnt():
    means = {"a": (0.9904, 0.2, 0.1), "b": (0.9896, 0.3, 0.2), "c": (0.5, 0.4, 0.9)}
    warnings = ("", "", "near chance")
    rows = [
        row_of(method=method, page=str(number), mean=mean, metric="m", warning=warnings[number])
        for method, column in means.items()
        for number, mean in enumerate(column)
    ]
    (matrix,) = matrices([*rows, row_of(method="oracle", role="ceiling", page="0", mean=1.0, metric="m")])
    lines = {line.label: line for line in matrix.groups["method"]}
    assert {name: line.best for name, line in lines.items()} == {
        "a": [True, False, False],
        "b": [True, False, False],
        "c": [False, True, False],
    }
    assert {name: line.rank for name, line in lines.items()} == {"a": 2.0, "b": 2.0, "c": 2.0}
    (ceiling,) = matrix.groups["ceiling"]
    assert not any(ceiling.best)
    assert ceiling.cells[1:] == [None, None]


def test_ceilings_stand_only_under_metrics_that_have_them_and_undefined_means_are_dashes(tmp_path):
    metrics = ("roc-auc", "insertion-auc")
    run = make_run(tmp_path / "run", **{**SMALL, "metrics": metrics, "samples": 12})
    rows = rows_in(leaderboard([run], tmp_path / "site").parent)
    assert {row["metric"] for row in rows if row["role"] == "ceiling"} == {"roc-auc"}
    assert {row["metric"] for row in rows if row["normalised"]} == {"roc-auc"}
    run = make_run(tmp_path / "few", **{**SMALL, "samples": 2, "variants": ("region:brain",)})
    rows = rows_in(leaderboard([run], tmp_path / "site").parent)
    assert {row["mean"] for row in rows} == {""}
    shown = table((tmp_path / "site/index.html").read_text(encoding="utf-8"))[1:]
    assert {tuple(cells[i].split()[0] for i in (2, 3, 5)) for cells in shown} == {("–",) * 3}  # noqa: RUF001


def test_runs_that_are_none_or_damaged(runs, tmp_path):
    bad = shutil.copytree(runs[0], tmp_path / "bad")
    (bad / "scores.parquet").write_bytes(b"no scores")
    for folders, message in (([], "no run folder"), ([bad, bad], "2 times"), ([bad], r"scores\.parquet is damaged")):
        with pytest.raises(SalgenError, match=message):
            leaderboard(folders, tmp_path / "site")
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_the_same_runs_give_the_same_bytes_in_any_order_and_data_sets_of_one_name_are_told_apart(runs, built, tmp_path):
    leaderboard(runs[::-1], tmp_path / "site")
    assert bytes_of(tmp_path / "site") == bytes_of(built)
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    leaderboard(runs[:1], tmp_path / "site")
    assert sorted(bytes_of(tmp_path / "site")) == ["index.html", "leaderboard.csv", "runs/one.html"]
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    shutil.copytree(runs[0], tmp_path / "a" / "one")
    with edited_record(tmp_path / "a" / "one") as record:
        record["dataset"]["fingerprint"] = "9" * 64
    rows = rows_in(leaderboard([runs[0], tmp_path / "a" / "one"], tmp_path / "site").parent)
    expected = {("perlin-lesions (01234567)", "one.html"), ("perlin-lesions (99999999)", "one-2.html")}
    assert {(row["dataset"], row["page"]) for row in rows} == expected


@pytest.mark.parametrize(
    ("first", "file", "out", "message"),
    [
        ("nothing", "site/mine.txt", "site", "not a leaderboard"),
        ("nothing", "site/index.html", "site", "not a leaderboard"),
        ("a leaderboard", "site/CNAME", "site", "which would be lost"),
        ("a leaderboard", "site/.git/config", "site", "which would be lost"),
        ("a leaderboard", "site/runs/notes.txt", "site", "which would be lost"),
        ("nothing", "mine.txt", ".", "contains the working directory"),
        ("nothing", "mine.txt", "mine.txt", "is a file: name a folder"),
        ("nothing", "mine.txt", "mine.txt/inner", "mine.txt"),
    ],
)
def test_what_is_in_the_way_is_not_lost(runs, built, tmp_path, monkeypatch, first, file, out, message):
    monkeypatch.chdir(tmp_path)
    if first == "a leaderboard":
        shutil.copytree(built, tmp_path / "site")
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("mine")
    before = bytes_of(tmp_path)
    with pytest.raises((SalgenError, OSError), match=message):
        leaderboard(runs[:1], out)
    assert bytes_of(tmp_path) == before


@pytest.mark.parametrize("stop", ["index_html", "sync_folder"])
def test_a_stopped_build_leaves_a_whole_leaderboard(runs, built, tmp_path, monkeypatch, stop):
    shutil.copytree(built, tmp_path / "site")

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(site, stop, stopped)
    with pytest.raises(KeyboardInterrupt):
        leaderboard(runs[:1], tmp_path / "site")
    pages = {"index_html": ["one.html", "other.html"], "sync_folder": ["one.html"]}[stop]
    assert sorted(path.name for path in (tmp_path / "site" / "runs").iterdir()) == pages
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


@given(st.lists(st.text(max_size=90) | st.sampled_from(["a", "A", "a-2", "..", "é"]), max_size=8))
def test_pages_have_safe_names_of_their_own(folders):
    names = page_names(folders)
    assert len({name.lower() for name in names}) == len(folders)
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9_=+][A-Za-z0-9._=+-]{0,95}\.html", name)


def column(page, name):
    """The values in a column of the rows that are shown, from top to bottom."""
    script = """name => {
        const heads = [...document.querySelectorAll("#leaderboard thead th")];
        const at = heads.findIndex(head => head.dataset.column === name);
        const rows = [...document.querySelectorAll("#leaderboard tbody tr")].filter(row => row.checkVisibility());
        return rows.map(row => row.cells[at].dataset.value);
    }"""
    return page.evaluate(script, name)


def sorting(page):
    return page.evaluate("() => [...document.querySelectorAll('[aria-sort]')].map(h => [h.dataset.column, h.ariaSort])")


def test_sorted_filtered_and_readable_in_a_browser(watched, built):
    page, _, _ = watched
    page.goto((built / "index.html").as_uri())
    assert len(column(page, "mean")) == 20
    page.get_by_role("button", name="Mean").focus()
    page.keyboard.press("Enter")
    means = [float(value) for value in column(page, "mean")]
    assert means == sorted(means, reverse=True)
    assert sorting(page) == [["mean", "descending"]]
    page.get_by_label("Metric", exact=True).select_option("mae")
    page.get_by_label("Floors and ceilings").uncheck()
    page.get_by_label("Words").fill("LRP scnn")
    assert column(page, "metric") == ["mae"]
    assert page.get_by_role("status").text_content() == "1 of 20 rows"
    page.get_by_label("Words").fill("")
    shown = column(page, "mean")
    assert len(shown) == 4
    page.reload()  # the address holds the view
    assert column(page, "mean") == shown == sorted(shown, key=float, reverse=True)
    assert column(page, "metric") == ["mae"] * 4
    assert sorting(page) == [["mean", "descending"]]
    assert not page.get_by_label("Floors and ceilings").is_checked()
    page.get_by_role("button", name="Mean").click()
    assert column(page, "mean") == shown[::-1]
    page.get_by_role("button", name="Show everything").click()
    assert len(column(page, "mean")) == 20
    assert sorting(page) == []
    page.goto((built / "index.html").as_uri())
    check_page(page)


def test_every_column_sorts_and_undefined_stands_last(watched, built, tmp_path):
    page, _, _ = watched
    text = (built / "index.html").read_text(encoding="utf-8")
    text = re.sub(r'(<td class="right mean" data-value=")[^"]*', r"\1nan", text, count=1)
    (tmp_path / "index.html").write_text(text, encoding="utf-8")
    page.goto((tmp_path / "index.html").as_uri())
    heads = "() => [...document.querySelectorAll('#leaderboard thead th')].map(h => h.dataset.column)"
    for name in page.evaluate(heads):
        button = page.locator(f"th[data-column={name}] button")
        numeric = name in ("accuracy", "certified", "mean", "interval", "n_samples", "normalised")
        for _ in range(2):
            button.click()
            descending = sorting(page)[0] == [name, "descending"]
            values = [float(value) if numeric else value.lower() for value in column(page, name)]
            known = [value for value in values if value == value]
            assert known == sorted(known, reverse=descending)
            assert values[: len(known)] == known
            undefined = values[len(known) :]
            assert all(math.isnan(value) for value in undefined)
            without_interval = sum(row["ci_low"] == "" for row in rows_in(built))
            assert len(undefined) == {"mean": 1, "interval": without_interval, "certified": len(values)}.get(name, 0)


def test_a_shared_address_is_trusted_with_nothing_and_without_scripts_it_is_a_plain_table(watched, built, browser):
    page, _, _ = watched
    page.goto((built / "index.html").as_uri() + "#metric=%3Cb%3E&sort=nothing&order=up&model=scnn&text=%25")
    assert column(page, "model") == ["scnn"] * 10  # the rest names nothing; all rows have a per cent sign
    assert sorting(page) == []
    page.evaluate("() => { location.hash = 'sort=n_samples&order=up&model=scnn' }")
    page.wait_for_function("() => document.getElementById('count').textContent === '10 of 20 rows'")
    assert sorting(page) == [["n_samples", "ascending"]]
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((built / "index.html").as_uri())
    assert page.locator("#leaderboard tbody tr").count() == 20
    assert not page.locator("form").is_visible()
    assert page.locator("thead button").count() == 0
    context.close()
