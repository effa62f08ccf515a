"""How well metrics choose a method: agreement with the truth by hand, and a metric on a frozen network."""

import itertools
from dataclasses import replace
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
import salgen
from benchmarks.planted import Planted
from benchmarks.without_masks import by_masks, by_planted
from salgen.cli.main import main
from salgen.errors import SalgenError
from salgen.evaluation.bench import judge_metrics as judges
from salgen.evaluation.bench.judge_metrics import (
    BEST,
    BY_CHANCE,
    BY_HABIT,
    JUDGES,
    TRUTH,
    FrozenWorld,
    agreement,
    agreements,
)
from salgen.evaluation.bench.standing import is_floor
from salgen.evaluation.bench.worlds import WORLDS, kept_worlds

VALUES = st.lists(st.integers(0, 4), min_size=3, max_size=7)


@given(VALUES, VALUES)
def test_agreement_is_that_of_a_slow_count(judged, true):
    count = min(len(judged), len(true))
    judged, true = judged[:count], true[:count]
    methods = list("abcdefg"[:count])
    found = agreement(pd.Series(judged, methods, dtype=float), pd.Series(true, methods, dtype=float))
    chosen = [t for j, t in zip(judged, true, strict=True) if j == max(judged)]
    assert found.regret == pytest.approx(max(true) - sum(chosen) / len(chosen))
    right = [
        0.5 if judged[a] == judged[b] else float((judged[a] > judged[b]) == (true[a] > true[b]))
        for a, b in itertools.combinations(range(count), 2)
        if true[a] != true[b]
    ]
    assert found.pairs == pytest.approx(np.mean(right) if right else np.nan, nan_ok=True)


def rows(world, data, truth, **judged):
    columns = [(TRUTH, method, value, np.nan) for method, value in truth.items()]
    columns += [(name, method, value, 7.0) for name, by in judged.items() for method, value in by.items()]
    table = pd.DataFrame(columns, columns=["judge", "method", "value", "passes"])
    return table.assign(world=world, data=data, kind="scnn")


TRUTHS = {"grad-cam": 0.5, "gradient": 0.8, "rise": 0.9}
GOOD, BAD = {"grad-cam": 0.1, "gradient": 0.2}, {"grad-cam": 3.0, "gradient": 2.0}


@pytest.fixture
def stored(tmp_path):
    """Two worlds of a family, one of another, and photographs."""
    of = [("a-1", "a"), ("a-2", "a"), ("b-1", "b"), ("photographs-x", judges.PHOTOGRAPHS)]
    pd.concat([rows(*world, TRUTHS, good=GOOD, bad=BAD) for world in of]).to_parquet(tmp_path / JUDGES)
    return tmp_path


def test_the_regret_is_against_the_best_of_all_methods_and_printed_within_80_columns(stored, capsys):
    table = judges.standing_of_judges(judges.stored_agreements(stored))
    assert set(table.index[:2]) == {"good", BEST}
    assert table["regret"].to_dict() == pytest.approx({
        "good": 0.1, BEST: 0.1, "bad": 0.4, BY_HABIT: 0.4, BY_CHANCE: 0.9 - sum(TRUTHS.values()) / 3,
    })  # fmt: skip
    assert table.loc[["good", "bad"], "rank_correlation"].tolist() == pytest.approx([1, -1])
    assert table.loc["good", ["networks", "passes", "photographs"]].tolist() == pytest.approx([3, 7, 0.1])
    assert table.loc["bad", ["worst_kind", "worst_kind_regret"]].tolist() == ["scnn", pytest.approx(0.4)]
    assert main(["bench", "judges", "--results", str(stored)]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    assert {"good", "bad"} < set(out.split())
    (stored / JUDGES).unlink()
    assert main(["bench", "judges", "--results", str(stored)]) == 2
    assert f"{JUDGES} is missing: fetch the results again" in capsys.readouterr().err


class Spots:
    """Twelve images with a bright square that one class has, as a data set gives them."""

    def batches(self, count):
        random = np.random.default_rng(0)
        images = random.uniform(0, 0.3, (12, 1, 16, 16)).astype(np.float32)
        masks = np.zeros((12, 16, 16), bool)
        masks[::2, 4:9, 5:10] = True
        images[:, 0][masks] += 0.6
        self.images = images, masks, np.arange(12) % 2
        batch = type("Batch", (), dict(zip(("images", "masks", "labels"), self.images, strict=True)))
        return iter([batch])


def network():
    sees = nn.Sequential(nn.Conv2d(1, 2, 1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    sees[0].weight.data.copy_(torch.tensor([1.0, -1.0]).view(2, 1, 1, 1))
    sees[0].bias.data.copy_(torch.tensor([-0.5, 0.02]))
    return sees


def test_a_network_judges_by_its_passes_and_by_changed_masks():
    truth = pd.Series({"gradient": 0.3, "grad-cam": 0.9})
    dataset = Spots()
    world = FrozenWorld.of("w", network(), dataset, np.array([0, 1]), 12, truth, data="spots", kind="cnn")
    assert len(world.images)
    assert world.masks.any(axis=(1, 2)).all()
    found = world.judged({"saco": judges.by_metric("saco"), "masks": by_masks(lambda mask: mask)})
    by = found.set_index(["judge", "method"])["value"]
    assert by["masks", "input-x-gradient"] == pytest.approx(1)
    assert by[TRUTH].to_dict() == truth.to_dict()
    costs = found.groupby("judge")["passes"].first()
    assert costs["masks"] == 0
    assert costs["saco"] > 1
    table = agreements(found[found["method"].isin(truth.index)])
    assert set(table["judge"]) == {"saco", "masks", BEST, BY_HABIT, BY_CHANCE}


def tells_extremes():
    """A network that sees black (class 1) and white (class 0) alone, with images in which nothing is either."""
    sees = network()
    sees[0].bias.data.copy_(torch.tensor([-0.9, 0.1]))
    world = FrozenWorld.of("w", sees, Spots(), np.array([0, 1]), 12, pd.Series(), data="spots", kind="cnn")
    images = 0.2 + 0.6 * torch.rand((12, 1, 16, 16), generator=torch.Generator().manual_seed(0))
    return replace(world, images=images, others=images, logits=torch.tensor([[0.0, 1.0]]))


def test_a_planted_square_says_its_class_and_nothing_else_changes():
    world = tells_extremes()
    numbers = np.array([3, 3, 5, 0, 1, 2, 4, 6])
    images, twins, squares, classes = Planted(world).plant(numbers)
    for image, twin, square, label, number in zip(images, twins, squares, classes.tolist(), numbers, strict=True):
        own, level = world.others[number, 0], {1: 0.0, 0: 1.0}[label]
        for row, column in itertools.product(range(16), repeat=2):
            expected = (level, 1 - level) if square[row, column] else (float(own[row, column]),) * 2
            assert (float(image[0, row, column]), float(twin[0, row, column])) == pytest.approx(expected)
        rows, columns = np.nonzero(square)
        assert len(rows) == 4
        assert np.ptp(rows) == np.ptp(columns) == 1
    assert set(classes.tolist()) == {0, 1}


def test_a_copy_judges_by_planted_squares_if_it_can_tell_them(capsys):
    world = tells_extremes()
    weights = [weight.clone() for weight in world.view.network.parameters()]
    found = by_planted(world, {})
    assert "its copy uses 10 of 10 artefacts" in capsys.readouterr().err
    assert found["gradient"] == pytest.approx(1)
    assert found["input-x-gradient"] < 1  # black times its gradient is nothing
    assert all(map(torch.equal, weights, world.view.network.parameters()))
    blind = nn.Sequential(nn.MaxPool2d(16), nn.Flatten(), nn.Hardtanh(2, 3), nn.Linear(1, 2))
    assert by_planted(replace(world, view=replace(world.view, network=blind)), {}) == {}


@pytest.mark.parametrize(
    ("metric", "says"),
    [("sparseness", "metric sparseness is a diagnostic: neither"), (["saco", "road"], "stands for several: judge one")],
)
def test_what_is_no_judge_is_said(metric, says):
    with pytest.raises(SalgenError, match=says):
        judges.by_metric(metric)


def test_a_metric_is_judged_on_every_frozen_network(monkeypatch):
    truth = pd.Series({"gradient": 0.3, "input-x-gradient": 0.9})
    made = [
        FrozenWorld.of(name, network(), Spots(), np.array([0, 1]), 12, truth, data="spots", kind="cnn") for name in "ab"
    ]
    monkeypatch.setattr(judges, "kept_worlds", lambda *_: [])
    monkeypatch.setattr(judges, "frozen_worlds", lambda *_: made)
    monkeypatch.setattr(FrozenWorld, "methods", lambda _: {name: name for name in truth.index})
    found = salgen.judge("saco")
    assert list(found.index) == ["a", "b"]
    assert set(found["regret"].round(6)) <= {0.0, 0.3, 0.6}  # 0.3 where it gives both methods the same value
    assert found.equals(salgen.judge("saco"))


def test_worlds_whose_weights_are_kept_judge_rightly_classified_images(spec, results, believed):
    made = list(judges.frozen_worlds(kept_worlds(spec, results)))
    assert [(world.name, world.data, world.kind) for world in made] == [
        (name, name[:-2], "scnn") for name in ("lesions-on-noise-1", "mri-lesions-1")
    ]
    rows = pd.read_parquet(results / WORLDS / "mri-lesions-1" / "scores.parquet")
    rows = rows[(rows["metric"] == TRUTH) & (rows["training_seed"] == 7)]
    by_cluster = rows[rows["method"] == "gradient"].groupby("cluster")["value"].mean()
    assert made[1].truth["gradient"] == pytest.approx(by_cluster.mean())
    assert {"oracle", "random"} < set(rows["method"])
    assert not [call for call in made[1].truth.index if call.startswith("oracle") or is_floor(call)]
    assert len(made[1].images) == rows["sample_id"][rows["correct"]].nunique()
