"""Artefacts planted in the images of a data set: exact masks, and shares of labels as they are stated."""

import itertools
import json
from types import SimpleNamespace
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from tiles import write_tiles
from salgen.datasets.importers.derived.derived import Images
from salgen.datasets.importers.derived.planted_artefacts import PlantedArtefacts
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.reliance.certificate_rule import certificate_of
from salgen.evaluation.reliance.rerender import Renderer
from salgen.evaluation.verification.verifying import verify
from salgen.generators.factory import generator
from salgen.generators.generator import Generator
from salgen.registry import GENERATORS, IMPORTERS, Entry
from salgen.testing import check_generator

NAME = "planted-artefacts"
COUNT = 3000
SURE = 1e-6  # chance that a count lies outside its bounds


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """Grey with 8 and 16 bits, colour with three classes, and an imported source."""
    folder = tmp_path_factory.mktemp("sources")
    with pytest.MonkeyPatch.context() as patch:
        for registry, name in ((GENERATORS, "squares"), (IMPORTERS, "tiles")):
            patch.setitem(vars(registry), "entries", {**registry.entries, name: Entry(name, name, "")})
        copy = write_tiles(folder / "copy", {"train": 8, "val": 4, "test": 8})
        few = {"train": 12, "val": 4, "test": 6}
        slots = {"image_size": (16, 16), "function": "mod"}
        return {
            "grey": make("squares", folder / "grey", workers=1),
            "deep": make("squares", folder / "deep", parameters={"bit_depth": 16}, workers=1),
            "three": make("logic-slots", folder / "three", parameters=slots, splits=few, workers=1),
            "tiles": make("tiles", folder / "tiles", source=str(copy), workers=1),
        }


def of_labels(labels, classes, **parameters):
    """The generator on a source that has labels and black images of 12 x 10 pixels."""
    levels = np.zeros((len(labels), 12, 10, 3), dtype=np.uint8)
    images = Images(levels, np.asarray(labels), [str(number) for number in range(len(labels))])
    source = SimpleNamespace(load=lambda split: images, sizes={"train": len(labels)}, name="", digest="")
    fitted = {"image_size": (12, 10), "bit_depth": 8, "classes": tuple(map(str, range(classes)))}
    return Generator(PlantedArtefacts(**{"side": 3, **fitted, **parameters}), source)


def drawn(made, seed=0):
    """The labels of the source, the labels and the artefacts of all samples, int64 (3, N)."""
    recipes = [made.recipe(seed, "train", index).parameters for index in range(made.source.sizes["train"])]
    return np.array([[recipe[key] for recipe in recipes] for key in ("source_label", "label", "artefact")])


def likely(count, total, share):
    """Whether a count is within the exact bounds of a binomial one."""
    return binom.cdf(count, total, share) > SURE and binom.sf(count - 1, total, share) > SURE


@pytest.mark.parametrize("source", ["grey", "deep", "three", "tiles"])
def test_it_keeps_the_laws_and_each_image_is_there_once_with_a_square_of_its_artefact(sources, source):
    check_generator(NAME, str(sources[source]))
    made = generator(NAME, str(sources[source]), side=4, strength=0.5)
    base = open_dataset(sources[source])
    assert made.available == base.spec.splits
    colours = made.plugin.colours(base.manifest.channels)
    for split in base.spec.splits:
        (batch,) = base.of_split(split).batches(20)
        for index, image in enumerate(batch.levels().transpose(0, 2, 3, 1)):
            sample = made.sample(0, split, index)
            recipe, expected = sample.recipe.parameters, image.copy()
            row, column = recipe["place"]
            for y, x in itertools.product(range(row, row + 4), range(column, column + 4)):
                expected[y, x] = colours[recipe["artefact"]]
            mask = np.zeros(image.shape[:2], dtype=bool)
            mask[row : row + 4, column : column + 4] = True
            np.testing.assert_array_equal(sample.image, expected)
            np.testing.assert_array_equal(sample.regions["artefact"], mask)
            np.testing.assert_array_equal(made.render(sample.recipe, omit=("artefact",)).image, image)
            twin = made.twin(sample.recipe)
            assert twin.labels == sample.labels
            assert (twin.image[mask] == colours[recipe["twin"]]).all()
            assert recipe["twin"] != recipe["artefact"]
            assert recipe["source_label"] == batch.labels[index]
            assert made.cluster(sample.recipe) == batch.clusters[index]


@pytest.mark.parametrize(("channels", "depth"), [(1, 8), (1, 16), (3, 8)])
def test_colours_have_equal_distances(channels, depth):
    top = 2**depth - 1
    colours = of_labels([0, 1], 2, bit_depth=depth).plugin.colours(channels)
    assert colours.tolist() == ([[0], [top]] if channels == 1 else [[top, top, 0], [0, 0, top]])
    if channels == 3:
        three = of_labels([0, 1], 3, bit_depth=depth).plugin.colours(3)
        assert three.tolist() == [[top, top, 0], [0, top, top], [top, 0, top]]
    assert len(np.unique(of_labels([0, 1], 40, bit_depth=depth).plugin.colours(channels), axis=0)) == 40


def joint(classes, keep, strength):
    """The probability of each (class of the source, label, artefact), written cell by cell from the docstring."""
    table = np.zeros((classes,) * 3)
    for base, label, artefact in itertools.product(range(classes), repeat=3):
        kept = keep if label == base else (1 - keep) / (classes - 1)
        at_chance = 1 / classes
        goes = strength * (artefact == label) + (1 - strength) * at_chance
        table[base, label, artefact] = kept * goes / classes
    return table


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize(("keep", "strength"), [(0.5, 1), (0.5, 0), (1, 0.5), (0.2, 0.9), (0, 0.3)])
def test_counts_are_those_of_the_stated_probabilities(classes, keep, strength):
    bases, labels, artefacts = drawn(of_labels(np.arange(COUNT) % classes, classes, keep=keep, strength=strength))
    expected = joint(classes, keep, strength)
    assert expected.sum() == pytest.approx(1)
    for base, label, artefact in itertools.product(range(classes), repeat=3):
        count = ((bases == base) & (labels == label) & (artefacts == artefact)).sum()
        share = expected[base, label, artefact] * classes  # of the images of this class, whose number is known
        assert likely(count, COUNT // classes, share) or count == share * (COUNT // classes)


@given(st.integers(2, 6), st.floats(0, 1), st.floats(0, 1))
def test_the_bound_is_the_accuracy_of_the_best_classifier_without_the_artefact(classes, keep, strength):
    table = joint(classes, keep, strength)
    plugin = of_labels([0], classes, keep=keep, strength=strength).plugin
    of_source = table.sum(axis=2)  # the Bayes classifier takes the likeliest label of each class of the source
    assert of_source.max(axis=1).sum() == pytest.approx(plugin.bound)
    assert np.einsum("bll->", table) == pytest.approx(plugin.agreement)
    assert f"**{plugin.bound:.4g}**" in plugin.guarantee()
    assert "exactly" not in plugin.guarantee() or np.allclose(of_source, 1 / classes**2)
    assert f"exactly **{1 / classes:.4g}**" in of_labels([0], classes, keep=1 / classes).plugin.guarantee()


def test_what_agrees_at_a_strength_agrees_at_any_larger_one_with_the_same_labels():
    before, agreed = None, np.zeros(300, dtype=bool)
    for strength in (0, 0.3, 0.8, 1):
        made = of_labels(np.arange(300) % 3, 3, strength=strength)
        bases, labels, artefacts = drawn(made)
        agrees = labels == artefacts
        assert before is None or np.array_equal(before, labels)
        assert (agrees | ~agreed).all()
        shown = [made.sample(0, "train", int(index)).image for index in np.flatnonzero(agreed)[:5]]
        again = [of_labels(np.arange(300) % 3, 3, strength=1).sample(0, "train", int(i)).image for i in
                 np.flatnonzero(agreed)[:5]]  # fmt: skip
        assert np.array_equal(shown, again)
        before, agreed = labels, agrees
    assert agreed.all()
    factors = [made.plugin.factors(made.recipe(0, "train", index).parameters) for index in range(300)]
    assert [factor["kept"] for factor in factors] == (bases == labels).tolist()
    assert [factor["agrees"] for factor in factors] == (artefacts == labels).tolist()


def test_redraws_show_each_class_of_the_source_and_never_the_image_itself():
    made = of_labels([0] * 6 + [1] * 2, 2)
    recipe = made.recipe(0, "train", 7)
    again = [made.redraw(recipe, 0, number).parameters for number in range(40)]
    assert sum(one["source_label"] for one in again) == 20
    assert {one["item"] for one in again} == set(range(7))
    fixed = ("label", "artefact", "twin", "place", "split")
    assert all(one[key] == recipe.parameters[key] for one in again for key in fixed)
    moved = [made.move(recipe, 0, number).parameters for number in range(200)]
    assert [one["item"] for one in moved[:40]] == [one["item"] for one in again]
    assert {tuple(one["place"]) for one in moved} >= {(0, 0), (9, 7)}
    assert max(one["place"] for one in moved) <= [9, 7]


def test_a_reader_of_the_artefact_is_certified_and_a_reader_of_the_image_is_not(sources, tmp_path):
    source = str(sources["tiles"])
    data = open_dataset(make(NAME, tmp_path / "data", source=source, parameters={"side": 4}, workers=1), "test")
    renderer = Renderer.of(data, source, 0)
    colours = renderer.generator.plugin.colours(3) / 255
    (batch,) = data.batches(20)

    def artefact(images):
        return np.array([[(image.T - colour == 0).all(axis=2).sum() for colour in colours] for image in images]) * 1.0

    def brightness(images):
        bright = np.median(images, axis=(1, 2, 3))[:, np.newaxis]
        return np.hstack([0.5 - bright, bright - 0.5])

    for reader, certified in ((artefact, True), (brightness, False)):
        answers = renderer.answers(batch.recipes, 4, reader)
        verdicts = [certificate_of(answer, label, label) for answer, label in zip(answers, batch.labels, strict=True)]
        assert {verdict.certified for verdict in verdicts} == {certified}
    right = [verdict.correct for verdict in verdicts]
    assert right == (data.column("kept") == 1).tolist()
    assert 0 < sum(right) < len(right)


def test_the_data_set_is_verified_with_its_source_and_its_card_says_what_it_is(sources, tmp_path):
    folder = make(NAME, tmp_path / "data", source=str(sources["three"]), parameters={"side": 4}, workers=1)
    assert verify(folder, source=str(sources["three"])) == []
    assert any("give the source it was made from" in fault for fault in verify(folder, source=str(sources["grey"])))
    manifest = json.loads((folder / "salgen.json").read_text())
    assert manifest["spec"]["splits"] == {"train": 12, "val": 4, "test": 6}
    card = (folder / "README.md").read_text()
    assert "at most **0.5**, max(r, (1 - r) / 2) with r = 0.5" in card
    assert f"Made from a data set logic-slots with the fingerprint `{manifest['spec']['source_digest']}`" in card
    assert "The images are those of another data\nset" in card
    assert "The cause of every label is known" not in card
    assert "from the images of another of its data sets: data set" in (folder / "croissant.json").read_text()


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"image_size": (32, 32)}, "it is the source's, (12, 16); leave it out"),
        ({"bit_depth": 16}, "it is the source's, 8; leave it out"),
        ({"classes": ("a", "b")}, "it is the source's, ('empty', 'square'); leave it out"),
        ({"side": 12}, "side = 12: must be less than the image, 12x16"),
        ({"keep": 1.5}, "keep = 1.5: must be"),
        ({"strength": -0.1}, "strength = -0.1: must be"),
    ],
)
def test_what_does_not_fit_the_source_is_refused(sources, parameters, says):
    with pytest.raises(SalgenError) as error:
        generator(NAME, str(sources["grey"]), **{"side": 4, **parameters})
    assert says in str(error.value)


def test_a_source_has_several_classes_that_colours_tell_apart(sources):
    with pytest.raises(SalgenError, match=r"give --set source=DATA, a data set of salgen$"):
        generator(NAME)
    dataset = SimpleNamespace(spec=SimpleNamespace(image_size=(16, 16), bit_depth=8),
                              manifest=SimpleNamespace(channels=1))  # fmt: skip
    for count in (1, 257):
        source = SimpleNamespace(dataset=dataset, classes=tuple(map(str, range(count))))
        with pytest.raises(SalgenError, match=f"{count} classes of the source: it takes 2 to as many as there are"):
            PlantedArtefacts().fitted(source)
