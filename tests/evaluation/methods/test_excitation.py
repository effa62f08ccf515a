"""Excitation backprop and its contrastive form: their layers, and where excitation ends."""

import pytest
import torch
from torch import nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.propagation.relevance_network import RelevanceNetwork
from salgen.evaluation.methods.excitation import default_contrast, default_layer
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.lesion_cnn import LesionCNN
from salgen.registry import MODELS

EXCITATION, CONTRASTIVE = "excitation-backprop", "contrastive-excitation-backprop"


IMAGE = torch.tensor([1.0, 2.0]).view(1, 1, 1, 2)

DEFAULTS = {
    "vgg16": ("features.23", "classifier.4", (14, 14)),
    "resnet18": ("layer3", "avgpool", (14, 14)),
    "scnn": ("block3", "average", (28, 28)),
}


def defaults(model, image):
    view = ModelView.of(model)
    network = RelevanceNetwork.forward("test", view, image)
    return default_layer(view, network), default_contrast(view, network)


@pytest.mark.parametrize(
    ("name", "with_card"), [*((name, True) for name in DEFAULTS), ("vgg16", False), ("resnet18", False)]
)
def test_default_layers(name, with_card):
    layer, contrast, resolution = DEFAULTS[name]
    plugin = MODELS.create(name, MODELS.load(name).quick)
    net = plugin.build(1, 2, (224, 224)).eval()
    model = Classifier(net, cam_layer=plugin.cam_layer(net)) if with_card else net
    image = torch.rand(1, 1, 224, 224)
    assert defaults(model, image) == (layer, contrast)
    assert salgen.explain(model, image, 0, method=EXCITATION).native_resolution == resolution


def test_default_layers_of_the_lesion_network_and_of_odd_ones():
    net = LesionCNN(widths=(2, 2, 2, 2)).build(1, 2, (16, 16))
    assert defaults(net, torch.rand(1, 1, 16, 16)) == ("block3", "hidden_relu")
    dense = nn.Sequential(nn.Flatten(), nn.Linear(16, 3), nn.ReLU(), nn.Dropout(), nn.Linear(3, 2))
    assert defaults(dense, torch.rand(1, 1, 4, 4)) == ("input", "2")
    assert defaults(nn.Sequential(nn.Flatten(), nn.Linear(16, 2)), torch.rand(1, 1, 4, 4)) == ("input", "input")


class Branched(nn.Module):
    """A residual block whose modules are used again, and a head that is called as a function."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.stem, self.norm = nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.conv = nn.Conv2d(4, 4, 3, padding=1, bias=False)
        self.relu, self.pool = nn.ReLU(inplace=True), nn.MaxPool2d(2)
        self.weight = nn.Parameter(torch.randn(2, 4))

    def forward(self, x):
        x = self.pool(self.relu(self.norm(self.stem(x))))
        x = self.relu(x + self.conv(x))
        return nn.functional.linear(x.mean(dim=(2, 3)), self.weight)


def test_a_module_that_is_used_again_stands_where_it_ran_last():
    net, image = Branched().eval(), torch.rand(1, 1, 8, 8)
    assert defaults(net, image) == ("pool", "relu")
    assert RelevanceNetwork.forward("test", ModelView.of(net), image).outputs["relu"].shape == (1, 4, 4, 4)


class LateConvolution(nn.Module):
    """A convolution after the global pool, as in MobileNetV4, and a stem of several parts, as in EfficientNet-Lite."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.stem = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU())
        self.blocks = nn.ModuleList(nn.Conv2d(4, 4, 3, stride=2, padding=1) for _ in range(3))
        self.pool, self.late, self.head = nn.AdaptiveAvgPool2d(1), nn.Conv2d(4, 6, 1), nn.Linear(6, 2)

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x).relu()
        return self.head(self.late(self.pool(x)).relu().flatten(1))


@pytest.mark.parametrize("method", [EXCITATION, CONTRASTIVE])
def test_the_default_layer_has_more_than_one_pixel_and_is_no_stem(method):
    maps = salgen.explain(LateConvolution(), torch.rand(1, 1, 32, 32), 0, method=method, reduce=None)
    assert maps.native_resolution == (4, 4)
    assert maps.values.std() > 0


BAD_LAYERS = [
    ({"layer": "covn"}, "unknown layer 'covn'.*did you mean 'conv'"),
    ({"layer": "stem"}, "no excitation reaches layer 'stem' from the logits.*such as 'pool' .layer='pool'.*batch norm"),
    ({"layer": "relu", "contrast": "pool"}, "no excitation reaches layer 'relu' from contrast layer 'pool'"),
    ({"contrast": "stem"}, "no excitation reaches layer 'stem' from the logits"),
    ({"layer": "unused"}, "no excitation reaches layer 'unused'"),
]


@pytest.mark.parametrize(("options", "words"), BAD_LAYERS)
def test_layers_without_excitation_are_refused(options, words):
    net = Branched()
    net.unused = nn.ReLU()
    with pytest.raises(SalgenError, match=words):
        salgen.explain(net, torch.rand(1, 1, 8, 8), 0, method=CONTRASTIVE, **options)


def test_a_unit_that_is_on_by_its_bias_alone_ends_the_walk():
    net = nn.Sequential(nn.Flatten(), nn.Linear(2, 1), nn.ReLU(), nn.Linear(1, 1))
    net.multi_label = True  # its output is no logit of two classes
    for layer in (net[1], net[3]):
        nn.init.ones_(layer.weight)
        nn.init.ones_(layer.bias)
    net[1].weight.data.neg_()
    found = salgen.explain(net, IMAGE / 4, 0, method=EXCITATION, layer="input")
    assert found.values.abs().max() == 0
