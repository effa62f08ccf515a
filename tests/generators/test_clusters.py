from collections import Counter
from types import SimpleNamespace
import numpy as np
import pytest
from quick_generators import quick
from salgen.datasets.importers.gtsrb_square import SignPhotographs
from salgen.datasets.importers.lisa_lights import LisaLights

DRAWN = ("signs", "lights", "figures", "people", "places", "luggage")
ALONE = ["textured-shapes", *(f"drawn-{name}" for name in DRAWN)]


def recipes(made, count=40):
    return [made.recipe(0, "test", index) for index in range(count)]


@pytest.mark.parametrize("name", ALONE)
def test_what_is_drawn_by_itself_is_its_own_cluster(name):
    made = quick(name)
    found = recipes(made)
    assert [made.cluster(recipe) for recipe in found] == [recipe.id for recipe in found]


@pytest.mark.parametrize("name", ["bam", "ebam"])
def test_pictures_of_an_object_on_all_scenes_are_one_cluster(name):
    made = quick(name)
    found = recipes(made, 4 * len(made.plugin.objects) * len(made.plugin.scenes))
    pictures = [(r.parameters["object"], r.parameters["object_number"]) for r in found]
    assert partition([made.cluster(recipe) for recipe in found]) == partition(pictures)
    assert min(Counter(pictures).values()) >= len(made.plugin.scenes)


def test_an_image_that_counts_once_for_each_class_is_one_cluster():
    made = quick("multi-objects")
    found = recipes(made)
    images = [made.render(recipe).image.tobytes() for recipe in found]
    assert partition([made.cluster(recipe) for recipe in found]) == partition(images)
    assert len(set(images)) < len(found)


def test_lesions_on_one_slice_are_one_cluster():
    made = quick("perlin-lesions")
    found = recipes(made)
    slices = [recipe.parameters["slice"] for recipe in found]
    assert partition([made.cluster(recipe) for recipe in found]) == partition(slices)
    assert len(set(slices)) < len(found)


def partition(names):
    """The groups of places that have the same name."""
    return sorted(tuple(np.flatnonzero([other == name for other in names])) for name in set(names))


def test_a_subject_a_track_and_a_clip_are_one_cluster(tmp_path):
    material = SimpleNamespace(bank=SimpleNamespace(subjects=np.array([0, 0, 1, 2])))
    lesions = quick("perlin-lesions").plugin
    subjects = [lesions.cluster({"slice": number}, material) for number in range(4)]
    assert subjects == ["subject-0", "subject-0", "subject-1", "subject-2"]
    files = {name: tmp_path / name for name in ("00007_00001.ppm", "00007_00002.ppm", "00008_00001.ppm", "00009.ppm")}
    signs = SignPhotographs(SimpleNamespace(files=files), {})
    tracks = [signs.track({"sign_class": 3, "item": name}) for name in files]
    assert tracks == ["3-00007", "3-00007", "3-00008", "3-00009"]
    frames = ("dayClip1--001.jpg", "dayClip1--002.jpg", "b--001.jpg")
    clips = [LisaLights().cluster({"frame": frame}, None) for frame in frames]
    assert clips == ["dayClip1", "dayClip1", "b"]
