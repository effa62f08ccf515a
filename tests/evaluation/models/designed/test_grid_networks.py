"""Networks for grids: which cells their logits depend on, and what methods say of them that must be so."""

import numpy as np
import pytest
import torch
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.designed.grid_networks import DiFull, DiPart
from salgen.evaluation.runs.given_models import GivenModel
from salgen.registry import MODELS

SIDE, CLASSES = 32, 3
HOW = {"metrics": ["energy-pointing-game"], "limit": 4, "scale": "demo"}


def classifier_of(name, seed=0):
    plugin = MODELS.create(name, MODELS.load(name).quick)
    torch.manual_seed(seed)
    network = plugin.build(3, CLASSES, (SIDE, SIDE)).eval()
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.running_mean.normal_(std=0.1)
    return Classifier(network, plugin.normalise(3), plugin.cam_layer(network)).eval()


def scnn():
    return classifier_of("scnn")


def vit():
    return classifier_of("vit-b-16")


def grids_of(cells, count=2):
    images = torch.rand(count, 3, cells * SIDE, cells * SIDE, generator=torch.Generator().manual_seed(1))
    rows = images.split(SIDE, dim=2)
    return images, [part for row in rows for part in row.split(SIDE, dim=3)]


@pytest.mark.parametrize("cells", [2, 3])
@pytest.mark.parametrize("name", ["scnn", "lesion-cnn", "resnet18", "vgg16"])
def test_difull_runs_the_network_on_each_cell(name, cells):
    classifier = classifier_of(name)
    images, parts = grids_of(cells)
    with torch.inference_mode():
        expected = torch.cat([classifier(part) for part in parts], dim=1)
        torch.testing.assert_close(DiFull().around(classifier, cells)(images), expected, rtol=1e-4, atol=1e-5)


def test_dipart_differs_only_where_receptive_fields_cross_borders():
    classifier = classifier_of("scnn")
    images, parts = grids_of(2, count=1)
    network = DiPart().around(classifier, 2)
    images.requires_grad_()
    (gradient,) = torch.autograd.grad(network(images)[0, 0], images)
    reached = (gradient[0].abs().sum(dim=0) > 0).nonzero()
    assert SIDE < int(reached.max()) + 1 < 2 * SIDE - 8
    with torch.inference_mode():
        expected = torch.cat([classifier(part) for part in parts], dim=1)
        assert not torch.allclose(network(images), expected, rtol=1e-3)


@pytest.mark.parametrize(
    "method",
    [
        *("gradient", "smoothgrad:n=2,noise=0", "input-x-gradient", "integrated-gradients:steps=3", "guided-backprop"),
        *("deconvnet", "deep-lift", "deep-taylor", "lrp-z", "lrp-alpha-beta"),
    ],
)
def test_backward_methods_see_in_the_cell_what_they_see_of_the_network_alone(method):
    classifier = classifier_of("scnn")
    images, parts = grids_of(2)
    network = DiFull().around(classifier, 2)
    grid = explain(network, images[:1], [2 * CLASSES + 1], method=method, reduce="sum").values[0]
    alone = explain(classifier, parts[2][:1], [1], method=method, reduce="sum").values[0]
    expected = np.zeros_like(grid)
    expected[SIDE:, :SIDE] = alone
    np.testing.assert_allclose(grid, expected, rtol=1e-3, atol=1e-5 * abs(alone).max())


def test_grad_cam_cannot_tell_copies_apart():
    """The weights of a head's channels are applied to the maps of all cells, so a copy of the image gets the same."""
    network = DiFull().around(classifier_of("scnn", seed=3), 2)
    images, _ = grids_of(2, count=1)
    images[..., SIDE:, SIDE:] = images[..., :SIDE, :SIDE]
    maps = explain(network, images.expand(CLASSES, -1, -1, -1), list(range(CLASSES)), method="grad-cam").values
    own, copied = (maps[:, part, part] for part in (slice(4, SIDE - 4), slice(SIDE + 4, 2 * SIDE - 4)))
    assert own.any()
    np.testing.assert_allclose(own, copied, rtol=1e-3, atol=1e-6)


def test_methods_without_a_rule_for_parts_of_an_image_say_so():
    images, _ = grids_of(2, count=1)
    with pytest.raises(SalgenError, match=r"full-grad: layer 'network\.block1\.conv' runs on 4 parts"):
        explain(DiFull().around(scnn(), 2), images, [0], method="full-grad")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    out = tmp_path_factory.mktemp("grids") / "base"
    splits = {"train": 6, "val": 3, "test": 9}
    return salgen.make("coloured-cells", out, splits=splits, parameters={"image_size": (SIDE, SIDE), "spot": 2})


@pytest.fixture(scope="module")
def grids(base):
    return salgen.make("image-grids", base.parent / "grids", source=str(base), scale="demo")


def shares(run):
    scores = run.scores[run.scores.metric == "energy-pointing-game"]
    return scores.groupby("method").value.mean().to_dict()


def test_any_network_is_evaluated_on_grids_a_transformer_without_a_common_layer(grids, tmp_path):
    network = f"difull:model={__name__}"
    run = salgen.evaluate(grids, model=f"{network}:scnn", methods=["gradient", "random"], out=tmp_path / "run", **HOW)
    assert shares(run)["gradient"] == pytest.approx(1)
    assert 0.2 < shares(run)["random"] < 0.3
    how = {**HOW, "limit": 1}
    run = salgen.evaluate(grids, model=f"{network}:vit", methods=["input-x-gradient"], out=tmp_path / "vit", **how)
    assert shares(run)["input-x-gradient"] == pytest.approx(1)
    with pytest.raises(SalgenError, match="dipart: cannot split the network: no single feature map"):
        salgen.evaluate(grids, model=f"dipart:model={__name__}:vit", methods=["gradient"], out=tmp_path / "no", **how)


def test_a_checkpoint_is_shown_a_grid_as_it_is(base, tmp_path):
    trained = salgen.train(base, tmp_path / "scnn", model="scnn", scale="demo", settings={"epochs": 1, "widths": (4,)})
    parameters = {"image_size": (SIDE, SIDE), "spot": 2, "classes": 4}
    splits = {"train": 4, "val": 4, "test": 4}
    other = salgen.make("coloured-cells", tmp_path / "four", splits=splits, parameters=parameters)
    how = {"source": str(other), "parameters": {"setting": "gridpg"}, "scale": "demo"}
    grids = salgen.make("image-grids", tmp_path / "grids", **how)
    with pytest.raises(
        SalgenError, match=r"has channels and classes \(3, 'orange', 'green', 'violet'\), and the images"
    ):
        salgen.evaluate(grids, model=f"gridpg:model={trained.path}", out=tmp_path / "no", **HOW)


def test_what_does_not_fit_is_said(grids, tmp_path):
    dataset = salgen.load(grids)
    with pytest.raises(SalgenError, match="give the trained network it is around: difull:model=FOLDER"):
        GivenModel("difull").load(dataset)
    with pytest.raises(SalgenError, match="gridpg is for grids with setting=gridpg, not disconnected"):
        GivenModel(f"gridpg:model={__name__}:scnn").load(dataset)
    assert GivenModel("difull:model=some/where/scnn-seed0").name == "difull:model=scnn-seed0"
