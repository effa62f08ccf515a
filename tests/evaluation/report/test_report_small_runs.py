"""What is said of one method, of a model that learnt nothing, of images without a mask, and of faulty runs."""

import re
import pytest
from run_folders import edited_record, edited_scores, make_run
from test_report import read
from salgen.evaluation.metrics.inputs.metric import FITTED_METHOD, MISCLASSIFIED
from salgen.evaluation.report import console_summary, report
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.report.tables import means_table, panels
from salgen.evaluation.report.undefined import DROPPED, NOT_RANKED, meaning, undefined_lines
from salgen.evaluation.report.verdicts import verdict

MODEL = "lesion-cnn"
SMALL = {"samples": 24, "pictures": 0, "metrics": ("roc-auc", "prec99"), "undefined": False}


def add_scores(path, metric, count, *, correct=lambda i: True, source="roc-auc", **values):
    """Scores of one more metric on as many samples of the run's numbering."""
    with edited_scores(path) as rows, edited_record(path) as record:
        of_source = [row for row in rows if row["metric"] == source]
        certified = {row["sample_id"]: row["certified"] for row in of_source}
        series = {(row["method"], row["training_seed"]): row for row in of_source}.values()
        rows += [
            row
            | {"metric": metric, "variant": "region:image", "sample_id": f"test-{i:06d}", "cluster": f"object-{i}"}
            | {"correct": correct(i), "certified": certified.get(f"test-{i:06d}"), **values}
            for row in series
            for i in range(count)
        ]
        record["metrics"].append(metric)


@pytest.mark.parametrize(
    ("method", "result"), [("guided-backprop", "is significantly better"), ("deconvnet", "is not significantly better")]
)
def test_one_method_is_told_by_its_score_and_the_floors(tmp_path, method, result):
    path = make_run(tmp_path / "run", **SMALL, methods=(method, "random", "sobel", "oracle"))
    run = read_runs([path])[0]
    means = {key[0]: run.row(MODEL, key, "roc-auc", "region:brain").mean for key in run.keys(MODEL)}
    text = console_summary([path])
    score = f"{method}: roc-auc {means[method]:.3f} for this one trained model"
    said = f"{method} {result} than sobel, the strongest floor and an edge filter ({means['sobel']:.3f})"
    assert {score, said} <= set(text.splitlines())
    assert "best" not in text
    assert "every other" not in text
    words = read(report([path])).text.partition("Short answer")[2]
    assert said[1:] in words
    assert f"{method} has a mean roc-auc :" in words
    for claim in ("the highest", "very other method", "Every method", "Best by the other metrics", "the best"):
        assert claim not in words.partition("Definitions of the metrics")[0]


def test_one_method_with_no_floor_few_images_or_others_without_a_score(tmp_path):
    path = make_run(tmp_path / "floor", **SMALL, methods=("guided-backprop", "random"))
    assert "uided-backprop is significantly better than random, the strongest floor" in read(report([path])).text
    path = make_run(tmp_path / "run", **SMALL, methods=("gradient",))
    assert "there is no floor to compare it with" in console_summary([path])
    path = make_run(tmp_path / "few", **(SMALL | {"samples": 3}), methods=("gradient", "sobel"))
    assert "3 images are too few to tell it from a floor" in console_summary([path])
    path = make_run(tmp_path / "run", **SMALL, methods=("gradient", "deconvnet", "sobel"))
    with edited_scores(path) as table:
        for row in table:
            if row["method"] == "deconvnet":
                row |= {"value": float("nan"), "value_worst_case": float("nan"), "reason": FITTED_METHOD}
    assert "best by roc-auc for this one trained model: gradient; no other has a score" in console_summary([path])
    text = read(report([path])).text
    assert "Every other method" not in text
    assert "Not compared, because every score is undefined: deconvnet" in text


def test_one_method_bears_no_star_and_two_do(tmp_path):
    one = make_run(tmp_path / "one", **SMALL, methods=("deconvnet", "sobel"))
    two = make_run(tmp_path / "two", **SMALL, methods=("deconvnet", "gradient", "sobel"))
    for run, stars in zip(read_runs([one, two]), ([], ["gradient"]), strict=True):
        lines = means_table(run, MODEL, "region:brain").lines
        assert [line.label for line in lines if line.cells["roc-auc"].best] == stars
    text = console_summary([one])
    assert re.search(r"^deconvnet +0\.\d{3}< ", text, re.MULTILINE)
    assert "< not better than the strongest floor" in text.splitlines()
    assert "*" not in text
    path = make_run(tmp_path / "run", **SMALL, shift=-0.6, methods=("deconvnet", "gradient", "sobel", "oracle"))
    text = console_summary([path])
    (best,) = [
        line
        for line in means_table(read_runs([path])[0], MODEL, "region:brain").lines
        if line.cells["roc-auc"].best and line.cells["roc-auc"].below_floor
    ]
    assert re.search(rf"^{best.label} +0\.\d{{3}}\*<", text, re.MULTILINE)


def test_images_without_a_mask_are_counted_apart_or_by_the_headline_metric(tmp_path):
    path = make_run(tmp_path / "run", **SMALL, coverage=0.5)
    for metric in ("roar:fraction=0.1", "roar:fraction=0.3", "kar:fraction=0.1"):
        add_scores(path, metric, 48, correct=lambda i: i != 3 and i < 24, value=1.0, value_worst_case=1.0)
    run = read_runs([path])[0]
    assert run.cube.correct.sum() == 23
    text = console_summary([path])
    means = "means over 24 images with a mask in 24 clusters, 1 training, region:brain"
    assert f"{means} (the whole image: roar:fraction=0.1" in text
    assert "; roar, kar: all 48 images\n" in text
    words = read(report([path])).text
    counted = "24 images with a mask in 24 clusters, including those that the model misclassifies"
    assert f"{counted} (4.2 %)." in words
    assert "Other images count for roar, kar: all 48 images." in words
    assert "(except by roar, kar, which count all images)" in words
    assert [(panel.count, panel.total) for panel in panels(run, MODEL)] == [(24, 24), (23, 24), (12, 24)]
    path = make_run(tmp_path / "run", **(SMALL | {"metrics": ("edge-correlation",)}))
    add_scores(path, "kar", 48, correct=lambda i: i % 4 > 0, source="edge-correlation", value=1.0, value_worst_case=1.0)
    assert read_runs([path])[0].headline == "kar"
    assert "means over 48 images, with a mask or without" in console_summary([path])
    assert "; edge-correlation: the 24 images with a mask" in console_summary([path])
    assert "including those that the model misclassifies (25.0 %)" in read(report([path])).text
    path = make_run(tmp_path / "plain", **SMALL)
    assert "means over 24 images with a mask in 24 clusters, 1 training, region:brain\n" in console_summary([path])
    text = read(report([path])).text
    assert "Other images count for" not in text
    assert "which count all images" not in text


def test_metrics_for_which_a_reason_means_another_thing_stand_apart(tmp_path):
    path = make_run(tmp_path / "run", **SMALL, methods=("gradient", "lrp-z"))
    cases = (("idr", MISCLASSIFIED), ("mcs", MISCLASSIFIED), ("parameter-randomization", FITTED_METHOD))
    for metric, reason in cases:
        add_scores(path, metric, 24, reason=reason, value=float("nan"), value_worst_case=float("nan"))
    found = {line.metrics: line for line in undefined_lines(read_runs([path])[0])}
    assert {metric: line.consequence for metric, line in found.items()} == {
        "idr": DROPPED,
        "mcs": DROPPED,
        "parameter-randomization": NOT_RANKED,
    }
    assert "twin" in found["idr"].meaning
    assert "two models" in found["mcs"].meaning
    assert meaning("a-plugins-own", "roc-auc") == ""
    text = read(report([path])).text
    assert all(line.meaning in text for line in found.values())


def test_a_damaged_gallery_is_left_out_and_said(tmp_path):
    runs = [make_run(tmp_path / name, **(SMALL | {"pictures": 2}), size=16, name=name) for name in ("one", "other")]
    (runs[0] / "gallery.npz").write_bytes(b"PK not really")
    text = read(report(runs[:1])).text
    assert "one: its pictures are left out, because gallery.npz is damaged" in text
    assert "not chosen by eye" not in text
    both = read(report(runs)).text
    assert "its pictures are left out" in both
    assert "not hand-picked" in both


def test_images_that_share_an_object_are_counted_as_clusters(tmp_path):
    """On the page, in the terminal and in the tests; five objects are too few for a verdict."""
    few, many = (make_run(tmp_path / str(n), **(SMALL | {"samples": 40}), per_cluster=n) for n in (8, 4))
    (run,) = read_runs([many])
    outcome = verdict(run, run.model_names[0], run.headline)
    assert (outcome.sampled, outcome.subject) == ("40 images in 10 clusters", "for this one trained model")
    assert {(row.n_clusters, row.n_samples, row.n_trainings) for row in outcome.tests} == {(10, 40, 1)}
    text = console_summary([few])
    assert "40 images in 5 clusters are too few to tell methods apart" in text
    assert "means over 40 images with a mask in 5 clusters, 1 training" in text
    page = read(report([few])).text
    assert "With 40 images in 5 clusters no difference between" in page
    assert "None: every score" in page, "nothing is undefined"
    cells = [line.cells["roc-auc"] for line in means_table(read_runs([few])[0], MODEL, "region:brain").lines]
    assert not any(cell.tied or cell.below_floor for cell in cells)
