"""Stand-ins for Saliency-Bench: as many classes, masks of such sizes, and some images without a mask."""

from collections import Counter
import numpy as np
import pytest
from salgen.datasets.importers.pet_xai import SPECIES
from salgen.evaluation.protocols.saliency_bench import OBJECT, STAND_INS
from salgen.generators.drawing.catalogue import catalogue
from salgen.generators.factory import generator
from salgen.generators.interfaces import Context, Edit
from salgen.generators.saliency_bench.drawn_actions import ACTIVITIES, PAIRS
from salgen.generators.saliency_bench.drawn_luggage import TOOLS
from salgen.generators.saliency_bench.drawn_people import DRESSES, PLACES
from salgen.generators.saliency_bench.drawn_pets import BREEDS, COATS
from salgen.generators.saliency_bench.drawn_places import SHOWN, Layer
from salgen.generators.stand_ins.sceneries.painting import LAYOUTS, play
from salgen.registry import IMPORTERS
from salgen.seeding import Stream

SEED = 6
DRAWN = {"gender": "people", "environment": "places", "security": "luggage", "pet": "pets", "action": "actions"}
CLASSES = {"people": 2, "places": 2, "luggage": 2, "pets": 37, "actions": 127}
MARKED = {"people": 3454 / 5000, "places": 3052 / 5000, "luggage": 1.0, "pets": 1.0, "actions": 1.0}  # the paper's
# Least and most of the image that masks take on average, and that any of them takes
SHARES = {
    "people": ((0.3, 0.38), (0.2, 0.45)),
    "places": ((0.48, 0.6), (0.25, 0.95)),
    "luggage": ((0.05, 0.13), (0.01, 0.2)),
    "pets": ((0.25, 0.4), (0.15, 0.6)),
    "actions": ((0.15, 0.25), (0.1, 0.35)),
}
names = pytest.mark.parametrize("name", CLASSES)


def drawn(name, size=32, **changes):
    return generator(f"drawn-{name}", image_size=(size, size), **changes)


def recipes(made, count):
    return [made.recipe(SEED, "train", index) for index in range(count)]


def painted_on(made, recipe, value):
    """The feature on a canvas of one value."""
    canvas = np.full((*made.plugin.image_size, 3), value)
    made.plugin.paint(canvas, recipe.parameters, None, Edit())
    return canvas


@pytest.mark.parametrize(("importer", "name"), DRAWN.items())
def test_an_importer_names_its_stand_in_and_both_answer_the_same_task(importer, name):
    read, made = IMPORTERS.load(f"{importer}-xai"), drawn(name).plugin
    assert read.stand_in == made.name
    assert (read.task, read.region) == (next(iter(made.tasks)), made.region)
    assert f"stand-in for {read.name}" in made.__doc__
    assert "is not a number on" in " ".join(made.__doc__.split())


@names
def test_there_are_as_many_classes_as_in_the_benchmark(name):
    plugin = drawn(name).plugin
    classes = plugin.tasks[plugin.task]
    assert len(set(classes)) == len(classes) == CLASSES[name]


@names
def test_masks_are_about_as_large_as_in_the_benchmark(name):
    made = drawn(name, 64)
    masks = [made.render(recipe).regions[made.plugin.region] for recipe in recipes(made, 60)]
    shares = [mask.mean() for mask in masks if mask.any()]
    (least_mean, most_mean), (least, most) = SHARES[name]
    assert least_mean < np.mean(shares) < most_mean
    assert least < min(shares) < max(shares) < most


@pytest.mark.parametrize("name", ["perlin-lesions", "pink-lesions"])
def test_lesions_stand_in_with_one_small_spot_in_half_of_the_images(name):
    made = generator(name, lesions=1, slices=8)
    assert [len(classes) for classes in made.plugin.tasks.values()] == [2]
    masks = [made.render(recipe).regions["lesions"] for recipe in recipes(made, 20)]
    shares = [mask.mean() for mask in masks if mask.any()]
    assert len(shares) == 10
    assert 0.005 < min(shares) < max(shares) < 0.12


def test_single_objects_of_twenty_classes_stand_in_for_object_xai():
    made = generator("multi-objects", image_size=(32, 32), pictures=10, **STAND_INS[OBJECT])
    assert len(made.plugin.tasks["object"]) == 20
    samples = [made.render(recipe) for recipe in recipes(made, 40)]
    assert Counter(sample.labels["object"] for sample in samples) == dict.fromkeys(range(20), 2)
    shares = [sample.regions["object"].mean() for sample in samples]
    assert 0.1 < np.mean(shares) < 0.5
    assert 0.04 < min(shares) < max(shares) < 0.6


@names
def test_as_large_a_share_of_images_has_a_mask_in_every_class(name):
    made = drawn(name)
    marked = [(recipe.parameters["marked"], recipe.parameters[made.plugin.task]) for recipe in recipes(made, 1500)]
    for half in (0, 1):
        of_half = [flag for flag, label in marked if label % 2 == half]
        assert np.mean(of_half) == pytest.approx(MARKED[name], abs=0.05)


@names
def test_the_feature_is_the_whole_support(name):
    made = drawn(name)
    for recipe in recipes(made, 6):
        dark, light = painted_on(made, recipe, 0.25), painted_on(made, recipe, 0.75)
        touched = ((dark != 0.25) | (light != 0.75)).any(axis=2)
        assert np.array_equal(touched, made.render(recipe).regions[made.plugin.feature])
        assert 0 <= min(dark.min(), light.min()) <= max(dark.max(), light.max()) <= 1


@pytest.mark.parametrize("name", [*CLASSES, "figures"])
def test_all_but_the_feature_is_drawn_without_the_label(name):
    """Another label changes what it is, and no other choice."""
    plugin = drawn(name).plugin
    task = next(iter(plugin.tasks))

    class Other:
        material = None

        def __init__(self, context):
            self.stream, self.label = context.stream, 1 - context.balanced(task, 2)

        def balanced(self, purpose, classes=2):
            return self.label

    for index in range(12):
        context = Context(SEED, plugin.family, "train", index, None)
        one, other = plugin.draw(Other(context)), plugin.draw(context)
        changed = {key for key in one if one[key] != other[key]}
        assert changed <= {task, *{"places": ["kind"], "luggage": ["tools"]}.get(name, [])}


@pytest.mark.parametrize("name", ["people", "places"])
def test_an_image_that_is_not_marked_has_no_mask_and_no_twin_but_its_feature(name):
    made = drawn(name, marked=0.0)
    recipe = made.recipe(SEED, "test", 3)
    sample = made.render(recipe)
    assert not sample.regions[made.plugin.region].any()
    assert sample.regions[made.plugin.feature].any()
    assert made.twin(recipe) is None
    marked = drawn(name, marked=1.0)
    same = marked.render(marked.recipe(SEED, "test", 3))
    assert np.array_equal(same.image, sample.image)
    assert np.array_equal(same.regions[made.plugin.region], sample.regions[made.plugin.feature])


def test_breeds_are_of_the_kinds_coats_and_markings_that_differ():
    kinds = Counter(breed.split("_")[2] for breed in BREEDS)
    assert kinds == {"cat": 12, "dog": 25}
    assert drawn("pets").plugin.tasks["species"] == SPECIES
    assert len({frozenset(pair) for pair in COATS.items()}) == len(COATS), "two coats have the same two colours"
    labels = [sample.labels for sample, _ in drawn("pets").pairs(0, "train", range(37), twins=False)]
    assert Counter(label["species"] for label in labels) == {0: 12, 1: 25}
    assert all(BREEDS[label["breed"]].endswith(SPECIES[label["species"]]) for label in labels)


def test_activities_are_all_pairs_but_the_last_and_the_object_lies_where_the_pose_has_it():
    assert len(PAIRS) == len(PLACES) * 16 - 1
    assert "kick_sports_ball" not in ACTIVITIES
    made = drawn("actions", 64)
    for recipe in recipes(made, 16):
        (person, whole), (_, thing) = made.plugin.pieces(recipe.parameters)
        pose, _ = PAIRS[recipe.parameters["activity"]]
        middles = [(w.row + w.height / 2, w.column + w.width / 2) for w in (whole, thing)]
        apart = np.subtract(middles[1], middles[0]) / max(person.shape[:2])
        assert apart == pytest.approx(PLACES[pose], abs=0.05)


@pytest.mark.parametrize("name", ["actions", "pets", "people"])
def test_cutouts_lie_within_the_image(name):
    made = drawn(name)
    for recipe in recipes(made, CLASSES["actions"]):
        for picture, window in made.plugin.pieces(recipe.parameters):
            assert picture.shape[:2] == (window.height, window.width)
            assert min(window.row, window.column) >= 0
            assert max(window.row + window.height, window.column + window.width) <= 32


def test_poses_of_the_catalogue_have_both_limbs_and_a_place_of_their_own():
    poses = catalogue("people.json")["poses"]
    assert all(len(pose[limbs].split("/")) == 2 for pose in poses.values() for limbs in ("arms", "legs"))
    assert len(set(PLACES.values())) == len(PLACES) == 8
    assert DRESSES == ("gown", "trousers")


def test_boxes_are_tight_around_each_tool_and_luggage_without_them_is_clear():
    made = drawn("luggage", 48)
    shown = Counter()
    for recipe in recipes(made, 24):
        sample, tools = made.render(recipe), recipe.parameters["tools"]
        assert sample.labels["label"] == bool(tools)
        assert made.render(recipe, omit=made.features(recipe)).labels["label"] == 0
        boxes = np.zeros((48, 48), dtype=bool)
        for mask in made.plugin.supports(recipe.parameters) if tools else []:
            places = np.argwhere(mask)
            (top, left), (bottom, right) = places.min(axis=0), places.max(axis=0)
            boxes[top : bottom + 1, left : right + 1] = True
        assert np.array_equal(sample.regions["boxes"], boxes)
        assert (made.twin(recipe) is None) == (not tools)
        shown.update(tools)
    assert set(shown) == set(TOOLS)


@pytest.mark.parametrize("kind", [kind for kinds in SHOWN.values() for kind in kinds])
def test_a_layer_changes_only_the_pixels_that_it_names(kind):
    canvas = np.full((32, 32, 3), 0.3)
    layer = Layer(Stream(0, "layer"), canvas)
    play(layer, [step for step in LAYOUTS[kind] if step.part not in ("camera", "sky", "ground")])
    changed = (canvas != 0.3).any(axis=2)
    assert changed.any()
    assert not (changed & ~layer.support).any()
    assert layer.canvas is canvas
