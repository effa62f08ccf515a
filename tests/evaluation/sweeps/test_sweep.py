"""A sweep from doses to thresholds, stopped and continued."""

import csv
import re
import shutil
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
import numpy as np
import pytest
from browsers import check_page
import salgen
from salgen.cli.main import main
from salgen.datasets.format.output_folder import sole_writer
from salgen.errors import SalgenError
from salgen.evaluation.report import formatting
from salgen.evaluation.report.runs import read_runs
from salgen.evaluation.sweeps import sweep as module
from salgen.evaluation.sweeps import sweep_page
from salgen.evaluation.sweeps.dose import Dose
from salgen.evaluation.sweeps.sweep_page import Subject, Sweep, write_page
from salgen.evaluation.sweeps.thresholds import FOUND, Threshold

DOSE = "depth=0.05:0.9:6"
PARAMETERS = {"image_size": (32, 32), "diameter": 6, "slices": 8}
SETTINGS = {"widths": (4,), "hidden": 4, "epochs": 1}
ARGUMENTS = {
    "scale": "demo",
    "methods": ["gradient"],
    "splits": {"train": 8, "val": 4, "test": 8},
    "parameters": PARAMETERS,
    "settings": SETTINGS,
    "n_trainings": 2,
    "reliance": False,
}
WRITTEN = ("thresholds.csv", "curves.png", "curves.svg", "curves.pdf", "doses.png", "report.html")

pytestmark = pytest.mark.filterwarnings("ignore:.*has not learnt the task")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return salgen.sweep("perlin-lesions", DOSE, tmp_path_factory.mktemp("sweep") / "one", **ARGUMENTS)


@pytest.fixture(scope="module")
def found(folder):
    dose = Dose.parse(DOSE, "perlin-lesions")
    places = [folder / f"depth={value:g}" for value in dose.values]
    runs = read_runs([place / "run" for place in places])
    return module.fitted("perlin-lesions", dose, [place / "data" for place in places], runs), runs


def test_each_dose_is_a_data_set_and_a_run_and_two_sweeps_do_not_write_one_folder(folder):
    values = Dose.parse(DOSE, "perlin-lesions").values
    assert sorted(path.name for path in folder.iterdir() if path.is_dir()) == sorted(f"depth={v:g}" for v in values)
    for value in values:
        place = folder / f"depth={value:g}"
        assert salgen.load(place / "data").spec.parameters["depth"] == value
        assert len(salgen.load(place / "run").record.models) == 2
    before = (folder / "thresholds.csv").read_bytes()
    with sole_writer(folder), pytest.raises(SalgenError, match=r"one is being written by another.*\(process \d+ on"):
        salgen.sweep("perlin-lesions", DOSE, folder, **ARGUMENTS)
    assert (folder / "thresholds.csv").read_bytes() == before


def test_means_are_those_of_the_runs_in_a_table_on_a_readable_page(found, folder, watched):
    sweep, runs = found
    subjects = {subject.name: subject for subject in sweep.subjects}
    for number, run in enumerate(runs):
        accuracies = [model.accuracy for model in run.models]
        assert subjects["lesion-cnn"].trials.of_trainings[number] == pytest.approx(accuracies)
        for name in ("gradient", "sobel", "oracle"):
            (key,) = (key for key in run.keys("lesion-cnn") if key[0] == name)
            row = run.row("lesion-cnn", key, "roc-auc", run.variant_of("roc-auc"))
            assert subjects[name].trials.means[number] == pytest.approx(row.mean)
    assert sweep.chance == 0.5
    assert (sweep.subjects[0].role, subjects["gradient"].role) == ("model", "method")
    assert (subjects["sobel"].role, subjects["oracle"].role) == ("floor", "ceiling")
    sweep, _ = found
    with open(folder / "thresholds.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["subject"] for row in rows] == [subject.name for subject in sweep.in_order]
    by_name = {row["subject"]: row for row in rows}
    assert by_name["oracle"]["outcome"] == "reached at every dose"
    assert by_name["constant"]["outcome"] == "not reached"
    assert by_name["constant"]["threshold"] == ""
    for one in sweep.subjects:
        means = [float(by_name[one.name][f"mean_{dose:g}"]) for dose in sweep.dose.values]
        assert means == pytest.approx(one.trials.means, rel=1e-5)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert re.search(r"The model is halfway from chance to right .*\. Of \d methods?, \d .*\.", page)
    assert all(name in page for name in by_name)
    page, _, _ = watched
    page.goto((folder / "report.html").as_uri())
    page.set_viewport_size({"width": 1280, "height": 900})
    assert page.locator("#thresholds .scroll").evaluate("one => one.scrollWidth <= one.clientWidth")
    check_page(page)


def test_the_page_flags_lack_of_fit_and_shows_the_means(found, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep_page, "save_figure", lambda figure, path: path.touch())
    sweep, _ = found
    for flagged in (True, False):
        subjects = [replace(one, threshold=replace(one.threshold, lack_of_fit=flagged)) for one in sweep.subjects]
        write_page(replace(sweep, subjects=subjects), tmp_path)
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert page.count("lack of fit</td>") == (len(subjects) if flagged else 0)
    for one in sweep.subjects:
        assert "".join(f"{formatting.number(mean, 2)} " for mean in one.trials.means) in page


def test_a_threshold_of_a_curve_that_does_not_fit_is_not_counted_as_found(found):
    sweep, _ = found

    def of(subject, lacks):
        return replace(subject, threshold=replace(subject.threshold, outcome=FOUND, threshold=0.3, lack_of_fit=lacks))

    subjects = [of(one, one.name != "sobel") for one in sweep.subjects]
    said = " ".join(replace(sweep, subjects=subjects).verdict)
    assert said == (
        "The model is halfway from chance to right nobody knows where (lack of fit). Of 1 method, 1 have no sure "
        "threshold, as their curve does not fit. So do floors, which know nothing of the network: sobel."
    )
    subjects = [of(one, one.name != "gradient") for one in sweep.subjects]
    said = " ".join(replace(sweep, subjects=subjects).verdict)
    assert said.endswith("Of 1 method, 1 from a threshold on. First of those with a threshold: gradient (0.3).")


def test_a_stopped_sweep_continues_with_the_same_bytes(folder, tmp_path, monkeypatch):
    evaluate, done = module.evaluate, []

    def stop_in_the_middle(*given, **named):
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(given)
        return evaluate(*given, **named)

    undone = (f"depth={value:g}" for value in Dose.parse(DOSE, "perlin-lesions").values[2::3])
    again = shutil.copytree(folder, tmp_path / "again", ignore=shutil.ignore_patterns(*WRITTEN, *undone))
    monkeypatch.setattr(module, "evaluate", stop_in_the_middle)
    with pytest.raises(KeyboardInterrupt):
        salgen.sweep("perlin-lesions", DOSE, again, **ARGUMENTS)
    assert not (again / "thresholds.csv").exists()
    monkeypatch.setattr(module, "evaluate", evaluate)
    kept = {path: path.stat().st_mtime_ns for path in again.rglob("*.safetensors")}
    salgen.sweep("perlin-lesions", DOSE, again, **ARGUMENTS)
    assert kept
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    assert [name for name in WRITTEN if (folder / name).read_bytes() != (again / name).read_bytes()] == []


def test_the_command_prints_the_table_of_a_finished_sweep_and_its_parameters(folder, capsys, monkeypatch):
    monkeypatch.setattr(sweep_page, "save_figure", lambda figure, path: None)
    words = ["--train", "8", "--val", "4", "--test", "8", "--n-trainings", "2", "--scale", "demo", "--no-reliance"]
    words += ["--set", "image_size=32,32", "--set", "diameter=6", "--set", "slices=8", "--methods", "gradient"]
    words += ["--training", "widths=4", "--training", "hidden=4", "--training", "epochs=1", "--out", str(folder)]
    assert main(["sweep", "perlin-lesions", "--dose", DOSE, *words]) == 0
    assert capsys.readouterr().out.startswith((folder / "thresholds.csv").read_text(encoding="utf-8"))
    assert main(["sweep", "perlin-lesions", "--help"]) == 0
    assert "share of intensity lost at a lesion's centre" in capsys.readouterr().out
    with pytest.raises(SalgenError, match="unknown shape 'probit'"):
        salgen.sweep("perlin-lesions", DOSE, shape="probit")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give the NAME of a generator"),
        (["perlin-lesions"], "give the --dose, such as"),
        (["perlin-lesions", "--dose", "window=1:2:6"], "unknown numeric parameter of perlin-lesions 'window'"),
        (["perlin-lesions", "--dose", "depth=0.1:2:6"], "depth = 1.1: must be"),
    ],
)
def test_faults_of_the_command_are_one_line(words, says, capsys):
    assert main(["sweep", *words]) == 2
    err = capsys.readouterr().err.strip()
    assert says in err
    assert len(err.splitlines()) == 1


def test_doses_without_a_common_chance_are_refused(found, tmp_path, monkeypatch):
    data = SimpleNamespace(manifest=SimpleNamespace(multi_label=("object",)))
    with monkeypatch.context() as patch:
        patch.setattr(module, "make", lambda *given, **named: tmp_path)
        patch.setattr(module, "open_dataset", lambda path: data)
        with pytest.raises(SalgenError, match="perlin-lesions is multi-label, so chance differs"):
            salgen.sweep("perlin-lesions", DOSE, tmp_path / "sweep", **ARGUMENTS)
    sweep, runs = deepcopy(found)
    runs[2].models[0] = replace(runs[2].models[0], chance=0.625)
    with pytest.raises(SalgenError, match=r"chance is 50.0% to 62.5% of the images"):
        module.fitted("perlin-lesions", sweep.dose, sweep.data, runs)


def subject(name, outcome, threshold=np.nan, low=-np.inf, high=np.inf):
    row = Threshold(outcome, threshold, low, high, np.nan, 1.0, 0.0, False)
    return Subject(name, "roc-auc", "method", None, None, row)


def test_subjects_stand_in_the_order_of_what_they_find():
    subjects = [
        subject("c", "not reached", low=np.inf),
        subject("b", "found", 0.4, 0.3, np.inf),
        subject("a", "found", 0.2, 0.1, 0.3),
        subject("d", "reached at every dose", high=-np.inf),
        subject("e", "not reached"),
        subject("f", "not monotone"),
        subject("g", "undecided"),
    ]
    for falling, order in ((False, "dabgfce"), (True, "dbagfce")):
        axis = module.Axis(falling=falling)
        sweep = Sweep("perlin-lesions", Dose("depth", (0.1, 0.7), True), axis, "logistic", 0.5, [], [], subjects)
        assert "".join(one.name for one in sweep.in_order) == order
        words = [sweep.interval(one) for one in subjects]
        assert words == ["above 0.7", "0.3 to above 0.7", "0.1 to 0.3", "below 0.1", "open", "open", "open"]
