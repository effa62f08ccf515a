"""What is left of an image without the feature of its class does not know the class."""

from functools import cache
import numpy as np
import pytest
import repeats
from PIL import Image
from quick_generators import marked, quick
from scipy.stats import binom, f_oneway
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from salgen.generators.composites.bam import Bam
from salgen.registry import GENERATORS

# Designed networks do not learn: what else is in the image of one may know its class.
LEARNT = [name for name in GENERATORS.names() if not hasattr(GENERATORS.load(name), "attribution")]
NAMES = marked(LEARNT)

DRAWN = 1000  # recipes whose places are compared
SEED = 11
LEVEL = 0.001
PLACES = {"row", "column", "position", "down", "across"}  # last words of the factors that say where a feature is

CLASSIFIERS = {
    "linear": make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=300)),
    "forest": RandomForestClassifier(n_estimators=60, min_samples_leaf=4, random_state=0),
}


def described(image):
    """Histogram of every channel, an 8 x 8 thumbnail, mean and spread; float (F,)."""
    channels = np.moveaxis(image.astype(np.float64), 2, 0)
    histograms = [np.histogram(channel, bins=8, range=(0, 256))[0] / channel.size for channel in channels]
    small = [
        np.asarray(Image.fromarray(channel).resize((8, 8), Image.Resampling.BOX)) for channel in channels.astype("f4")
    ]
    return np.concatenate([*histograms, *map(np.ravel, small), channels.mean((1, 2)), channels.std((1, 2))])


def samples(classes):
    """How many samples of one split are drawn, half to fit and half held out: more where there are many classes.

    Of one split, so that a background says no more of one half than of the other.
    """
    return 800 if repeats.torture or classes > 10 else 400


@cache
def left_over(name):
    """Images of a generator's samples without their features, and the labels."""
    made = quick(name)
    task = next(iter(made.plugin.tasks))
    images, labels = [], []
    for index in range(samples(len(made.plugin.tasks[task]))):
        recipe = made.recipe(SEED, "train", index)
        images.append(made.render(recipe, omit=made.features(recipe)).image)
        labels.append(recipe.parameters[task])
    return np.stack(images), np.array(labels)


def right(images, labels):
    """How many of the held-out images each classifier assigns to their class."""
    features, half = np.stack([described(image) for image in images]), len(labels) // 2
    return {
        name: int((classifier.fit(features[:half], labels[:half]).predict(features[half:]) == labels[half:]).sum())
        for name, classifier in CLASSIFIERS.items()
    }


def most_by_chance(labels):
    """The number of right answers for the second half that guessing exceeds once in a thousand times."""
    return int(binom.isf(LEVEL, len(labels) // 2, 1 / len(np.unique(labels))))


def groupings(labels):
    """The classes; where they are many, and few samples show each, also every other one, and tens and fives of them."""
    return [labels, *([labels % 2, labels // 5, labels % 5] if len(np.unique(labels)) > 10 else [])]


def independent(plugin, count):
    """Indices of samples that share no draw: of composites, those of each object on one of the scenes."""
    if not isinstance(plugin, Bam):
        return range(count)
    things, pairs = len(plugin.objects), len(plugin.objects) * len(plugin.scenes)
    return [index // things * pairs + index % things for index in range(count)]


def differing_places(made):
    """The probability, for every place in the factors, that the classes' means differ so much by chance."""
    task, classes = next(iter(made.plugin.tasks.items()))
    values = {}
    for index in independent(made.plugin, DRAWN):
        parameters = made.recipe(SEED, "train", index).parameters
        for key, value in made.plugin.factors(parameters).items():
            if key.split("_")[-1] in PLACES and value is not None:
                values.setdefault(key, [[] for _ in classes])[parameters[task]].append(value)
    return {
        key: float(f_oneway(*groups).pvalue)
        for key, groups in values.items()
        if min(map(len, groups)) > 1 and len({value for group in groups for value in group}) > 1
    }


# Many classes take the most images; the others differ from one that is asked in the objects or the noise alone.
SLOW = (
    *("drawn-actions", "drawn-pets", "textured-shapes"),
    *("ebam", "pink-lesions", "simplex-lesions", "white-lesions"),
)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.torture) if n in SLOW else n for n in NAMES])
def test_without_the_feature_a_classifier_stays_at_chance(name):
    images, labels = left_over(name)
    for classes in groupings(labels):
        found = right(images, classes)
        assert max(found.values()) <= most_by_chance(classes), found


def test_the_classifiers_find_a_scene_that_leaks():
    """One class has a quarter less of a channel, or a band along the top that is a quarter darker."""
    images, labels = left_over("drawn-lights")
    paler, banded = images.copy(), images.copy()
    paler[labels == 1, :, :, 2] -= paler[labels == 1, :, :, 2] // 4
    banded[labels == 1, :3] -= banded[labels == 1, :3] // 4
    for leaking in (paler, banded):
        found = right(leaking, labels)
        assert max(found.values()) > most_by_chance(labels), found


@pytest.mark.parametrize("name", NAMES)
def test_features_are_in_the_same_places_in_every_class(name):
    differing = differing_places(quick(name))
    if not differing:
        pytest.skip("no place that varies in every class")
    assert all(probability > LEVEL for probability in differing.values()), differing


@pytest.mark.parametrize("name", ["mri-lesions", "perlin-lesions"])
def test_lesions_are_in_the_same_places_whether_there_are_one_or_two(name):
    differing = differing_places(quick(name, lesion_classes="one_vs_two"))
    assert set(differing) >= {"lesion_1_row", "lesion_1_column"}
    assert all(probability > LEVEL for probability in differing.values()), differing


def test_places_that_follow_the_class_are_found():
    differing = differing_places(quick("drawn-lights", position_bias=0.3))
    assert {key for key, probability in differing.items() if probability <= LEVEL} == {"position", "row"}
