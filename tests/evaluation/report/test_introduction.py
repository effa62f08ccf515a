"""The page's first sentences: what was asked, of how many methods, and how well the place of the cause is known."""

import pytest
from run_folders import edited_record, make_run
from test_report import Page
from salgen.evaluation.report import report
from salgen.evaluation.report.study import Study, StudyCell
from salgen.sources import OWN_COPY

EXACT = "place of the cause is known exactly, because the images were made with it."
SEEN = "annotations or segmentations, which say where people saw the thing, not what the model uses."
SMALL = {"methods": ("gradient", "smoothgrad", "random", "oracle"), "metrics": ("m-gt",), "samples": 8, "pictures": 0}
FIFTY = tuple(f"class_{i}" for i in range(50))


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


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([("perlin-lesions", {})], f"? The {EXACT}"),
        ([("gtsrb-square", {"source": "gtsrb"})], f"? The {EXACT}"),
        ([("lisa-lights", {"source": OWN_COPY})], f"? The masks are {SEEN}"),
        (
            [
                *(("gtsrb-square", {"source": "gtsrb"}), ("zings", {"source": ""})),
                *(("lisa-lights", {"source": OWN_COPY}), ("lisa-lights", {"source": OWN_COPY})),
            ],
            f"? In gtsrb-square and zings the {EXACT} The masks of lisa-lights (2) and lisa-lights (3) are {SEEN}",
        ),
        (
            [("zings", {"source": OWN_COPY}), ("zings", {"source": ""})],
            f"? In zings (1) the {EXACT} The masks of zings (0) are {SEEN}",
        ),
        ([("mine", {"generator": None})], "?"),
        ([("mine", {"generator": None}), ("zings", {})], f"? In zings the {EXACT}"),
        # classes are named while they are few and shared
        ([("x", {"classes": ("a_1", "b")})] * 2, f"find the pixels that tell 'a 1' from 'b'? The {EXACT}"),
        ([("x", {"classes": ("a", "b", "c")})], f" tell 'a', 'b' and 'c' apart? The {EXACT}"),
        ([("x", {"classes": FIFTY})], f" tell 50 classes apart? The {EXACT}"),
        ([("x", {"classes": ("plain", "square")}), ("y", {})], f" give the class away? The {EXACT}"),
    ],
)
def test_it_is_said_what_maps_find_and_of_which_images_the_place_of_the_cause_is_known(tmp_path, given, said):
    runs = [run(tmp_path / f"{place}", name, **dataset) for place, (name, dataset) in enumerate(given)]
    assert introduction(runs).endswith(said)


def test_methods_are_the_studys_where_there_is_one(tmp_path):
    made = run(tmp_path / "a", "x")
    study = Study("t", "r", "m-gt", ("gradient",), (StudyCell("x", "lesion-cnn", (made,)),))
    assert introduction([made], study).startswith("How well does one saliency method find")
