"""Private copies of wrapped models and of weights made in inference mode, and models that are random."""

import copy
import warnings
import numpy as np
import pytest
import torch
from captum.attr import Saliency
from small_networks import Of
from torch import nn
from torchvision.transforms import Normalize
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView


def network():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2)).eval()


IMAGES = torch.rand(2, 1, 8, 8, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("wrapper", [torch.compile, nn.DataParallel])
def test_wrappers_are_taken_off_at_any_depth_and_weights_are_shared(wrapper):
    plain = network()
    view = ModelView.of(Classifier(wrapper(plain)))
    assert [name for name, _ in view.network.named_modules()] == [name for name, _ in plain.named_modules()]
    assert view.network[0].weight.data_ptr() == plain[0].weight.data_ptr()


@pytest.mark.parametrize("method", ["gradient", "lrp-z"])
def test_weights_made_in_inference_mode(method):
    with torch.inference_mode():
        net = network()
    assert torch.isfinite(salgen.explain(net, IMAGES, 0, method=method).values).all()


@pytest.mark.parametrize("first", ["auto", "box"])
def test_the_box_goes_through_a_batch_norm_that_comes_first(first):
    """Merged into the convolution by hand it is the same z-B rule."""
    torch.manual_seed(0)
    norm, conv = nn.BatchNorm2d(2), nn.Conv2d(2, 3, 3)
    norm.weight.data, norm.bias.data = torch.tensor([2.0, -0.5]), torch.tensor([0.3, -0.2])
    head = nn.Linear(108, 2)
    net = nn.Sequential(norm, conv, nn.ReLU(), nn.Flatten(), head).eval()
    scale = norm.weight.data / (1 + norm.eps) ** 0.5
    merged = nn.Conv2d(2, 3, 3)
    merged.weight.data = conv.weight.data * scale.view(1, 2, 1, 1)
    merged.bias.data = conv.bias.data + (conv.weight.data.sum(dim=(2, 3)) * norm.bias.data).sum(dim=1)
    peer = nn.Sequential(merged, nn.ReLU(), nn.Flatten(), head).eval()
    images = torch.rand(2, 2, 8, 8, generator=torch.Generator().manual_seed(2)) * 2 - 1
    maps = [
        salgen.explain(one, images, 0, method="deep-taylor", first=first, low=-1.0, high=1.0, reduce=None).values
        for one in (net, peer)
    ]
    torch.testing.assert_close(*maps, rtol=1e-4, atol=1e-5)


def small():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 2)).eval()


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16])
def test_half_precision_is_explained_in_single_so_that_small_gradients_stay(kind):
    net = small()
    net[4].weight.data *= 1e-4
    half = net.to(kind)
    single = copy.deepcopy(half).float()
    images = torch.rand(2, 3, 8, 8).to(kind).float()
    for method in ("gradient", "guided-backprop", "deep-lift"):
        maps = [salgen.explain(model, images, 0, method=method).values for model in (half, single)]
        assert torch.equal(*maps)
        assert maps[0].any()
    assert half[0].weight.dtype is kind


def test_a_forward_that_casts_to_half_precision_is_told_why_it_fails():
    class Casting(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = small().half()

        def forward(self, x):
            return self.net(x.half())

    with pytest.raises(SalgenError, match="float32, in which its half-precision weights are explained"):
        salgen.explain(Casting(), torch.rand(1, 3, 8, 8), 0, method="gradient")


def positive(module, inputs, output):
    if output.requires_grad:
        output.register_hook(lambda gradient: gradient.clamp(min=0))


HOOKS = {
    "backward": lambda module: module.register_full_backward_hook(lambda _m, given, _o: (given[0].clamp(min=0),)),
    "forward, on the gradient": lambda module: module.register_forward_hook(positive),
}


@pytest.mark.parametrize("name", HOOKS)
@pytest.mark.filterwarnings("ignore:the model has backward hooks")
def test_hooks_that_only_change_gradients_are_left_out(name):
    net, images = small(), torch.rand(2, 3, 8, 8)
    expected = salgen.explain(net, images, 0, method="gradient", reduce=None).values
    HOOKS[name](net[1])
    assert torch.equal(salgen.explain(net, images, 0, method="gradient", reduce=None).values, expected)
    assert len(net[1]._backward_hooks) + len(net[1]._forward_hooks) == 1


def test_hooks_that_change_the_logits_stay():
    net, images = small(), torch.rand(2, 3, 8, 8)
    expected = salgen.explain(net, images, 0, method="gradient", reduce=None).values
    net[1].register_forward_hook(lambda _module, _inputs, output: output * 2)
    found = salgen.explain(net, images, 0, method="gradient", reduce=None).values
    torch.testing.assert_close(found, 2 * expected)


def test_an_exported_network_is_explained():
    net, images = small(), torch.rand(2, 3, 8, 8)
    sizes = ({0: torch.export.Dim("count", max=64)},)
    exported = torch.export.export(net, (images,), dynamic_shapes=sizes).module()
    maps = [salgen.explain(model, images, 0, method="gradient").values for model in (exported, net)]
    torch.testing.assert_close(*maps)


def test_weights_of_an_old_hook_ask_for_no_gradient_and_images_are_made_contiguous():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        layer = nn.utils.weight_norm(nn.Linear(2, 2))
    assert not any(weight.requires_grad for weight in ModelView.of(layer).network.parameters())
    network = nn.Sequential(nn.Conv2d(3, 4, 3), Of(lambda x: x.view(-1, 4 * 36)))
    image = torch.from_numpy(np.zeros((8, 8, 3), np.float32).transpose(2, 0, 1)[None])  # stride 0 over images
    assert ModelView.of(network).like(image).is_contiguous()


@pytest.mark.parametrize("method", ["input-x-gradient", "integrated-gradients", "grad-cam", "occlusion", "deep-taylor"])
def test_a_normalize_that_comes_first_is_set_apart(method):
    """Maps are those of a Classifier, at normalised images; layers keep their names."""
    step, layer = Normalize([0.3], [0.2]), {"layer": "0"} if method == "grad-cam" else {}
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(72, 2)).eval()
    expected = salgen.explain(Classifier(net, step), IMAGES, 0, method=method, **layer).values
    layer = {"layer": "1.0"} if layer else {}
    model = nn.Sequential(step, net).eval()
    torch.testing.assert_close(salgen.explain(model, IMAGES, 0, method=method, **layer).values, expected)
    assert model[0] is step


def test_a_normalize_for_pixels_of_0_to_255_stays_and_bound_objects_are_called():
    net = network()
    model = nn.Sequential(Normalize([127.5], [50.0]), net).eval()
    found = salgen.explain(model, 255 * IMAGES, 0, method="gradient").values
    expected = salgen.explain(net, (255 * IMAGES - 127.5) / 50, 0, method="gradient").values / 50
    torch.testing.assert_close(found, expected)
    model = nn.Sequential(Normalize([0.3], [0.2]), network()).eval()
    bound = salgen.explain(model, IMAGES, 0, method=Saliency(model), reduce=None).values
    (gradient,) = torch.autograd.grad(model(leaf := IMAGES.clone().requires_grad_())[:, 0].sum(), leaf)
    torch.testing.assert_close(bound, gradient.abs())
