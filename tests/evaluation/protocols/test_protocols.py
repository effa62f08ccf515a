"""Protocols: what they ask for is what the papers did."""

import json
import pyarrow.parquet as pq
import pytest
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.protocols.budding2021 import Budding2021
from salgen.evaluation.runs.running import evaluate

QUICK = {"image_size": (32, 32), "diameter": 6, "slices": 8}


def test_networks_are_trained_for_reliance_beside_the_papers_where_that_is_asked(recorded, tmp_path):
    _, evaluated, ((reported, _),) = Budding2021().run(tmp_path, "demo", reliance=["mri-lesions"]) and recorded
    trained = [(how["out"].name, how["reliance"]) for _, how in evaluated]
    assert trained == [("perlin-lesions-run", False), ("mri-lesions-run", False), ("mri-lesions-run-reliance", True)]
    assert [run.name for run in reported] == [name for name, _ in trained]
    with pytest.raises(SalgenError, match="perlin-lesion"):
        Budding2021().run(tmp_path, "demo", reliance=["perlin-lesion"])


@pytest.mark.parametrize(("scale", "seeds"), [("demo", 1), ("small", 3), ("full", 3)])
def test_budding2021_asks_for_what_the_paper_did(recorded, tmp_path, scale, seeds):
    made, evaluated, reported = recorded
    runs, page, tables, findings = Budding2021(seed=4).run(tmp_path, scale, ["grad-cam"])
    assert made == [(name, {"scale": scale, "seed": 4}) for name in ("perlin-lesions", "mri-lesions")]
    for data, how in evaluated:
        assert how["model"] == "lesion-cnn"
        assert (how["target"], how["reduce"], how["limit"], how["n_trainings"]) == ("pred", "abs", 200, seeds)
        assert how["methods"] == [
            *("gradient", "deconvnet", "guided-backprop", "deep-taylor:bias=true", "pattern-net"),
            *("pattern-attribution", "lrp-z", "lrp-alpha-beta:bias=true", "grad-cam"),
        ]
        assert how["out"].name == f"{data}-run"
        assert how["metrics"] is how["settings"] is None
        assert how["reliance"] is False
    ((reported_runs, study),) = reported
    assert (reported_runs, study.tables, study.findings) == (runs, tables, findings)
    assert [how["out"] for _, how in evaluated] == runs
    assert page == tmp_path / "report.html"
    for said in ("the best of three", "about half show lesions", "one head"):  # in which it is not the paper's
        assert any(said in note for note in study.notes)
    assert not any("stand-ins" in note for note in study.notes)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    splits = {"train": 8, "val": 4, "test": 24}
    return salgen.make("perlin-lesions", tmp_path_factory.mktemp("protocol") / "data", splits=splits, parameters=QUICK)


def test_the_predicted_class_is_explained_when_asked_for(folder, tmp_path):
    """A model that has learnt nothing is wrong for some samples; their target is then the wrong class."""
    how = {"methods": ["gradient"], "settings": {"epochs": 1, "widths": "4", "hidden": 4}}
    rows = {}
    for target in ("label", "pred"):
        run = evaluate(folder, target=target, reduce="abs", out=tmp_path / target, **how)
        table = pq.read_table(run / "scores.parquet").to_pandas()
        assert set(table["reduction"]) == {"abs"}
        rows[target] = table.query("method == 'gradient'").drop_duplicates("sample_id").set_index("sample_id")
        assert json.loads((run / "run.json").read_text())["conventions"]["target"] == target
    assert (rows["label"]["target"] == 1).all()
    right = rows["pred"]["correct"]
    assert not right.all()
    assert (rows["pred"]["target"][right] == 1).all()
    assert (rows["pred"]["target"][~right] == 0).all()


def test_a_model_of_another_data_set_is_recorded_as_such(folder, tmp_path):
    how = {"methods": ["gradient"], "limit": 8}
    run = evaluate(folder, settings={"epochs": 1, "widths": "4", "hidden": 4}, out=tmp_path / "run", **how)
    splits = {"train": 2, "val": 2, "test": 8}
    other = salgen.make("mri-lesions", tmp_path / "mri", splits=splits, parameters=QUICK)
    record = salgen.load(evaluate(other, model=run / "lesion-cnn-seed0", out=tmp_path / "o", **how)).record
    (model,) = record.models
    assert model.trained_on["fingerprint"] == salgen.load(folder).fingerprint
    assert len(model.weights_sha256) == 64
    assert any("was trained on another data set: data" in note for note in record.notes)
