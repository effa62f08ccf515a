"""The page's first sentences: what was asked, of how many methods, and how well the place of the cause is known."""

import pytest
from run_folders import edited_record, make_run
from test_report import Page
from salgen.evaluation.report import report
from salgen.evaluation.report.study import Study, StudyCell
from salgen.sources import OWN_COPY

EXACT = "The place of the cause is known exactly, because the images were made with it."
SEEN = "annotations or segmentations, which say where people saw the thing, not what the model uses"
SMALL = {"methods": ("gradient", "smoothgrad", "random", "oracle"), "metrics": ("m-gt",), "samples": 8, "pictures": 0}


def run(path, name, classes=("no_lesions", "lesions"), **dataset):
    made = make_run(path, name=name, **SMALL)
    with edited_record(made) as record:
        record["dataset"] |= {"tasks": {"label": list(classes)}} | dataset
    return made


def introduction(runs, study=None):
    """The words of the introduction, written with plain quotes."""
    text = report(runs, runs[0].parent / "page.html", study).read_text(encoding="utf-8")
    (found,) = [part.split("</p>")[0] for part in text.split('<p class="lead">')[1:]]
    return Page(found.replace("<q>", "'").replace("</q>", "'")).text


def test_made_images_have_an_exact_place_of_the_cause(tmp_path):
    assert introduction([run(tmp_path / "a", "perlin-lesions")]).endswith(EXACT)
    painted = run(tmp_path / "b", "gtsrb-square", source="gtsrb")
    assert introduction([painted]).endswith(EXACT)


def test_masks_of_imported_images_are_what_people_saw(tmp_path):
    said = introduction([run(tmp_path / "a", "lisa-lights", source=OWN_COPY)])
    assert "known exactly" not in said
    assert said.endswith(f"The masks are {SEEN}.")


def test_a_page_of_both_says_which_is_which(tmp_path):
    runs = [
        run(tmp_path / "a", "gtsrb-square", source="gtsrb"),
        run(tmp_path / "b", "zings", source=""),
        run(tmp_path / "c", "lisa-lights", source=OWN_COPY),
        run(tmp_path / "d", "lisa-lights", source=OWN_COPY),
    ]
    said = introduction(runs)
    assert "In gtsrb-square and zings the place of the cause is known exactly, because the images were made" in said
    assert said.endswith(f"The masks of lisa-lights are {SEEN}.")


def test_made_and_imported_runs_of_one_name_are_told_apart_by_their_folders(tmp_path):
    said = introduction([run(tmp_path / "own", "zings", source=OWN_COPY), run(tmp_path / "made", "zings", source="")])
    assert "In zings (made) the place" in said
    assert "The masks of zings (own) are" in said


def test_nothing_is_said_of_images_of_unknown_origin(tmp_path):
    unknown = run(tmp_path / "a", "mine", generator=None)
    said = introduction([unknown])
    assert said.endswith("?")
    assert "In zings the place of the cause" in introduction([unknown, run(tmp_path / "b", "zings")])


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        (("a_1", "b"), "the pixels that tell 'a 1' from 'b'?"),
        (("a", "b", "c"), "the pixels that tell 'a', 'b' and 'c' apart?"),
        (tuple(f"class_{i}" for i in range(50)), "the pixels that tell 50 classes apart?"),
        (("a",), "the pixels that give the class away?"),
    ],
)
def test_classes_are_named_while_they_are_few(tmp_path, classes, words):
    said = introduction([run(tmp_path / "a", "x", classes), run(tmp_path / "b", "y", classes)])
    assert f"How well do 2 saliency methods find {words}" in said


def test_classes_are_not_named_where_data_sets_differ_in_them(tmp_path):
    said = introduction([run(tmp_path / "a", "x", ("plain", "square")), run(tmp_path / "b", "y", ("hero", "villain"))])
    assert "find the pixels that give the class away?" in said
    assert "plain" not in said


def test_methods_are_the_studys_where_there_is_one(tmp_path):
    made = run(tmp_path / "a", "x")
    study = Study("t", "r", "m-gt", ("gradient",), (StudyCell("x", "lesion-cnn", (made,)),))
    assert introduction([made]).startswith("How well do 2 saliency methods find")
    assert introduction([made], study).startswith("How well does one saliency method find")
