"""Directions and bounds of metrics by their calls, and whose reading a call follows."""

import pytest

from salgen.evaluation.scoring.metric_selection import bounds, by_reading, canonical, higher_is_better, ranking_metrics


def test_deviating_readings_stand_apart():
    calls = ["prec99:compat=authors_exact", "roc-auc", "prec99"]
    assert by_reading(calls) == {None: ["roc-auc", "prec99"], "authors_exact": calls[:1]}
    assert next(iter(by_reading(calls))) is None
    assert canonical(calls) == ["roc-auc", "prec99"]


def test_no_canonical_group_where_there_is_no_canonical_metric():
    assert by_reading(["prec99:compat=authors_exact"]) == {"authors_exact": ["prec99:compat=authors_exact"]}
    assert canonical(["prec99:compat=authors_exact"]) == []
    assert by_reading([]) == {}


@pytest.mark.parametrize(("call", "direction", "limits"), [("roc-auc", True, (0.0, 1.0)), ("auroc", True, (0.0, 1.0))])
def test_declarations_by_call(call, direction, limits):
    assert higher_is_better(call) is direction
    assert bounds(call) == limits
    assert ranking_metrics([call]) == [call]
