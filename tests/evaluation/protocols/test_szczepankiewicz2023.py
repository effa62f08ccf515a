"""The protocol of Szczepankiewicz et al. 2023: what it asks for."""

import pytest
from salgen.errors import SalgenError
from salgen.evaluation.protocols import protocol, szczepankiewicz2023
from salgen.evaluation.protocols.szczepankiewicz2023 import FULL_TRAINING, VARIANTS, Szczepankiewicz2023
from salgen.evaluation.training.training_settings import choose_settings
from salgen.parameters import build
from salgen.registry import METHODS

PAPER = [
    "gradient", "guided-backprop", "smoothgrad", "grad-cam", "grad-cam++", "smooth-grad-cam++", "guided-grad-cam",
    "fast-cam", "fast-cam++", "eigen-cam", "eigen-grad-cam", "layer-cam", "poly-cam-pm",
]  # fmt: skip


def test_the_grid_is_every_network_on_every_data_set(recorded, tmp_path, monkeypatch):
    made, evaluated, studies = recorded
    assert set(PAPER) <= set(METHODS.names())
    judged = []
    monkeypatch.setattr(protocol, "judge", lambda claims, study: judged.append(study) or ())
    Szczepankiewicz2023(seed=3, models=("resnet50", "vgg16", "scnn")).run(tmp_path, "small", ["rise"])
    assert [name for name, _ in made] == ["drawn-signs", "drawn-figures", "drawn-lights", "textured-shapes"]
    assert all(how == {"scale": "small", "seed": 3, "source": None} for _, how in made)
    cells = [(name, how["model"]) for name, how in evaluated if how["split"] == "test"]
    assert cells == [(name, model) for name, _ in made for model in ("resnet50", "vgg16", "scnn")]
    for name, how in evaluated:
        assert how["methods"] == [*PAPER, "eigen-cam:sign=align", "eigen-grad-cam:sign=align", "rise"]
        assert (how["metrics"], how["limit"], how["scale"], how["seed"]) == (["m-gt"], 100, "small", 3)
        if how["split"] == "test":
            turned = {"rotation": 5.0, "flips": True} if name == "drawn-figures" else {}
            assert how["settings"] == {"stop_accuracy": 0.995, **turned}
    ((runs, study),) = studies
    assert len(runs) == 12
    (note,) = (note for note in study.notes if "stand-ins" in note)
    assert "drawn-signs for gtsrb-square, drawn-figures for zings" in note
    assert study.cells[0].dataset == "drawn-signs"
    assert judged[0].cells[0].dataset == "gtsrb-square", "claims call the data by the paper's names"


def test_variants_are_scored_against_the_training_mask_and_parameters_are_checked(recorded, tmp_path):
    _, evaluated, studies = recorded
    Szczepankiewicz2023(only=("gtsrb-square",)).run(tmp_path, "demo")
    variants = [how for _, how in evaluated if how["split"] != "test"]
    assert [how["split"] for how in variants] == [f"test_{variant}" for variant in VARIANTS]
    for how in variants:
        assert (how["target"], how["mask"]) == ("square", "training_square")
        assert how["model"] == tmp_path / "runs" / "drawn-signs-scnn" / "scnn-seed0"
    assert tuple(studies[0][1].variants[0].runs) == VARIANTS
    assert studies[0][1].variants[0].marked == {"original", "noisy_square", "noisy_background"}
    assert [how.get("mask") for _, how in evaluated if how["split"] == "test"] == [None]
    for how in ({"models": ("scnn", "scnn")}, {"only": ("zings", "zings")}):
        with pytest.raises(SalgenError, match="name each once"):
            Szczepankiewicz2023(**how)
    assert build(Szczepankiewicz2023, {"only": "zings,lisa-lights"}).only == ("zings", "lisa-lights")
    with pytest.raises(SalgenError, match="only"):
        build(Szczepankiewicz2023, {"only": "zingz"})


def test_full_scale_is_the_papers(recorded, tmp_path):
    _, evaluated, _ = recorded
    Szczepankiewicz2023(only=("zings", "lisa-lights")).run(tmp_path, "full")
    settings = {(name, how["model"]): how["settings"] for name, how in evaluated if how.get("settings")}
    assert settings["drawn-figures", "resnet50"] == {
        **FULL_TRAINING, "learning_rate": 1e-4, "weights": "imagenet", "rotation": 5.0, "flips": True
    }  # fmt: skip
    assert settings["drawn-lights", "scnn"] == {**FULL_TRAINING, "learning_rate": 1e-3}
    for (_, model), chosen in settings.items():
        choose_settings(model, "full", chosen)
    figures = [how for name, how in evaluated if name == "drawn-figures" and "scnn" in str(how["out"])]
    trained = str(tmp_path / "runs" / "drawn-figures-scnn" / "scnn-seed0")
    assert [how["split"] for how in figures] == ["test", "val", "train"]
    assert [str(how["model"]) for how in figures] == ["scnn", trained, trained]


def test_on_imagenet_s50_itself_pretrained_networks_are_scored(recorded, tmp_path, monkeypatch):
    made, evaluated, studies = recorded
    opened = []
    monkeypatch.setattr(protocol, "generator", lambda *given: opened.append(given))
    monkeypatch.setattr(szczepankiewicz2023, "pretrained", opened.append)
    Szczepankiewicz2023(only=("imagenet-s50",), imagenet_s="/data/ImageNetS50").run(tmp_path, "demo")
    whole = {"parameters": {"image_size": (224, 224)}, "splits": {"test": None}}
    assert made == [("imagenet-s50", {"scale": "demo", "seed": 0, "source": "/data/ImageNetS50", **whole})]
    networks = [f"salgen.evaluation.imagenet_s50:{model}" for model in ("vgg16", "resnet50", "resnext50")]
    assert [how["model"] for _, how in evaluated] == networks
    assert all(how["settings"] is None for _, how in evaluated)
    assert opened == [("imagenet-s50", "/data/ImageNetS50", "demo"), "vgg16", "resnet50", "resnext50"]
    assert not any("stand-ins" in note for note in studies[0][1].notes)


@pytest.mark.parametrize(
    ("how", "extra", "message"),
    [
        ({"zings": "/nowhere/at/all"}, (), "/nowhere/at/all"),
        ({"models": ("scnn", "nonsense")}, (), "unknown model 'nonsense'"),
        ({}, ("nonsense",), "unknown method 'nonsense'"),
        ({"imagenet_s": "/x", "models": ("scnn",)}, (), "pretrained network for ImageNet-S50"),
    ],
)
def test_what_is_wrong_is_found_before_any_work(recorded, tmp_path, how, extra, message):
    made, evaluated, _ = recorded
    with pytest.raises(SalgenError, match=message):
        Szczepankiewicz2023(**how).run(tmp_path, "demo", extra)
    assert not made
    assert not evaluated
