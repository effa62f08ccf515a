"""Claims of papers on samples: held and not held are rarely said where they are false, and follow from the interval."""

from dataclasses import replace
import numpy as np
import pyarrow.parquet as pq
import pytest
from run_folders import edited_record, edited_scores, make_run
from scipy import stats
from salgen.evaluation.protocols.claims import (
    Claim,
    MethodRanking,
    among_the_best,
    higher_median,
    highest,
    judge,
    lowest,
    on,
    on_each,
    rows_by,
    share_left,
    spread,
)
from salgen.evaluation.report.study import Study, StudyCell, Variants
from salgen.evaluation.statistics.jackknife import RunScores, mean_estimate

NAMES = [f"m{number}" for number in range(8)]


def ranking(values, network="net", clusters=None):
    """Means of columns of scores (S, N, K), one a method, on data set d."""
    names = np.arange(values.shape[1]) if clusters is None else clusters
    labels, seeds = np.array([f"c{name}" for name in names]), np.arange(len(values))
    means = {}
    for column, name in enumerate(NAMES[: values.shape[2]]):
        means[name] = mean_estimate([RunScores(values[..., column], labels, seeds, "d", "test", network)])
    return MethodRanking(network, means)


def judged(comparison, named, *values, **how):
    places = {"d": {f"net{n}": ranking(one, f"net{n}", **how) for n, one in enumerate(values)}}
    return Claim("{}", on_each("d"), comparison, named).judged(places)


RARELY = 0.06  # 0.025, and nearly three standard errors of 150 repeats


def test_means_that_are_spread_alike_are_rarely_said_to_differ():
    rng, said = np.random.default_rng(3), []
    for _ in range(200):
        values = np.array([0, 1, 2, 3]) + rng.normal(size=(2, 24, 4))
        rows = {name: {"": ranking(one[np.newaxis])} for name, one in zip("ab", values, strict=True)}
        claim = Claim("{}", rows_by(spread, {"here": {"first": "a", "second": "b"}}), lowest, ["first"])
        said.append(claim.judged(rows).verdict)
    assert said.count("held") / 200 <= RARELY
    assert said.count("not held") / 200 <= RARELY


def slow_interval(values, named, count, places):
    """The interval of the margin of "among the best `count`", or above all others, by paired t intervals."""
    lows, highs, margins, rank = [], [], [], count or 1
    for name in named:
        rivals = [other for other in range(values.shape[1]) if other != name and (count or other not in named)]
        beside = [values[:, name] - values[:, other] for other in rivals]
        low, high = [], []
        for difference in beside:
            error = difference.std(ddof=1) / len(difference) ** 0.5
            freedom = len(difference) - 1
            low.append(difference.mean() - stats.t.ppf(1 - 0.025 / rank, freedom) * error)
            wrong = places * len(named) * (len(rivals) - rank + 1)
            high.append(difference.mean() + stats.t.ppf(1 - 0.025 / wrong, freedom) * error)
        for found, of in ((lows, low), (highs, high), (margins, [d.mean() for d in beside])):
            found.append(sorted(of)[rank - 1])
    return min(margins), min(lows), min(highs)


@pytest.mark.parametrize("places", [1, 2])
@pytest.mark.parametrize("named", [(0,), (0, 1)])
@pytest.mark.parametrize(
    ("comparison", "count"), [(among_the_best(1), 1), (among_the_best(3), 3), (highest, None), (lowest, None)]
)
def test_the_interval_is_that_of_differences_of_which_none_may_be_wrong(comparison, count, named, places):
    values = np.array([3, 2, 0, 1, 0]) + np.random.default_rng(2).normal(size=(1, 20, 5))
    margin, low, high = slow_interval(values[0], named, count, places)
    given = [-values if comparison is lowest else values] * places
    finding = judged(comparison, [f"m{name}" for name in named], *given)
    said = f"margin {margin:.3f}, {low:.3f} to {high:.3f}".replace("-", "\N{MINUS SIGN}")
    assert finding.numbers.count(said) == places
    assert finding.verdict == ("held" if low > 0 else "not held" if high < 0 else "undecided")
    assert finding.size == "20 clusters, 20 samples, 1 trained model"


def test_a_claim_on_two_networks_is_undecided_where_one_is():
    clear = np.array([9, 0, 0]) + np.random.default_rng(0).normal(size=(1, 12, 3))
    alike = np.random.default_rng(1).normal(size=(1, 12, 3))
    assert judged(highest, ["m0"], clear, clear).verdict == "held"
    assert judged(highest, ["m0"], clear, alike).verdict == "undecided"
    assert judged(highest, ["m1"], clear, alike).verdict == "not held"


def study_of(path, **how):
    """A study of one run, of a method that is far better than the other."""
    calls = ("guided-backprop", "deconvnet")
    run = make_run(path, metrics=["m-gt"], methods=(*calls, "random", "oracle"), undefined=False, pictures=0, **how)
    return Study("t", "r", "m-gt", calls, cells=(StudyCell("lesions", "lesion-cnn", (run,)),))


@pytest.mark.parametrize(
    ("how", "verdict", "size"),
    [
        ({"samples": 2}, "undecided", "2 clusters, 2 samples, 1 trained model"),
        ({"samples": 4}, "undecided", "4 clusters, 4 samples, 1 trained model"),
        ({"samples": 40, "per_cluster": 10}, "undecided", "4 clusters, 40 samples, 1 trained model"),
        ({"samples": 40, "per_cluster": 2}, "held", "20 clusters, 40 samples, 1 trained model"),
        ({"samples": 40, "seeds": 3}, "held", "40 clusters, 40 samples, 3 trained models"),
    ],
    ids=str,
)
def test_a_few_images_hold_no_claim(tmp_path, how, verdict, size):
    claims = [Claim("{} is best", on("lesions"), highest, ["guided-backprop"])]
    (finding,) = judge(claims, study_of(tmp_path / "run", **how))
    assert (finding.verdict, finding.size) == (verdict, size)
    assert ("fewer than six clusters" in finding.numbers) == (verdict == "undecided")
    (opposite,) = judge([Claim("{} is best", on("lesions"), highest, ["deconvnet"])], study_of(tmp_path / "b", **how))
    assert opposite.verdict == {"held": "not held"}.get(verdict, verdict)


def test_variants_of_a_sample_are_one_cluster(tmp_path):
    """Shares of two splits: with the samples in pairs, as their numbers say, the interval is the narrow one."""
    calls, runs = ("guided-backprop", "deconvnet"), {}
    for name, shift in (("original", 0.0), ("resized", -0.2)):
        study = study_of(tmp_path / name, samples=30, shift=shift)
        (path,) = study.cells[0].runs
        with edited_scores(path) as rows:
            for row in rows:
                row["sample_id"] = row["cluster"] = row["sample_id"].replace("test-", f"test_{name}-")
        with edited_record(path) as record:
            record["dataset"]["split"] = f"test_{name}"
        runs[name] = path
    study = replace(study, cells=(), variants=(Variants("lesion-cnn", runs),))
    claim = Claim("{}", share_left("resized", "original"), higher_median, ["guided-backprop"], all_named=False)
    (finding,) = judge([claim], study)
    assert finding.size == "30 clusters, 30 samples, 1 trained model"
    values = {name: [per_sample(path, call) for call in calls] for name, path in runs.items()}

    def gap(kept):
        shares = [values["resized"][n][kept].mean() / values["original"][n][kept].mean() for n in (0, 1)]
        return shares[0] - shares[1]

    without = np.array([gap(np.arange(30) != sample) for sample in range(30)])
    length = stats.t.ppf(0.975, 29) * (29 / 30 * ((without - without.mean()) ** 2).sum()) ** 0.5
    margin = gap(np.arange(30))
    said = f"margin {margin:.3f}, {margin - length:.3f} to {margin + length:.3f}".replace("-", "\N{MINUS SIGN}")
    assert finding.numbers.endswith(said)


def per_sample(path, call):
    """The scores that the grid takes, by sample, read without the package."""
    table = pq.read_table(path / "scores.parquet").to_pandas()
    chosen = table[(table.method == call) & (table.variant == "region:brain")]
    return chosen.sort_values("sample_id").value_worst_case.to_numpy()
