"""The grid of a study: its means are the summary's, its marks follow from them, and its figures show the scores."""

import math
import re
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_folders import edited_gallery, edited_record, edited_scores, make_run
from test_report import Page, check_accessible, read
from salgen.errors import SalgenError
from salgen.evaluation.report import report
from salgen.evaluation.report.figures import box_figures
from salgen.evaluation.report.grid import ROWS, grid_estimates, image_grid, places, read_grid
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.report.study import Finding, Study, StudyCell

PAPER = ("guided-backprop", "gradient", "grad-cam", "smoothgrad")
CALLS = (*PAPER, "lrp-z", "random", "sobel", "oracle")
SMALL = {"methods": CALLS, "metrics": ("roc-auc", "m-gt"), "samples": 20, "pictures": 6, "size": 16}


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """Two data sets under two models; the first cell is of two runs with seeds, the last one lacks a method."""
    root = tmp_path_factory.mktemp("grid")

    def run(folder, **given):
        return make_run(root / folder, **(SMALL | given))

    without = tuple(call for call in CALLS if call != "grad-cam")
    return (
        StudyCell(
            "signs", "scnn", (run("a", model="scnn", seeds=2), run("a2", model="scnn", random_seed=9, samples=12))
        ),
        StudyCell("signs", "vgg16", (run("b", model="vgg16", shift=-0.2, accuracy=(0.52,)),)),
        StudyCell("zings", "scnn", (run("c", model="scnn", shift=-0.1, undefined=False),)),
        StudyCell("zings", "vgg16", (run("d", model="vgg16", methods=without),)),
    )


@pytest.fixture(scope="module")
def study(cells):
    findings = (
        Finding("grad-cam is last", "not held", "0.5 against 0.4", "18 clusters, 18 samples, 2 trained models"),
        Finding("all are good", "undecided", "at least 0.3", "4 clusters, 4 samples, 1 trained model"),
        Finding("it is fast", "not testable here", "no clock"),
    )
    return Study("A paper's grid", "Somebody et al. 2023", "m-gt", PAPER, cells, (), findings, ("Only stand-ins.",))


@pytest.fixture(scope="module")
def page(study, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    return report([study.cells[0].runs[0]], path, study)


def values(path, model, method):
    """The m-gt scores in the headline variant with failed maps as worst, read without the report's code."""
    table = pq.read_table(path / "scores.parquet").to_pandas()
    chosen = table[(table.model == model) & (table.method == method) & (table.metric == "m-gt")]
    worst = chosen[chosen.variant == "region:brain"].value_worst_case.to_numpy()
    return worst[np.isfinite(worst)]


def grid_means(cells, methods, metric):
    """The means of the cells without their uncertainty."""
    found = grid_estimates(cells, methods, metric)
    return {place: {method: estimate.value for method, estimate in of.items()} for place, of in found.items()}


def body(path, label):
    """The table of a region as rows of (classes, words) cells."""
    (found,) = re.findall(rf'aria-label="{label}">(.*?)</table>', path.read_text(encoding="utf-8"), re.DOTALL)
    rows = re.findall(r"<tr>(.*?)</tr>", found, re.DOTALL)
    return [
        [Page(f"<p>{cell}</p>").text for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", r, re.DOTALL)] for r in rows
    ]


def test_means_are_over_all_samples_with_a_mask_of_all_runs_and_seeds(cells, study):
    means = grid_means(cells, PAPER, "m-gt")
    assert list(means) == [(cell.dataset, cell.model) for cell in cells]
    for cell in cells:
        for method, mean in means[cell.dataset, cell.model].items():
            pooled = np.concatenate([values(path, cell.model, method) for path in cell.runs])
            assert math.isnan(mean) if not pooled.size else mean == pytest.approx(pooled.mean())
    assert math.isnan(means["zings", "vgg16"]["grad-cam"])
    assert list(means["signs", "scnn"]) == list(PAPER)
    rows = read_grid(study.cells, study.methods, study.metric)
    assert rows[0].entries[PAPER[0]].values.size == 18 * 2 + 10  # two of each run have an empty mask
    means = grid_means(study.cells, (*PAPER, "random", "oracle"), "m-gt")
    for row in rows:
        for method, mean in means[row.cell.dataset, row.cell.model].items():
            assert row.entries[method].mean == pytest.approx(mean, nan_ok=True)
            assert (row.entries[method].values.size == 0) == math.isnan(mean)


def test_a_method_does_not_gain_by_failing_and_one_that_always_fails_is_undefined(tmp_path):
    path = make_run(tmp_path / "run", **(SMALL | {"undefined": False, "pictures": 0}))
    seen = 0
    with edited_scores(path) as rows:
        for row in rows:
            early = row["method"] == "smoothgrad" and row["sample_id"] < "test-000005"
            if (early or row["method"] == "gradient") and row["metric"] == "m-gt":
                row |= {"value": math.nan, "value_worst_case": 0.0, "reason": "non_finite_map"}
                seen += early and row["variant"] == "region:brain"
    (row,) = read_grid([StudyCell("x", "lesion-cnn", (path,))], PAPER, "m-gt")
    assert math.isnan(row.entries["gradient"].mean)
    assert row.entries["smoothgrad"].failed == seen == 5
    assert row.entries["smoothgrad"].values.size == 20
    assert (row.entries["smoothgrad"].values == 0).sum() >= 5
    study = Study("t", "r", "m-gt", PAPER, (StudyCell("x", "lesion-cnn", (path,)),))
    assert "5 failed" in read(report([path], study=study)).text


def test_accuracy_is_of_the_first_runs_split_and_runs_need_the_metric_and_model(tmp_path, cells):
    runs = [make_run(tmp_path / name, **SMALL, accuracy=(a,)) for name, a in (("test", 0.9), ("train", 1.0))]
    with edited_record(runs[1]) as record:
        record["dataset"]["split"] = "train"
    cell = StudyCell("x", "lesion-cnn", tuple(runs))
    (row,) = read_grid([cell], PAPER, "m-gt")
    assert (row.accuracy, row.splits, row.samples) == (0.9, ["test", "train"], 40)
    page = report(runs, tmp_path / "r.html", Study("t", "r", "m-gt", PAPER, (cell,)))
    assert body(page, "Means of m-gt")[1][2:4] == ["40 test, train", "90.0 % test"]
    with pytest.raises(SalgenError, match="has no scores of prec99"):
        grid_means(cells[:1], PAPER, "prec99")
    with pytest.raises(SalgenError, match="nowhere is not a run folder"):
        grid_means([StudyCell("signs", "scnn", (tmp_path / "nowhere",))], PAPER, "m-gt")
    two = make_run(tmp_path / "two", **SMALL)
    tables = [pq.read_table(path / "scores.parquet") for path in (two, cells[0].runs[1])]
    pq.write_table(pa.concat_tables(tables), two / "scores.parquet")
    assert len(read_runs([two])[0].model_names) == 2
    with pytest.raises(SalgenError, match="has no scores of model 'vgg16': it has lesion-cnn, scnn"):
        grid_means([StudyCell("x", "vgg16", (two,))], PAPER, "m-gt")


@given(st.lists(st.sampled_from([0.1, 0.1004, 0.2, 0.3, 0.9, math.nan]), min_size=2, max_size=7), st.booleans())
def test_the_best_three_are_marked_and_ties_share_a_mark(numbers, higher):
    found = places({str(i): number for i, number in enumerate(numbers)}, higher)
    known = sorted((round(n, 3) for n in numbers if not math.isnan(n)), reverse=higher)
    for i, number in enumerate(numbers):
        shown = round(number, 3)
        expected = known.index(shown) + 1 if shown in known and len(known) > 1 else 9
        assert found.get(str(i), 9) == (expected if expected <= 3 else 9)
    assert places({"a": 0.1, "b": 0.2}, None) == {}, "a diagnostic"


def test_the_table_on_the_page_has_means_marks_and_bounds(study, page):
    head, *rows = body(page, "Means of m-gt")
    assert head == ["Data set", "Model", "Images", "Accuracy", *PAPER, "floor random", "ceiling oracle"]
    assert [len(row) for row in rows] == [10, 9, 10, 9]  # a data set's name spans its rows
    words = {1: " best", 2: " second", 3: " third"}
    for row, cells in zip(read_grid(study.cells, PAPER, "m-gt"), rows, strict=True):
        for method, cell in zip(PAPER, cells[-6:-2], strict=True):
            mean = row.entries[method].mean
            assert cell == ("–" if math.isnan(mean) else f"{mean:.3f}{words.get(row.places.get(method), '')}")  # noqa: RUF001
        assert cells[-2:] == [f"{row.entries[call].mean:.3f}" for call in ("random", "oracle")]
        assert sorted(row.places.values())[:1] == [1]
    assert rows[0][:4] == ["signs", "scnn 2 trainings", "32", "99.4 %"]
    assert "near chance" in rows[1][2]


def test_findings_have_a_verdict_in_words_in_a_section_after_the_answer(page, cells, tmp_path):
    assert body(page, "Findings")[1:] == [
        ["grad-cam is last", "not held", "0.5 against 0.4", "18 clusters, 18 samples, 2 trained models"],
        ["all are good", "undecided", "at least 0.3", "4 clusters, 4 samples, 1 trained model"],
        ["it is fast", "not testable here", "no clock", ""],
    ]
    found = read(page)
    assert "not tests that it passes or fails" in found.text
    assert "Only stand-ins." in found.text
    check_accessible(found)
    order = [attributes["id"] for tag, attributes in found.tags if tag == "section"]
    assert order[:2] == ["answer", "study"]
    plain = report([cells[0].runs[0]], tmp_path / "plain.html")
    assert 'id="study"' not in plain.read_text()


def test_there_is_a_figure_for_each_model_and_a_panel_for_each_data_set(cells):
    rows = read_grid(cells, PAPER, "m-gt")
    figures = box_figures(rows, "m-gt")
    assert [*figures] == ["scnn", "vgg16"]
    assert [*figures["scnn"]] == [*figures["vgg16"]] == ["signs", "zings"]
    panel = figures["scnn"]["zings"]
    row = next(row for row in rows if (row.cell.dataset, row.cell.model) == ("zings", "scnn"))
    for method in PAPER:
        mean, (q1, median, q3) = row.entries[method].mean, np.quantile(row.entries[method].values, [0.25, 0.5, 0.75])
        said = f"{method}: mean {mean:.3f}, median {median:.3f}, middle half {q1:.3f} to {q3:.3f}"
        assert f"<title>{said}</title>" in panel
    assert panel.count('class="half"') == 6
    assert "not scored, or undefined" in figures["vgg16"]["zings"]
    assert "not scored" not in panel


def test_image_grids_show_the_papers_methods_of_each_class_in_turn_or_say_what_is_missing(cells, page, tmp_path):
    rows = read_grid(cells, PAPER, "m-gt")
    shown = image_grid(rows[0], PAPER).gallery
    assert [method for method, _, _ in shown.columns] == list(PAPER)
    assert [row.true_class for row in shown.rows] == ["lesions"] * 3
    assert all(len(row.pictures) == 2 + len(PAPER) and row.contour for row in shown.rows)
    lacking = image_grid(rows[3], PAPER).gallery.columns
    assert [method for method, _, _ in lacking] == [method for method in PAPER if method != "grad-cam"]
    assert page.read_text().count('aria-label="Image grid of') == 4
    path = make_run(tmp_path / "run", **SMALL)
    with edited_gallery(path) as data:
        data |= {"labels": np.array([1, 1, 1, 0, 0, 0]), "masks": np.ones_like(data["masks"])}
    row = read_grid([StudyCell("x", "lesion-cnn", (path,))], PAPER, "m-gt")[0]
    assert [row.id[-1] for row in image_grid(row, PAPER).gallery.rows] == ["0", "3", "1", "4"]
    assert ROWS == 4
    runs = [make_run(tmp_path / name, **(SMALL | {"pictures": n})) for name, n in (("none", 0), ("broken", 6))]
    (runs[1] / "gallery.npz").write_bytes(b"no")
    cells = tuple(StudyCell(run.name, "lesion-cnn", (run,)) for run in runs)
    text = read(report(runs, tmp_path / "r.html", Study("t", "r", "m-gt", PAPER, cells))).text
    assert "none, lesion-cnn: its pictures are left out, because its runs hold none." in text
    assert "broken, lesion-cnn: its pictures are left out, because gallery.npz is damaged" in text
