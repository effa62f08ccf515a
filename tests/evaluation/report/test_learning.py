"""Models that have not learnt their task, and models of which a few test images cannot tell."""

import re
import pytest
from run_folders import edited_record, make_run
from test_report import read
from salgen.evaluation.report import console_summary, report
from salgen.evaluation.report.study import Study, StudyCell
from salgen.evaluation.runs.artifacts.run_record import ModelRecord

TOO_FEW = "too few test images to tell whether"
ABOVE = "above chance, but less than halfway to 100 %"
NOT_LEARNT = "None. The model has not learnt the task well enough, so no method can be judged by it."
# number of images and accuracies; what the page says, what the terminal says, and what neither of them says
CASES = {
    "all right on four images": (
        (4, 1.0),
        [
            "lesion-cnn, training seed 0, on perlin-lesions : 100.0 % of 4 test images, chance 50.0 %.",
            *(f"50.0 % {TOO_FEW} it has learnt the task", "100.0 % too few images"),
            "None. There are too few test images to tell whether the model has learnt the task",
        ],
        [
            f"WARNING: perlin-lesions, lesion-cnn seed 0 (100.0% of 4, chance 50.0%): {TOO_FEW} it has learnt the task",
            f"no verdict: {TOO_FEW} the model has learnt the task",
        ],
        ["near chance", "Do not read", "has not learnt", "mean nothing", "best by"],
    ),
    "half right on four images": (
        (4, 0.5),
        ["Do not read the maps of this model", NOT_LEARNT],
        ["is near chance (50.0% against 50.0%): its maps mean nothing"],
        ["oo few images to tell", "oo few test images to tell"],
    ),
    "above chance": (
        (400, 0.6),
        [f"test accuracy 60.0 %, chance 50.0 %: {ABOVE}.", f"{ABOVE}: maps mean little", NOT_LEARNT],
        [f"is {ABOVE} (60.0% against 50.0%): its maps mean little", "no verdict: the model has not learnt the task"],
        ["near chance", "best by"],
    ),
    "some trainings": (
        (8, 1.0, 0.875, 0.5),
        [
            "lesion-cnn, training seed 2, on perlin-lesions : test accuracy 50.0 %, chance 50.0 %: near chance.",
            "1 of 3 trainings did not learn the task and is part of these means.",
            f"{TOO_FEW} 1 of 3 trainings, which is part of these means, learnt the task.",
        ],
        ["lesion-cnn seed 1 (87.5% of 8", "lesion-cnn seed 2 is near chance"],
        ["no verdict", "None."],
    ),
    "one of two": ((400, 0.5, 0.99), ["1 of 2 trainings did not learn the task"], ["WARNING: "], ["no verdict"]),
    "learnt": ((400, 0.99), ["learnt the task"], ["best by m-gt"], ["Do not read", "WARNING", "no verdict"]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_page_and_the_terminal_say_whether_a_model_has_learnt(tmp_path, name):
    (images, *accuracies), on_the_page, in_the_terminal, nowhere = CASES[name]
    small = {"samples": 12, "pictures": 0, "size": 16, "metrics": ("m-gt",)}
    path = make_run(tmp_path / "run", seeds=len(accuracies), accuracy=accuracies, **small)
    with edited_record(path) as record:
        for model in record["models"]:
            model["n_images"] = images
    study = Study("t", "r", "m-gt", ("gradient", "smoothgrad"), (StudyCell("x", "lesion-cnn", (path,)),))
    page = read(report([path], study=study)).text
    text = console_summary([path]).replace("\N{NO-BREAK SPACE}", " ")
    assert [words for words in on_the_page if words not in page] == []
    assert [words for words in in_the_terminal if words not in text] == []
    assert [words for words in nowhere if words in page or words in text] == []
    assert page.count(": maps mean") == sum(accuracy <= 0.6 for accuracy in accuracies)
    assert bool(re.search(r"\d[*~<]", text)) == ("no verdict" not in text)


@pytest.mark.parametrize(
    ("accuracy", "count", "chance", "fault"),
    [
        (0.265, 200, 0.01, "above chance, but less than halfway to 100\N{NO-BREAK SPACE}%"),
        (0.53, 400, 0.5, "near chance"),
        (0.5, 4, 0.25, "near chance"),
        (0.1, 400, 0.5, "below chance"),
        (0.99, 400, 0.5, None),
    ],
)
def test_near_chance_is_said_only_where_the_interval_holds_chance(accuracy, count, chance, fault):
    model = ModelRecord(name="m", seed=0, accuracy=accuracy, n_images=count, chance=chance)
    assert model.unlearnt is (fault is not None)
    if model.unlearnt:
        assert model.fault == fault
        assert (fault == "near chance") == (model.interval[0] <= chance <= model.interval[1])
