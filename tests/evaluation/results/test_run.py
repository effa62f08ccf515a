"""A run as an object says what its files say."""

import csv
import re
import xml.etree.ElementTree as ElementTree
import matplotlib as mpl
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from kept_runs import CALLS, METRICS, make_data, make_run
from matplotlib.colors import same_color
from PIL import Image
import salgen
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.report import console
from salgen.evaluation.report.runs import METHOD, read_runs
from salgen.evaluation.report.tables import means_table
from salgen.evaluation.report.verdicts import verdict
from salgen.evaluation.results.run import COLOURS
from salgen.evaluation.training.checkpoints import load_checkpoint

mpl.use("agg")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("results")
    return salgen.load(make_run(make_data(place), place / "run"))


@pytest.fixture
def learnt(monkeypatch):
    """As if the model had learnt the task and used the feature, so that methods may be judged."""
    monkeypatch.setattr("salgen.evaluation.results.run.no_verdict", lambda *_: "")


def test_tables_and_means_equal_the_files(run, tmp_path):
    assert run.scores.equals(pq.read_table(run.path / "scores.parquet").to_pandas())
    assert run.predictions.equals(pq.read_table(run / "predictions.parquet").to_pandas())
    assert run.certificates.equals(pq.read_table(run / "certificates.parquet").to_pandas())
    for name, table in (("summary", run.summary), ("comparisons", run.comparisons)):
        with (run / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert list(table.columns) == list(rows[0])
        for column in rows[0]:
            written = [row[column] for row in rows]
            held = ["" if pd.isna(value) else value for value in table[column]]
            read = [type(value)(text) if text else "" for value, text in zip(held, written, strict=True)]
            assert read == held
    scores = run.scores
    for metric in METRICS:
        variant = run.record.headline_variant if metric != "idr" else "whole image"
        chosen = scores[(scores.metric == metric) & (scores.variant == variant)]
        for method in CALLS:
            expected = chosen[chosen.method == method]["value"].mean()
            assert run.means.loc[method, metric] == pytest.approx(expected, nan_ok=True)
    (tmp_path / "run.json").write_bytes((run / "run.json").read_bytes())
    text = (run / "summary.csv").read_text(encoding="utf-8")
    (tmp_path / "summary.csv").write_text(text.replace("gradient", "'=gradient"), encoding="utf-8")
    table = salgen.load(tmp_path).summary
    assert "=gradient" in set(table.method)
    table["method"] = table["method"].replace("=gradient", "gradient")
    pd.testing.assert_frame_equal(table, run.summary)


def test_the_best_are_those_of_the_page_and_the_recommendation_says_how_far_the_mask_counts(run, learnt):
    (tables,) = read_runs([run])
    for samples in ("all", "correct"):
        page = verdict(tables, "lesion-cnn", "average-precision", samples)
        found = run.best("average-precision", samples=samples)
        assert found == [call for call, _ in (*page.winners, *page.tied)]
    assert set(run.best()) <= set(CALLS)
    assert run.best() == run.best("roc-auc", variant=run.record.headline_variant, model="lesion-cnn")
    (line,) = run.record.certificates.models
    assert f"The network relies on the mask for {line.coverage:.0%} of the images." in str(run.choose())


def test_without_learning_no_method_is_best_and_the_recommended_one_has_the_largest_mean(run):
    (tables,) = read_runs([run])
    assert console.no_verdict(tables, "lesion-cnn")
    with pytest.warns(SalgenWarning, match="no method can be judged by it"):
        assert run.best() == []
    found = run.choose()
    rows = run.scores.query(f"metric == 'average-precision' and variant == '{run.record.headline_variant}'")
    means = rows.groupby("method")["value_worst_case"].mean()
    floors = found.table.index[found.table["floor"]]
    assert set(found.table.index) == set(means.index) - {"oracle", "oracle-7x7", "oracle-edges"}
    assert found.method == means[CALLS].idxmax()
    assert found.table["mean"].to_dict() == pytest.approx(means[found.table.index].to_dict())
    assert {"center", "random"} <= set(floors)
    assert found.table["images"].unique().tolist() == [run.record.samples["with_mask"]]
    assert "Do not believe it yet: the model has not learnt the task" in str(found)


def test_two_methods_are_compared_in_either_order_and_found_without_parameters(run, monkeypatch):
    first, second = run.compare(*CALLS), run.compare(*CALLS[::-1])
    chosen = run.scores[(run.scores.metric == "roc-auc") & (run.scores.variant == run.record.headline_variant)]
    values = [chosen[chosen.method == call].set_index("sample_id")["value_worst_case"] for call in CALLS]
    assert first.difference == pytest.approx((values[0] - values[1]).mean())
    assert (first.method_a, second.method_a) == tuple(CALLS)
    assert second.difference == -first.difference
    assert second.win_share == pytest.approx(1 - first.win_share)
    assert (first.p_holm, first.n_samples) == (second.p_holm, second.n_samples)
    full = "lrp-alpha-beta:alpha=1,beta=0"
    assert run.compare("gradient", "lrp-alpha-beta") == run.compare("gradient", full)
    assert run.maps("lrp-alpha-beta").method == full
    with pytest.raises(SalgenError, match=r"has rise several times: give one of rise:n=2; rise:n=3"):
        run._method("rise", ["gradient", "rise:n=2", "rise:n=3"])


def test_maps_are_those_that_explain_gives_or_said_to_be_missing(run, tmp_path):
    data = salgen.load(run.path.parent / "lesions", "test")
    scored = [data[index] for index in range(len(data)) if data[index]["mask"].any()]
    model = load_checkpoint(run / "lesion-cnn-seed0")
    maps = run.maps("gradient")
    assert maps.ids == tuple(item["id"] for item in scored)
    images, labels = np.stack([item["image"] for item in scored]), [item["label"] for item in scored]
    expected = salgen.explain(model.classifier, images, labels, method="gradient", ids=maps.ids)
    np.testing.assert_allclose(np.asarray(maps), np.asarray(expected), atol=1e-6)
    for name in ("reduction", "signed", "native_resolution"):
        assert getattr(maps, name) == getattr(expected, name)
    rescored = salgen.rescore(run, metrics=["iou"], out=tmp_path / "rescored")
    assert isinstance(rescored, salgen.Run)
    assert isinstance(rescored.summary, pd.DataFrame)
    with pytest.raises(SalgenError, match=r"holds no maps of gradient: evaluate with keep_maps=True"):
        rescored.maps("gradient")


def test_the_plot_shows_means_and_intervals_in_order(run):
    axes = run.plot()
    labels = [text.get_text() for text in axes.get_yticklabels()]
    means = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert means == sorted(means)
    assert dict(zip(labels, means, strict=True)) == pytest.approx(run.means["roc-auc"].dropna().to_dict())
    of_methods = [line for line in axes.lines if same_color(line.get_color(), COLOURS[METHOD])]
    assert len(of_methods) == 2 * len(CALLS)
    assert run.plot("average-precision", ax=axes) is axes


@pytest.mark.parametrize("width", [3.3, 6.9])
def test_a_plot_has_title_axis_and_legend_and_is_saved_whole_in_inches_and_the_same_bytes(run, width, tmp_path):
    figure = run.plot(width=width).figure
    (axes,), (legend,) = figure.axes, figure.legends
    assert axes.get_title(loc="right").replace("\n", " ").startswith("lesions, lesion-cnn: ")
    assert axes.get_xlabel().replace("\n", " ").startswith("mean roc-auc with 95 % interval, ")
    assert {"floor", "ceiling"} < {text.get_text() for text in legend.get_texts()}
    figure.canvas.draw()
    drawn = figure.get_tightbbox()
    assert min(drawn.x0, drawn.y0) >= 0
    assert (drawn.x1 <= width, drawn.y1 <= figure.get_figheight()) == (True, True)
    pdf = run.save_plot(tmp_path / "plot.pdf", width=width).read_bytes()
    (box,) = re.findall(rb"/MediaBox \[([^]]*)\]", pdf)
    assert float(box.split()[2]) == pytest.approx(72 * width)
    assert b"/FontFile2" in pdf
    assert b"/Type3" not in pdf
    assert run.save_plot(tmp_path / "again.pdf", width=width).read_bytes() == pdf
    root = ElementTree.parse(run.save_plot(tmp_path / "plot.svg", width=width)).getroot()
    assert root.get("width") == f"{72 * width:g}pt"
    assert "gradient" in {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert Image.open(run.save_plot(tmp_path / "plot.png", width=width)).width == int(110 * width)
    with pytest.raises(SalgenError, match=r"plot\.gif is no name of a figure: end it with \.png, \.svg or \.pdf"):
        run.save_plot(tmp_path / "plot.gif")


def test_a_notebook_shows_means_with_marks_in_the_order_of_the_page(run):
    (tables,) = read_runs([run])
    lines = means_table(tables, "lesion-cnn", tables.variants[0], tables.metrics).lines
    table = ElementTree.fromstring(re.search(r"<table.*</table>", run._repr_html_(), re.DOTALL)[0])
    head, *rows = ([cell.text or "" for cell in row] for row in table.iter("tr"))
    assert head == ["", *tables.metrics]
    for (label, *texts), line in zip(rows, lines, strict=True):
        cell, text = line.cells["roc-auc"], texts[tables.metrics.index("roc-auc")]
        assert label == line.label
        assert ("★" in text, "≈" in text, "▽" in text) == (cell.best, cell.tied and not cell.best, cell.below_floor)
        assert text == "" or float(text.split()[0]) == pytest.approx(cell.row.mean, abs=5.1e-4)


def test_a_run_stands_for_its_folder(run, tmp_path, monkeypatch):
    assert repr(run) == f"Run('{run.path}': lesions, lesion-cnn, 13 methods, 3 metrics, 7 samples)"
    assert f"{run}/scores.parquet" == str(run / "scores.parquet")
    lines = str(run).splitlines()
    assert lines[-1] == f"run folder: {run.path} (means: run.means, page: run.report())"
    assert "\n".join(lines[:-1]) == console.console_summary([run]).partition("\n\nmeans over")[0]
    assert "<td>" in run._repr_html_()
    assert "test accuracy" in run._repr_html_()
    assert salgen.verify(run) == []
    page = run.report(tmp_path / "page.html")
    assert page.read_bytes() == salgen.report([run], tmp_path / "other.html").read_bytes()
    monkeypatch.setattr("salgen.evaluation.results.run.accuracy_line", lambda *_: "<img src=x>")
    assert "<img" not in run._repr_html_(), "a name is no HTML"


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda run: run.best("roc-acu"), "did you mean 'roc-auc'"),
        (lambda run: run.best(samples="right"), "unknown samples 'right'"),
        (lambda run: run.best(variant="region:skull"), "unknown variant of roc-auc 'region:skull'"),
        (lambda run: run.best(model="scnn"), "unknown model"),
        (lambda run: run.compare("gradient", "gradeint"), "unknown method"),
        (lambda run: run.compare("gradient", "oracle"), "gradient and oracle are not compared: name two"),
        (lambda run: run.maps("grad-cam"), "unknown method"),
        (lambda run: run.maps("gradient", seed=3), "unknown training seed"),
        (lambda run: salgen.Run(run.path.parent), "is not a run folder"),
        (lambda run: run.choose(metric="prec99"), "metric of"),
        (lambda run: run.choose(metric="idr"), "unknown metric to choose by"),
        (lambda run: run.choose(seed=7), "training seed"),
    ],
)
def test_wrong_names_are_one_line(run, ask, words):
    with pytest.raises(SalgenError, match=words):
        ask(run)
