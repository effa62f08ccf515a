"""A sweep of a spurious correlation: which models rely on the artefact, and which methods tell."""

from dataclasses import replace
from types import SimpleNamespace
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score
import salgen
from salgen.cli.main import main
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.statistics.accuracy import accuracy_interval
from salgen.evaluation.sweeps import sweep as module
from salgen.evaluation.sweeps.dose import Dose
from salgen.evaluation.sweeps.reliant_models import detection, detections

NAME = "planted-artefacts"
DOSE = "strength=0,0.5,1"
ARGUMENTS = {
    "scale": "demo",
    "model": "scnn",
    "methods": ["gradient"],
    "parameters": {"side": 4, "keep": 0.5},
    "settings": {"widths": (4, 4), "epochs": 1},
    "n_trainings": 2,
}
WRITTEN = ("detection.csv", "models.csv", "masses.png", "doses.png", "report.html")

pytestmark = pytest.mark.filterwarnings("ignore:.*has not learnt the task")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    splits = {"train": 16, "val": 4, "test": 24}
    slots = {"image_size": (16, 16), "function": "mod"}
    folder = tmp_path_factory.mktemp("source") / "slots"
    return str(make("logic-slots", folder, splits=splits, parameters=slots, workers=1))


@pytest.fixture(scope="module")
def folder(source, tmp_path_factory):
    return salgen.sweep(NAME, DOSE, tmp_path_factory.mktemp("sweep") / "one", source=source, **ARGUMENTS)


def places(folder):
    return [folder / f"strength={value:g}" for value in (0, 0.5, 1)]


def found(folder):
    data = [place / "data" for place in places(folder)]
    return detections(NAME, Dose.parse(DOSE, NAME), data, read_runs([place / "run" for place in places(folder)]))


def test_images_are_the_same_at_all_doses_and_shares_and_masses_those_of_the_runs(folder):
    splits = [open_dataset(place / "data", "test") for place in places(folder)]
    agreeing = [set(np.array(split.ids)[split.column("agrees") == 1]) for split in splits]
    shared = sorted(agreeing[0])
    assert agreeing[0] < agreeing[1] < agreeing[2]
    assert found(folder).images == len(shared)
    levels = [split.images()[[split.ids.index(name) for name in shared]] for split in splits]
    assert np.array_equal(levels[0], levels[1])
    assert np.array_equal(levels[0], levels[2])
    assert found(folder).chance == 16 / 256
    sweep, shared = found(folder), None
    for number, place in enumerate(places(folder)):
        split = open_dataset(place / "data", "test")
        shared = shared or [name for name, agrees in zip(split.ids, split.column("agrees"), strict=True) if agrees]
        certificates = pd.read_parquet(place / "run" / "certificates.parquet")
        scores = pd.read_parquet(place / "run" / "scores.parquet").query("metric == 'relevance-mass'")
        predictions = pd.read_parquet(place / "run" / "predictions.parquet")
        for seed in range(2):
            of_seed = certificates[certificates.training_seed == seed].set_index("sample_id").loc[shared]
            assert sweep.uses[number, seed] == pytest.approx(of_seed.uses_feature.astype(float).mean())
            of_seed = predictions[predictions.training_seed == seed]
            assert sweep.accuracy[number, seed] == pytest.approx((of_seed.label == of_seed.predicted).mean())
            for method in ("gradient", "sobel", "oracle", "constant"):
                each = scores[(scores.training_seed == seed) & (scores.method == method)].set_index("sample_id")
                mean = np.mean([each.value[name] for name in shared])
                assert sweep.masses[method][number, seed] == pytest.approx(mean)
    assert sweep.alarms["oracle"].all()
    assert not sweep.alarms["constant"].any()
    assert sweep.masses["constant"] == pytest.approx(np.full((3, 2), sweep.chance))


def test_tables_and_page_hold_every_method(folder):
    sweep, models = found(folder), pd.read_csv(folder / "models.csv")
    methods = pd.read_csv(folder / "detection.csv")["method"].tolist()
    assert methods == [row.method for row in sweep.in_order]
    assert {"gradient", "sobel", "oracle"} <= set(methods)
    assert len(models) == 3 * 2 * len(methods)
    for row in models.itertuples():
        place = (0, 0.5, 1).index(row.dose), row.training_seed
        assert row.reliant == (sweep.uses[place] >= 0.5)
        assert row.mass == pytest.approx(sweep.masses[row.method][place], rel=1e-5)
    assert not any(run.reliant for run in sweep.runs), "models are trained plainly unless asked"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert all(method in page for method in methods)
    assert f"{sweep.images} images, the same for all models" in page
    assert '<p class="lead">All models are clean, so there is no AUROC: give stronger doses' in page
    assert all(form in page for form in ('href="masses.svg"', 'href="masses.pdf"'))
    assert all((folder / name).stat().st_size for name in WRITTEN)


def test_the_verdict_names_the_best_method_and_counts_those_above_chance(folder):
    sweep = found(folder)
    reliant = np.repeat([[0.0], [1.0], [1.0]], 8, axis=1)
    noise = np.random.default_rng(0).random((3, 8))
    masses = {"gradient": reliant + noise / 2, "sobel": reliant, "lrp-z": noise}
    roles = SimpleNamespace(role=lambda call: "floor" if call == "sobel" else "method")
    alarms = dict.fromkeys(masses, reliant > 2)
    mixed = replace(sweep, uses=reliant, masses=masses, alarms=alarms, runs=[roles])
    low = {row.method: row.low for row in mixed.in_order}
    assert low["lrp-z"] < 0.5 < low["gradient"] <= 1.0
    assert mixed.verdict.startswith("gradient tells reliant models from clean ones best: AUROC 1.00 (")
    assert mixed.verdict.endswith("Of 2 methods, 1 surely tell them better than chance.")
    assert "All models are reliant" in replace(sweep, uses=reliant + 1.0).verdict


def test_the_command_prints_the_table_of_a_finished_sweep(source, folder, capsys):
    before = {name: (folder / name).read_bytes() for name in WRITTEN if name != "report.html"}
    words = f"sweep {NAME} --dose {DOSE} --n-trainings 2 --scale demo --set side=4 --set keep=0.5 --set source={source}"
    words += f" --methods gradient --training widths=4,4 --training epochs=1 --model scnn --out {folder}"
    assert main(words.split()) == 0
    assert capsys.readouterr().out.startswith((folder / "detection.csv").read_text(encoding="utf-8"))
    assert {name: (folder / name).read_bytes() for name in before} == before


def test_scale_full_has_twenty_trainings_and_what_is_asked_for_wins(source, tmp_path, monkeypatch):
    asked = []

    def stop(*given, **named):
        asked.append((named["n_trainings"], named["reliance"], named["metrics"]))
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "evaluate", stop)
    for number, arguments in enumerate(({"scale": "full"}, {"scale": "small"}, {"scale": "full", "n_trainings": 4})):
        chosen = {"scale": "demo", "parameters": {"side": 4}, "reliance": bool(number) or None, **arguments}
        with pytest.raises(KeyboardInterrupt):
            salgen.sweep(NAME, DOSE, tmp_path / str(number), source=source, **chosen)
    assert asked == [(20, False, ["relevance-mass"]), (None, True, ["relevance-mass"]), (4, True, ["relevance-mass"])]


def constructed():
    """Ten models at each of three strengths: clean at 0, half of them at 0.5, and none at 1."""
    random = np.random.default_rng(0)
    reliant = np.array([[False] * 10, [False] * 5 + [True] * 5, [True] * 10])
    return np.array([0.0, 0.5, 1.0]), reliant, random.uniform(size=(3, 10)), random.uniform(size=(3, 10)) < 0.4


def test_a_method_is_judged_by_all_pairs_of_models_with_a_mass():
    doses, reliant, mass, alarm = constructed()
    row, perfect, useless = (
        detection("m", "method", doses, reliant, of, alarm)
        for of in (mass, np.where(reliant, 0.2, 0.1), np.full((3, 10), 0.1))
    )
    assert (row.reliant, row.clean) == (15, 15)
    assert row.auroc == pytest.approx(roc_auc_score(reliant.ravel(), mass.ravel()))
    assert row.low < row.auroc < row.high
    assert (row.at_zero, row.false_alarms) == (10, alarm[0].mean())
    assert (row.alarms_low, row.alarms_high) == accuracy_interval(alarm[0].mean(), 10)
    assert (perfect.auroc, perfect.high) == (1.0, 1.0)
    assert perfect.trainings < row.trainings
    assert useless.auroc == 0.5
    mass[0, :3] = np.nan
    row = detection("m", "method", doses, reliant, mass, alarm)
    assert (row.reliant, row.clean, row.at_zero) == (15, 12, 7)
    known = np.isfinite(mass)
    assert row.auroc == pytest.approx(roc_auc_score(reliant[known], mass[known]))
    row = detection("m", "method", doses + 0.1, reliant, mass, alarm)
    assert row.at_zero == 0
    assert np.isnan([row.false_alarms, row.alarms_low, row.alarms_high]).all()
    row = detection("m", "method", doses[:1], reliant[:1], mass[:1], alarm[:1])
    assert np.isnan([row.auroc, row.low, row.high, row.trainings]).all()


def test_what_the_runs_lack_is_said(folder):
    dose, data = Dose.parse(DOSE, NAME), [place / "data" for place in places(folder)]
    first, *others = read_runs([place / "run" for place in places(folder)])
    lacking = replace(first.record.certificates, reason="the source is gone")
    faults = {
        r"has no certificates, so nobody knows .*: the source is gone": {
            "record": replace(first.record, certificates=lacking)
        },
        "no image shows its label's artefact at every dose": {"cube": replace(first.cube, samples=[])},
    }
    for message, changes in faults.items():
        with pytest.raises(SalgenError, match=message):
            detections(NAME, dose, data, [replace(first, **changes), *others])
