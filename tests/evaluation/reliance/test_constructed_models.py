"""Models whose reliance is known by their algebra, on every generator that can draw a background again.

A model is a function of two numbers of every image: the feature, by how much the image differs from its twin, and the
background, the mean brightness of that twin. Both change evenly on the way from one image to another.
"""

from dataclasses import replace
from functools import cached_property
from types import SimpleNamespace
import numpy as np
import pytest
from scipy.special import expit
from salgen.evaluation.reliance.certificate_rule import STEP, TOLERATED, certificate_of
from salgen.evaluation.reliance.rerender import Renderer, _images
from salgen.generators.factory import generator
from salgen.generators.interfaces import Movable, Redrawable
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

    def __init__(self, name, samples=SAMPLES, redraws=REDRAWS, renderer=Renderer):
        plugin = GENERATORS.load(name)
        self.renderer, self.redraws = renderer(generator(name, **plugin.quick), 0), redraws
        made = self.renderer.generator
        self.movable = isinstance(made.plugin, Movable) and renderer is Renderer
        pairs = [
            (recipe, made.twin(recipe)) for recipe in (made.recipe(0, "test", index) for index in range(6 * samples))
        ]
        # an image that shows several objects stands here for one of them
        apart = {made.render(recipe).image.tobytes(): recipe for recipe, twin in pairs if twin is not None}
        self.recipes = [*apart.values()][:samples]
        self.read = {}
        for recipe in self.recipes:
            sample, own = self._pair(recipe)
            feature = sample.mask | (sample.image != own).any(axis=0)
            for number, shown in enumerate(self._shown(recipe)):
                whole, twin = self._pair(shown)
                parts = [_images([made.render(shown, omit=(part,)).image])[0] for part in made.features(shown)]
                for image in [twin, whole.image, *parts]:
                    self._note(image, self._difference(image, twin), twin.mean(dtype=np.float64))
                if number == 0:
                    known = (self._difference(sample.image, own), own.mean(dtype=np.float64))
                    self._note(_way(sample.image, own), (1 - STEP) * known[0], known[1])
                elif number <= redraws:
                    held, other = np.where(feature, sample.image, twin), twin.mean(dtype=np.float64)
                    self._note(held, known[0], other)
                    self._note(_way(sample.image, held), known[0], known[1] + STEP * (other - known[1]))

    def _pair(self, recipe):
        made = self.renderer.generator.render(recipe)
        image, twin = _images([made.image, self.renderer.generator.twin(recipe).image])
        return SimpleNamespace(image=image, mask=made.regions[next(iter(made.target.values()))]), twin

    def _note(self, image, feature, background):
        self.read[image.tobytes()] = (feature, background)

    @staticmethod
    def _difference(image, twin):
        return np.abs(image.astype(np.float64) - twin).mean()

    @cached_property
    def asked(self):
        """Answers whose two logits are the feature and the background."""
        return self.renderer.answers(self.recipes, self.redraws, self.of)

    def certificates(self, model, classes=2, label=1):
        """The certificates of a model of features and backgrounds (...), by the label's logit (...) or all (..., K)."""

        def said(readings):
            logits = np.asarray(model(*np.moveaxis(readings, -1, 0)))
            if logits.ndim == readings.ndim:
                return logits
            return np.where(np.arange(classes) == label, logits[..., np.newaxis], 0.0)

        for asked in self.asked:
            arrays = {name: said(value) for name, value in vars(asked).items() if isinstance(value, np.ndarray)}
            without = {name: said(value) for name, value in asked.without.items()}
            yield certificate_of(replace(asked, **arrays, without=without), label, label)

    def of(self, images):
        """The features and the backgrounds of images, float64 (n, 2)."""
        return np.array([self.read[image.tobytes()] for image in images])

    def table(self, moved=False):
        """The feature and background of samples and redraws, float64 (N, 1 + R, 2), or of `moved` ones, (N, R, 2)."""
        if moved:
            return np.stack([asked.moved if self.movable else np.zeros((0, 2)) for asked in self.asked])
        return np.stack([np.vstack([asked.sample, asked.redraws]) for asked in self.asked])

    def weakest(self):
        """The least feature of all images that show one."""
        return min(self.table()[..., 0].min(), self.table(moved=True)[..., 0].min(initial=np.inf))

    def _shown(self, recipe):
        made = self.renderer.generator
        again = [made.redraw, made.move] if self.movable else [made.redraw]
        return [recipe, *(redraw(recipe, 0, number) for redraw in again for number in range(self.redraws))]


def _way(image, other):
    return image + np.float32(STEP) * (other - image)


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
    found = [*readings.certificates(lambda feature, _: response(feature / weakest) - response(0.5))]
    assert [certificate.certified for certificate in found] == [True] * SAMPLES
    assert [certificate.tolerance for certificate in found] == [0] * SAMPLES
    elsewhere = [certificate.holds_elsewhere for certificate in found]
    assert elsewhere == pytest.approx([1.0 if readings.movable else np.nan] * SAMPLES, nan_ok=True)


@pytest.mark.parametrize("label", range(MANY))
def test_what_a_model_names_without_the_feature_does_not_matter_among_many_classes(readings, label):
    """Each class's logit changes a little with the background, so one class or another is the most likely on a twin."""
    weakest, named = readings.weakest(), set()

    def logits(features, backgrounds):
        said = 0.01 * np.cos(1e4 * backgrounds[..., np.newaxis] * np.arange(1, MANY + 1))
        named.update(said[features == 0].argmax(axis=-1))
        return said + np.where(np.arange(MANY) == label, 5 * features[..., np.newaxis] / weakest, 0)

    for certificate in readings.certificates(logits, label=label):
        assert certificate.certified
        assert certificate.tolerance <= 0.02 / 4.9 / STEP
        assert not readings.movable or certificate.holds_elsewhere == 1
    assert named


@pytest.mark.parametrize("classes", [2, MANY])
def test_a_model_that_reads_the_background_alone_never_passes(readings, classes):
    middle = readings.table()[..., 1].mean()
    for factor in (-1, 1, 1000):
        found = [*readings.certificates(lambda _, background, by=factor: by * (background - middle), classes)]
        assert not any(certificate.certified or certificate.uses_feature for certificate in found)


@pytest.mark.parametrize("classes", [2, MANY])
@pytest.mark.parametrize("centre", [0.5, 0.1])
@pytest.mark.parametrize("share", [0.1, 0.3, 2.0])
def test_a_mixture_passes_where_its_algebra_says(readings, share, centre, classes):
    """a F + b B - c: the background is ignored if b |B_r - B| <= a F / 4 for every redraw, and all answers right."""
    features, backgrounds = readings.table()[..., 0], readings.table()[..., 1]
    moved = np.abs(backgrounds - backgrounds[:, :1]).max(axis=1)
    if not moved.any():
        pytest.skip("nothing that changes the mean brightness is drawn again")
    weight = share * features[:, 0].min() / moved.max()
    scale, middle = 6 / features.min(), weight * np.median(backgrounds) + centre * features.min()

    def logit(feature, background):
        return scale * (feature + weight * background - middle)

    found = [*readings.certificates(logit, classes)]
    with_it, without = logit(features, backgrounds), logit(0, backgrounds)
    right, given_up = with_it > 0, without <= (TOLERATED * with_it if classes > 2 else 0)
    expected = weight * moved / features[:, 0]
    for number, certificate in enumerate(found):
        sound = right[number].all() and given_up[number, 1:].all()
        assert certificate.tolerance == (pytest.approx(expected[number]) if sound else np.inf)
        assert certificate.certified == bool(sound and given_up[number, 0] and expected[number] <= TOLERATED)
    assert len(found) == SAMPLES


# Networks built to be certified without relying on the feature, and an honest one that misses some backgrounds

BUILT_ON = ("perlin-lesions", "bam", "drawn-lights", "drawn-signs")


class Still(Renderer):
    """A renderer that leaves features where they are, which is faster."""

    def _ask_move(self, recipes, number, ask):
        return {}


@pytest.fixture(scope="module", params=BUILT_ON)
def many(request):
    return Readings(request.param, samples=10, redraws=8, renderer=Still)


def share_certified(found):
    """The share of the correctly classified images that are certified."""
    verdicts = [certificate.certified for certificate in found if certificate.correct]
    assert len(verdicts) >= 3
    return np.mean(verdicts)


def present(many, features):
    return (features > many.weakest() / 2).astype(float)


def standardised(many, backgrounds):
    usual = many.table()[..., 1]
    return (backgrounds - usual.mean()) / usual.std()


@pytest.mark.parametrize("variation", [0, 0.1, 0.3])
def test_a_gate_that_scores_by_the_brightness_is_refused(many, variation):
    """The feature's presence is needed; how far the margin rises is the background's doing."""

    def gated(features, backgrounds):
        score = 1 + variation * standardised(many, backgrounds) if variation else backgrounds
        return present(many, features) * score

    assert share_certified(many.certificates(gated)) <= 0.2


@pytest.mark.parametrize("steep", [np.inf, 30])
@pytest.mark.parametrize("strength", [0.05, 0.1, 0.2])
@pytest.mark.parametrize("other_logit", [False, True])
def test_a_saturated_step_beside_the_background_is_refused(many, strength, steep, other_logit):
    """The feature decides, and its slope is zero: gradients show the background alone."""

    def saturated(features, backgrounds):
        feature = present(many, features) if steep == np.inf else expit(steep * (features / many.weakest() - 0.5))
        evidence = strength * standardised(many, backgrounds)
        if other_logit:
            return np.stack([-evidence, feature - 0.5], axis=-1)
        return feature - 0.5 + evidence

    assert share_certified(many.certificates(saturated)) <= 0.2


@pytest.mark.parametrize("kinds", [1, 3])
def test_a_feature_that_is_decisive_on_some_backgrounds_alone_is_refused(many, kinds):
    """Elsewhere it does nothing. Backgrounds are of ten kinds, by the fourth digit of their brightness."""
    verdicts = []
    for first in range(10):
        found = many.certificates(lambda f, b, i=first: present(many, f) * ((1e4 * b + i) % 10 < kinds) - 0.5)
        verdicts += [certificate.certified for certificate in found if certificate.correct]
    assert len(verdicts) == 10 * kinds
    assert np.mean(verdicts) <= 0.2


@pytest.mark.parametrize("steep", [np.inf, 50, 1])
def test_a_threshold_that_misses_one_in_twenty_is_certified(many, steep):
    strengths = many.table()[..., 0]
    least = np.quantile(strengths, 0.05)

    def threshold(features, _):
        reached = features / least - 1
        return np.sign(reached - 1e-9) if steep == np.inf else np.tanh(steep * reached)

    assert share_certified(many.certificates(threshold)) >= 0.9
