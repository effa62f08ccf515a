"""Methods that are not salgen's, in runs: recorded, kept, extended, left out where they fail, verified, published."""

import json
import sys
from functools import partial
import captum.attr
import numpy as np
import pytest
import pytorch_grad_cam
import zennit.canonizers
import zennit.composites
from kept_runs import SAMPLES, STATED, rows
from own_modules import write_modules
from pandas.testing import assert_frame_equal
import salgen
from salgen.cli.main import main
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.publishing.run_release import published_record
from salgen.evaluation.runs.artifacts.run_record import RunRecord
from salgen.evaluation.runs.rescoring import rescore
from salgen.import_paths import imported

MODELS = """
import torch
from torch import nn

torch.manual_seed(0)
layers = [nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Conv2d(4, 6, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(2)]
network = nn.Sequential(*layers, nn.Flatten(), nn.Linear(24, 2)).eval()
network.cam_layer = "3"

def detector():
    return network
"""
METHODS = """
from captum.attr import Saliency
from my_models import network

CALLS = []

def mine(model, inputs, targets, factor=1):
    CALLS.append(len(inputs))
    inputs.requires_grad_()
    model(inputs).gather(1, targets[:, None]).sum().backward()
    return inputs.grad * factor

def fails_later(model, inputs, targets):
    if len(CALLS) > 3:
        raise RuntimeError("no more")
    CALLS.append(len(inputs))
    return inputs

saliency = Saliency(network)
"""
METRICS = ["roc-auc", "max-sensitivity:samples=2"]
OWN = ["method", "method_parameters"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    return write_modules(tmp_path, monkeypatch, my_methods=METHODS, my_models=MODELS)


def evaluated(data, out, methods, **changes):
    given = {"model": "my_models:detector", "metrics": ["roc-auc"], "out": out, **changes}
    return salgen.evaluate(data, methods=methods, **given)


def module(name):
    return imported(f"my_m{name}", "module", "")


def of(run, method):
    table = rows(run)
    return table[table["method"] == method].reset_index(drop=True).drop(columns=OWN)


def area_of(run, method):
    return of(run, method).query("metric == 'roc-auc'")["value"].tolist()


def records(run):
    return {method.call: method for method in RunRecord.read(run / "run.json").methods}


def test_methods_of_libraries_and_of_the_user_in_a_run(data, folder):
    """A function has the scores of salgen's method that computes the same; objects are bound to the model."""
    network, mine = module("odels:network"), module("ethods:mine")
    composite = zennit.composites.EpsilonPlusFlat(canonizers=[zennit.canonizers.SequentialMergeBatchNorm()])
    methods = {
        "gradient": "gradient",
        "mine": mine,
        "twice": partial(mine, factor=2),
        "finer": pytorch_grad_cam.FinerCAM,
        "kpca": pytorch_grad_cam.KPCA_CAM(network, [network[3]]),
        "flat": composite,
        "saliency": "captum.attr:Saliency:abs=false",
    }
    run = evaluated(data, folder / "run", methods, metrics=METRICS, reduce="sum", keep_maps=True)
    held = records(run)
    assert set(methods) < set(held)
    assert_frame_equal(of(run, "mine"), of(run, "gradient"), check_exact=True)
    for name in ("twice", "saliency"):
        assert area_of(run, name) == area_of(run, "gradient")
    assert held["gradient"].foreign is None
    assert held["twice"].foreign.import_path == "my_methods:mine"
    assert held["twice"].foreign.parameters == {"factor": 2}
    assert len(held["mine"].foreign.sha256) == 64
    assert held["finer"].foreign.library.startswith("grad-cam 1.")
    assert held["flat"].foreign.import_path is held["kpca"].foreign.import_path is None
    assert held["kpca"].reference.startswith("a KPCA_CAM object of pytorch_grad_cam.kpca_cam, not re-runnable, grad")
    assert (held["kpca"].signed, held["flat"].signed, held["finer"].native_resolution) == (False, True, "32x32")
    assert json.loads(rows(run).query("method == 'twice'")["method_parameters"].iloc[0])["parameters"] == {"factor": 2}
    page = salgen.report([run]).read_text(encoding="utf-8")
    assert all(f"{name}" in page for name in methods)

    assert salgen.verify(run) == []
    again = rescore(run, metrics=["roc-auc", "m-gt"], out=folder / "again")
    assert area_of(again, "kpca") == area_of(run, "kpca")
    archive = salgen.publish(run, folder / "run.tar", **STATED)
    assert salgen.verify(archive) == []
    with pytest.raises(SalgenError, match="explains images again, and mine, twice, finer, kpca, flat, saliency would"):
        rescore(archive, metrics=["max-sensitivity"], out=folder / "no")
    record = RunRecord.read(run / "run.json")
    assert {"mine", "finer", "kpca"} <= set(published_record(record, pixels=False).maps_left_out)
    assert published_record(record, pixels=True).maps_left_out == []


def test_what_is_computed_again(data, folder, monkeypatch):
    """An edited function is; one that is as it was is taken from the run, with the pictures of the report."""
    methods = ["my_methods:mine", "my_methods:saliency"]
    run = evaluated(data, folder / "run", methods)
    first, calls = of(run, "mine"), module("ethods:CALLS")
    # One image is measured. One comes first each time, to see whether random numbers are drawn. Three have no mask.
    assert calls == [1, 1, 7, 1, 3]
    evaluated(data, run, methods)
    assert calls == [1, 1, 7, 1, 3]
    assert_frame_equal(of(run, "mine"), first, check_exact=True)
    assert records(run)["saliency"].foreign.import_path == "my_methods:saliency"

    write_modules(folder, monkeypatch, my_methods=METHODS.replace("inputs.grad * factor", "-inputs.grad * factor"))
    evaluated(data, run, methods)
    assert np.allclose(of(run, "mine")["value"], 1 - first["value"])


def test_nothing_that_a_run_names_is_imported(data, folder, monkeypatch):
    """A received run may name any module, as a method from elsewhere or as the call of one."""
    run = evaluated(data, folder / "run", ["my_methods:mine", "gradient"])
    (folder / "trap.py").write_text("open('sprung', 'w').close()\ndef mine(*_): pass\n")
    text = (run / "run.json").read_text(encoding="utf-8")
    changes = {
        "my_methods:mine": ("trap:mine", r"has 'mine', which is trap:mine.*: give it again"),
        '"call": "gradient"': ('"call": "trap:mine"', "trap: 'mine': write it as key=value"),
    }
    for old, (new, says) in changes.items():
        (run / "run.json").write_text(text.replace(old, new), encoding="utf-8")
        given = None if new == "trap:mine" else ["my_methods:mine"]
        with pytest.raises(SalgenError, match=says):
            evaluated(data, run, given)
        assert not (folder / "sprung").exists()
        assert "trap" not in sys.modules


def test_an_object_must_be_given_again_and_is_computed_anew(data, folder):
    saliency = captum.attr.Saliency(module("odels:network"))
    run = evaluated(data, folder / "run", {"theirs": saliency})
    with pytest.raises(SalgenError, match=r"'theirs', which is a Saliency object of captum.*, not re-runnable.*: give"):
        evaluated(data, run, ["gradient"])
    unsigned = of(run, "theirs")
    with pytest.warns(SalgenWarning, match="adding gradient"):
        evaluated(data, run, {"theirs": partial(saliency.attribute, abs=False), "gradient": "gradient"})
    assert not of(run, "theirs")["value"].equals(unsigned["value"])


def test_a_method_that_fails_is_left_out_and_the_others_stand(data, folder):
    """At first, on later images, or in metrics that explain other models: the same scores as without it."""
    alone = evaluated(data, folder / "alone", ["gradient"], metrics=METRICS)
    bound = captum.attr.Saliency(module("odels:network"))
    methods = {
        "gradient": "gradient",
        "raises": lambda model, inputs, targets: model(inputs, 3),
        "later": module("ethods:fails_later"),
        "bound": bound,
    }
    with pytest.warns(SalgenWarning, match="is left out of .*run: method '.*' failed: ") as caught:
        run = evaluated(data, folder / "run", methods, metrics=[*METRICS, "parameter-randomization"])
    assert sum("left out" in str(warning.message) for warning in caught) == 3
    assert {warning.filename for warning in caught if warning.category is SalgenWarning} == {__file__}
    record = RunRecord.read(run / "run.json")
    assert {"raises", "later", "bound"}.isdisjoint(method.call for method in record.methods)
    assert "method 'raises' failed: TypeError" in record.left_out["raises"]
    assert record.left_out["later"] == "method 'later' failed: RuntimeError: no more"
    assert "bound to another model" in record.left_out["bound"]
    found, expected = of(run, "gradient"), of(alone, "gradient")
    found = found[found["metric"].isin(expected["metric"])].reset_index(drop=True)
    assert_frame_equal(found, expected, check_exact=True)
    assert salgen.verify(run) == []
    printed = " ".join(salgen.evaluation.report.console_summary([run]).split())
    assert "later (method 'later' failed: RuntimeError: no more)" in printed
    assert record.left_out == run.left_out


def test_what_is_wrong_with_one_is_said_before_any_work(data, folder):
    other = captum.attr.Saliency(module("odels:nn.Sequential")(module("odels:network")))
    for methods, says in (
        ({"theirs": other}, "method 'theirs' failed: it is bound to another model than the one that is explained"),
        (["captum.attr:LayerActivation:layer=33"], "unknown layer '33'"),
    ):
        with pytest.raises(SalgenError, match=says):
            evaluated(data, folder / "run", methods)
        assert not (folder / "run").exists()
    maps = {"mine": np.save(folder / "maps.npy", np.zeros((SAMPLES, 4, 4))) or folder / "maps.npy"}
    with pytest.raises(SalgenError, match="mine is the name of maps from files and of another method"):
        evaluated(data, folder / "run", ["my_methods:mine"], maps=maps)


def test_the_command(data, folder, capsys):
    words = ["evaluate", str(data), "--model", "my_models:detector", "--metrics", "roc-auc", "--out", "run"]
    assert main([*words, "-m", "my_methods:mine:factor=2", "-m", "gradient", "--methods", "captum.attr:Saliency"]) == 0
    printed = capsys.readouterr().out
    assert {"mine:factor=2", "Saliency", "gradient"} <= {line.split(" ")[0] for line in printed.splitlines()}
    assert set(records(folder / "run")) >= {"mine:factor=2", "Saliency", "gradient"}
    assert main([*words, "-m", "half of it=my_methods:mine:factor=0.5"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "'mine:factor=2', which is my_methods:mine" in line
    assert "'Saliency', which is captum.attr:Saliency" in line
    again = ["-m", "my_methods:mine:factor=2", "-m", "captum.attr:Saliency"]
    assert main([*words, *again, "-m", "half of it=my_methods:mine:factor=0.5", "-m", "gradient"]) == 0
    assert records(folder / "run")["half of it"].foreign.parameters == {"factor": 0.5}
    capsys.readouterr()
    assert main([*words, "-m", "my_methods:nothing"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "method my_methods:nothing: cannot be imported: AttributeError" in line


def test_a_name_for_a_method_of_salgens(data, folder):
    """It stands in tables, maps and record, and later evaluations know what it stands for."""
    own = evaluated(data, folder / "own", ["integrated-gradients:steps=4"])
    methods = {"ig": "integrated-gradients:steps=4"}
    run = evaluated(data, folder / "run", methods, keep_maps=True)
    assert area_of(run, "ig") == area_of(own, "integrated-gradients:steps=4")
    assert records(run)["ig"].stands_for == "integrated-gradients:steps=4"
    assert (run.maps("ig").method, run.means.loc["ig"].notna().all()) == ("ig", True)
    assert salgen.verify(run) == []
    evaluated(data, run, ["gradient"])
    assert records(run)["ig"].stands_for == "integrated-gradients:steps=4"
    assert len(records(run)) == len(records(own)) + 1
    evaluated(data, run, {"ig": "integrated-gradients:steps=2"})
    assert area_of(run, "ig") != area_of(own, "integrated-gradients:steps=4")
    assert area_of(rescore(run, metrics=["roc-auc"], out=folder / "again"), "ig") == area_of(run, "ig")
    assert "integrated-gradients:steps=2" in salgen.report([run]).read_text(encoding="utf-8")
    images, network = salgen.load(data, "test")[0]["image"][None], module("odels:network")
    explained = salgen.explain(network, images, 0, method=methods)
    assert explained["ig"].method == methods["ig"], "so that metrics can explain again"
    for given, says in (
        ({"gradient": "rise"}, "'gradient' is salgen's"),
        ({"x": "all"}, "only single methods and no controls can be renamed"),
        ({"x": "my_methods:mine", "y": "rise", "z": 3}, "method 'z': .* not 3"),
    ):
        with pytest.raises(SalgenError, match=says):
            evaluated(data, folder / "no", given)
