"""The protocol of Li et al. 2020: what it asks for, and how its tables come about."""

import math
from types import SimpleNamespace

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from run_folders import make_run

from salgen.cli import reproduce_command
from salgen.errors import SalgenError
from salgen.evaluation.protocols import Reproduction, li2020, li2020_tables
from salgen.evaluation.protocols.li2020 import FULL_TRAINING, Li2020
from salgen.evaluation.protocols.li2020_findings import findings
from salgen.evaluation.protocols.li2020_tables import (
    CLASSES,
    G_OBJECT,
    G_SCENE,
    IDR,
    INSERTION,
    LABELS,
    MCR,
    MCS,
    ORDER_2,
    PRINTED_1,
    PRINTED_2,
    Localised,
    table_1,
    table_2,
)
from salgen.evaluation.report.paper_tables import tables_text
from salgen.evaluation.report.study import Table, TableRow
from salgen.evaluation.statistics.score_cube import read_scores
from salgen.evaluation.training.training_settings import choose_settings

METHODS = (
    *("gradient", "guided-backprop", "integrated-gradients", "grad-cam", "contrastive-excitation-backprop"),
    *("occlusion", "rise"),
)


@pytest.fixture
def recorded(monkeypatch):
    """What the protocol makes, evaluates and reports, without any of it being done."""
    made, evaluated, reported = [], [], []
    monkeypatch.setattr(li2020, "make", lambda name, out, **how: made.append((name, how)) or out)
    monkeypatch.setattr(li2020, "evaluate", lambda data, **how: evaluated.append((data.name, how)) or how["out"])
    monkeypatch.setattr(li2020, "report", lambda runs, page, study: reported.append((runs, study)) or page)
    monkeypatch.setattr(li2020, "clever_hans", lambda run, call: [])
    for name in ("table_1", "table_2"):
        monkeypatch.setattr(li2020, name, lambda *given: Table("t", "c", (), ()))
    monkeypatch.setattr(li2020, "findings", lambda *tables: ())
    return made, evaluated, reported


def test_the_methods_and_the_printed_numbers_are_the_papers():
    assert Li2020.methods == METHODS == ORDER_2
    assert Li2020.contrasted == METHODS[:5]
    assert all(tuple(row) == METHODS[:5] for row in PRINTED_1.values())
    for network in (0, 1):  # MCS is the difference of the two means above it, up to their last digit
        for method in METHODS[:5]:
            scene, both, contrast = (float(PRINTED_1[name][method][network]) for name in (G_SCENE, G_OBJECT, MCS))
            assert abs(both - scene - contrast) < 0.0031
    assert [len(row) for row in PRINTED_2.values()] == [7] * 5


def test_one_run_pairs_the_models_and_the_others_share_a_network(recorded, tmp_path):
    made, evaluated, reported = recorded
    Li2020(seed=4).run(tmp_path, "demo", ["lrp-z"])
    assert made == [(name, {"scale": "demo", "seed": 4, "source": None}) for name in ("multi-objects", "ebam")]
    where, stability, curve, contrast = (how for _, how in evaluated)
    assert [name for name, _ in evaluated] == ["multi-objects"] * 3 + ["ebam"]
    assert where["methods"] == [*METHODS, "lrp-z"]
    assert where["metrics"] == ["pointing-game", "iosr", "insertion-auc:variant=li2020", "class-sensitivity"]
    assert where["mask"] == stability["mask"] == curve["mask"] == "boxes"
    assert (where["limit"], stability["limit"], curve["limit"], contrast["limit"]) == (48, 6, 3, 100)
    assert stability["metrics"] == ["max-sensitivity:norm=rms"]
    assert curve["metrics"] == ["max-sensitivity:norm=rms,radius=0.05|0.1|0.2|0.4"]
    assert stability["model"] == curve["model"] == where["out"] / "scnn-seed0"
    assert (contrast["model"], contrast["paired_task"], contrast["reduce"]) == ("scnn", "scene", "sum_pos")
    assert contrast["methods"] == [*METHODS[:5], "lrp-z"]
    assert {MCS, MCR, IDR, G_OBJECT, G_SCENE} <= set(contrast["metrics"])
    assert "mask" not in contrast
    ((runs, study),) = reported
    assert len(runs) == 4
    assert any("stand-ins" in note for note in study.notes)
    assert study.cells == ()


def test_own_copies_take_the_stand_ins_place_and_full_is_the_papers_training(recorded, monkeypatch, tmp_path):
    made, evaluated, reported = recorded
    monkeypatch.setattr(li2020, "generator", lambda *given: None)
    Li2020(voc="/v", coco="/c", ebam="/e").run(tmp_path, "full")
    assert [(name, how["source"]) for name, how in made] == [("voc-2012", "/v"), ("coco-2017", "/c"), ("ebam", "/e")]
    trained = [(name, how["model"]) for name, how in evaluated if "settings" in how]
    assert trained == [
        *((name, model) for name in ("voc-2012", "coco-2017") for model in ("vgg16", "resnet50")),
        *(("ebam", model) for model in ("vgg16", "resnet50")),
    ]
    for _, how in evaluated:
        if "settings" in how:
            assert how["settings"] == {**FULL_TRAINING, "weights": "imagenet"}
            assert how["limit"] is None
            choose_settings(how["model"], "full", how["settings"])
    assert {how["limit"] for name, how in evaluated if how["out"].name.endswith("stability")} == {50}
    assert [how["out"].name for _, how in evaluated if how["out"].name.endswith("radii")] == ["voc-2012-vgg16-radii"]
    assert not any("stand-ins" in note for note in reported[0][1].notes)


@pytest.mark.parametrize(
    ("how", "said"),
    [({"models": ("scnn", "scnn")}, "name each once"), ({"radii": (0.1, 0.4)}, "0.2, the paper's own")],
)
def test_what_it_cannot_be_is_refused(how, said):
    with pytest.raises(SalgenError, match=said):
        Li2020(**how)


def test_a_wrong_name_is_found_before_any_work(recorded, tmp_path):
    made, _, _ = recorded
    with pytest.raises(SalgenError, match="did you mean"):
        Li2020().run(tmp_path, "demo", ["grad-kam"])
    with pytest.raises(SalgenError, match="did you mean"):
        Li2020(models=("scn",)).run(tmp_path, "demo")
    assert made == []


def test_table_2_takes_of_each_image_the_likeliest_class_for_iauc_and_cs(tmp_path, monkeypatch):
    """Samples 2k and 2k + 1 are one image; of the odd ones the class is surer."""
    metrics = [name for name in PRINTED_2 if not name.startswith("max")]
    how = {
        "name": "multi-objects",
        "methods": ("gradient", "random", "oracle"),
        "model": "scnn",
        "variants": ("region:image",),
    }
    run = make_run(tmp_path / "run", metrics=metrics, samples=6, undefined=False, pictures=0, **how)
    stability = make_run(tmp_path / "s", metrics=["max-sensitivity:norm=rms"], samples=4, pictures=0, **how)
    table = pq.read_table(run / "predictions.parquet").to_pandas()
    table["probabilities"] = [[0.0, 0.4 + 0.1 * (number % 2)] for number in range(6)]
    table.to_parquet(run / "predictions.parquet")
    data = SimpleNamespace(column=lambda name: [0.0, 0, 1, 1, 2, 2] if name == "image" else table["sample_id"].tolist())
    monkeypatch.setattr(li2020_tables, "open_dataset", lambda path, split, source: data)
    found = table_2([Localised("scnn", run, stability, tmp_path)], ("gradient",))
    means = {row.label: row.means["gradient"] for row in found.rows}
    cube = read_scores(run)
    series = [call for _, call, _ in cube.series].index("gradient")
    for metric in metrics:
        values = cube.value[series, cube.metrics.index(metric), 0, 0]
        expected = np.mean(values[1::2] if metric in (INSERTION, CLASSES) else values)
        assert means[LABELS[metric][0]] == pytest.approx(expected)
    assert found.rows[0].printed == {"gradient": ".536"}


def test_table_1_has_the_numbers_of_the_network_or_both(tmp_path):
    how = {"name": "ebam", "methods": ("gradient", "random", "oracle"), "pictures": 0, "variants": ("region:image",)}
    runs = {model: make_run(tmp_path / model, model=model, metrics=["mcs"], **how) for model in ("vgg16", "scnn")}
    rows = {row.label: row for row in table_1(runs, ("gradient",), ["mcs"]).rows}
    assert rows["MCS, vgg16"].printed == {"gradient": ".088"}
    assert rows["MCS, scnn"].printed == {"gradient": ".071 / .088"}
    assert math.isfinite(rows["MCS, scnn"].means["gradient"])


def test_table_1_tells_the_two_models_apart(tmp_path):
    how = {"name": "ebam", "methods": ("gradient", "random", "oracle"), "pictures": 0, "variants": ("region:image",)}
    run = make_run(tmp_path / "scnn", model="scnn", metrics=[G_SCENE, G_OBJECT], undefined=False, **how)
    cube = read_scores(run)
    series = [call for _, call, _ in cube.series].index("gradient")
    own = {metric: cube.value[series, cube.metrics.index(metric)].mean() for metric in (G_SCENE, G_OBJECT)}
    assert own[G_SCENE] != own[G_OBJECT]
    rows = {row.label: row for row in table_1({"scnn": run}, ("gradient",), [G_SCENE, G_OBJECT]).rows}
    for metric, mean in own.items():
        assert rows[f"{LABELS[metric][0]}, scnn"].means["gradient"] == pytest.approx(mean)


PAPERS = {
    "contrasts": Table("1", "", METHODS[:5], tuple(
        TableRow(f"{LABELS[metric][0]}, vgg16", {name: float(text[1]) for name, text in row.items()}, {}, None)
        for metric, row in PRINTED_1.items()
    )),
    "others": Table("2", "", METHODS, tuple(
        TableRow(
            LABELS[metric][0],
            {name: float(text.replace("−", "-")) for name, text in zip(METHODS, row, strict=True)},  # noqa: RUF001
            {},
            None,
        )
        for metric, row in PRINTED_2.items()
    )),
}  # fmt: skip


def test_what_the_paper_found_holds_of_its_own_numbers():
    verdicts = {finding.claim: finding.verdict for finding in findings(PAPERS["contrasts"], PAPERS["others"])}
    assert set(verdicts.values()) == {"held"}, verdicts


def test_findings_turn_with_the_numbers():
    others = PAPERS["others"]
    swapped = Table("2", "", METHODS, tuple(
        TableRow(row.label, {name: 1 - value for name, value in row.means.items()}, {}, None) for row in others.rows
    ))  # fmt: skip
    verdicts = [finding.verdict for finding in findings(PAPERS["contrasts"], swapped)]
    assert verdicts == ["held", "held", "held", "not held", "not held", "not held"]
    empty = Table("1", "", METHODS[:5], tuple(
        TableRow(row.label, dict.fromkeys(row.means, math.nan), {}, None) for row in PAPERS["contrasts"].rows
    ))  # fmt: skip
    assert [finding.verdict for finding in findings(empty, others)][:3] == ["not testable here"] * 3


def test_the_terminal_shows_the_papers_numbers_beside(monkeypatch, tmp_path):
    done = Reproduction([], tmp_path / "report.html", (PAPERS["others"],))
    monkeypatch.setattr(Li2020, "run", lambda *given: done)
    monkeypatch.setattr("salgen.evaluation.report.console_summary", lambda runs: "")
    said = CliRunner().invoke(reproduce_command.command, ["li2020", "--scale", "demo"])
    assert said.exit_code == 0, said.output
    assert "SENS" in said.output
    row = TableRow("PG", {"gradient": 0.25, "rise": math.nan}, {"gradient": ".536"}, True)
    text = tables_text([Table("Table 2", "What it is.", ("gradient", "rise"), (row,))])
    assert text.splitlines() == ["Table 2. What it is.", "", "    gradient      rise", "PG  0.250 (.536)  –"]  # noqa: RUF001
