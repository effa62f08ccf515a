"""Models that have not learnt their task, and models of which a few test images cannot tell."""

import pytest
from run_folders import edited_record, make_run
from test_report import read
from salgen.evaluation.report import console_summary, report
from salgen.evaluation.report.study import Study, StudyCell

SMALL = {"samples": 12, "pictures": 0, "size": 16, "metrics": ("m-gt",)}
TOO_FEW = "too few test images to tell whether it has learnt the task"


@pytest.fixture
def made(tmp_path):
    def make(images, accuracy):
        path = make_run(tmp_path / "run", seeds=len(accuracy), accuracy=accuracy, **SMALL)
        with edited_record(path) as record:
            for model in record["models"]:
                model["n_images"] = images
        return path

    return make


def test_all_right_on_four_images_is_too_few_to_tell(made):
    path = made(4, (1.0,))
    page = read(report([path])).text
    assert "Too few images to tell whether this model has learnt its task" in page
    assert "lesion-cnn, training seed 0, on perlin-lesions : 100.0 % of 4 test images, chance 50.0 %." in page
    assert f"50.0 % {TOO_FEW}" in page
    assert "None. There are too few test images to tell whether the model has learnt the task" in page
    assert not any(words in page for words in ("near chance", "Do not read", "has not learnt", "maps mean nothing"))


def test_the_console_says_so_too(made):
    text = console_summary([made(4, (1.0,))])
    assert f"WARNING: perlin-lesions, lesion-cnn seed 0 (100.0% of 4, chance 50.0%): {TOO_FEW}" in text
    assert "no verdict: too few test images to tell whether the model has learnt the task" in text
    assert not any(words in text for words in ("near chance", "has not learnt", "mean nothing", "best by"))


def test_half_right_on_four_images_is_near_chance(made):
    path = made(4, (0.5,))
    page, text = read(report([path])).text, console_summary([path])
    assert "Do not read the maps of this model" in page
    assert "None. The model has not learnt the task well enough" in page
    assert "is near chance (50.0% against 50.0%): its maps mean nothing" in text
    assert "oo few" not in page.split("Scores")[0]


def test_trainings_that_differ_are_told_apart(made):
    path = made(8, (1.0, 0.875, 0.5))
    page, text = read(report([path])).text, console_summary([path])
    assert page.count("near chance: maps mean nothing") == 1
    assert page.count(f"50.0 % {TOO_FEW}") == 1
    assert "1 of 3 trainings did not learn the task and is part of these means." in page
    assert (
        "too few test images to tell whether 1 of 3 trainings, which is part of these means, learnt the task." in page
    )
    assert text.count("WARNING") == 2
    assert "no verdict" not in text


def test_the_grid_says_so_too(made, tmp_path):
    path = made(4, (1.0,))
    study = Study("t", "r", "m-gt", ("gradient", "smoothgrad"), (StudyCell("x", "lesion-cnn", (path,)),))
    page = read(report([path], tmp_path / "page.html", study)).text
    assert "100.0 % too few images" in page
    assert "near chance" not in page
