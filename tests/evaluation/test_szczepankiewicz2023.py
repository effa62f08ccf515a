"""The protocol of Szczepankiewicz et al. 2023: what it asks for, and what it says of the paper's claims."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from salgen.errors import SalgenError
from salgen.evaluation.protocols import szczepankiewicz2023, szczepankiewicz2023_claims
from salgen.evaluation.protocols.szczepankiewicz2023 import FULL_TRAINING, VARIANTS, Szczepankiewicz2023
from salgen.evaluation.report.study import Cell, Study, Variants
from salgen.evaluation.training_settings import choose_settings
from salgen.parameters import build
from salgen.registry import METHODS

PAPER = [
    "gradient", "guided-backprop", "smoothgrad", "grad-cam", "grad-cam++", "smooth-grad-cam++", "guided-grad-cam",
    "fast-cam", "fast-cam++", "eigen-cam", "eigen-grad-cam", "layer-cam", "poly-cam-pm",
]  # fmt: skip


@pytest.fixture
def recorded(monkeypatch):
    """What the protocol makes, evaluates and reports, without any of it being done."""
    made, evaluated, studies = [], [], []

    known = SimpleNamespace(spec=SimpleNamespace(splits=dict.fromkeys(("train", "val", "test"), 4)))
    monkeypatch.setattr(szczepankiewicz2023, "make", lambda name, out, **how: made.append((name, how)) or out)
    monkeypatch.setattr(
        szczepankiewicz2023, "evaluate", lambda data, **how: evaluated.append((data.name, how)) or how["out"]
    )
    monkeypatch.setattr(szczepankiewicz2023, "open_dataset", lambda data, split: known)
    monkeypatch.setattr(szczepankiewicz2023, "findings", lambda study: ())
    monkeypatch.setattr(szczepankiewicz2023, "report", lambda runs, page, study: studies.append((runs, study)) or page)
    return made, evaluated, studies


def test_the_thirteen_methods_exist():
    assert list(Szczepankiewicz2023.methods) == PAPER
    assert set(PAPER) <= set(METHODS.names())


def test_the_grid_is_every_network_on_every_data_set(recorded, tmp_path):
    made, evaluated, studies = recorded
    Szczepankiewicz2023(seed=3, models=("resnet50", "vgg16", "scnn")).run(tmp_path, "small", ["rise"])
    assert [name for name, _ in made] == ["gtsrb-square", "zings", "lisa-lights", "imagenet-s50"]
    assert all(how == {"scale": "small", "seed": 3, "source": None} for _, how in made)
    cells = [(name, how["model"]) for name, how in evaluated if how["split"] == "test"]
    assert cells == [(name, model) for name, _ in made for model in ("resnet50", "vgg16", "scnn")]
    for name, how in evaluated:
        assert how["methods"] == [*PAPER, "eigen-cam:sign=align", "eigen-grad-cam:sign=align", "rise"]
        assert (how["metrics"], how["limit"], how["scale"], how["seed"]) == (["m-gt"], 100, "small", 3)
        if how["split"] == "test":
            turned = {"rotation": 5.0, "flips": True} if name == "zings" else {}
            assert how["settings"] == {"stop_accuracy": 0.995, **turned}
    ((runs, study),) = studies
    assert len(runs) == 12
    assert any("Stand-ins" in note for note in study.notes)


def test_variants_are_scored_against_the_training_mask_for_the_class_square(recorded, tmp_path):
    _, evaluated, studies = recorded
    Szczepankiewicz2023(only=("gtsrb-square",)).run(tmp_path, "demo")
    variants = [how for _, how in evaluated if how["split"] != "test"]
    assert [how["split"] for how in variants] == [f"test_{variant}" for variant in VARIANTS]
    for how in variants:
        assert (how["target"], how["mask"]) == ("square", "training_square")
        assert how["model"] == tmp_path / "runs" / "gtsrb-square-scnn" / "scnn-seed0"
    assert tuple(studies[0][1].variants[0].runs) == VARIANTS
    assert [how.get("mask") for _, how in evaluated if how["split"] == "test"] == [None]


def test_full_scale_is_the_papers(recorded, tmp_path):
    _, evaluated, _ = recorded
    Szczepankiewicz2023(only=("zings", "lisa-lights")).run(tmp_path, "full")
    settings = {(name, how["model"]): how["settings"] for name, how in evaluated if how.get("settings")}
    assert settings["zings", "resnet50"] == {
        **FULL_TRAINING, "learning_rate": 1e-4, "weights": "imagenet", "rotation": 5.0, "flips": True
    }  # fmt: skip
    assert settings["lisa-lights", "scnn"] == {**FULL_TRAINING, "learning_rate": 1e-3}
    for (_, model), chosen in settings.items():
        choose_settings(model, "full", chosen)
    whole = [
        (how["split"], str(how["model"])) for name, how in evaluated if name == "zings" and "scnn" in str(how["out"])
    ]
    trained = str(tmp_path / "runs" / "zings-scnn" / "scnn-seed0")
    assert whole == [("test", "scnn"), ("val", trained), ("train", trained)]


def test_on_imagenet_s50_itself_pretrained_networks_are_scored(recorded, tmp_path):
    made, evaluated, studies = recorded
    Szczepankiewicz2023(only=("imagenet-s50",), imagenet_s="/data/ImageNetS50").run(tmp_path, "demo")
    assert made == [("imagenet-s50", {"scale": "demo", "seed": 0, "source": "/data/ImageNetS50"})]
    assert [how["model"] for _, how in evaluated] == [
        f"salgen.evaluation.imagenet_s50:{model}" for model in ("vgg16", "resnet50", "resnext50")
    ]
    assert all(how["settings"] is None for _, how in evaluated)
    assert not any("Stand-ins" in note for note in studies[0][1].notes)
    with pytest.raises(SalgenError, match="pretrained network for ImageNet-S50"):
        Szczepankiewicz2023(only=("imagenet-s50",), imagenet_s="/x", models=("scnn",)).run(tmp_path, "demo")


def test_parameters_are_checked():
    assert build(Szczepankiewicz2023, {"only": "zings,lisa-lights"}).only == ("zings", "lisa-lights")
    with pytest.raises(SalgenError, match="only"):
        build(Szczepankiewicz2023, {"only": "zingz"})


# Claims ---------------------------------------------------------------------------------------------


def said(monkeypatch, grid, variants=()):
    """Verdict and numbers by the claim's letter and first words, for a grid of means."""

    def means(cells, methods, metric):
        return {(cell.dataset, cell.model): grid[cell.dataset, cell.model] for cell in cells}

    monkeypatch.setattr(szczepankiewicz2023_claims, "grid_means", means)
    cells = tuple(Cell(name, model, (Path("x"),)) for name, model in grid if name != "variant")
    study = Study("t", "r", "m-gt", tuple(PAPER), cells, tuple(variants), (), ())
    return szczepankiewicz2023_claims.findings(study)


def ranked(*best, worst=()):
    """Means that fall from the first method to the last."""
    rest = [method for method in PAPER if method not in (*best, *worst)]
    order = [*best, *rest, *worst]
    return {method: 0.9 - 0.05 * order.index(method) for method in PAPER}


HOLDING = {
    ("gtsrb-square", "resnet50"): ranked("eigen-grad-cam", "guided-grad-cam", worst=("fast-cam", "fast-cam++")),
    ("gtsrb-square", "vgg16"): ranked("guided-grad-cam", "eigen-grad-cam", worst=("fast-cam++", "fast-cam")),
    ("gtsrb-square", "scnn"): {m: value / 2 for m, value in ranked("guided-grad-cam", "eigen-grad-cam").items()},
    ("zings", "vgg16"): ranked("guided-backprop", "gradient", "guided-grad-cam"),
    ("lisa-lights", "vgg16"): ranked("layer-cam", "eigen-grad-cam", "guided-grad-cam"),
    ("imagenet-s50", "vgg16"): ranked(
        "grad-cam", worst=("gradient", "smoothgrad", "guided-backprop", "eigen-cam", "eigen-grad-cam")
    ),
    ("imagenet-s50", "resnet50"): ranked(
        "layer-cam", worst=("gradient", "smoothgrad", "guided-backprop", "eigen-cam", "eigen-grad-cam")
    ),
}  # fmt: skip
FOLLOWS = dict.fromkeys(PAPER, 0.4)


def test_a_grid_as_the_paper_found_it_holds_every_claim(monkeypatch):
    def means(cells, methods, metric):
        where = {"before": FOLLOWS, "after": {m: v / 2 for m, v in FOLLOWS.items()} | dict.fromkeys(
            szczepankiewicz2023_claims.KEEPING, 0.4)}  # fmt: skip
        return {
            (c.dataset, c.model): where[str(c.runs[0])] if c.dataset == "variant" else HOLDING[c.dataset, c.model]
            for c in cells
        }

    monkeypatch.setattr(szczepankiewicz2023_claims, "grid_means", means)
    cells = tuple(Cell(*key, (Path("x"),)) for key in HOLDING)
    variants = (Variants("vgg16", {"original": Path("before"), "resized": Path("after")}),)
    found = szczepankiewicz2023_claims.findings(Study("t", "r", "m-gt", tuple(PAPER), cells, variants, (), ()))
    assert [finding.verdict for finding in found] == ["held"] * 9
    assert found[-1].numbers == "vgg16: 1.00 against 0.50"


def test_the_opposite_grid_holds_none(monkeypatch):
    opposite = {cell: {method: 1.0 - value for method, value in means.items()} for cell, means in HOLDING.items()}
    verdicts = [finding.verdict for finding in said(monkeypatch, opposite)]
    assert verdicts == ["not held"] * 8 + ["not testable here"]


def test_what_was_not_run_is_not_testable(monkeypatch):
    grid = {("gtsrb-square", "scnn"): HOLDING["gtsrb-square", "scnn"]}
    found = said(monkeypatch, grid)
    assert [finding.verdict for finding in found] == [
        "not testable here", "held", *["not testable here"] * 7
    ]  # fmt: skip
    assert "resnet50 or vgg16" in found[0].numbers
    assert found[1].numbers.startswith("on scnn: guided-grad-cam 0.450")


def test_a_winner_that_is_fourth_is_named_with_its_place(monkeypatch):
    means = ranked("layer-cam", "grad-cam", "eigen-grad-cam", "guided-grad-cam")
    found = said(monkeypatch, {("lisa-lights", "scnn"): means})
    (finding,) = [f for f in found if f.claim.startswith("(d)")]
    assert finding.verdict == "not held"
    assert "guided-grad-cam 0.750, place 4" in finding.numbers
