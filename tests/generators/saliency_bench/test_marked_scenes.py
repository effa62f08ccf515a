"""Stand-ins for Saliency-Bench: as many classes, masks of such sizes, and some images without a mask."""

from collections import Counter
import numpy as np
import pytest
from salgen.datasets.importers.pet_xai import SPECIES
from salgen.evaluation.protocols.saliency_bench import OBJECT, STAND_INS
from salgen.generators.factory import generator
from salgen.generators.interfaces import Context, Edit
from salgen.generators.saliency_bench.drawn_actions import ACTIVITIES, PAIRS
from salgen.generators.saliency_bench.drawn_luggage import TOOLS
from salgen.generators.saliency_bench.drawn_people import PLACES
from salgen.generators.saliency_bench.drawn_pets import BREEDS, COATS
from salgen.generators.saliency_bench.drawn_places import SHOWN, Layer
from salgen.generators.stand_ins.sceneries.painting import LAYOUTS, play
from salgen.registry import IMPORTERS
from salgen.seeding import Stream

SEED = 6
DRAWN = {"gender": "people", "environment": "places", "security": "luggage", "pet": "pets", "action": "actions"}


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


def test_single_objects_of_twenty_classes_stand_in_for_object_xai():
    made = generator("multi-objects", image_size=(32, 32), pictures=10, **STAND_INS[OBJECT])
    assert len(made.plugin.tasks["object"]) == 20
    samples = [made.render(recipe) for recipe in recipes(made, 40)]
    assert Counter(sample.labels["object"] for sample in samples) == dict.fromkeys(range(20), 2)
    shares = [sample.regions["object"].mean() for sample in samples]
    assert 0.1 < np.mean(shares) < 0.5
    assert 0.04 < min(shares) < max(shares) < 0.6


@pytest.mark.parametrize("name", DRAWN.values())
def test_the_feature_is_the_whole_support(name):
    made = drawn(name)
    for recipe in recipes(made, 6):
        dark, light = painted_on(made, recipe, 0.25), painted_on(made, recipe, 0.75)
        touched = ((dark != 0.25) | (light != 0.75)).any(axis=2)
        assert np.array_equal(touched, made.render(recipe).regions[made.plugin.feature])
        assert 0 <= min(dark.min(), light.min()) <= max(dark.max(), light.max()) <= 1


@pytest.mark.parametrize("name", [*DRAWN.values(), "figures"])
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
    play(layer, [row for row in LAYOUTS[kind] if row[0] not in ("camera", "sky", "ground")])
    changed = (canvas != 0.3).any(axis=2)
    assert changed.any()
    assert not (changed & ~layer.support).any()
    assert layer.canvas is canvas
