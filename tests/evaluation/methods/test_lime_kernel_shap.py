"""LIME and KernelSHAP: against captum called plainly, loops, and networks solved by hand."""

import math
import captum.attr
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from small_networks import Tidy, batch_sizes
import salgen
from salgen.evaluation.methods import lime_kernel_shap
from salgen.evaluation.methods.lime_kernel_shap import grid, slic
from salgen.evaluation.models.inspection.random_state import random_state


@settings(max_examples=15)
@given(
    st.integers(0, 1000),
    st.integers(1, 4),
    st.sampled_from(["grid", "slic"]),
    st.sampled_from(["probability", "score"]),
)
def test_kernel_shap_is_complete(seed, cells, features, output):
    """The attributions of all regions sum to the difference from black."""
    net, image = Tidy(), torch.rand(1, 1, 8, 8, generator=torch.Generator().manual_seed(seed))
    found = salgen.explain(
        net, image, 0, method="kernel-shap", seed=seed, cells=cells, segments=6, n=40, features=features, output=output
    ).values[0]
    regions = grid(8, 8, cells) if features == "grid" else slic(image[0], 6)
    total = sum(found[regions == k].mean() for k in regions.unique())
    values = net(torch.cat([image, torch.zeros_like(image)])).detach()
    values = values.softmax(dim=1) if output == "probability" else values
    assert float(total) == pytest.approx(float(values[0, 0] - values[1, 0]), abs=2e-4)


def near(row):
    """The kernel of the authors' code: the cosine distance to the whole image, width 0.25."""
    cosine = math.sqrt(sum(row) / len(row))  # of zeros and ones to ones
    return math.exp(-((1 - cosine) ** 2) / (2 * 0.25**2))


class InDoublePrecision:
    """A linear model for captum; its own are fitted in single precision, in which weights of 1e6 leave few digits."""

    def __init__(self, model):
        self.model = model

    def fit(self, loader):
        (data,) = loader
        kept, values, weights = (part.double().numpy() for part in data)
        self.model.fit(kept, values, sample_weight=weights)

    def representation(self):
        return torch.from_numpy(self.model.coef_)


class LeastSquares:
    """Weighted, with an intercept; of the smallest norm where there are fewer images than regions."""

    def fit(self, kept, values, sample_weight):
        centred, gains = (part - np.average(part, 0, sample_weight) for part in (kept, values))
        root = np.sqrt(sample_weight)
        self.coef_ = np.linalg.lstsq(root[:, None] * centred, root * gains, rcond=1e-10)[0]


def plain_lime(value):
    return captum.attr.Lime(value, similarity_func=lambda _image, _changed, kept, **_: near(kept[0].tolist()))


@pytest.mark.parametrize("cells", [2, 4, 8])
@pytest.mark.parametrize(
    ("method", "peer_of", "fitted"),
    [("lime", plain_lime, Ridge(alpha=1.0)), ("kernel-shap", captum.attr.KernelShap, LeastSquares())],
)
def test_equals_captum_on_its_masks(images, method, peer_of, fitted, cells):
    """The same draws, changed images, weights and coefficients; with more regions than images too."""
    net, regions, black = Tidy(), grid(8, 8, cells)[None, None], torch.zeros(1, 1, 8, 8)
    call = f"{method}:cells={cells},n=40,output=score"
    found = salgen.explain(net, images, 1, method=call, ids=["a", "b", "c"], seed=3, reduce=None).values
    for name, image, ours in zip("abc", images, found, strict=True):
        peer = peer_of(lambda inputs: net(inputs)[:, 1].detach())
        peer.interpretable_model = InDoublePrecision(fitted)
        with random_state(3, method, name):
            expected = peer.attribute(image[None], black, feature_mask=regions, n_samples=40)
        torch.testing.assert_close(ours, expected[0], rtol=0, atol=1e-5 * float(expected.abs().max()))


@pytest.mark.parametrize("method", ["lime", "kernel-shap"])
def test_images_with_different_numbers_of_segments_are_explained_as_alone(method, images, monkeypatch):
    levels = torch.cat([(images[:2] * k).ceil() / k for k in (1, 2, 3)])  # 1, 2 and 3 of them in an image
    monkeypatch.setattr(lime_kernel_shap, "slic", lambda image, _: grid(8, 8, len(image.unique())))
    options = {"method": f"{method}:features=slic,n=30"}
    together = salgen.explain(Tidy(), levels, 1, ids=list("abcdef"), **options).values
    assert [len(values.unique()) for values in together] == [1, 1, 4, 4, 9, 9]
    for name, image, ours in zip("abcdef", levels, together, strict=True):
        alone = salgen.explain(Tidy(), image[None], 1, ids=[name], **options).values[0]
        torch.testing.assert_close(ours, alone, rtol=1e-4, atol=1e-6)


REGIONS = ["lime:cells=3,n=20", "kernel-shap:cells=3,n=20"]


@pytest.mark.parametrize(
    "method", [*REGIONS, "rise:n=20", "gradient-shap:n=20", "score-cam:layer=relu2", "ablation-cam:layer=relu2"]
)
def test_changed_images_keep_to_the_memory_budget(method, images):
    net = Tidy()
    whole, sizes = salgen.explain(net, images, 1, method=method).values, batch_sizes(net)
    poor = salgen.explain(net, images, 1, method=method, max_memory=1e-9).values
    assert sizes.count(2) == 1  # at a first look
    assert max(sizes) == 2
    torch.testing.assert_close(poor, whole, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("method", REGIONS)
def test_margins_and_probabilities_are_two_questions(method, images):
    options = {"method": method, "output": "score"}
    logit, margin = (salgen.explain(Tidy(), images, 1, score=s, **options).values for s in ("logit", "margin"))
    opposite = salgen.explain(Tidy(), images, 0, score="margin", **options).values
    torch.testing.assert_close(opposite, -margin, rtol=1e-3, atol=1e-5)
    assert not torch.allclose(logit, margin, rtol=1e-2)


@pytest.mark.parametrize(("height", "width", "cells"), [(8, 8, 14), (30, 17, 14), (5, 1, 3), (28, 42, 14)])
def test_a_grid_is_even(height, width, cells):
    regions = grid(height, width, cells)
    down, across = min(height, cells), min(width, cells)
    assert regions.unique().tolist() == list(range(down * across))
    for k in range(down * across):
        rows, columns = (regions == k).nonzero(as_tuple=True)
        assert height // down <= len(rows.unique()) <= -(-height // down)
        assert len(rows) == len(rows.unique()) * len(columns.unique())


@pytest.mark.parametrize("channels", [1, 2, 3])
def test_slic_finds_what_there_is(channels):
    image = torch.zeros(channels, 16, 16)
    image[:, :, 8:] = 1
    regions = slic(image, 4)
    assert regions.unique().tolist() == list(range(len(regions.unique())))
    assert set(regions[:, :8].unique().tolist()).isdisjoint(regions[:, 8:].unique().tolist())
    assert slic(torch.zeros(channels, 8, 8), 4).min() == 0
