from itertools import combinations
import numpy as np
import pytest
from quick_generators import quick
from salgen.generators.interfaces import Context, Edit

SEED = 5


def recipe_of_class(made, label):
    return next(r for r in (made.recipe(SEED, "test", i) for i in range(2)) if r.parameters["label"] == label)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("drawn-figures", {"label", "white", "yellow", "down", "across", "gap", "radii", "turn"}),
        ("drawn-lights", {"label", "position", "pose", "lamp"}),
        ("textured-shapes", {"label", "side", "turn", "place", "colours", "light", "texture", "ignored"}),
    ],
)
def test_a_redraw_keeps_what_is_painted_and_changes_what_is_around_it(name, kept):
    made = quick(name)
    for index in range(4):
        sample = made.sample(SEED, "test", index)
        redrawn = made.render(made.redraw(sample.recipe, SEED, 0))
        same = {key for key, value in sample.recipe.parameters.items() if redrawn.recipe.parameters[key] == value}
        assert same >= kept
        black, white = (np.full((*made.plugin.image_size, 3), value) for value in (0.0, 1.0))
        for canvas in (black, white):
            made.plugin.paint(canvas, sample.recipe.parameters, made.material, Edit())
        solid = (black == white).all(axis=2)
        assert solid.any()
        np.testing.assert_array_equal(redrawn.image[solid], sample.image[solid])
        feature = next(iter(sample.target.values()))
        assert (redrawn.image != sample.image).any(axis=2)[~sample.regions[feature]].mean() > 0.5


def test_redraws_are_independent_of_one_another_and_of_every_sample():
    made = quick("perlin-lesions")
    recipes = [made.recipe(SEED, "test", index) for index in range(12)]
    fields = [recipe.parameters["field"] for recipe in recipes]
    fields += [made.redraw(recipe, SEED, k).parameters["field"] for recipe in recipes for k in range(8)]
    fields.append(made.redraw(recipes[0], SEED + 1, 0).parameters["field"])
    assert len(set(fields)) == 12 + 12 * 8 + 1


def test_what_is_balanced_over_a_split_is_balanced_over_the_redraws_of_a_sample():
    for sample in range(6):
        drawn = [Context(SEED, "f", "test", k, None, redraws_of=sample).balanced("label") for k in range(8)]
        assert [sorted(drawn[k : k + 2]) for k in range(0, 8, 2)] == [[0, 1]] * 4
    orders = [
        tuple(Context(SEED, "f", "test", k, None, redraws_of=s).balanced("label") for k in range(8)) for s in range(40)
    ]
    assert len(set(orders)) > 8, "each sample has an order of its own"


@pytest.mark.parametrize("name", ["perlin-lesions", "mri-lesions"])
def test_any_lesions_can_be_left_out(name):
    made = quick(name, lesions=3, image_size=(48, 48))
    recipe = recipe_of_class(made, 1)
    names, whole, bare = made.features(recipe), made.render(recipe), made.render(recipe, omit=("lesions",))
    assert names == ["lesion_1", "lesion_2", "lesion_3"]
    for count in range(4):
        for omitted in combinations(names, count):
            sample = made.render(recipe, omit=omitted)
            shown = [name for name in names if name not in omitted]
            inside = np.any([whole.regions[name] for name in shown], axis=0) if shown else np.zeros((48, 48), bool)
            expected = np.where(inside[..., None], whole.image, bare.image)
            assert np.array_equal(sample.image, expected)
            assert np.array_equal(sample.regions["lesions"], inside)
            assert not (sample.regions["core"] & ~inside).any()
            for name in names:
                assert np.array_equal(sample.regions[name], whole.regions[name] & (name in shown))
            assert sample.labels == {"label": int(bool(shown))}


def test_in_one_versus_two_the_places_stay_and_the_label_counts():
    made = quick("perlin-lesions", lesion_classes="one_vs_two")
    two, one = recipe_of_class(made, 1), recipe_of_class(made, 0)
    assert (made.features(two), made.features(one)) == (["lesion_1", "lesion_2"], ["lesion_1"])
    without = made.render(two, omit=("lesion_1",))
    assert without.labels == {"label": 0}
    assert np.array_equal(without.regions["lesions"], made.render(two).regions["lesions"])
    assert np.array_equal(made.render(two, omit=("lesion_2",)).image, made.twin(two).image)
    both = made.render(one, omit=("lesion_2",), change={"lesions": 2})
    assert np.array_equal(both.image, made.render(one).image)
    assert made.twin(one).labels == {"label": 1}
