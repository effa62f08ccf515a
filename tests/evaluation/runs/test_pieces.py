"""Dear methods are written in pieces, which a stopped run finds again; what a run takes is said first."""

import re
import time
import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from kept_runs import SAMPLES, scores
from pandas.testing import assert_frame_equal
from torch import nn
import salgen
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.inspection.probe import probing
from salgen.evaluation.runs import measuring
from salgen.evaluation.runs.artifacts import costs as costs_module
from salgen.evaluation.runs.artifacts.costs import Cost, Costs
from salgen.evaluation.runs.model_runner import ModelRunner

METHODS = ["occlusion", "gradient", "input-x-gradient"]
METRICS = ["roc-auc", "prec99", "deletion-auc"]


class Slow(nn.Module):
    """A network that takes so many seconds an image."""

    def __init__(self, seconds=0.0):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Conv2d(1, 4, 5, 2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self.last, self.seconds = nn.Linear(4, 2), seconds

    def forward(self, images):
        time.sleep(self.seconds * len(images))
        return self.last(self.layers(images))


@pytest.fixture
def clock(monkeypatch):
    """What a `Slow` network takes is all the time that passes."""
    seconds = [0.0]

    def sleep(more):
        seconds[0] += more

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "perf_counter", lambda: seconds[0])


def evaluated(data, out, **changes):
    given = {"methods": METHODS, "metrics": METRICS, **changes}
    return salgen.evaluate(data, model=Slow().eval(), out=out, **given)


def stops_after(monkeypatch, count, call=None):
    """A run that is stopped after so many scored pieces (of one method), and the images that it explains."""
    write, explain, explained = ModelRunner._write_scores, ModelRunner.explain, []
    left = [count]

    def written(self, chunk, *given):
        write(self, chunk, *given)
        left[0] -= call in (None, chunk.call)
        if left[0] == 0:
            raise KeyboardInterrupt

    def watched(self, calls, images, *given, **named):
        explained.extend((call, len(images)) for call in calls)
        return explain(self, calls, images, *given, **named)

    monkeypatch.setattr(ModelRunner, "_write_scores", written)
    monkeypatch.setattr(ModelRunner, "explain", watched)
    return explained


@pytest.mark.parametrize("keep_maps", [False, True])
def test_a_stop_loses_one_piece_and_the_scores_are_the_same(data, tmp_path, monkeypatch, keep_maps):
    monkeypatch.setattr(costs_module, "PIECE_S", 0.0)  # pieces of one image
    whole = evaluated(data, tmp_path / "whole", keep_maps=keep_maps)
    with monkeypatch.context() as patch:
        stops_after(patch, 4)
        with pytest.raises(KeyboardInterrupt):
            evaluated(data, tmp_path / "run", keep_maps=keep_maps)
    with monkeypatch.context() as patch:
        explained = stops_after(patch, -1)
        run = evaluated(data, tmp_path / "run", keep_maps=keep_maps)
    scored = len(pq.read_table(whole / "scores.parquet", columns=["sample_id"])["sample_id"].unique())
    pictures = 3  # of samples without a mask
    assert sum(count for call, count in explained if call == "occlusion") == scored - 4 + pictures
    assert_frame_equal(scores(run), scores(whole), check_exact=True)
    parts = [{path.name for path in (folder / "parts").iterdir()} for folder in (run, whole)]
    assert parts[0] == parts[1]
    if keep_maps:
        assert salgen.verify(run) == []
        for name in run.record.maps:
            ours, theirs = (pq.read_table(folder / name).replace_schema_metadata() for folder in (run, whole))
            assert ours.equals(theirs)


@pytest.mark.parametrize(
    ("methods", "seconds", "metric", "kinds"),
    [
        # of both together, with the controls, in which passes are shared; and patches are searched once for all methods
        (["grad-cam++", "grad-cam"], 2.6, "roc-auc", 1),
        (["gradient", "occlusion"], 1e-3, "iir", 3),
    ],
)
def test_a_run_without_a_dear_method_finds_its_pieces_again(
    data, tmp_path, monkeypatch, methods, seconds, metric, kinds
):
    def cost(_runner, _view, calls):
        return Cost(1, 100 if "occlusion" in calls else seconds / len(calls))

    monkeypatch.setattr(measuring, "_of_methods", cost)
    monkeypatch.setattr(measuring, "_of_metric", lambda *given: Cost(0, 0))
    with monkeypatch.context() as patch:
        stops_after(patch, 3, methods[0])
        with pytest.raises(KeyboardInterrupt):
            evaluated(data, tmp_path / "run", methods=methods, metrics=[metric])
    with monkeypatch.context() as patch:
        explained = stops_after(patch, -1)
        run = evaluated(data, tmp_path / "run", methods=methods[:1], metrics=[metric])
    scored, pictures = scores(run)["sample_id"].nunique(), 3
    assert sum(count for call, count in explained if call == methods[0]) == kinds * (scored - 3) + pictures


def test_pieces_give_the_rows_of_whole_chunks(data, tmp_path, monkeypatch):
    at_once = evaluated(data, tmp_path / "at-once")
    monkeypatch.setattr(costs_module, "PIECE_S", 0.0)
    in_pieces = evaluated(data, tmp_path / "in-pieces")
    assert_frame_equal(scores(in_pieces), scores(at_once), rtol=1e-4)
    records = [{method.call: method.maps for method in run.record.methods} for run in (at_once, in_pieces)]
    assert records[0] == records[1]


def test_a_probe_counts_passes_and_runs_few(clock):
    """Its seconds are those that the work takes, within a factor of two."""
    view, image = ModelView.of(Slow().eval()), torch.rand(1, 1, 32, 32)
    for method in ("occlusion", "integrated-gradients:steps=400", "smoothgrad:n=400"):
        given = {"method": method, "targets": torch.zeros(1, dtype=torch.long)}
        view.network.seconds = 0.0
        salgen.explain(view.network, image, **given)
        view.network.seconds = 0.001
        with probing() as probe:
            started = time.perf_counter()
            salgen.explain(view.network, image, **given)
            probed = time.perf_counter() - started
        started = time.perf_counter()
        salgen.explain(view.network, image, **given)
        real = time.perf_counter() - started
        assert probe.images == (961 if method == "occlusion" else 400)
        assert probed < 0.8 * real
        assert real / 2 < probe.seconds < 2 * real


def test_what_a_run_takes_is_said_before_its_first_map(data, tmp_path, capsys, monkeypatch, clock):
    started = time.perf_counter()
    monkeypatch.setattr(measuring, "SAID_S", 1.0)
    given = {"methods": ["occlusion", "gradient"], "metrics": ["roc-auc"], "limit": 6}
    run = salgen.evaluate(data, model=Slow(0.001).eval(), out=tmp_path / "run", **given)
    lines = capsys.readouterr().err.splitlines()
    (number,) = (number for number, line in enumerate(lines) if "about" in line)
    said = re.search(r"Slow seed 0: about (\d+) s: occlusion (\d+) s \(961 passes an image\)", lines[number])
    assert not any("explain and score" in line for line in lines[:number])
    (occlusion,) = (method.seconds for method in run.record.methods if method.call == "occlusion")
    assert occlusion / 2 < float(said[2]) < 2 * occlusion
    assert float(said[1]) < 2 * (time.perf_counter() - started)


def test_an_import_at_the_first_map_is_no_cost_of_a_metric(data, tmp_path, capsys, clock):
    slept = []

    def error(values, mask):
        if not slept:
            slept.append(time.sleep(10))
        return float(abs(values - mask).mean())

    evaluated(data, tmp_path / "run", methods=["gradient"], metrics={"error": error})
    assert slept
    assert "about" not in capsys.readouterr().err


def test_pieces_are_as_long_as_a_stop_may_cost():
    costs = Costs({"dear": Cost(900, 2.0), "cheap": Cost(2, 0.01)}, {"again": Cost(0, 0.5, explained=3)})
    assert costs.images_of_a_piece(["cheap"], 1, 64) == 9  # 0.01 s, scored in 0.53 s
    assert costs.images_of_a_piece(["dear"], 1, 64) == 1
    assert costs.images_of_a_piece(["unknown"], 1, 4) == 4
    assert costs.of_method("dear", 2) == 2 * 2.0 + 0.5 + 3 * 2.0


def test_no_map_is_made_again_for_a_picture(data, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        explained = stops_after(patch, -1)
        run = evaluated(data, tmp_path / "run", metrics=["roc-auc"])
    scored = scores(run)["sample_id"].nunique()
    assert sum(count for call, count in explained if call == "gradient") == 1 + scored + (SAMPLES - scored >= 3) * 3
    with np.load(run / "gallery.npz") as gallery:
        maps = dict(zip(gallery["methods"].tolist(), gallery["maps"], strict=True))
        images, labels = gallery["images"].transpose(0, 3, 1, 2) / 255, gallery["labels"]
    images = torch.tensor(images, dtype=torch.float32)
    explained = salgen.explain(Slow().eval(), images, method="gradient", targets=torch.tensor(labels))
    np.testing.assert_allclose(maps["gradient"], explained.values.numpy(), rtol=1e-3, atol=1e-7)

    before = (run / "gallery.npz").read_bytes()
    monkeypatch.setattr(ModelRunner, "explain", None)  # nothing is explained again
    evaluated(data, run, metrics=["roc-auc"])
    assert (run / "gallery.npz").read_bytes() == before
