"""What training starts from: files and downloads, other channels, other classes, and what may be wrong with them."""

import pickle
import re
from pathlib import Path
from urllib.error import URLError
import pytest
import repeats
import safetensors.torch
import torch
import torchvision
from stopped_training import train_until_stopped
from torch import nn
import salgen
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.models.weight_files import read_tensors
from salgen.evaluation.runs.given_models import is_designed
from salgen.evaluation.training.checkpoints import build_classifier, load_checkpoint
from salgen.evaluation.training.trainer import Trainer
from salgen.evaluation.training.training import train
from salgen.registry import MODELS

# Of two networks that differ only in depth or groups, one; with --torture both.
LEFT_OUT = {"lesion-cnn"} | (set() if repeats.torture else {"resnet50", "resnext50", "vgg19"})
NAMES = [name for name in MODELS.names() if name not in LEFT_OUT and not is_designed(name)]
SEAMS = {name: MODELS.load(name).seams for name in NAMES}


def quick(name, weights="scratch"):
    return MODELS.create(name, {**MODELS.load(name).quick, "weights": str(weights)})


def build(name, channels=3, classes=4, seed=0):
    """A quick network with random numbers for all that starts at zero or one."""
    torch.manual_seed(seed)
    plugin = quick(name)
    network = plugin.build(channels, classes, (32, 32)).eval()
    for tensor in network.state_dict().values():
        if tensor.ndim == 1 and tensor.is_floating_point():
            tensor.copy_(torch.rand(tensor.shape) + 0.5)
    return plugin, network.requires_grad_(False)


def save(network, file):
    state = network.state_dict()
    if file.suffix == ".safetensors":
        safetensors.torch.save_file(state, file)
    else:
        torch.save(state, file)
    return file


def torchvisions_part(name, network):
    return network.get_submodule(MODELS.load(name).part)


def load(tmp_path, name, source, network, suffix=".pth"):
    """Load the weights of one network into another by a file."""
    quick(name, save(torchvisions_part(name, source), tmp_path / f"w{suffix}")).load_weights(network)
    return network


def check_same(network, source):
    """Two networks, or a state dict in place of the second, have the same tensors."""
    own = network.state_dict()
    for key, tensor in (source if isinstance(source, dict) else source.state_dict()).items():
        assert torch.equal(own[key], tensor), key


def load_error(plugin, network):
    with pytest.raises(SalgenError) as caught:
        plugin.load_weights(network)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "suffix"), [*((name, ".pth") for name in NAMES), ("scnn", ".pt"), ("resnet18", ".safetensors")]
)
def test_a_file_of_the_same_network_is_taken_whole_or_but_for_the_last_layer(tmp_path, name, suffix):
    (_, source), (_, network), (_, other) = (build(name, classes=n, seed=seed) for n, seed in ((4, 1), (4, 2), (3, 2)))
    check_same(load(tmp_path, name, source, network, suffix), source)
    before = {key: tensor.clone() for key, tensor in other.state_dict().items()}
    load(tmp_path, name, source, other, suffix)
    last = ".".join(filter(None, (MODELS.load(name).part, SEAMS[name].logits)))
    for key, tensor in other.state_dict().items():
        expected = before if key.startswith(last) else source.state_dict()
        assert torch.equal(tensor, expected[key]), key


def after_input(name, network):
    """What follows the input convolution and what takes up its constant: the convolution, or its batch norm."""
    part = torchvisions_part(name, network)
    convolution = part.get_submodule(SEAMS[name].input)
    follower = part.get_submodule(SEAMS[name].offset.rpartition(".")[0])
    return nn.Sequential(convolution, follower) if follower is not convolution else convolution


@pytest.mark.parametrize("name", NAMES)
def test_a_grey_image_means_what_its_copy_in_three_colours_means(tmp_path, name):
    plugin, colour = build(name, channels=3, seed=1)
    _, grey = build(name, channels=1, seed=2)
    load(tmp_path, name, colour, grey)
    images = torch.rand(3, 1, 32, 32)
    one, three = (plugin.normalise(channels)(images.expand(-1, channels, -1, -1)) for channels in (1, 3))
    found, expected = after_input(name, grey)(one), after_input(name, colour)(three)
    convolution = torchvisions_part(name, grey).get_submodule(SEAMS[name].input)
    # Zeros in the padding are another grey than the same zeros in colour, so the border differs.
    border = 0 if name in ("vit-b-16", "scnn") else -(-convolution.kernel_size[0] // 2 // convolution.stride[0])
    inside = slice(border, -border or None)
    assert expected.std() > 0.1
    torch.testing.assert_close(found[..., inside, inside], expected[..., inside, inside], rtol=1e-4, atol=2e-5)
    if not border:
        torch.testing.assert_close(grey(one), colour(three), rtol=1e-4, atol=1e-4)


def test_older_files_without_batch_counts_and_with_older_names_are_read(tmp_path):
    def older(key):
        return key.replace("mlp.0", "mlp.linear_1").replace("mlp.3", "mlp.linear_2")

    for name in ("resnet18", "vit-b-16"):
        (_, source), (_, network) = (build(name, seed=seed) for seed in (1, 2))
        state = {older(key): tensor for key, tensor in torchvisions_part(name, source).state_dict().items()}
        kept = {key: tensor for key, tensor in state.items() if not key.endswith("num_batches_tracked")}
        assert kept.keys() != torchvisions_part(name, source).state_dict().keys()
        torch.save(kept, tmp_path / "w.pth")
        quick(name, tmp_path / "w.pth").load_weights(network)
        check_same(network, {key: tensor for key, tensor in source.state_dict().items() if not key.endswith("tracked")})


@pytest.fixture
def hub(tmp_path, monkeypatch):
    """An empty cache of torch's, and no network."""

    def refuse(*_, **__):
        raise URLError("no network here")

    monkeypatch.setattr(torch.hub, "download_url_to_file", refuse)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    folder = tmp_path / "torch" / "hub" / "checkpoints"
    folder.mkdir(parents=True)
    return folder


def test_imagenet_weights_are_torchvisions_first_or_out_of_reach_or_damaged_in_the_cache(hub):
    plugin = MODELS.create("resnet18", {"weights": "imagenet"})
    with torch.device("meta"):
        network = plugin.build(3, 2, (32, 32))
    message = load_error(plugin, network)
    assert "https://download.pytorch.org/models/resnet18-f37072fd.pth cannot be fetched and read" in message
    assert "(no network here)" in message
    assert "or give weights=<its path> or weights=scratch" in message
    file = hub / Path(torchvision.models.ResNet18_Weights.IMAGENET1K_V1.url).name
    file.write_bytes(b"half a file")
    assert f"download it to {file} yourself" in load_error(plugin, network)
    torch.manual_seed(1)
    source = torchvision.models.resnet18(weights=None)
    torch.save(source.state_dict(), file)
    same, other = plugin.build(3, 1000, (32, 32)), plugin.build(1, 2, (32, 32))
    plugin.load_weights(same)
    plugin.load_weights(other)
    check_same(same, source)
    assert torch.equal(other.layer4[1].conv2.weight, source.layer4[1].conv2.weight)
    assert other.fc.weight.shape == (2, 512)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [("vgg16", {"width": 0.25}, "set width=1.0"), ("vit-b-16", {"side": 64, "layers": 6}, "set side=224, layers=12")],
)
def test_imagenet_weights_are_for_the_whole_architecture(name, given, said):
    with pytest.raises(SalgenError, match=f"{name}: weights = imagenet .*{said}"):
        MODELS.create(name, {"weights": "imagenet", **given})


@pytest.mark.parametrize(
    ("name", "weights", "said"),
    [
        ("vgg16", "imagnet", "must be scratch, imagenet, or a file whose name ends in .pth, .pt, .safetensors"),
        ("vgg16", "weights.zip", "must be scratch, imagenet, or a file"),
        ("scnn", "imagenet", "must be scratch, or a file"),
    ],
)
def test_weights_that_are_no_choice_are_refused_at_once(name, weights, said):
    with pytest.raises(SalgenError, match=f"{name}: weights = '{weights}': {said}"):
        MODELS.create(name, {"weights": weights})


def test_a_missing_file_is_no_fault_until_it_is_needed_and_folders_and_checkpoints_are_told_apart(tmp_path):
    message = load_error(quick("scnn", tmp_path / "none.pth"), build("scnn")[1])
    assert message == f"weights = {tmp_path / 'none.pth'}: there is no such file; give the path of one, or scratch"
    (tmp_path / "w.pth").mkdir()
    assert "cannot be read" in load_error(quick("scnn", tmp_path / "w.pth"), build("scnn")[1])
    file = save(build("scnn")[1], tmp_path / "weights.pth")
    with pytest.raises(SalgenError, match=r"holds tensors .*write torchvision:NAME:weights=.*PACKAGE.MODULE:FUNCTION"):
        load_checkpoint(file)


class Trap:
    def __reduce__(self):
        return Path.touch, (Path("executed"),)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"logits.weight": torch.zeros(5, 9)}, "'logits.weight' has shape (5, 9), not (4, 8)"),
        ({"logits.weight": torch.zeros(5, 8), "logits.bias": None}, "'logits.bias' is missing"),
        ({"block2.conv.bias": None}, "'block2.conv.bias' is missing"),
        ({"more": torch.zeros(5)}, "'more' is unknown"),
        ({"block1.conv.weight": torch.zeros(4, 2, 3, 3)}, "'block1.conv.weight' has shape (4, 2, 3, 3)"),
        ({"block1.conv.weight": torch.zeros(5, 3, 3, 3)}, "'block1.conv.weight' has shape (5, 3, 3, 3)"),
        ({"block1.conv.weight": torch.zeros(())}, "'block1.conv.weight' has shape ()"),
        ({"block1.conv.bias": None}, "'block1.conv.bias' is missing"),
    ],
)
def test_one_tensor_that_does_not_fit_is_named(tmp_path, changes, said):
    state = build("scnn", channels=3)[1].state_dict() | changes
    torch.save({key: tensor for key, tensor in state.items() if tensor is not None}, tmp_path / "w.pth")
    message = load_error(quick("scnn", tmp_path / "w.pth"), build("scnn", channels=1)[1])
    assert message.startswith(f"scnn: weights = {tmp_path / 'w.pth'} does not fit: tensor {said}")
    assert "give weights of this architecture" in message


@pytest.fixture(scope="module")
def perlin(tmp_path_factory):
    splits = {"train": 12, "val": 4, "test": 4}
    path = tmp_path_factory.mktemp("start") / "data"
    return salgen.make("perlin-lesions", path, splits=splits, parameters={"slices": 4, "image_size": "32x32"})


HOW = {"model": "scnn", "settings": {"widths": "4,4,8,8", "epochs": 2, "batch_size": 4}}


def settings(**changes):
    return {**HOW, "settings": HOW["settings"] | changes}


def test_training_starts_from_a_file_and_its_checkpoint_needs_it_no_more(tmp_path, perlin, monkeypatch):
    _, source = build("scnn", channels=3, classes=5)
    file = save(source, tmp_path / "start.safetensors")
    first = []
    whole = Trainer.epoch

    def epoch(self, *arguments):
        first.append({key: tensor.clone() for key, tensor in self.classifier.state_dict().items()})
        return whole(self, *arguments)

    monkeypatch.setattr(Trainer, "epoch", epoch)
    trained = train(perlin, tmp_path / "c", **settings(weights=str(file)))
    assert torch.equal(first[0]["network.block3.conv.weight"], source.block3.conv.weight)
    fresh = build_classifier(trained.card).state_dict()
    assert torch.equal(first[0]["network.logits.weight"], fresh["network.logits.weight"])
    assert not torch.equal(first[1]["network.block3.conv.weight"], source.block3.conv.weight)
    file.unlink()
    loaded = load_checkpoint(tmp_path / "c")
    assert loaded.card.parameters == {"weights": str(file), "widths": [4, 4, 8, 8]}
    assert loaded.classifier.cam_layer == "block4.relu"
    check_same(trained.classifier, loaded.classifier)


def test_a_training_goes_on_without_its_start_and_ends_at_once_where_it_is_missing(tmp_path, perlin):
    file = save(build("scnn")[1], tmp_path / "start.pth")
    train(perlin, tmp_path / "whole", **settings(weights=str(file)))
    train_until_stopped(2, perlin, tmp_path / "stopped", **settings(weights=str(file)))
    file.unlink()
    train(perlin, tmp_path / "stopped", **settings(weights=str(file)))
    check_same(*(load_checkpoint(tmp_path / name).classifier for name in ("whole", "stopped")))
    with pytest.raises(SalgenError, match="there is no such file"):
        train(perlin, tmp_path / "c", **settings(weights="none.pth"))
    assert not (tmp_path / "c").exists()


class Settings:
    """A trainer's settings, whose class is not known where the weights are read."""

    def __init__(self):
        self.epochs = 3


def prefixed(state, prefix):
    return {f"{prefix}{key}": tensor for key, tensor in state.items()}


CHECKPOINTS = {  # a state dict as a wrapper or a trainer writes it
    "DataParallel": lambda state: prefixed(state, "module."),
    "compiled and parallel": lambda state: prefixed(state, "module._orig_mod."),
    "parallel inside": lambda state: {key.replace("block1.", "block1.module."): state[key] for key in state},
    "averaged": lambda state: {"n_averaged": torch.ones(())} | prefixed(state, "module."),
    "timm": lambda state: {"epoch": 3, "state_dict": state, "args": Settings(), "optimizer": {"state": {0: 1.0}}},
    "Lightning": lambda state: {
        "state_dict": prefixed(state, "model.") | {"loss.weight": torch.ones(2)},
        "hyper_parameters": {"loss": nn.CrossEntropyLoss(), "settings": Settings()},
        "callbacks": {"best": {"best_k_models": {"a.ckpt": torch.ones(())}}},
    },
    "model": lambda state: {"model": state, "epoch": 3},
    "salgen": lambda state: prefixed(state, "network.") | {"normalise.mean": torch.zeros(3, 1, 1)},
    "nested": lambda state: {"model": {"network": prefixed(state, "backbone.net.")}},
}


@pytest.mark.parametrize("kind", CHECKPOINTS)
def test_checkpoints_of_wrappers_and_trainers_are_taken_whole(tmp_path, kind):
    _, source = build("scnn", seed=1)
    _, network = build("scnn", seed=2)
    torch.save(CHECKPOINTS[kind](source.state_dict()), tmp_path / "w.pth")
    quick("scnn", tmp_path / "w.pth").load_weights(network)
    check_same(network, source)


def test_one_of_several_state_dicts_is_taken_with_a_word_or_none(tmp_path):
    state, file = build("scnn")[1].state_dict(), tmp_path / "w.pth"
    torch.save({"model_ema": state, "model": {key: tensor + 1 for key, tensor in state.items()}}, file)
    with pytest.warns(SalgenWarning, match="holds model and model_ema: model is taken"):
        assert torch.equal(read_tensors(file)["logits.bias"], state["logits.bias"] + 1)
    torch.save({"generator": state, "critic": state}, file)
    with pytest.raises(SalgenError, match=r"holds several state dicts \(generator, critic\): save one alone"):
        read_tensors(file)


NO_WEIGHTS = {
    "empty": b"",
    "page": b"<!DOCTYPE html>\n<html>",
    "pickle": pickle.dumps(Trap(), 2),
    "list": [torch.ones(2)],
    "text": {"model": "resnet18"},
    "nothing": {},
    "trap": {"model": Trap()},
    "module": {"model": Settings(), "epoch": 3},
    "script": torch.jit.trace(nn.Linear(2, 2), torch.ones(1, 2)),
    "half a state": None,
}


@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
@pytest.mark.parametrize("kind", NO_WEIGHTS)
def test_a_file_that_holds_no_weights_is_named_and_not_run(tmp_path, monkeypatch, kind, suffix):
    monkeypatch.chdir(tmp_path)
    file, content = tmp_path / f"w{suffix}", NO_WEIGHTS[kind]
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif kind == "script":
        content.save(file)
    elif kind == "half a state":
        save(build("scnn")[1], file)
        file.write_bytes(file.read_bytes()[:-500])
    else:
        torch.save(content, file)
    for read in (read_tensors, load_checkpoint):
        with pytest.raises(SalgenError, match=re.escape(f"weights = {file} ")) as caught:
            read(file)
        says = "is damaged, or is no state dict of tensors|holds an object of .*, whose code is not run"
        assert re.search(says, str(caught.value))
    assert not (tmp_path / "executed").exists()
