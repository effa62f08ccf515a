"""Networks that were trained elsewhere: modules, and those of torchvision, timm and Hugging Face."""

import json
from types import SimpleNamespace
from warnings import catch_warnings
import huggingface_hub
import numpy as np
import pyarrow.parquet as pq
import pytest
import timm
import torch
import torchvision
from torch import nn
from torchvision.transforms import Normalize
from transformers import MobileViTImageProcessor, ResNetConfig, ResNetForImageClassification, ViTImageProcessor
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.own_networks import LIBRARIES
from salgen.evaluation.runs.given_models import given_model

MEAN, STD = (0.5, 0.4, 0.3), (0.2, 0.3, 0.25)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    out, splits = tmp_path_factory.mktemp("given") / "figures", {"train": 2, "val": 2, "test": 8}
    return salgen.make("drawn-figures", out, splits=splits, parameters={"image_size": (64, 64)}, workers=1)


@pytest.fixture(scope="module")
def split(data):
    return salgen.load(data, "test")


@pytest.fixture(scope="module")
def images(split):
    return torch.from_numpy(split.images()[:4] / 255).float()


def network(outputs=2):
    torch.manual_seed(3)
    layers = nn.Conv2d(3, 4, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, outputs)
    return nn.Sequential(*layers)


@pytest.fixture(scope="module")
def check(split, images):
    """Whether a given network has these logits of the images."""

    def check(model, expected, **how):
        loaded = given_model(model, **how).load(split)
        assert not loaded.training
        torch.testing.assert_close(loaded(images).detach(), expected.detach())

    return check


def test_a_module_is_scored_and_stays_as_it_is(data, split, tmp_path):
    module = network().train()
    before = {name: weight.clone() for name, weight in module.state_dict().items()}
    run = salgen.evaluate(data, model=module, methods=["gradient"], metrics=["roc-auc"], out=tmp_path / "run")
    assert module.training
    assert all(weight.requires_grad for weight in module.parameters())
    assert all(torch.equal(before[name], weight) for name, weight in module.state_dict().items())
    (model,) = run.record.models
    assert (model.name, model.checkpoint, model.trained_on) == ("Sequential", "Sequential", None)
    chosen = run.scores[(run.scores.method == "gradient") & (run.scores.variant == "region:image")]
    assert len(chosen) > 0
    items = [next(item for item in split if item["id"] == name) for name in chosen.sample_id]
    maps = salgen.explain(
        module.eval(), np.stack([item["image"] for item in items]), [item["label"] for item in items], method="gradient"
    )
    expected = salgen.score(maps, np.stack([item["mask"] for item in items]), ["roc-auc"])["roc-auc"]
    np.testing.assert_allclose(chosen["value"], expected, atol=1e-6)


def test_a_normalisation_is_applied_and_set_apart_from_the_network(check, images, split):
    check(network(), network()(Normalize(MEAN, STD)(images)), preprocess=(MEAN, STD))
    for module in (nn.Sequential(Normalize(MEAN, STD), network()), Classifier(network(), Normalize(MEAN, STD))):
        loaded = given_model(module).load(split)
        torch.testing.assert_close(loaded(images), module(images))
        torch.testing.assert_close(loaded.network(images), network()(images))
    inner = network(5)
    inner.config = SimpleNamespace(label2id={}, id2label=dict(enumerate(("cat", "villain", "dog", "hero", "tree"))))
    loaded = given_model(nn.Sequential(Normalize(MEAN, STD), inner)).load(split)
    images = torch.rand(2, 3, 32, 32)
    torch.testing.assert_close(loaded(images), inner(Normalize(MEAN, STD)(images))[:, [3, 1]])
    assert [name for name, _ in loaded.network.named_children()] == ["0", "1"]
    module = nn.Sequential(Normalize((127.5,) * 3, (127.5,) * 3), network())
    with pytest.raises(SalgenError, match="divide both by 255"):
        given_model(module).load(split)


def test_a_librarys_module_without_preprocess_is_said(split):
    module = timm.create_model("test_resnet", num_classes=2)
    with pytest.warns(SalgenWarning, match=r"model ResNet is of timm, and its images stay in \[0, 1\]"):
        given_model(module).load(split)
    with catch_warnings(action="error"):
        given_model(module, preprocess=nn.Identity()).load(split)
        given_model(network()).load(split)


@pytest.mark.parametrize(
    "classes",
    [
        *([3, 1], np.array([3, 1]), ["3", "1"], ("cat", "villain", "dog", "hero", "tree")),
        {0: "a", 1: "villain", 2: "b", 3: "hero", 4: "c"},
    ],
)
def test_outputs_are_chosen_by_number_or_by_name(classes, check, images):
    check(network(5), network(5)(images)[:, [3, 1]], classes=classes)


def test_methods_explain_chosen_outputs(data, tmp_path):
    methods = ["gradient", "lrp-alpha-beta", "grad-cam", "guided-backprop"]
    how = {"methods": methods, "metrics": ["roc-auc"], "limit": 2}
    whole = network(5)
    half = network()
    half[4].weight.data, half[4].bias.data = whole[4].weight.data[[3, 1]], whole[4].bias.data[[3, 1]]
    for part, layer in zip(half[:1], whole[:1], strict=True):
        part.load_state_dict(layer.state_dict())
    given = ({"model": whole, "classes": [3, 1]}, {"model": half})
    runs = [salgen.evaluate(data, out=tmp_path / str(number), **how, **one) for number, one in enumerate(given)]
    scores = [run.scores.sort_values(["method", "sample_id", "variant"], ignore_index=True) for run in runs]
    assert set(methods) <= set(scores[0].method)
    for method in ("gradient", "grad-cam", "guided-backprop"):
        first, second = (table[table.method == method]["value"] for table in scores)
        assert len(first) > 0
        np.testing.assert_allclose(first, second, atol=1e-6)
    assert json.loads((runs[0] / "run.json").read_text())["models"][0]["settings"] == {"classes": [3, 1]}


def labelled(count, **config):
    """A Hugging Face classifier with that many outputs, and what its config says of them."""
    torch.manual_seed(0)
    model = ResNetForImageClassification(
        ResNetConfig(embedding_size=8, hidden_sizes=[8, 8], depths=[1, 1], layer_type="basic", num_labels=count)
    )
    for name, value in config.items():
        setattr(model.config, name, value)
    return model.eval()


@pytest.fixture(scope="module")
def hugging_face(tmp_path_factory):
    names = ("villain", "dog", "hero")
    labels = {"id2label": dict(enumerate(names)), "label2id": {name: number for number, name in enumerate(names)}}
    model, folder = labelled(3, **labels), tmp_path_factory.mktemp("hub") / "model"
    model.save_pretrained(folder)
    ViTImageProcessor(image_mean=MEAN, image_std=STD).save_pretrained(folder)
    return model, folder


def test_a_classifier_of_hugging_face_is_known_by_its_labels_and_states_every_step(
    hugging_face, check, images, split, tmp_path
):
    model, folder = hugging_face
    expected = model(Normalize(MEAN, STD)(images)).logits[:, [2, 0]]
    check(f"huggingface:{folder}", expected)
    check(model, expected, preprocess=ViTImageProcessor(image_mean=MEAN, image_std=STD))
    model, _ = hugging_face
    folder = tmp_path / "model"
    model.save_pretrained(folder)
    with pytest.warns(SalgenWarning, match="has no preprocessor_config.json"):
        plain = given_model(f"huggingface:{folder}").load(split)
    assert isinstance(plain.normalise, nn.Identity)
    MobileViTImageProcessor().save_pretrained(folder)  # blue, green, red; no mean and std
    loaded = given_model(f"huggingface:{folder}").load(split)
    torch.testing.assert_close(loaded.normalise(images), images.flip(1))


def test_networks_of_timm_may_have_two_heads_another_size_or_one_colour(tmp_path):
    module = timm.create_model("deit_tiny_distilled_patch16_224", num_classes=2, img_size=32, depth=1).eval()
    torch.save({f"module.{key}": tensor for key, tensor in module.state_dict().items()}, tmp_path / "w.pth")
    own = LIBRARIES["timm"]("deit_tiny_distilled_patch16_224:img_size=32,depth=1", tmp_path / "w.pth")
    image = torch.rand(1, 3, 32, 32)
    torch.testing.assert_close(own.module.eval()(image), module(image))
    torch.save(timm.create_model("test_vit", num_classes=2, img_size=64).state_dict(), tmp_path / "w.pth")
    with pytest.raises(SalgenError, match=r"'pos_embed' has shape \(1, 17, 64\), not \(1, 101, 64\); .*img_size"):
        LIBRARIES["timm"]("test_vit", tmp_path / "w.pth")
    module, file = timm.create_model("test_vit", num_classes=2, in_chans=1), tmp_path / "w.pth"
    torch.save(module.state_dict(), file)
    own = LIBRARIES["timm"]("test_vit:in_chans=1", file)
    assert own.normalise(torch.rand(2, 1, 4, 4)).shape == (2, 1, 4, 4)
    torch.testing.assert_close(float(own.normalise.mean), sum(module.default_cfg["mean"]) / 3)


MANY = ["villain", *(f"c{number}" for number in range(10)), "hero"]


@pytest.mark.parametrize(
    "config",
    [
        {"id2label": {str(number): name for number, name in enumerate(MANY)}},
        {"id2label": MANY},
        {"label2id": {name: number for number, name in enumerate(MANY)}},
        {"id2label": dict(enumerate(MANY)), "label2id": {"tench": 0, "goldfish": 1}},  # of an earlier head
        {},  # default labels say nothing
    ],
    ids=["text keys", "list", "label2id alone", "old label2id", "default"],
)
def test_labels_are_read_by_their_numbers(config, check, images):
    model, places = (labelled(12, **config), [11, 0]) if config else (labelled(2), [0, 1])
    check(model, model(images).logits[:, places])


def test_labels_that_are_spelt_otherwise_are_said_and_one_of_several_names_is_enough(check, images):
    model = labelled(2, id2label={0: "Villain", 1: "HERO"})
    with pytest.warns(SalgenWarning, match="spells its labels otherwise: taken are hero = HERO; villain = Villain"):
        check(model, model(images).logits[:, [1, 0]])
    model = labelled(3, id2label={0: "crane", 1: "knight, hero, n01", 2: "rogue, Villain, n02"})
    with pytest.warns(SalgenWarning, match="taken are hero = knight, hero, n01; villain = rogue, Villain, n02"):
        check(model, model(images).logits[:, [1, 2]])


@pytest.mark.parametrize("classes", [{"hero": [4, 1], "villain": [0, 3]}, {"villain": (3, 0), "hero": (1, 4)}])
def test_a_class_of_several_outputs_has_the_largest_logit(classes, check, images):
    logits = network(5)(images)
    check(network(5), torch.stack([logits[:, [1, 4]].amax(1), logits[:, [0, 3]].amax(1)], dim=1), classes=classes)


def test_the_command_line_takes_several_outputs_of_a_class(data, tmp_path, capsys):
    asked = ["evaluate", str(data), "--model", f"{__name__}:five_outputs", "-m", "gradient", "--metrics", "roc-auc"]
    where = ["--limit", "2", "--out", str(tmp_path / "run")]
    assert main([*asked, "--classes", "hero=4+1,villain=0", *where]) == 0
    settings = json.loads((tmp_path / "run" / "run.json").read_text())["models"][0]["settings"]
    assert settings == {"classes": {"hero": [4, 1], "villain": [0]}}
    assert main([*asked, "--classes", "hero=4+x,villain=0", *where]) != 0
    assert "as in cat=281+282,dog=151" in capsys.readouterr().err


def test_methods_explain_the_largest_of_several_outputs(images):
    """The map of a class of several outputs is that of its largest one, also of rules for relevance."""
    whole, group = network(5), [4, 1, 2]
    names = {"hero": group, "villain": [0]}
    joined = given_model(whole, classes=names)._classifier(list(names), False, images[0].numpy())
    best = [group[place] for place in whole(images)[:, group].argmax(1).tolist()]
    for method in ("gradient", "lrp-alpha-beta", "lrp-z", "grad-cam"):
        expected = salgen.explain(whole, images, best, method=method).values
        torch.testing.assert_close(salgen.explain(joined, images, 0, method=method).values, expected)


@pytest.mark.parametrize(
    ("config", "says"),
    [
        ({"id2label": {0: "hero", 2: "villain"}}, "config.id2label has numbers 0, 2: must be 0 to 1"),
        ({"id2label": {0: "hero", 1: "villain", 2: "dog"}}, "names, and the model 2 outputs"),
        ({"id2label": {0: "cat", 1: "dog"}}, "has no single label for hero, villain; among its labels are cat; dog"),
        ({"id2label": {0: "heroes", 1: "villain"}}, "has no single label for hero; among its labels are heroes"),
    ],
)
def test_labels_that_do_not_fit_are_refused_until_classes_are_stated(config, says, check, split, images):
    model = labelled(2, **config)
    with pytest.raises(SalgenError, match=says):
        given_model(model).load(split)
    check(model, model(images).logits[:, [1, 0]], classes=[1, 0])


def test_several_labels_have_a_probability_each(split, images):
    for model in (labelled(2, problem_type="multi_label_classification"), nn.Sequential(network(), nn.Sigmoid())):
        view = ModelView.of(given_model(model).load(split))
        answers = view.logits(images)
        torch.testing.assert_close(view.probabilities(answers), answers.sigmoid())


@pytest.mark.parametrize("end", [nn.Identity(), nn.Sigmoid()])
def test_one_output_speaks_for_the_second_class_or_the_one_that_is_stated(end, check, images):
    model, logit = nn.Sequential(network(1), end), network(1)(images)
    with pytest.warns(SalgenWarning) as told:
        check(model, torch.cat([-logit, logit], dim=1))
    (once,) = told
    assert "taken as the logit of villain against hero: if it is that of hero, give classes=hero" in str(once.message)
    with catch_warnings(action="error"):
        for classes in (["hero"], ["villain", "hero"], [1, 0]):
            check(model, torch.cat([logit, -logit], dim=1), classes=classes)


def five_outputs():
    """A network that a command line names."""
    return network(5)


@pytest.mark.parametrize("classes", ["3,1", "cat,villain,dog,hero,tree"])
@pytest.mark.parametrize("model", [f"{__name__}:five_outputs", "timm:test_resnet:weights={}"])
def test_the_command_line_has_classes_too(model, classes, data, tmp_path):
    torch.manual_seed(0)
    module, file = timm.create_model("test_resnet", num_classes=5), tmp_path / "w.pth"
    torch.save(module.state_dict(), file)
    given, preprocess = (module, module.default_cfg) if "timm" in model else (network(5), None)
    model = model.format(file)
    asked = ["evaluate", str(data), "--model", model, "-m", "gradient", "--metrics", "roc-auc", "--limit", "2"]
    assert main([*asked, "--classes", classes, "--out", str(tmp_path / "run")]) == 0
    how = {"methods": "gradient", "metrics": "roc-auc", "limit": 2, "out": tmp_path / "own"}
    run = salgen.evaluate(data, model=given, preprocess=preprocess, classes=[3, 1], **how)
    with pytest.raises(SalgenError, match=r"another experiment \(classes \[3, 1\] there, \[1, 3\] here\)"):
        salgen.evaluate(data, model=given, preprocess=preprocess, classes=[1, 3], **how)
    with pytest.raises(SalgenError, match=r"another experiment \(preprocess \(mean\) .* there, \[0.0, 0.5, 1.0\] here"):
        salgen.evaluate(data, model=given, preprocess=((0, 0.5, 1), (1, 1, 1)), classes=[3, 1], **how)
    np.testing.assert_array_equal(*(pq.read_table(at / "scores.parquet")["value"] for at in (tmp_path / "run", run)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("torchvision:resnet18:weights=/home/me/a.pth", "torchvision:resnet18:weights=a.pth"),
        ("timm:test_resnet:size=64,weights=models/a.safetensors", "timm:test_resnet:size=64,weights=a.safetensors"),
        ("huggingface:/home/me/vit", "huggingface:vit"),
        ("my_models:detector", "my_models:detector"),
    ],
)
def test_its_name_has_no_folder(text, name):
    assert given_model(text).name == name


FAMILIES = (
    *("torchvision:mobilenet_v3_small", "torchvision:resnet18", "torchvision:squeezenet1_1"),
    *(f"torchvision:googlenet:transform_input={value}" for value in ("true", "false")),
    *("timm:test_convnext", "timm:test_efficientnet", "timm:test_vit:img_size=64", "timm:mobilenetv3_small_050"),
)
LARGE = (  # several seconds each
    *("torchvision:mobilenet_v2", "torchvision:efficientnet_b0", "torchvision:convnext_tiny", "torchvision:swin_t"),
    *("torchvision:densenet121", "torchvision:vit_b_16:image_size=64", "torchvision:vgg11", "timm:vgg11"),
    *("timm:mobilenetv2_035", "timm:swin_tiny_patch4_window7_224:img_size=64", "timm:densenet121"),
)


@pytest.mark.parametrize("call", [*FAMILIES, *(pytest.param(call, marks=pytest.mark.torture) for call in LARGE)])
@pytest.mark.filterwarnings("ignore:The default weight initialization:FutureWarning")
def test_every_family_of_a_library_gives_its_logits(call, check, images, tmp_path):
    """With the normalisation that the library states for its own weights; of training alone are GoogLeNet's heads."""
    library, name, *rest = call.split(":")
    options = dict(pair.split("=") for pair in rest)
    options = {key: int(value) if value.isdigit() else value == "true" for key, value in options.items()}
    torch.manual_seed(0)
    if library == "torchvision":
        module = torchvision.models.get_model(name, weights=None, num_classes=2, **options)
        states = torchvision.models.get_model_weights(name).DEFAULT.transforms()
    else:
        module = timm.create_model(name, num_classes=2, **options)
        states = timm.data.create_transform(**timm.data.resolve_model_data_config(module)).transforms[-1]
    for parameter in module.parameters():
        if not parameter.any():  # such as the last layer of torchvision's vision transformer
            nn.init.normal_(parameter)
    torch.save(module.state_dict(), tmp_path / "weights.pth")
    with torch.no_grad():
        expected = module.eval()(Normalize(states.mean, states.std)(images))
    check(f"{call}:weights={tmp_path / 'weights.pth'}", expected)
    assert not torch.allclose(expected[:, 0], expected[:, 1])


def test_torchvisions_own_weights_state_inputs_and_classes(monkeypatch, tmp_path):
    """They are read from torch's cache, where they were fetched before."""
    module, chosen = torchvision.models.squeezenet1_1(), torchvision.models.SqueezeNet1_1_Weights.IMAGENET1K_V1
    file = tmp_path / "hub" / "checkpoints" / chosen.url.rpartition("/")[2]
    file.parent.mkdir(parents=True)
    torch.save(module.state_dict(), file)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    for name in ("DEFAULT", "IMAGENET1K_V1"):
        found = LIBRARIES["torchvision"]("squeezenet1_1", name)
        assert found.outputs == chosen.meta["categories"]
        assert found.normalise.mean.flatten().tolist() == pytest.approx([0.485, 0.456, 0.406])
        assert found.inputs == {"image_size": (224, 224), "crop": 224 / 256}
        torch.testing.assert_close(found.module.state_dict(), module.state_dict())


def test_timms_own_weights_state_inputs_and_classes(monkeypatch):
    made = timm.create_model

    def fetched(name, pretrained=False, **options):
        assert pretrained
        return made(name, **options)

    monkeypatch.setattr(timm, "create_model", fetched)
    found = LIBRARIES["timm"]("test_resnet", "")
    assert found.normalise.mean.flatten().tolist() == pytest.approx([0.5] * 3)
    assert found.outputs[281] == "tabby, tabby cat, n02123045"
    assert found.inputs == {"image_size": (160, 160), "crop": 0.95}


def test_a_repository_of_hugging_face_is_fetched(hugging_face, monkeypatch):
    model, folder = hugging_face
    monkeypatch.setattr(huggingface_hub, "snapshot_download", lambda name, **_: {"someone/resnet": str(folder)}[name])
    found = LIBRARIES["huggingface"]("someone/resnet", "")
    assert found.outputs == ["villain", "dog", "hero"]
    torch.testing.assert_close(dict(found.module.state_dict()), dict(model.state_dict()))


@pytest.mark.parametrize(
    ("model", "how", "says"),
    [
        ("torchvision:resnet81:weights=x.pth", {}, "did you mean 'resnet18'"),
        ("timm:resnet81:weights=x.pth", {}, "unknown model of timm"),
        ("torchvision:resnet18", {}, "torchvision:NAME:weights=FILE"),
        *(("weights.pt", how, r"^model = weights.pt: there is no such file$") for how in ({}, {"classes": [1, 0]})),
        *(("resnet1", how, r"^unknown model 'resnet1': did you mean 'resnet18'") for how in ({}, {"classes": [1, 0]})),
        ("torchvision:resnet18:weights=x.pth", {}, "there is no such file"),
        ("torchvision:googlenet:weights=x.pth", {}, "googlenet changes its input: write torchvision:googlenet:tra"),
        ("torchvision:vit_b_16:size=64:weights=x.pth", {}, "unexpected keyword argument 'size'"),
        ("huggingface:nowhere", {}, "model huggingface:nowhere cannot be loaded"),
        (network(5), {}, r"gives \(1, 5\) for one image: .* classes= .--classes. says which"),
        (network(5), {"classes": [0, 0]}, r"classes = \[0, 0\]: give numbers, 0 to 4, of hero, villain, each once"),
        (network(5), {"classes": [3, 7]}, r"classes = \[3, 7\]: give numbers"),
        (network(5), {"classes": [True, False]}, r"classes = \[True, False\]: give a list of names, or of numbers"),
        (network(5), {"classes": "hero,villain"}, "classes = 'hero,villain': give a list"),
        (network(5), {"classes": ["hero", "villain", "hero", "a", "b"]}, "classes names 'hero' 2 times"),
        (network(5), {"classes": list("abcde")}, r"classes = \['a', .*'e'\] lack 'hero': spell hero, villain as"),
        (network(5), {"classes": ["villain", "hero"]}, "classes has 2 names, and the model 5 outputs"),
        (
            network(5),
            {"classes": {"hero": [0], "villain": [0, 1]}},
            "give for each of hero, villain the numbers of its",
        ),
        (network(5), {"classes": {"hero": [0], "vilain": [1, 2]}}, "give for each of hero, villain the numbers"),
        (network(5), {"classes": {"hero": [0, 5], "villain": [1]}}, "the numbers of its outputs, 0 to 4, each once"),
        (network(), {"preprocess": "imagenet"}, "preprocess is str: give a torch.nn.Module"),
        (network(), {"preprocess": ("a", "b")}, "give a number for each channel"),
        ("scnn", {"classes": [0, 1]}, "preprocess and classes are for networks trained elsewhere"),
        (network(), {"executor": "ray"}, "workers cannot load model"),
        (nn.Sequential(nn.Conv2d(1, 2, 3)), {}, "the network takes 1 channel, the images have 3: give images of 1"),
    ],
)
def test_what_does_not_fit_is_one_line(model, how, says, data, tmp_path):
    with pytest.raises(SalgenError, match=says):
        salgen.evaluate(data, model=model, out=tmp_path / "run", **how)
    assert not (tmp_path / "run").exists()
