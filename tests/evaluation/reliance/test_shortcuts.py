"""Planted shortcuts of known kind and strength: which the certificate finds, and which it cannot."""

import numpy as np
import pytest
import torch
from marked_lesions import registered  # noqa: F401, a fixture of all tests here
from scipy.stats import binom
from torch import nn
import salgen
from benchmarks.marked_lesions import KINDS, MarkedLesions
from benchmarks.shortcuts import toggle, tried
from salgen.evaluation.reliance.certificate_rule import certificate_of
from salgen.evaluation.reliance.rerender import Renderer
from salgen.testing import check_generator

FLAT = {**MarkedLesions.quick, "diameter": 6, "depth": 0.8, "variation": 0.0, "strength": 0.0}
REDRAWN = [kind for kind in KINDS if kind != "slice"]


class LesionsAndDisc(nn.Module):
    """A logit of 1/2 with and -1/2 without lesions; where the disc is, a share more, and lesions count for more."""

    def __init__(self, share, gain=0.0):
        super().__init__()
        self.share, self.gain = share, gain

    def forward(self, images):
        lesions = ((images > 0.1) & (images < 0.45)).flatten(1).any(dim=1).float()
        disc = (images > 0.95).flatten(1).any(dim=1).float()
        logit = lesions * (1 + self.gain * disc) - 0.5 + self.share * disc
        return torch.stack([torch.zeros_like(logit), logit], dim=1)


@pytest.mark.parametrize("kind", KINDS)
def test_the_generator_with_the_shortcut_keeps_the_laws(kind, monkeypatch):
    monkeypatch.setattr(MarkedLesions, "quick", {**MarkedLesions.quick, "kind": kind})
    check_generator("marked-lesions")


@pytest.mark.parametrize(("kind", "strength"), [("frame", 0.0), ("frame", 0.75), ("slice", 0.75), ("frame", 1.0)])
def test_the_mark_agrees_with_the_label_as_often_as_its_strength_says(kind, strength):
    made = salgen.generator("marked-lesions", **{**FLAT, "kind": kind, "strength": strength})
    drawn = [made.recipe(0, "train", index).parameters for index in range(400)]
    agree = sum(parameters["mark"] == parameters["label"] for parameters in drawn)
    low, high = binom.interval(0.999, 400, (1 + strength) / 2) if strength < 1 else (400, 400)
    assert low <= agree <= high


def certificates(kind, network):
    """For each sample with lesions its recipe, what toggling the mark does, and its certificate."""
    made = salgen.generator("marked-lesions", **FLAT, kind=kind)
    drawn = [made.recipe(0, "test", index) for index in range(16)]
    recipes = [recipe for recipe in drawn if recipe.parameters["label"]]
    answers = Renderer(made, 0).answers(recipes, 8, lambda images: network(torch.from_numpy(images)).double().numpy())
    for recipe, answer in zip(recipes, answers, strict=True):
        yield recipe, toggle(made, recipe, network), certificate_of(answer, 1, 1)


@pytest.mark.parametrize("kind", ["object", "slice"])
@pytest.mark.parametrize("share", [0.0, 0.2, 0.4, 0.6])
def test_a_mixture_of_lesions_and_mark_is_found_where_redraws_vary_the_mark(kind, share):
    """The mark moves the logit by `share`, and the lesions by 1: above 1/4 it is used, above 1/2 twins do not flip."""
    for recipe, toggled, found in certificates(kind, LesionsAndDisc(share)):
        assert (toggled.moves_sample, toggled.moves_twin) == pytest.approx((share, share))
        assert toggled.another_class == (share > 0.5)
        assert toggled.uses_mark == (share > 0.25)
        some_marked = recipe.parameters["mark"] or kind == "object"
        tolerance = np.inf if share > 0.5 and some_marked else 0.0 if kind == "slice" else share
        assert found.step_effect == 0
        assert found.tolerance == pytest.approx(tolerance)
        assert found.certified == (tolerance < 0.25)
        assert found.holds_elsewhere == (0.5 if share > 0.5 else 1)


def test_a_mark_that_does_nothing_without_the_lesions_is_found():
    """Twins show nothing of it; lesions that are held on other backgrounds do."""
    for _, toggled, found in certificates("object", LesionsAndDisc(0.0, gain=1.0)):
        assert toggled.moves_sample >= 0.5
        assert not toggled.uses_mark
        assert (found.background_effect, found.held_effect) == (0, pytest.approx(toggled.moves_sample))
        assert not found.certified
        assert found.contrast_effect == 1


@pytest.mark.torture
@pytest.mark.parametrize("kind", REDRAWN)
def test_a_model_that_learnt_a_shortcut_is_found_out(kind, tmp_path):
    accuracy, samples = tried(tmp_path, kind, 1.0)
    assert accuracy == 1
    assert np.mean([sample.toggled.uses_mark for sample in samples]) > 0.9
    assert not any(sample.missed for sample in samples)
