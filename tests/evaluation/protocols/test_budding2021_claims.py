"""What Budding et al. 2021 found, judged on means that are made up."""

import math
import pytest
from run_folders import make_run
from salgen.evaluation.protocols.budding2021 import CLAIMS, FIGURE_2, METHODS
from salgen.evaluation.protocols.claims import judge
from salgen.evaluation.protocols.paper_table import RunFolders
from salgen.evaluation.report.study import Study, StudyTable, TableRow
from salgen.evaluation.statistics.jackknife import Estimate
from salgen.evaluation.statistics.score_cube import read_scores

PERLIN = dict(zip(METHODS, (0.8, 0.3, 0.7, 0.4, 0.6, 0.65, 0.5, 0.45), strict=True))
MRI = {**PERLIN, "guided-backprop": 0.5, "pattern-net": 0.4, "pattern-attribution": 0.45, "lrp-z": 0.6}
HELD = ["held"] * 6


def verdicts(changed=None):
    """The verdicts where the named rows have other means than those of which every claim is true."""
    rows = {}
    for name, means in (("perlin-lesions", PERLIN), ("mri-lesions", MRI)):
        rows[f"ROC-AUC, {name}"] = {method: 0.9 + mean / 10 for method, mean in means.items()}
        rows |= {f"mAP, {name}": means, f"PREC99, {name}": {method: mean / 2 for method, mean in means.items()}}
    for row, means in (changed or {}).items():
        rows[row] = {**rows[row], **means}
    known = {label: {method: Estimate(mean) for method, mean in means.items()} for label, means in rows.items()}
    table = StudyTable("Figure 2", "", METHODS, tuple(TableRow(*item, {}, True) for item in known.items()))
    return [finding.verdict for finding in judge(CLAIMS, Study("t", "r", "", METHODS, tables=(table,)))]


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"mAP, mri-lesions": {"gradient": 0.1}}, 0),
        ({"PREC99, perlin-lesions": {"gradient": 0.1}}, 0),
        ({"PREC99, mri-lesions": {"lrp-z": 0.1}}, 1),
        ({"mAP, mri-lesions": {"guided-backprop": 0.75}}, 2),
        ({"PREC99, perlin-lesions": {"pattern-net": 0.1}}, 3),
        ({"mAP, mri-lesions": {"pattern-attribution": 0.7}}, 4),
        ({"ROC-AUC, perlin-lesions": {"deconvnet": 0.0}}, 5),
    ],
    ids=str,
)
def test_a_claim_fails_where_one_of_its_numbers_does(changed, place):
    assert verdicts() == HELD
    assert verdicts(changed) == [*HELD[:place], "not held", *HELD[place + 1 :]]


def test_a_tie_and_a_method_without_scores_leave_a_claim_open():
    assert verdicts({"mAP, mri-lesions": {"lrp-z": PERLIN["lrp-z"]}})[1] == "undecided"
    nothing = {row: {"pattern-net": math.nan} for row in ("mAP, mri-lesions", "PREC99, mri-lesions")}
    assert verdicts(nothing) == [*HELD[:3], "not testable here", *HELD[4:]]


def test_the_table_has_a_row_for_each_metric_and_background(tmp_path):
    places, methods = [], ("gradient", "guided-backprop", "random", "oracle")
    for name, shift in (("perlin-lesions", 0.1), ("mri-lesions", 0.0)):
        run = make_run(tmp_path / name, name=name, methods=methods, shift=shift, pictures=0, undefined=False)
        places.append((name, name, "lesion-cnn", "test", run))
    rows = {row.label: row.means for row in FIGURE_2.filled(RunFolders(tmp_path, places), "full").rows}
    assert len(rows) == 6
    for name in ("perlin-lesions", "mri-lesions"):
        cube = read_scores(tmp_path / name)
        for label, metric in (("ROC-AUC", "roc-auc"), ("mAP", "average-precision"), ("PREC99", "prec99")):
            values = cube.value[0, cube.metrics.index(metric), cube.variants.index("region:brain")]
            assert rows[f"{label}, {name}"]["gradient"] == pytest.approx(values.mean())
    assert rows["mAP, perlin-lesions"]["gradient"] > rows["mAP, mri-lesions"]["gradient"]
    assert math.isnan(rows["mAP, mri-lesions"]["lrp-z"])
