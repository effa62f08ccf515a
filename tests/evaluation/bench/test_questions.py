"""The three questions to many worlds: by hand, against SciPy, and by simulation where the truth is known."""

import dataclasses
import itertools
import numpy as np
import pandas as pd
import pytest
from scipy.stats import f as f_distribution
from scipy.stats import false_discovery_control, t, ttest_1samp, ttest_rel
from salgen.evaluation.bench import questions
from salgen.evaluation.bench.questions import WorldScores

METHODS = ["grad-cam", "gradient", "lime", "rise"]


def worlds(seed=0, families=5, each=2, clusters=12, methods=METHODS, common=0.0, spread=0.1):
    """Tables of clusters by methods, and the family of each world; methods differ by `common` steps."""
    rng = np.random.default_rng(seed)
    tables, of = {}, {}
    for family in range(families):
        place = common * np.arange(len(methods)) + rng.normal(0, spread, len(methods))
        for number in range(each):
            name, mean = f"{family}-{number}", place + rng.normal(0, spread, len(methods))
            index = pd.MultiIndex.from_product([[0], range(clusters)])
            tables[name] = pd.DataFrame(mean + rng.normal(0, 0.2, (clusters, len(methods))), index, methods)
            of[name] = f"family {family}"
    return tables, of


@pytest.fixture
def tables():
    """Worlds of which one lacks a method."""
    found, families = worlds()
    del found["3-0"]["lime"]
    return found, families


def test_other_images_add_the_variances_of_worlds_with_satterthwaites_degrees_of_freedom(tables):
    found = questions.these_networks(WorldScores.of(*tables))
    for first, second in itertools.combinations(METHODS, 2):
        pairs = [table[first] - table[second] for table in tables[0].values() if {first, second} <= set(table)]
        mean = np.mean([pair.mean() for pair in pairs])
        parts = [pair.var(ddof=1) / len(pair) / len(pairs) ** 2 for pair in pairs]
        degrees = sum(parts) ** 2 / sum(part**2 / (len(pair) - 1) for part, pair in zip(parts, pairs, strict=True))
        place = METHODS.index(first), METHODS.index(second)
        assert found.means[place] == pytest.approx(mean)
        assert found.errors[place] == pytest.approx(np.sqrt(sum(parts)))
        assert found.p_values[place] == pytest.approx(2 * t.sf(abs(mean) / np.sqrt(sum(parts)), degrees))
    assert np.isnan(np.diagonal(found.p_values)).all()
    one, families = worlds(families=1, each=1)
    paired = ttest_rel(one["0-0"]["lime"], one["0-0"]["rise"])  # which it is in one world
    assert questions.these_networks(WorldScores.of(one, families)).p_values[2, 3] == pytest.approx(paired.pvalue)


def test_another_training_adds_the_moderated_variance_by_training(tables, monkeypatch):
    trainings = np.full((4, 4), 0.3)
    scores = dataclasses.replace(WorldScores.of(*tables), trainings=trainings, trained_twice=np.full((4, 4), 5))
    alone = questions.these_networks(scores)
    shared = 10 - np.add.outer(*[np.array([name == "lime" for name in METHODS])] * 2).clip(max=1)
    for prior, of_prior, expected in ((0.0, 0.0, 0.3), (0.1, 15.0, 0.15), (0.1, np.inf, 0.1)):
        monkeypatch.setattr(questions, "moderation", lambda variances, degrees, prior=(prior, of_prior): prior)
        found = questions.these_networks(scores, trained_again=True)
        np.testing.assert_allclose(found.errors**2, alone.errors**2 + expected / shared)
        np.testing.assert_array_equal(found.means, alone.means)
        images, training = alone.errors[0, 1] ** 2, expected / 10
        degrees = (images + training) ** 2 / (images**2 / alone.degrees[0, 1] + training**2 / (5 + of_prior))
        assert found.degrees[0, 1] == pytest.approx(degrees)


def test_worlds_that_were_trained_twice_tell_how_much_trainings_differ():
    """Methods move by .3 from training to training, and .4 with each image: a pair's variance is 2 x .09."""
    rng, tables = np.random.default_rng(0), {}
    for number in range(1000):
        index = pd.MultiIndex.from_product([[5, 6], range(8)])
        moved = np.repeat(rng.normal(0, 0.3, (2, 2)), 8, axis=0)
        tables[str(number)] = pd.DataFrame(moved + rng.normal(0, 0.4, (16, 2)), index, ["grad-cam", "rise"])
    scores = WorldScores.of(tables, dict.fromkeys(tables, "one"))
    assert scores.trainings[0, 1] == pytest.approx(0.18, rel=0.1)
    assert scores.trained_twice[0, 1] == 1000
    assert scores.trainings[0, 0] == 0
    np.testing.assert_allclose(scores.means[7], tables["7"].loc[5].mean())  # of the first training
    once = WorldScores.of(*worlds())
    assert np.isnan(once.trainings).all()
    assert np.isnan(questions.these_networks(once, trained_again=True).p_values).all()


def test_a_new_world_is_asked_of_families_each_of_which_counts_once(tables, monkeypatch):
    monkeypatch.setattr(questions, "moderation", lambda variances, degrees: (0.0, 0.0))
    found = questions.new_world(WorldScores.of(*tables))
    for first, second in itertools.combinations(METHODS, 2):
        by_family = {}
        for name, table in tables[0].items():
            if {first, second} <= set(table):
                by_family.setdefault(name[0], []).append(table[first].mean() - table[second].mean())
        test = ttest_1samp([np.mean(values) for values in by_family.values()], 0.0)
        place = METHODS.index(first), METHODS.index(second)
        assert found.p_values[place] == pytest.approx(test.pvalue)
        assert found.means[place] / found.errors[place] == pytest.approx(test.statistic)


def test_variances_are_moderated_by_the_distribution_that_they_were_drawn_from():
    """Smyth's model: s² is s0² times an F variable with d and d0 degrees of freedom."""
    drawn = 0.4 * f_distribution.rvs(9, 12, size=200_000, random_state=0)
    prior, degrees = questions.moderation(drawn, np.full(len(drawn), 9.0))
    assert prior == pytest.approx(0.4, rel=0.02)
    assert degrees == pytest.approx(12, rel=0.05)
    alike = questions.moderation(0.4 * np.random.default_rng(0).chisquare(9, 200) / 9, np.full(200, 9.0))
    assert alike[1] > 50  # one variance for all: little but the prior counts
    assert questions.moderation(np.array([0.1, 0.2]), np.array([9.0, 9.0])) == (0.0, 0.0)


def test_pairs_are_decided_among_those_that_have_a_p_value():
    p_values = np.array([[np.nan, 0.001, 0.02], [0.001, np.nan, np.nan], [0.02, np.nan, np.nan]])
    assert questions.decided(p_values, false_discoveries=True).sum() == 4
    np.testing.assert_array_equal(false_discovery_control([0.001, 0.02]), [0.002, 0.02])
    strict = questions.decided(p_values, false_discoveries=False, level=0.01)
    assert strict.tolist() == [[False, True, False], [True, False, False], [False, False, False]]


def test_methods_that_are_alike_are_seldom_told_apart_in_a_new_world():
    """The simulated error of the whole table; `python -m benchmarks.world_questions` counts it in more tables."""
    wrong = 0
    for seed in range(60):
        scores = WorldScores.of(*worlds(seed, families=10, each=3, methods=[*METHODS, *"abcdefgh"]))
        wrong += questions.decided(questions.new_world(scores).p_values, false_discoveries=True).any()
    assert wrong <= 7  # .05 would be exceeded in one of 80 such counts


@pytest.mark.parametrize(("again", "by_training"), [(False, 0.0), (True, 0.05)])
def test_methods_that_are_alike_are_seldom_told_apart_by_few_images_and_trainings(again, by_training):
    """Eleven worlds, of which every second has three clusters of images, and every third was trained twice."""
    rng, wrong, names = np.random.default_rng(0), 0, [*METHODS, *"abcdefgh"]

    def training(world):
        return rng.normal(0, by_training, 12) + rng.normal(0, 0.2, ((3, 30)[world % 2], 12))

    for _ in range(60):
        trained = [[training(world) for _ in range(1 if world % 3 else 2)] for world in range(11)]
        found = questions.these_networks(WorldScores.of_arrays(names, range(11), trained), trained_again=again)
        wrong += questions.decided(found.p_values, false_discoveries=False).any()
    assert wrong <= 7  # .05 would be exceeded in one of 80 such counts


def test_clear_differences_are_found_confirmed_and_reliable_by_cronbachs_alpha():
    clear = WorldScores.of(*worlds(common=0.5))
    assert questions.decided(questions.new_world(clear).p_values, false_discoveries=True).sum() == 12
    assert questions.confirmed(clear) == 1.0
    assert questions.reliability(clear) > 0.97
    assert questions.reliability(WorldScores.of(*worlds(common=0.0))) < 0.7
    scores = WorldScores.of(*worlds(common=0.05))
    table = questions.family_means(scores.means, scores.families)
    items, total = table.var(axis=1, ddof=1).sum(), table.sum(axis=0).var(ddof=1)
    assert questions.reliability(scores) == pytest.approx(5 / 4 * (1 - items / total))
