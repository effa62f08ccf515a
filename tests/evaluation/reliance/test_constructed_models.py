"""Models whose reliance is known by their algebra, on every generator that can draw a background again.

A model is a function of two numbers that are read off an image exactly: the feature, by how much the image differs from
its twin, and the background, the mean brightness of that twin.
"""

import numpy as np
import pytest

from salgen.evaluation.reliance.reliance import TOLERATED, certificate_of
from salgen.evaluation.reliance.rerender import Renderer, _images
from salgen.generators.declarations import Movable, Redrawable
from salgen.generators.factory import generator
from salgen.registry import GENERATORS

SAMPLES, REDRAWS = 2, 3
MANY = 10  # classes
NAMES = [
    name
    for name in GENERATORS.names()
    if isinstance(GENERATORS.load(name), type) and issubclass(GENERATORS.load(name), Redrawable)
]


class Readings:
    """The feature and the background in all images that a certificate of some samples asks about."""

    def __init__(self, name):
        plugin = GENERATORS.load(name)
        self.renderer = Renderer(generator(name, **plugin.quick), 0)
        made = self.renderer.generator
        self.movable = isinstance(made.plugin, Movable)
        pairs = [(recipe, made.twin(recipe)) for recipe in (made.recipe(0, "test", index) for index in range(12))]
        # an image that shows several objects stands here for one of them
        apart = {made.render(recipe).image.tobytes(): recipe for recipe, twin in pairs if twin is not None}
        self.recipes = [*apart.values()][:SAMPLES]
        self.read = {}
        for recipe in self.recipes:
            for shown in self._shown(recipe):
                twin = _images([made.twin(shown).image])[0]
                wholes = [made.render(shown), *(made.render(shown, omit=(part,)) for part in made.features(shown))]
                for image in [twin, *(_images([whole.image])[0] for whole in wholes)]:
                    feature = np.abs(image.astype(np.float64) - twin).mean()
                    self.read[image.tobytes()] = (feature, twin.astype(np.float64).mean())

    def certificates(self, model, classes=2):
        """The certificates of a model, a function of features and backgrounds (n,) to the label's logit (n,).

        All other classes have logit 0.
        """

        def ask(images):
            logits = np.zeros((len(images), classes))
            logits[:, 1] = model(*self.of(images))
            return logits

        return [certificate_of(answers, 1, 1) for answers in self.renderer.answers(self.recipes, REDRAWS, ask)]

    def of(self, images):
        """The features and the backgrounds of images, float64 (n,) each."""
        return np.array([self.read[image.tobytes()] for image in images]).T

    def table(self, moved=False):
        """float64 (SAMPLES, 1 + R, 2): the feature and the background of each sample and its redraws.

        With `moved`, (SAMPLES, R, 2): those of its redraws with the feature elsewhere; R is 0 where it cannot be moved.
        """
        made, rows = self.renderer.generator, []
        for recipe in self.recipes:
            shown = [_images([made.render(one).image])[0].tobytes() for one in self._shown(recipe)]
            rows.append([self.read[image] for image in shown])
        table = np.array(rows)
        return table[:, 1 + REDRAWS :] if moved else table[:, : 1 + REDRAWS]

    def weakest(self):
        """The least feature of all images that show one."""
        return min(self.table()[..., 0].min(), self.table(moved=True)[..., 0].min(initial=np.inf))

    def _shown(self, recipe):
        made = self.renderer.generator
        again = [made.redraw, made.move] if self.movable else [made.redraw]
        return [recipe, *(redraw(recipe, 0, number) for redraw in again for number in range(REDRAWS))]


SHARED = ("ebam", "pink-lesions", "simplex-lesions", "white-lesions")  # what is asked is in bam and perlin-lesions too


@pytest.fixture(
    scope="module", params=[pytest.param(name, marks=[pytest.mark.torture] * (name in SHARED)) for name in NAMES]
)
def readings(request):
    return Readings(request.param)


@pytest.mark.parametrize(
    "response",
    [lambda feature: feature, np.log1p, lambda feature: np.tanh(3 * feature)],
    ids=["linear", "logarithmic", "saturated"],
)
def test_a_model_that_reads_the_feature_alone_passes_always(readings, response):
    weakest = readings.weakest()
    assert weakest > 0
    found = readings.certificates(lambda feature, _: response(feature / weakest) - response(0.5))
    assert [certificate.certified for certificate in found] == [True] * SAMPLES
    assert [certificate.tolerance for certificate in found] == [0] * SAMPLES
    elsewhere = [certificate.holds_elsewhere for certificate in found]
    assert elsewhere == pytest.approx([1.0 if readings.movable else np.nan] * SAMPLES, nan_ok=True)


def test_where_the_feature_is_too_weak_elsewhere_the_prediction_does_not_hold(readings):
    if not readings.movable:
        pytest.skip("its feature stays where it is")
    moved = readings.table(moved=True)[..., 0]
    least = np.median(moved)
    found = readings.certificates(lambda feature, _: feature - least)
    assert [certificate.holds_elsewhere for certificate in found] == (moved > least).mean(axis=1).tolist()


@pytest.mark.parametrize("label", range(MANY))
def test_what_a_model_names_without_the_feature_does_not_matter_among_many_classes(readings, label):
    """Each class's logit changes a little with the background, so one class or another is the most likely on a twin."""
    weakest = readings.weakest()
    named = set()

    def ask(images):
        features, backgrounds = readings.of(images)
        logits = 0.01 * np.cos(1e4 * backgrounds[:, None] * np.arange(1, MANY + 1))
        named.update(logits[features == 0].argmax(axis=1))
        logits[:, label] += 5 * features / weakest
        return logits

    for answers in readings.renderer.answers(readings.recipes, REDRAWS, ask):
        certificate = certificate_of(answers, label, label)
        assert certificate.certified
        assert certificate.tolerance <= 0.02 / 4.9
        assert not readings.movable or certificate.holds_elsewhere == 1
    assert named


@pytest.mark.parametrize("classes", [2, MANY])
def test_a_model_that_reads_the_background_alone_never_passes(readings, classes):
    middle = readings.table()[..., 1].mean()
    for factor in (-1, 1, 1000):
        found = readings.certificates(lambda _, background, by=factor: by * (background - middle), classes)
        assert not any(certificate.certified or certificate.uses_feature for certificate in found)


@pytest.mark.parametrize("classes", [2, MANY])
@pytest.mark.parametrize("centre", [0.5, 0.1])
@pytest.mark.parametrize("share", [0.1, 0.3, 2.0])
def test_a_mixture_passes_where_its_algebra_says(readings, share, centre, classes):
    """a F + b B - c: the background is ignored if b |B_r - B| <= a F / 4 for every redraw, and all answers are right.

    They are if the logit is above 0 with the feature; and without it below 0, or at most log(K - 1), where the
    probability is one half, and above that with the feature.
    """
    features, backgrounds = readings.table()[..., 0], readings.table()[..., 1]
    moved = np.abs(backgrounds - backgrounds[:, :1]).max(axis=1)
    if not moved.any():
        pytest.skip("nothing that changes the mean brightness is drawn again")
    weight = share * features[:, 0].min() / moved.max()
    scale, middle = 6 / features.min(), weight * np.median(backgrounds) + centre * features.min()

    def logit(feature, background):
        return scale * (feature + weight * background - middle)

    found = readings.certificates(logit, classes)
    with_it, without, half = logit(features, backgrounds), logit(0, backgrounds), np.log(classes - 1)
    right, given_up = with_it > 0, (without < 0) | ((without <= half) & (half < with_it))
    expected = weight * moved / features[:, 0]
    for number, certificate in enumerate(found):
        sound = right[number].all() and given_up[number, 1:].all()
        assert certificate.tolerance == (pytest.approx(expected[number]) if sound else np.inf)
        assert certificate.certified == bool(sound and given_up[number, 0] and expected[number] <= TOLERATED)
    assert len(found) == SAMPLES


def test_what_moves_all_logits_alike_does_not_count_for_margins(readings):
    least = readings.table()[..., 0].min() / 2

    class Common:
        def __call__(self, images):
            features, backgrounds = readings.of(images)
            return np.stack([5 * backgrounds, features - least + 5 * backgrounds], axis=1)

    answers = readings.renderer.answers(readings.recipes, REDRAWS, Common())
    assert all(certificate_of(one, 1, 1, "margin").certified for one in answers)
    moved = np.abs(readings.table()[..., 1] - readings.table()[:, :1, 1]).max(axis=1)
    tolerances = [certificate_of(one, 1, 1, "logit").tolerance for one in answers]
    assert np.allclose(tolerances, 5 * moved / readings.table()[:, 0, 0])


def test_the_contrast_effect_follows_the_strength_of_the_feature(readings):
    """Of a model that reads the feature alone it is what the background does to the feature."""
    found = readings.certificates(lambda feature, _: feature - readings.table()[..., 0].min() / 2)
    features = readings.table()[..., 0]
    expected = np.abs(features - features[:, :1]).max(axis=1)
    assert np.allclose([certificate.contrast_effect for certificate in found], expected)
