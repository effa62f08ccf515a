"""Whether methods stand in the same order on two data sets."""

from __future__ import annotations

from itertools import combinations

import pytest

from salgen.cli.main import main
from salgen.datasets.making import make
from salgen.errors import SalgenError
from salgen.evaluation.bench.transfer import transfer
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.running import evaluate

METHODS = ["gradient", "input-x-gradient", "grad-cam", "occlusion:window=8,8"]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name in ("perlin-lesions", "white-lesions"):
        splits = {"train": 16, "val": 8, "test": 10}
        data = make(name, folder / f"{name}-data", splits=splits, parameters={"image_size": (32, 32)})
        settings = {"widths": (4, 8), "hidden": 8, "epochs": 1}
        metrics = ["average-precision", "pointing-game", "edge-correlation"]
        evaluate(data, methods=METHODS, metrics=metrics, settings=settings, seeds=2, out=folder / name, reliance=False)
    return folder / "perlin-lesions", folder / "white-lesions"


def spearman(first, second):
    """Pearson's correlation of mean ranks, from sums."""

    def ranks(values):
        return [
            sum(other < value for other in values) + sum(other == value for other in values) / 2 for value in values
        ]

    one, two = (ranks(values) for values in (first, second))
    mean_one, mean_two = sum(one) / len(one), sum(two) / len(two)
    product = sum((a - mean_one) * (b - mean_two) for a, b in zip(one, two, strict=True))
    spread = sum((a - mean_one) ** 2 for a in one) * sum((b - mean_two) ** 2 for b in two)
    return product / spread**0.5


def test_orders_are_compared_training_by_training(runs):
    found = {one.metric: one for one in transfer(*runs)}
    assert list(found) == ["average-precision", "pointing-game"]  # the third has no better or worse
    means = []
    for run in map(Run, runs):
        rows = run.scores[run.scores["metric"] == "average-precision"]
        rows = rows[rows["variant"] == run.record.headline_variant]
        means.append([[rows[(rows["method"] == method) & (rows["training_seed"] == seed)]["value_worst_case"].mean()
                       for method in METHODS] for seed in range(2)])  # fmt: skip
    one = found["average-precision"]
    assert one.methods == 4
    assert one.between == pytest.approx([spearman(a, b) for a in means[0] for b in means[1]])
    assert one.within == pytest.approx([spearman(*pair) for side in means for pair in combinations(side, 2)])


def test_a_run_agrees_with_itself(runs):
    one = transfer(runs[0], runs[0])[0]
    assert one.between[0] == one.between[3] == pytest.approx(1.0)


def test_the_command_prints_a_row_for_each_metric(runs, capsys):
    assert main(["bench", "transfer", *map(str, runs)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [
        "metric",
        "average-precision",
        "pointing-game",
    ]


def test_runs_that_share_nothing_are_refused(runs, tmp_path):
    run = evaluate(runs[0].parent / "perlin-lesions-data", model=runs[0] / "lesion-cnn-seed0", methods=["gradient"],
                   metrics=["average-precision"], out=tmp_path / "one")  # fmt: skip
    with pytest.raises(SalgenError, match="share no metric that ranks at least 3 methods"):
        transfer(runs[0], run)
