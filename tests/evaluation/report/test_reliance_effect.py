"""One network trained in both ways: the rankings compared, in numbers and on the page."""

import shutil
from itertools import combinations
import pytest
from run_folders import edited_record, make_run
from salgen.evaluation.report import report
from salgen.evaluation.report.console import no_verdict
from salgen.evaluation.report.formatting import share
from salgen.evaluation.report.reliance import reliance_effects
from salgen.evaluation.report.runs import read_runs

SMALL = {"samples": 30, "pictures": 0, "metrics": ("roc-auc",)}


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two runs of one network on one data set; the second is trained for reliance, and its methods do otherwise."""
    root = tmp_path_factory.mktemp("pair")
    plain = make_run(root / "plain", coverage=0.25, **SMALL)
    reliant = make_run(root / "reliant", coverage=0.9, shift=-0.1, random_seed=1, **SMALL)
    for path, weight in ((plain, None), (reliant, 2.0)):
        with edited_record(path) as record:
            for model in record["models"]:
                model["settings"] = {"epochs": 8} if weight is None else {"epochs": 8, "reliance": weight}
    return plain, reliant


def effects_of(paths):
    return reliance_effects([(run, "lesion-cnn") for run in read_runs(paths)])


def test_the_numbers_are_those_of_a_slow_count_and_both_answers_stand_side_by_side(pair, tmp_path):
    (effect,) = effects_of(pair)
    plain, reliant = effect["plain"], effect["reliant"]
    counts, concordant, total = [0, 0, 0], 0, 0
    methods = plain.run.under_test("lesion-cnn")
    for a, b in combinations(methods, 2):
        signs, sure = [], True
        for verdict in (plain, reliant):
            means = [verdict.run.row("lesion-cnn", key, "roc-auc", verdict.variant).mean for key in (a, b)]
            signs.append(1 if means[0] > means[1] else -1)
            sure = sure and verdict.test(a, b).p_holm <= 0.05
        counts[2 if not sure else 0 if signs[0] == signs[1] else 1] += 1
        concordant, total = concordant + signs[0] * signs[1], total + 1
    assert [effect["same"], effect["reversed"], effect["undecided"]] == counts
    assert effect["pairs"] == total > 1
    assert counts[2] < total, "some pairs should be decided"
    assert effect["tau"] == pytest.approx(concordant / total)
    decided = counts[0] - counts[1]
    assert effect["tau_bounds"] == [(decided - counts[2]) / total, (decided + counts[2]) / total]
    assert effect["tau_bounds"][0] <= effect["tau"] <= effect["tau_bounds"][1]
    # a run alone, or two of one kind, are not compared
    assert effects_of(pair[:1]) == effects_of(pair[1:]) == []
    other = make_run(tmp_path / "other", **SMALL)
    with edited_record(other) as record:
        record["dataset"]["fingerprint"] = "0" * 64
    assert effects_of([other, pair[1]]) == []
    labels = [run.label for run in read_runs(pair)]
    assert labels == ["perlin-lesions", "perlin-lesions, trained for reliance"]
    text = " ".join(report(pair, pair[0].parent / "page.html").read_text(encoding="utf-8").split())
    best = effect["reliant"].labels(effect["reliant"].winners)[0]
    assert "Does training for reliance change the answer?" in text
    withheld = text[text.index("No method is called the best.") :]
    assert f"for reliance</a>: <code>{best}</code> has the best mean." in withheld
    alone = " ".join(report(pair[:1], pair[0].parent / "alone.html").read_text(encoding="utf-8").split())
    assert "No method is called the best." in alone
    assert "Train for reliance (<code>--reliance</code>)" in alone
    assert "(not called the best: too few images are certified)" in text
    (model,) = effect["reliant"].run.models
    assert f'<td>for reliance</td> <td class="right">{share(model.accuracy).replace(chr(160), " ")}</td>' in text
    assert f"<td><code>{best}</code>" in text
    assert f"Of {effect['pairs']} pairs of methods, {effect['same']} " in text


def test_a_run_trained_for_reliance_is_not_told_to_train_so(pair, tmp_path):
    advice = "rain for reliance"
    for reliance in (0.0, 2.0):
        folder = shutil.copytree(pair[0], tmp_path / f"{reliance}")
        with edited_record(folder) as record:
            for model in record["models"]:
                model["settings"] = {**(model["settings"] or {}), "reliance": reliance}
        (run,) = read_runs([folder])
        reason = no_verdict(run, run.models[0].name)
        assert reason.startswith("the model relies on the feature for fewer than half of the samples: ")
        page = report([folder], tmp_path / "page.html").read_text(encoding="utf-8")
        assert [advice in reason, "T" + advice in page] == [not reliance, not reliance]
