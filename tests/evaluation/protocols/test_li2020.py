"""The protocol of Li et al. 2020: what it asks for, and how its tables come about."""

import math
from dataclasses import replace
from types import SimpleNamespace
import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from run_folders import make_run
from salgen.cli import reproduce_command
from salgen.errors import SalgenError
from salgen.evaluation.protocols import paper_table, protocol
from salgen.evaluation.protocols.claims import judge
from salgen.evaluation.protocols.li2020 import CLAIMS, FULL_TRAINING, TABLE_1, TABLE_2, Li2020, distances
from salgen.evaluation.protocols.paper_table import RunFolders
from salgen.evaluation.protocols.protocol import Reproduction
from salgen.evaluation.report.study import Study, StudyTable, TableRow, tables_text
from salgen.evaluation.statistics.jackknife import Estimate
from salgen.evaluation.statistics.score_cube import read_scores
from salgen.evaluation.training.training_settings import choose_settings

METHODS = (
    *("gradient", "guided-backprop", "integrated-gradients", "grad-cam", "contrastive-excitation-backprop"),
    *("occlusion", "rise"),
)
CALLS = ("gradient", "random", "oracle")
SIGNED_ROWS, ABSOLUTE_ROWS = TABLE_2.rows[::2], TABLE_2.rows[1::2]
PRINTED_1 = {row.metric: [list(map(float, text.split())) for text in row.printed] for row in TABLE_1.rows}


@pytest.fixture
def asked(recorded, monkeypatch):
    """As `recorded`, with Table 2 filled by the paper's own numbers and no image that is suspicious."""
    monkeypatch.setattr(paper_table.PaperTable, "filled", lambda table, *given: papers(table))
    return recorded


def test_the_methods_and_the_printed_numbers_are_the_papers():
    assert Li2020.methods == METHODS == TABLE_2.methods
    assert TABLE_1.methods == METHODS[:5]
    assert [[len(numbers) for numbers in row] for row in PRINTED_1.values()] == [[5, 5]] * 5 + [[]]
    for network in (0, 1):  # MCS is the difference of the two means above it, up to their last digit
        columns = (PRINTED_1[metric][network] for metric in ("g-cf:of=paired", "g-cf", "mcs"))
        for scene, both, contrast in zip(*columns, strict=True):
            assert abs(both - scene - contrast) < 0.0031
    assert [[len(text.split()) for text in row.printed] for row in TABLE_2.rows] == [[7]] * 10
    assert [row.printed for row in SIGNED_ROWS] == [row.printed for row in ABSOLUTE_ROWS]


def test_one_run_pairs_the_models_and_the_others_share_a_network(asked, tmp_path):
    made, evaluated, reported = asked
    Li2020(seed=4).run(tmp_path, "demo", ["lrp-z"])
    assert made == [(name, {"scale": "demo", "seed": 4, "source": None}) for name in ("multi-objects", "ebam")]
    where, stability, curve, absolute, absolute_stability, contrast = (how for _, how in evaluated)
    assert [name for name, _ in evaluated] == ["multi-objects"] * 5 + ["ebam"]
    assert where["methods"] == [*METHODS, "lrp-z"]
    assert where["metrics"] == ["pointing-game", "iosr", "insertion-auc:variant=li2020", "class-sensitivity"]
    assert where["mask"] == stability["mask"] == curve["mask"] == "boxes"
    assert where["reduce"] == stability["reduce"] == curve["reduce"] == "sum"
    for how, signed in ((absolute, where), (absolute_stability, stability)):  # gradient and its kin all alike
        assert (how["methods"], how["reduce"]) == (list(METHODS[:3]), "max_abs")
        assert how["model"] == where["out"] / "scnn-seed0"
        assert all(how[name] == signed[name] for name in ("metrics", "mask", "limit"))
    assert (where["limit"], stability["limit"], curve["limit"], contrast["limit"]) == (48, 6, 3, 100)
    assert stability["metrics"] == ["max-sensitivity:norm=rms"]
    assert curve["metrics"] == ["max-sensitivity:norm=rms,radius=0.05|0.1|0.2|0.4"]
    assert stability["model"] == curve["model"] == where["out"] / "scnn-seed0"
    assert (contrast["model"], contrast["paired_task"], contrast["reduce"]) == ("scnn", "scene", "sum_pos")
    assert contrast["methods"] == [*METHODS[:5], "lrp-z"]
    assert contrast["metrics"] == ["g-cf:of=paired", "g-cf", "mcs", "mcr", "idr:of=paired", "iir:of=paired"]
    assert "mask" not in contrast
    ((runs, study),) = reported
    assert len(runs) == len({how["out"] for _, how in evaluated}) == 6
    assert any("stand-ins" in note for note in study.notes)
    assert study.cells == ()


def test_own_copies_take_the_stand_ins_place_and_full_is_the_papers_training(asked, monkeypatch, tmp_path):
    made, evaluated, reported = asked
    monkeypatch.setattr(protocol, "generator", lambda *given: None)
    Li2020(voc="/v", coco="/c", ebam="/e").run(tmp_path, "full")
    assert [(name, how["source"]) for name, how in made] == [("voc-2012", "/v"), ("coco-2017", "/c"), ("ebam", "/e")]
    trained = [(name, how["model"]) for name, how in evaluated if how["settings"] is not None]
    assert trained == [
        *((name, model) for name in ("voc-2012", "coco-2017") for model in ("vgg16", "resnet50")),
        *(("ebam", model) for model in ("vgg16", "resnet50")),
    ]
    for _, how in evaluated:
        if how["settings"] is not None:
            assert how["settings"] == {**FULL_TRAINING, "weights": "imagenet"}
            assert how["limit"] is None
            choose_settings(how["model"], "full", how["settings"])
    assert {how["limit"] for name, how in evaluated if how["out"].name.endswith("stability")} == {50}
    masks = {how["out"].name.split("-")[2]: call for _, how in evaluated for call in how["methods"] if "rise" in call}
    assert masks == {"vgg16": "rise", "resnet50": "rise:n=8000"}
    assert [how["out"].name for _, how in evaluated if how["out"].name.endswith("radii")] == ["voc-2012-vgg16-radii"]
    assert not any("stand-ins" in note for note in reported[0][1].notes)


@pytest.mark.parametrize(
    ("how", "extra", "said"),
    [({"models": ("scnn", "scnn")}, (), "name each once"), ({"radii": (0.1, 0.4)}, (), "0.2, the paper's own")],
)
def test_what_it_cannot_be_is_refused_before_any_work(asked, tmp_path, how, extra, said):
    with pytest.raises(SalgenError, match=said):
        Li2020(**how).run(tmp_path, "demo", extra)
    assert asked[0] == []


CELL = ("multi-objects", "scnn")


def run_of(path, metrics, **how):
    """A run of three methods in one variant, without pictures."""
    usual = {"methods": CALLS, "model": "scnn", "variants": ("region:image",), "undefined": False, "pictures": 0}
    return make_run(path, metrics=metrics, **(usual | how))


def values_of(run, method, metric):
    """The scores of one method, of the first training."""
    cube = read_scores(run)
    series = [call for _, call, _ in cube.series].index(method)
    return cube.value[series, cube.metrics.index(metric), 0, 0]


def filled(table, scale="demo", **folders):
    """A table of run folders: experiment to data set and network to folder."""
    places = [(name, *cell, "test", folder) for name, cells in folders.items() for cell, folder in cells.items()]
    return table.filled(RunFolders(places[0][-1].parent, places), scale)


def test_table_2_takes_of_each_image_the_likeliest_class_for_iauc_and_cs(tmp_path, monkeypatch):
    """Samples 2k and 2k + 1 are one image; of the odd ones the class is surer."""
    rows = SIGNED_ROWS[:4]
    run = run_of(tmp_path / "run", [row.metric for row in rows], samples=6)
    stability = run_of(tmp_path / "s", ["max-sensitivity:norm=rms"], samples=4)
    table = pq.read_table(run / "predictions.parquet").to_pandas()
    table["probabilities"] = [[0.0, 0.4 + 0.1 * (number % 2)] for number in range(6)]
    table.to_parquet(run / "predictions.parquet")
    images = {"image": [0, 0, 1, 1, 2, 2]}
    data = SimpleNamespace(ids=table["sample_id"].tolist(), column=images.__getitem__)
    monkeypatch.setattr(paper_table, "open_dataset", lambda path, split: data)
    table = replace(TABLE_2, methods=["gradient"], rows=SIGNED_ROWS)
    found = filled(table, localisation={CELL: run}, stability={CELL: stability})
    means = {row.label: row.means["gradient"] for row in found.rows}
    for row in rows:
        values = values_of(run, "gradient", row.metric)
        expected = np.mean(values[1::2] if row.label in ("iAUC", "CS") else values)
        assert means[row.label] == pytest.approx(expected)
    assert [row.higher_is_better for row in found.rows] == [True, True, True, False, False]


def test_table_2_has_means_over_networks_the_papers_numbers_and_what_a_network_has_other_parameters_for(tmp_path):
    runs = {
        ("multi-objects", model): run_of(tmp_path / model, ["iosr"], model=model, shift=shift)
        for model, shift in (("vgg16", 0.0), ("scnn", -0.2))
    }
    table = replace(TABLE_2, methods=["gradient"], rows=[SIGNED_ROWS[1]._replace(printed=("-.435",))])
    (row,) = filled(table, localisation=runs).rows
    own = [values_of(run, "gradient", "iosr").mean() for run in runs.values()]
    assert own[0] != own[1]
    assert row.means["gradient"] == pytest.approx(np.mean(own))
    assert (row.title, row.printed) == ("IoSR", {"gradient": "\N{MINUS SIGN}.435"})
    calls = {"vgg16": "lrp-alpha-beta", "resnet50": "lrp-alpha-beta:alpha=1,beta=0"}
    runs = {
        ("multi-objects", model): run_of(tmp_path / model, ["iosr"], model=model, methods=(call, "random", "oracle"))
        for model, call in calls.items()
    }
    table = replace(TABLE_2, methods=["lrp-alpha-beta"], rows=[SIGNED_ROWS[1]])
    (both,) = filled(table, localisation=runs).rows
    (one,) = filled(table, localisation=dict([*runs.items()][:1])).rows
    other = values_of(runs["multi-objects", "resnet50"], calls["resnet50"], "iosr").mean()
    assert both.means["lrp-alpha-beta"] == pytest.approx((one.means["lrp-alpha-beta"] + other) / 2)


def test_rows_of_absolute_maps_and_of_each_network_take_their_own_run(tmp_path):
    signed = run_of(tmp_path / "signed", ["iosr"], methods=("grad-cam", *CALLS))
    absolute = run_of(tmp_path / "absolute", ["iosr"], shift=0.1)
    table = replace(TABLE_2, methods=["gradient", "grad-cam"], rows=[SIGNED_ROWS[1], ABSOLUTE_ROWS[1]])
    first, second = filled(table, localisation={CELL: signed}, absolute={CELL: absolute}).rows
    assert (first.label, second.label) == ("IoSR", "IoSR, absolute maps")
    assert second.means["gradient"] > first.means["gradient"] + 0.01
    assert second.means["grad-cam"] == first.means["grad-cam"]
    runs = {("ebam", model): run_of(tmp_path / model, ["mcs"], model=model) for model in ("vgg16", "scnn")}
    table = replace(TABLE_1, methods=METHODS[:1], rows=[TABLE_1.rows[2]._replace(printed=(".071", ".088"))])
    rows = {row.title: row for row in filled(table, contrast=runs).rows}
    assert rows["MCS, vgg16"].printed == {"gradient": ".088"}
    assert rows["MCS, scnn"].printed == {"gradient": ".071 / .088"}
    assert math.isfinite(rows["MCS, scnn"].means["gradient"])
    metrics = ["g-cf:of=paired", "g-cf"]
    run = run_of(tmp_path / "both", metrics)
    own = [values_of(run, "gradient", metric).mean() for metric in metrics]
    assert own[0] != own[1]
    table = replace(TABLE_1, methods=["gradient"], rows=TABLE_1.rows[:2])
    means = [row.means["gradient"] for row in filled(table, contrast={("ebam", "scnn"): run}).rows]
    assert means == pytest.approx(own)


def moved(table, rows, by):
    """The table with the backward methods' means moved in some rows, and all means of every row raised by a half."""
    shifts = {name: by if name in METHODS[:3] else 0.0 for name in METHODS}
    means = [
        {name: Estimate(mean + 0.5 + (shifts[name] if row.label in rows else 0.0)) for name, mean in row.means.items()}
        for row in table.rows
    ]
    return replace(table, rows=tuple(replace(row, estimates=of) for row, of in zip(table.rows, means, strict=True)))


def test_the_nearer_convention_is_told_relative_to_the_other_methods():
    """A level that all methods share is no distance; 0.2 for three methods is one of 0.2."""
    signed, absolute = ([row.label for row in rows] for rows in (SIGNED_ROWS, ABSOLUTE_ROWS))
    found = distances(moved(moved(papers(TABLE_2), signed, -0.2), absolute, 0.1))
    assert [row.label for row in found.rows][-2:] == ["SENS, r = 0.2, distance", "distance from Table 2"]
    for row in found.rows:
        assert row.means == pytest.approx({"signed": 0.2, "absolute": 0.1})
    one = distances(moved(papers(TABLE_2), ["CS"], 0.4)).rows  # of five metrics, SENS does not count
    assert one[-1].means == pytest.approx({"signed": 0.1, "absolute": 0.0})
    sens = distances(moved(papers(TABLE_2), ["SENS, r = 0.2"], 0.4)).rows
    assert sens[-2].means["signed"] == pytest.approx(0.4)
    assert sens[-1].means == pytest.approx({"signed": 0.0, "absolute": 0.0})
    assert verdicts(papers(TABLE_1), papers(TABLE_2), found)[-1] == "held"
    turned = distances(moved(papers(TABLE_2), absolute, 0.1))
    assert verdicts(papers(TABLE_1), papers(TABLE_2), turned)[-1] == "not held"


def papers(table, change=lambda mean: mean):
    """A table with the paper's own numbers, or what becomes of them, as means; of two networks the second's."""
    rows = tuple(
        TableRow(
            row.label,
            {call: Estimate(change(float(n))) for call, n in zip(table.methods, row.printed[-1].split(), strict=True)},
            dict(zip(table.methods, row.printed[-1].replace("-", "\N{MINUS SIGN}").split(), strict=True)),
            *(None, "vgg16" if table.networks else ""),
        )
        for row in table.rows
        if row.printed
    )
    return StudyTable(table.title, "", tuple(table.methods), rows)


def verdicts(*tables):
    """Each claim's verdict on filled tables."""
    return [finding.verdict for finding in judge(CLAIMS, Study("t", "r", "", METHODS, tables=tables))]


def test_what_the_paper_found_holds_of_its_own_numbers_and_turns_with_them():
    assert verdicts(papers(TABLE_1), papers(TABLE_2)) == ["held"] * 6 + ["not testable here"]
    findings = judge(CLAIMS, Study("t", "r", "", METHODS, tables=(papers(TABLE_1), papers(TABLE_2))))
    assert findings[0].numbers == "MCS, vgg16: grad-cam at 0.320; margin 0.089, 0.089 to 0.089"
    numbers = "lowest of them rise 0.750, highest other contrastive-excitation-backprop 0.709; margin 0.041"
    assert findings[3].numbers.startswith(f"PG: {numbers}, 0.041 to 0.041; PG, absolute maps: {numbers}")
    assert findings[4].numbers.startswith("CS: guided-backprop 0.990, grad-cam 0.013; margin 0.187, ")
    swapped = papers(TABLE_2, lambda mean: 1 - mean)
    assert verdicts(papers(TABLE_1), swapped)[:6] == ["held"] * 3 + ["not held"] * 3
    empty = papers(TABLE_1, lambda mean: math.nan)
    assert verdicts(empty, papers(TABLE_2))[:3] == ["not testable here"] * 3
    # one network of two is enough to fail a claim
    first, second = papers(TABLE_1), papers(TABLE_1, lambda mean: -mean)
    rows = (*first.rows, *(replace(row, network="resnet50") for row in second.rows))
    assert verdicts(replace(first, rows=rows), papers(TABLE_2))[:3] == ["not held"] * 3


def test_the_terminal_shows_the_papers_numbers_beside(monkeypatch, tmp_path):
    done = Reproduction([], tmp_path / "report.html", (papers(TABLE_2),))
    monkeypatch.setattr(Li2020, "run", lambda *given, **options: done)
    monkeypatch.setattr("salgen.evaluation.report.console_summary", lambda runs: "")
    said = CliRunner().invoke(reproduce_command.command, ["li2020", "--scale", "demo"])
    assert said.exit_code == 0, said.output
    assert "SENS" in said.output
    row = TableRow("PG", {"gradient": Estimate(0.25), "rise": Estimate(math.nan)}, {"gradient": ".536"}, True)
    text = tables_text([StudyTable("Table 2", "What it is.", ("gradient", "rise"), (row,))])
    assert text.splitlines() == ["Table 2. What it is.", "", "    gradient      rise", "PG  0.250 (.536)  –"]  # noqa: RUF001
