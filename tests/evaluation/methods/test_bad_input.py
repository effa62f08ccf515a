"""Awkward models and wrong arguments, for every method: the right map, or one line that says what is wrong."""

import copy
import pytest
import torch
from small_networks import Functional, InPlace, InPlaceFunctional, Pyramid, Reused, Tidy
from test_every_method_on_every_model import ATTENTION, NO_RELU_STAGES
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier
from salgen.registry import METHODS
from salgen.testing.methods import small_networks

EXPLAINING = [name for name in METHODS.names() if "model" in METHODS.load(name).needs]
ONE_STYLE = ATTENTION | {"cam"}


def model_for(method, network=Tidy):
    if method in ATTENTION:
        torch.manual_seed(0)
        *_, transformer = small_networks(1)
        for parameter in transformer.parameters():
            torch.nn.init.normal_(parameter, std=0.3)  # torchvision starts the head at zero
        return transformer.eval()
    if method == "cam":
        return Classifier(Pyramid(), cam_layer="coarse").eval()
    return Classifier(network(), cam_layer="conv2").eval()


IMAGES = torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def explain(model, method, images=IMAGES, targets=1, patterns=None):
    layer = {"layer": "input"} if "excitation" in method else {}
    plugin = METHODS.create(method, {**METHODS.load(method).quick, **layer})
    if "patterns" in plugin.needs and patterns is None:
        patterns = salgen.fit_patterns(model, IMAGES)
    return salgen.explain(model, images, targets, method=plugin, patterns=patterns, references=IMAGES).values


@pytest.fixture(scope="module")
def expected():
    found = {method: explain(model_for(method), method) for method in EXPLAINING}
    assert all(maps.shape == (3, 8, 8) and bool(torch.isfinite(maps).all()) for maps in found.values())
    assert [method for method, maps in found.items() if not (maps != 0).flatten(1).any(dim=1).all()] == []
    return found


@pytest.mark.parametrize("method", EXPLAINING)
@pytest.mark.parametrize("style", [InPlace, Reused, Functional, InPlaceFunctional])
def test_the_style_of_the_network_does_not_matter(method, style, expected):
    if method in ONE_STYLE or (method in NO_RELU_STAGES and style in (InPlace, Reused)):
        pytest.skip("there is one way to write it, or a module that runs twice stands for its last call")
    if method == "full-grad" and style is Functional:
        pytest.skip("biases are those of modules that run")
    model = model_for(method, style)
    if method in NO_RELU_STAGES:
        with pytest.raises(SalgenError, match="ReLU"):  # there is no module whose output it could take
            explain(model, method)
    else:
        scale = float(expected[method].abs().max())
        torch.testing.assert_close(explain(model, method), expected[method], rtol=1e-4, atol=1e-5 * scale)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("method", EXPLAINING)
def test_half_precision_gives_finite_maps(method, kind):
    """Also where an image does not differ from black, whose difference some methods divide by."""
    images = IMAGES.clone()
    images[:, :, :3] = 0
    found = explain(copy.deepcopy(model_for(method)).to(kind), method, images)
    assert bool(torch.isfinite(found).all())
    assert found.dtype == torch.float32


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs two devices")
@pytest.mark.parametrize("method", EXPLAINING)
def test_images_need_not_be_on_the_models_device(method, expected):
    found = explain(model_for(method).to("cuda"), method)
    assert found.device.type == "cuda"
    scale = float(expected[method].abs().max())
    torch.testing.assert_close(found.cpu(), expected[method], rtol=1e-2, atol=1e-3 * scale)


@pytest.mark.parametrize("method", EXPLAINING)
def test_weights_that_are_not_numbers_are_said(method):
    model = model_for(method)
    patterns = salgen.fit_patterns(model, IMAGES) if "patterns" in METHODS.load(method).needs else None
    with torch.no_grad():
        list(model.parameters())[-1].fill_(torch.nan)
    with pytest.raises(SalgenError, match="NaN"):
        explain(model, method, patterns=patterns)
