"""Pretrained networks on ImageNet-S50: the rows of its classes, and nothing else changed."""

import pytest
import torch
from torch import nn
from salgen.evaluation import imagenet_s50
from salgen.registry import MODELS

# Outputs of torchvision's networks for ImageNet-S50, in the order of WordNet ids: goldfish, tiger shark, ..., agaric.
ROWS = [
    *(1, 3, 11, 31, 222, 277, 284, 295, 301, 325, 330, 333, 342, 368, 386, 388, 404, 412, 418, 436, 449, 466, 487),
    *(492, 502, 510, 531, 532, 574, 579, 606, 617, 659, 670, 695, 703, 748, 829, 846, 851, 861, 879, 883, 898, 900),
    *(914, 919, 951, 959, 992),
]


@pytest.fixture(autouse=True)
def _no_draws(monkeypatch):
    """Networks start with means, which are sooner there than random numbers."""
    for name in ("kaiming_uniform_", "kaiming_normal_", "normal_"):
        monkeypatch.setattr(nn.init, name, lambda weights, *_, **__: nn.init.constant_(weights, 1 / weights[0].numel()))


@pytest.mark.parametrize("model", ["vgg16", "resnet50", "resnext50"])
def test_the_logits_are_those_of_the_whole_network(monkeypatch, model):
    """With drawn weights in place of the fetched ones."""
    cls = MODELS.load(model)
    whole = {}

    def drawn(plugin, network):
        torch.manual_seed(1)
        with torch.no_grad():
            last = network.get_submodule(plugin.seams.logits)
            last.weight.normal_(0.0, 0.1)
            last.bias.normal_()
        whole["weight"], whole["bias"] = last.weight.clone(), last.bias.clone()
        whole["network"] = network

    monkeypatch.setattr(cls, "load_weights", drawn)
    monkeypatch.setattr(imagenet_s50, "IMAGE_SIZE", (64, 64))
    classifier = getattr(imagenet_s50, model)()
    last = whole["network"].get_submodule(cls.seams.logits)
    seen = []
    last.register_forward_hook(lambda module, given, out: seen.append(given[0]))
    image = torch.rand(1, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        logits = classifier(image)
        expected = seen[0] @ whole["weight"].T + whole["bias"]
    assert logits.shape == (1, 50)
    torch.testing.assert_close(logits, expected[:, ROWS], rtol=1e-5, atol=1e-5)
    assert not classifier.training
    assert classifier.network.get_submodule(classifier.cam_layer) is not None
