"""Torchvision's networks as plug-ins: the same network at full size, a narrow twin at `quick`."""

import pytest
import repeats
import torch
import torchvision
from torch import nn
from salgen.errors import SalgenError
from salgen.evaluation.models.convolutional import Convolutional
from salgen.evaluation.models.normalisation import imagenet_normalisation
from salgen.evaluation.runs.given_models import is_designed
from salgen.registry import MODELS

TORCHVISION = {
    "vgg16": ("vgg16", 138_357_544, "features.29"),
    "vgg19": ("vgg19", 143_667_240, "features.35"),
    "resnet18": ("resnet18", 11_689_512, "layer4.1"),
    "resnet50": ("resnet50", 25_557_032, "layer4.2"),
    "resnext50": ("resnext50_32x4d", 25_028_904, "layer4.2"),
    "vgg11-bn": ("vgg11_bn", 132_868_840, "features.27"),
    "mobilenet-v2": ("mobilenet_v2", 3_504_872, "features.18"),
    "convnext-tiny": ("convnext_tiny", 28_589_128, "features.7"),
    "vit-b-16": ("vit_b_16", 86_567_656, "vit.encoder.layers.encoder_layer_11.ln_1"),
}
NAMES = [name for name in MODELS.names() if not is_designed(name)]
CONVOLUTIONAL = [name for name in TORCHVISION if issubclass(MODELS.load(name), Convolutional)]


def quick(name):
    return MODELS.create(name, MODELS.load(name).quick)


def layer_names(network):
    return [(name, type(module)) for name, module in network.named_modules()]


def cheap_state(network):
    """Tensors for a network on the meta device: one small block of random numbers, over and over."""
    block = torch.randn(9973, generator=torch.Generator().manual_seed(0))
    state = {}
    for name, tensor in network.state_dict().items():
        values = block.repeat(tensor.numel() // len(block) + 1)[: tensor.numel()].view(tensor.shape)
        if not tensor.is_floating_point():
            values = torch.zeros_like(tensor, device="cpu")
        elif name.endswith("running_var"):
            values = values.abs() + 0.5
        elif tensor.ndim > 1:
            values = values * (2 / tensor[0].numel()) ** 0.5
        state[name] = values
    return state


@pytest.mark.parametrize("name", TORCHVISION)
def test_whole_network_is_torchvisions(name):
    architecture, count, cam_layer = TORCHVISION[name]
    plugin = MODELS.create(name)
    with torch.device("meta"):
        network = plugin.build(3, 1000, (224, 224)).eval()
        theirs = torchvision.models.get_model(architecture, weights=None).eval()
    assert sum(parameter.numel() for parameter in network.parameters()) == count
    assert plugin.cam_layer(network) == cam_layer
    assert str(network.get_submodule(plugin.part)) == str(theirs)
    if count > 30e6 and not repeats.torture:
        return  # half a gigabyte of weights
    state = cheap_state(theirs)
    theirs.load_state_dict(state, assign=True)
    network.get_submodule(plugin.part).load_state_dict(state, assign=True)
    side = 224 if name == "vit-b-16" else 32
    images = torch.randn(1, 3, side, side)
    with torch.inference_mode():
        logits, expected = network(images), theirs(images)
    assert expected.std() > 0.01
    assert torch.equal(logits, expected)


@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_width_changes_sizes_and_nothing_else(name):
    with torch.device("meta"):
        whole = MODELS.create(name).build(3, 7, (64, 64))
        half = MODELS.create(name, {"width": 0.5}).build(3, 7, (64, 64))
    assert layer_names(half) == layer_names(whole)
    shapes = {key: tensor.shape for key, tensor in whole.state_dict().items()}
    last = list(shapes)[-1].rpartition(".")[0]
    for key, tensor in half.state_dict().items():
        if tensor.ndim:
            expected = list(shapes[key])
            if not key.startswith(last):
                expected[0] //= 2
            groups = whole.get_submodule(key.rpartition(".")[0])
            grouped = isinstance(groups, nn.Conv2d) and groups.groups > 1
            if tensor.ndim > 1 and shapes[key][1] != 3 and not grouped:
                expected[1] //= 2
            assert list(tensor.shape) == expected, key
    for one, other in zip(whole.modules(), half.modules(), strict=True):
        if isinstance(one, nn.Conv2d):
            assert (one.kernel_size, one.stride, one.padding) == (other.kernel_size, other.stride, other.padding)
            assert other.groups == max(1, one.groups // 2)
            assert (one.bias is None) == (other.bias is None)


@pytest.mark.parametrize("width", [1 / 32, 0.3125, *([0.09375, 1.5] if repeats.torture else [])])
@pytest.mark.parametrize("name", CONVOLUTIONAL)
def test_any_width_has_sizes_that_fit_together(name, width):
    plugin = MODELS.create(name, {"width": width})
    with torch.device("meta"):
        assert plugin.build(1, 3, (32, 32)).eval()(torch.rand(2, 1, 32, 32)).shape == (2, 3)


@pytest.mark.parametrize("name", [name for name in NAMES if "output_stride" in MODELS.load(name).__dataclass_fields__])
def test_maps_are_as_fine_as_the_output_stride_says(name):
    found = []
    for stride in (32, 16, 8):
        plugin = MODELS.create(name, {**MODELS.load(name).quick, "output_stride": stride})
        network, sizes = plugin.build(1, 2, (64, 96)).eval(), []
        layer = "features" if name.startswith("vgg") else plugin.cam_layer(network)  # VGG's pools to 7x7 after it
        network.get_submodule(layer).register_forward_hook(lambda *call, sizes=sizes: sizes.append(call[-1].shape[2:]))
        assert network(torch.rand(1, 1, 64, 96)).shape == (1, 2)
        found.append(tuple(sizes[0]))
    assert found == [(2, 3), (4, 6), (8, 12)]


@pytest.mark.parametrize(
    ("channels", "classes", "size"), [(1, 2, (32, 32)), (3, 5, (33, 47)), (1, 2, (70, 96))], ids=str
)
@pytest.mark.parametrize("name", NAMES)
def test_takes_any_image_and_class_count(name, channels, classes, size):
    torch.manual_seed(0)
    plugin = quick(name)
    network = plugin.build(channels, classes, size).eval()
    images = torch.rand(2, channels, *size)
    images[1] = 1 - images[1]
    inputs = plugin.normalise(channels)(images).requires_grad_()
    logits = network(inputs)
    assert logits.shape == (2, classes)
    assert not torch.allclose(logits[0], logits[1], rtol=1e-3)  # it depends on its image
    gradient = torch.autograd.grad(logits.sum(), inputs)[0]
    assert gradient.shape == images.shape
    assert gradient.any()
    assert isinstance(network.get_submodule(plugin.cam_layer(network)), nn.Module)
    network.train()(inputs.repeat(2, 1, 1, 1)).sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())


@pytest.mark.parametrize("name", NAMES)
def test_initial_weights_come_from_torchs_generator_alone(name):
    networks = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        networks.append(quick(name).build(1, 2, (32, 32)).state_dict())
    one, same, other = networks
    assert all(torch.equal(one[key], same[key]) for key in one)
    assert not all(torch.equal(one[key], other[key]) for key in one)


def test_what_the_networks_cannot_be_is_refused():
    with pytest.raises(SalgenError, match="31x64 is too small for vgg19: each side must be at least 32"):
        quick("vgg19").build(3, 2, (31, 64))
    with pytest.raises(SalgenError, match="1 or 3 channels, not 2"):
        MODELS.create("resnet18").normalise(2)
    for name, given, says in (
        ("resnet18", {"width": 0.05}, r"width = 0\.05: must be a multiple of 1/32, such as 0\.0625"),
        ("vit-b-16", {"side": 100}, "side = 100 must be a multiple of patch = 16"),
        ("vit-b-16", {"hidden": 100}, "hidden = 100 must be a multiple of heads = 12"),
    ):
        with pytest.raises(SalgenError, match=says):
            MODELS.create(name, given)


def test_transformer_sees_the_resized_image():
    plugin = quick("vit-b-16")
    network = plugin.build(3, 2, (20, 50)).eval()
    images = torch.rand(2, 3, 20, 50)
    small = nn.functional.interpolate(images, (32, 32), mode="bilinear", align_corners=False)
    torch.testing.assert_close(network(images), network.vit(small))
    assert torch.equal(network.resize(small), small)
    assert next(network.children()) is network.resize
    assert network.get_submodule(plugin.cam_layer(network)) is network.vit.encoder.layers[-1].ln_1


@pytest.mark.parametrize("name", TORCHVISION)
def test_normalisation_is_torchvisions(name):
    weights = torchvision.models.get_model_weights(TORCHVISION[name][0]).IMAGENET1K_V1
    preset = weights.transforms()
    images = torch.rand(2, 3, 4, 5)
    expected = torchvision.transforms.functional.normalize(images, preset.mean, preset.std)
    torch.testing.assert_close(MODELS.create(name).normalise(3)(images), expected)


def test_one_channel_is_normalised_by_the_means_over_the_colours():
    images = torch.rand(2, 1, 4, 5)
    expected = (images - (0.485 + 0.456 + 0.406) / 3) / ((0.229 + 0.224 + 0.225) / 3)
    torch.testing.assert_close(imagenet_normalisation(1)(images), expected)
    assert sorted(imagenet_normalisation(3).state_dict()) == ["mean", "std"]


@pytest.mark.parametrize("name", ["lesion-cnn", "scnn"])
def test_own_networks_take_images_as_they_are_and_add_no_keys(name):
    normalise = MODELS.create(name).normalise(1)
    images = torch.rand(2, 1, 4, 5)
    assert normalise(images) is images
    assert not normalise.state_dict()


@pytest.mark.parametrize("scale", ["demo", "small", "full"])
@pytest.mark.parametrize("name", NAMES)
def test_scales_are_parameters(name, scale):
    chosen = MODELS.create(name, MODELS.load(name).scales[scale])
    if scale == "full" and name in TORCHVISION:
        assert chosen == MODELS.create(name)
