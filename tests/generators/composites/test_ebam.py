"""eBAM: the classes follow from the source and stand in the spec; pictures that a detector disagrees with are out."""

from itertools import product
import numpy as np
import pytest
from salgen.datasets.making import make
from salgen.datasets.picture_libraries import coco, filtered
from salgen.datasets.picture_libraries.filtering import on_black
from salgen.datasets.picture_libraries.stand_ins import StandIns
from salgen.datasets.reading.reader import open_dataset
from salgen.datasets.verification.verify_dataset import verify
from salgen.errors import SalgenError
from salgen.generators.composites.bam import OBJECTS
from salgen.generators.factory import generator, generator_of
from salgen.generators.stand_ins import cutouts, sceneries
from salgen.registry import DETECTORS

SIDE = 16
GIVEN = {
    "image_size": (SIDE, SIDE),
    "pictures": 10,
    "fewest": 5,
    "candidate_objects": ("dog", "kite", "zebra"),
    "candidate_scenes": ("runway", "bedroom", "cockpit"),
}
SPLITS = ("test", "train", "val")
LONGEST = 11


class Remembers:
    """Knows the drawn pictures: names objects rightly but for some, and sees a dog in some scenes."""

    categories = ("background", *OBJECTS)

    def __init__(self):
        wanted = (SIDE, SIDE), LONGEST, GIVEN["candidate_objects"], GIVEN["candidate_scenes"], GIVEN["pictures"]
        found = StandIns(*wanted).open()
        self.known = {}
        for split, name in product(SPLITS, found.objects.classes):
            for number in range(found.objects.count(split, name)):
                image = on_black(found.objects.load(split, name, number), (SIDE, SIDE), LONGEST)
                right = number % 2 == 0 if name == "dog" else number < (4 if name == "kite" else 9)
                self.known[image.tobytes()] = [(name, 0.9)] if right else [("toilet", 0.9)]
        for split, number in product(SPLITS, (1, 3)):
            self.known[found.scenes.load(split, "runway", number).tobytes()] = [("dog", 0.6)]
            self.known[found.scenes.load(split, "cockpit", number).tobytes()] = [("dog", 0.4)]

    def detect(self, images):
        return [self.known.get(image.tobytes(), []) for image in images]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a detector and no photographs, and a cache of its own."""
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))
    known = Remembers()
    monkeypatch.setitem(vars(DETECTORS), "load", lambda name: lambda path: known)
    place = tmp_path / "own/detector"
    place.mkdir(parents=True)
    (place / "mine.safetensors").write_bytes(b"weights")
    return tmp_path / "own"


def test_what_passes_is_what_the_detector_agrees_with(folder):
    made = generator("ebam", str(folder), **GIVEN)
    assert made.plugin.objects == ("dog", "zebra")
    assert made.plugin.scenes == GIVEN["candidate_scenes"]
    assert made.source.name == "stand-ins-filtered"
    assert made.source.redistributable
    counts = [made.source.objects.count("train", name) for name in ("dog", "zebra")]
    assert counts == [5, 9]
    assert [made.source.scenes.count("val", name) for name in made.plugin.scenes] == [8, 10, 10]
    for said in ("54 of 90 objects are found", "2 of 3 classes of objects", "6 of 90 scenes are dropped", "mine.safet"):
        assert said in made.source.notes


def test_pictures_that_did_not_pass_are_in_no_image(folder):
    made, every = generator("ebam", str(folder), **GIVEN), generator("ebam", **GIVEN)
    shown = {made.render(made.recipe(0, "train", i), omit=("object",)).image.tobytes() for i in range(60)}
    dropped = {every.source.scenes.load("train", "runway", number).tobytes() for number in (1, 3)}
    passed = {every.source.scenes.load("train", "runway", number).tobytes() for number in (0, 2, 4, 5, 6, 7, 8, 9)}
    assert passed <= shown
    assert not dropped & shown


@pytest.mark.parametrize("filtering", [False, True])
def test_a_data_set_names_its_classes_and_is_made_again_from_its_spec(folder, tmp_path, filtering):
    source = str(folder) if filtering else None
    out = make(
        "ebam", tmp_path / "out", scale="demo", splits={"train": 12, "val": 6, "test": 6}, parameters=GIVEN,
        source=source, workers=1,
    )  # fmt: skip
    spec = open_dataset(out).spec
    assert spec.parameters["objects"] == (["dog", "zebra"] if filtering else ["dog", "kite", "zebra"])
    assert spec.parameters["candidate_objects"] == ["dog", "kite", "zebra"]
    assert spec.parameters["scenes"] == spec.parameters["candidate_scenes"] == list(GIVEN["candidate_scenes"])
    again = generator_of(spec, source)
    assert again.source.digest == spec.source_digest
    stored = open_dataset(out, "train")
    for index in range(12):
        image = again.sample(0, "train", index).image
        np.testing.assert_allclose(image.transpose(2, 0, 1) / 255, stored[index]["image"], atol=1e-6)
    assert verify(out, source=source) == []
    assert verify(out, source=str(tmp_path)) != []
    card = (out / "README.md").read_text()
    assert ("mine.safetensors" in card) == filtering
    assert ("not filtered by a detector" in card) != filtering
    if filtering:
        with pytest.raises(SalgenError, match="which only you have"):
            generator_of(spec)


def test_classes_can_be_named(folder):
    named = {**GIVEN, "candidate_objects": (), "objects": ("zebra", "dog")}
    chosen = generator("ebam", **named).plugin
    assert chosen.objects == chosen.candidate_objects == ("zebra", "dog")
    some = generator("ebam", str(folder), **GIVEN, objects=("zebra", "dog"))
    assert some.source.digest == generator("ebam", str(folder), **GIVEN).source.digest
    assert some.sample(0, "train", 0).labels.keys() == {"object", "scene"}
    for source, changes, said in (
        (str(folder), {"objects": ("kite", "dog")}, "'kite' did not pass the filter .4 of 10 .* leave this class out"),
        (None, {"objects": ("bird", "dog")}, "objects of 'bird' .* not among the candidates"),
        (None, {"candidate_objects": ("dog",)}, "candidate_objects = dog: give 2 or more"),
    ):
        with pytest.raises(SalgenError, match=said):
            generator("ebam", source, **{**GIVEN, **changes})


def test_photographs_need_a_detector_and_bam_needs_none(folder, tmp_path):
    def refused(message, path):
        with pytest.raises(SalgenError, match=message):
            generator("ebam", str(path), **GIVEN)

    expected = r"detector is missing: .*download\.pytorch\.org/models/fasterrcnn_resnet50_fpn_coco-.*there"
    for name in ("coco", "miniplaces"):
        (tmp_path / name / name).mkdir(parents=True)
        refused(expected, tmp_path / name)
    (tmp_path / "empty").mkdir()
    refused("lacks the folders that are expected in it: coco, miniplaces or both, and detector", tmp_path / "empty")
    (folder / "detector/second.safetensors").write_bytes(b"")
    refused("holds 2 files of weights, but one is expected", folder)
    with pytest.raises(SalgenError, match=r"coco or .*miniplaces is expected"):
        generator("bam", str(folder), image_size=(SIDE, SIDE), pictures=10)


def test_candidates_are_those_of_the_source(tmp_path):
    def wanted(path):
        return filtered.FilteredLibraries(path, (SIDE, SIDE), LONGEST, (), (), (), (), 10, 5)._wanted[2:4]

    assert wanted(None) == (cutouts.KINDS[:53], sceneries.KINDS)
    (tmp_path / "miniplaces").mkdir()
    assert wanted(tmp_path)[0] == cutouts.KINDS
    (tmp_path / "coco").mkdir()
    assert wanted(tmp_path)[0] == coco.CLASSES
    assert len(set(coco.CLASSES)) == 80
    assert set(cutouts.KINDS) <= set(coco.CLASSES)
