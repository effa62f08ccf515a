"""The variants figure: the same sample in every variant, and under each map that map's own score."""

import math
import re
from pathlib import Path
import numpy as np
import pyarrow.parquet as pq
import pytest
from run_folders import edited_gallery, make_run
from test_report import Page, check_accessible, read
from salgen.evaluation.report import report
from salgen.evaluation.report.gallery import image_url, map_url, outline
from salgen.evaluation.report.grid import grid_estimates, variants_figure
from salgen.evaluation.report.study import Study, StudyCell, Variants

PAPER = ("gradient", "input-x-gradient", "grad-cam")
NAMES = ("original", "moved")


def made(tmp_path, **given):
    """Made-up runs for two variants, the second one with other properties."""
    small = {"methods": (*PAPER, "random", "oracle"), "metrics": ("m-gt",), "samples": 12, "size": 16, "pictures": 4}
    return {"original": make_run(tmp_path / "o", **small), "moved": make_run(tmp_path / "m", **(small | given))}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    runs = made(tmp_path_factory.mktemp("variants"), random_seed=1)
    cells = (StudyCell("lesions", "lesion-cnn", (runs["original"],)),)
    return Study("A study", "A paper", "m-gt", PAPER, cells, (Variants("lesion-cnn", runs),))


@pytest.fixture(scope="module")
def figure(study):
    return variants_figure(study.variants[0], study)


def own_score(run, method, sample):
    table = pq.read_table(run / "scores.parquet").to_pandas()
    chosen = table[(table.method == method) & (table.sample_id == sample) & (table.metric == "m-gt")]
    return float(chosen[chosen.variant == "region:brain"].value.iloc[0])


def test_the_same_sample_is_shown_in_every_variant_with_its_own_scores_and_pictures(study, figure):
    runs = study.variants[0].runs
    assert [(row.variant, row.id) for row in figure.rows] == [(name, "test-000000") for name in NAMES]
    assert [method for method, _ in figure.columns] == list(PAPER)
    for row in figure.rows:
        for (picture, value), method in zip(row.cells, PAPER, strict=True):
            assert value == pytest.approx(own_score(runs[row.variant], method, row.id))
            assert picture.alt == f"{method}, {row.id}"
    signed = dict(figure.columns)
    assert signed["input-x-gradient"]
    assert not signed["gradient"]
    for row in figure.rows:
        data = np.load(study.variants[0].runs[row.variant] / "gallery.npz")
        place = data["ids"].tolist().index(row.id)
        assert row.image.url == image_url(data["images"][place])
        assert row.contour == outline(data["masks"][place]) != ""
        for (picture, _), method in zip(row.cells, PAPER, strict=True):
            number = data["methods"].tolist().index(method)
            assert picture.url == map_url(data["maps"][number, place], signed[method])
    assert len({row.image.url for row in figure.rows}) == len(NAMES)


def test_the_page_has_scores_under_the_maps_and_means_below(study, figure, tmp_path):
    page = report([study.cells[0].runs[0]], tmp_path / "report.html", study)
    text = page.read_text(encoding="utf-8")
    shown = re.findall(r'<span class="value">([^<]*)</span>', text)
    assert shown == [f"{value:.3f}" for row in figure.rows for _, value in row.cells]
    cells = [StudyCell(name, "lesion-cnn", (run,)) for name, run in study.variants[0].runs.items()]
    estimates = grid_estimates(cells, PAPER, "m-gt")
    means = {place: {method: one.value for method, one in of.items()} for place, of in estimates.items()}
    (table,) = re.findall(r'aria-label="Means of the variants, lesion-cnn">(.*?)</table>', text, re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)[1:]
    for name, row in zip(NAMES, rows, strict=True):
        words = Page(f"<table><tr>{row}</tr></table>").text.split()
        assert " ".join(words).startswith(name.replace("_", " "))
        assert all(f"{mean:.3f}" in words for mean in means[name, "lesion-cnn"].values())
    check_accessible(read(page))


def section(runs):
    variants = Variants("lesion-cnn", runs)
    return variants_figure(variants, Study("t", "r", "m-gt", PAPER, (), (variants,)))


def test_a_method_that_a_variant_lacks_has_no_score_and_the_sample_is_the_first_that_all_kept(tmp_path):
    shown = section(made(tmp_path, methods=("gradient", "input-x-gradient", "random", "oracle")))
    cells = [row.cells[2] for row in shown.rows]
    assert [(bool(picture.url), math.isnan(score)) for picture, score in cells] == [(True, False), (False, True)]
    runs = made(tmp_path)
    with edited_gallery(runs["moved"]) as data:
        data["ids"] = np.array(["test_moved-000009", "test_moved-000003", "test_moved-000001", "test_moved-000002"])
    rows = pq.read_table(runs["moved"] / "scores.parquet").to_pandas()
    rows["sample_id"] = rows["sample_id"].str.replace("test-", "test_moved-")
    rows[rows["sample_id"] != "test_moved-000001"].to_parquet(runs["moved"] / "scores.parquet")
    assert [row.id for row in section(runs).rows] == ["test-000002", "test_moved-000002"]


def of_other_samples(path):
    with edited_gallery(path.parent) as data:
        data["ids"] = np.array([f"test-00001{i}" for i in range(4)])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Path.unlink, "a run holds no maps of this model"),
        (lambda path: path.write_bytes(b"no"), "gallery.npz is damaged"),
        (of_other_samples, "no sample was kept and scored in all variants"),
    ],
)
def test_without_common_pictures_the_page_says_why_and_keeps_the_means(tmp_path, change, words):
    runs = made(tmp_path)
    change(runs["moved"] / "gallery.npz")
    assert words in section(runs).fault
    variants = Variants("lesion-cnn", runs)
    page = report([runs["original"]], tmp_path / "r.html", Study("t", "r", "m-gt", PAPER, (), (variants,)))
    text = read(page).text
    assert f"The maps are left out, because {words}" in text
    assert "Means over all scored images of each variant" in text


def test_marks_stand_only_where_a_high_score_is_a_good_one(tmp_path):
    runs = made(tmp_path)
    variants = Variants("lesion-cnn", runs, marked=frozenset({"original"}))
    page = report([runs["original"]], tmp_path / "r.html", Study("t", "r", "m-gt", PAPER, (), (variants,)))
    text = page.read_text(encoding="utf-8")
    (table,) = re.findall(r'aria-label="Means of the variants, lesion-cnn">(.*?)</table>', text, re.DOTALL)
    original, moved = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)[1:]
    assert [original.count(mark) for mark in ("<strong>", "<u>", "right best")] == [1, 2, 1]
    assert not any(mark in moved for mark in ("<strong>", "<u>", "best"))
    said = read(page).text
    assert "marked as above, but for moved : there the scored mask is not the feature that the image shows" in said
    assert "how much of the old place a method still marks" in said
    by_default = section(runs)
    assert ([len(row.places) for row in by_default.means], by_default.unmarked) == ([3, 3], [])
