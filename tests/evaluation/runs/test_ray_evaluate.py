"""Ray finds the scores that one process finds, on several nodes too, and when workers are killed."""

import os
import pickle
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
import numpy as np
import pytest
import torch
from ray_nodes import two_nodes
from worker_orders import DRIVER, ORDERS, orders_path
from salgen.datasets.execution import executors, ray_tasks
from salgen.datasets.execution.executors import Executor
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.runs import ray_work
from salgen.evaluation.runs.artifacts.chunk_files import PARTS
from salgen.evaluation.runs.artifacts.saved_maps import read_maps
from salgen.evaluation.runs.certify import Certifier
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.evaluated_models import load_model
from salgen.evaluation.runs.given_models import given_model
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.runs.running import evaluate
from salgen.registry import METHODS, METRICS, Entry

try:
    ray = executors.ray_module()
except SalgenError:
    ray = None

needs_ray = pytest.mark.skipif(ray is None, reason="Ray is not installed: pip install '.[ray]' in a clone of salgen")
METHOD = Entry("watched", "watched_work", "A watched gradient.")
ASKED = {
    "methods": ["watched", "gradient", "lrp-alpha-beta:alpha=1,beta=0", "pattern-net"],
    "metrics": ["roc-auc", "idr"],
    "model": "watched_work:network",
    "keep_maps": True,
}
TABLES = ("scores.parquet", "predictions.parquet", "certificates.parquet", "summary.csv", "comparisons.csv")


@pytest.fixture(scope="module", autouse=True)
def small():
    """Chunks of four samples, so that a tiny data set has several; arithmetic as workers do it, on one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("salgen.evaluation.runs.plan.CHUNK", 4)
        patch.setattr("salgen.evaluation.runs.ray_work.PREDICTED_AT_A_TIME", 6)
        patch.setitem(vars(METHODS), "entries", {**METHODS.entries, "watched": METHOD})
        yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module")
def whole(data):
    """What one local process finds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv(ORDERS, raising=False)
        return evaluate(data, out=data.parent / "whole", **ASKED)


@pytest.fixture(scope="module")
def connected(tmp_path_factory):
    """This process, connected to a Ray of two nodes for as long as the tests here take."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ORDERS, str(tmp_path_factory.mktemp("orders")))
        patch.setenv(DRIVER, str(os.getpid()))
        with two_nodes() as address:
            ray.init(address, log_to_driver=False, configure_logging=False)
            yield address
            ray.shutdown()


@pytest.fixture
def orders(connected):
    yield orders_path()
    for path in orders_path().iterdir():
        path.unlink()


def tables(run):
    return {name: (run / name).read_bytes() for name in TABLES}


def maps(run):
    return {path.relative_to(run): read_maps(path).values for path in sorted((run / "maps").rglob("*.parquet"))}


def times(run, names):
    return {name: (run / PARTS / name).stat().st_mtime_ns for name in names}


def runner_of(data, run, **fields):
    """A runner with one method, without a Ray."""
    (run / PARTS).mkdir(parents=True, exist_ok=True)
    dataset = open_dataset(data)
    model = load_model(dataset, given_model("watched_work:network"), run)
    methods = {"gradient": METHODS.create("gradient")}
    metrics = {"roc-auc": METRICS.create("roc-auc")}
    return ModelRunner(Plan.of(dataset, Conventions(), [model], methods, metrics, **fields), model, run)


def predicted_by_task(job, part=range(2)):
    """A worker's predictions for some samples."""
    return ray_work._predict(ray_tasks.pack(job), part)


@needs_ray
@pytest.mark.torture
def test_two_nodes_find_what_one_process_finds_and_load_a_model_once_each(tmp_path, data, whole, orders, monkeypatch):
    (orders / "wait").touch()  # long enough for both to have a share
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Certifier, "write", None)  # the workers', not this process's
    run = evaluate(os.path.relpath(data), out="run", executor="ray", **ASKED)
    assert tables(run) == tables(whole)
    found, wanted = maps(run), maps(whole)
    assert list(found) == list(wanted)
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)
    assert {path.name for path in (run / PARTS).iterdir()} == {path.name for path in (whole / PARTS).iterdir()}
    nodes, workers, threads = zip(
        *(line.split() for line in (orders / "explained").read_text().splitlines()), strict=True
    )
    assert len(set(nodes)) == 2, "both nodes should have explained"
    assert set(threads) == {"1"}
    loaded = (orders / "loaded").read_text().split()
    assert len(loaded) == len(set(loaded))
    assert set(workers) <= set(loaded)


@needs_ray
@pytest.mark.torture
def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path, data, whole, orders):
    (orders / "die").touch()
    run = evaluate(data, out=tmp_path / "run", executor="ray", **ASKED)
    assert not (orders / "die").exists(), "nobody was killed"
    assert tables(run) == tables(whole)
    assert [path for path in run.rglob("*") if path.name.endswith(".part")] == []


@needs_ray
def test_a_stopped_run_goes_on_with_ray_and_without(tmp_path, data, whole, orders):
    run = tmp_path / "run"
    shutil.copytree(whole, run)
    parts = sorted(path.name for path in (run / PARTS).iterdir())
    for executor, gone in (("ray", parts[1:9]), ("local", parts[5:14])):
        for name in gone:
            (run / PARTS / name).unlink()
        before = times(run, set(parts) - set(gone))
        evaluate(data, out=run, executor=executor, **ASKED)
        assert times(run, before) == before
        assert tables(run) == tables(whole)


@needs_ray
@pytest.mark.parametrize(
    ("order", "kind", "message"),
    [
        ("fail", SalgenError, "^nothing to see here$"),
        ("no memory", SalgenError, r"explaining one image of \(1, 32, 32\) needs more memory than cpu has"),
        pytest.param(
            *("die always", SalgenError),
            r"Ray gave up chunk \d of the scored samples .*the same command continues it$",
            marks=pytest.mark.torture,
        ),
    ],
)
def test_faults_end_the_run_as_they_do_locally(tmp_path, data, orders, monkeypatch, order, kind, message):
    monkeypatch.setattr(ray_tasks, "RETRIES", 0)
    (orders / order).touch()
    with pytest.raises(kind, match=message):
        evaluate(data, out=tmp_path / "run", executor="ray", **{**ASKED, "methods": ["watched"]})
    assert not (tmp_path / "run" / "scores.parquet").exists()
    assert [path for path in tmp_path.rglob("*") if path.name.endswith(".part")] == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"libraries": {"torch": "1.0"}}, r"would compute other scores: it has torch .* for 1\.0"),
        ({"run": Path("elsewhere")}, r"does not see elsewhere/parts: all machines of a cluster must share the folder"),
        ({"device": "cuda"}, "has a GPU that PyTorch cannot use"),
        ({"plan": b"cnowhere\nThing\n."}, r"cannot load the job \(ModuleNotFoundError: No module named 'nowhere'\)"),
    ],
)
def test_a_machine_that_will_not_do_says_why(tmp_path, data, monkeypatch, changes, message):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    fault = predicted_by_task(replace(ray_work.Job.of(runner_of(data, tmp_path), "cpu"), **changes))
    with pytest.raises(ChildProcessError, match=message):
        raise fault.error


def test_a_job_holds_no_weights_and_gives_the_same_work(tmp_path, data, monkeypatch):
    here = SimpleNamespace(get_node_id=lambda: "a")
    node = {"NodeID": "a", "Resources": {"CPU": 2}}
    one_node = SimpleNamespace(get_runtime_context=lambda: here, nodes=lambda: [node])
    monkeypatch.setattr(ray_work, "ray_module", lambda: one_node)
    runner = runner_of(data, tmp_path, device="cpu")
    job = ray_work.Job.of(runner, "cpu")
    weights = runner.model.classifier.network[0].weight.detach().numpy().tobytes()
    assert weights not in pickle.dumps(job)
    again = ray_work._runner(ray_tasks.pack(job))
    assert [chunk.path for chunk in again.all_chunks] == [chunk.path.absolute() for chunk in runner.all_chunks]
    assert again.predictions_path == runner.predictions_path
    images = open_dataset(data).images()[:3].astype(np.float32) / 255
    assert np.array_equal(again.model.probabilities(images), runner.model.probabilities(images))
    assert 0 < again.plan.max_memory < 1e4


def test_a_worker_gets_the_models_that_it_needs_and_files_of_its_own_device(tmp_path, data):
    runner = runner_of(data, tmp_path)
    first, second = runner.model, replace(runner.model, seed=1)
    plan = replace(runner.plan, models=[first, second], paired={0: first, 1: second}, shuffled={1: first})
    each = plan.for_model(first), plan.for_model(second)
    assert [(alone.models, alone.paired, alone.shuffled) for alone in each] == [
        ([first], {0: first}, {}),
        ([second], {1: second}, {1: first}),
    ]
    assert plan.for_model(second).chunks == plan.chunks
    cpu, gpu = runner_of(data, tmp_path), runner_of(data, tmp_path, device="cuda")
    assert cpu.device == "cpu"
    paths = [
        [chunk.path for chunk in runner.all_chunks] for runner in (cpu, runner_of(data, tmp_path, device="cpu"), gpu)
    ]
    assert paths[0] == paths[1]
    assert not set(paths[0]) & set(paths[2])
    assert cpu.predictions_path != gpu.predictions_path


@pytest.mark.parametrize(("offered", "device", "taken"), [({"CPU": 4.0}, "cpu", 0), ({"GPU": 2.0}, "cuda", 1)])
def test_a_worker_takes_a_gpu_where_there_are_any(offered, device, taken):
    class Connection(ray_tasks.Connection):
        def outcomes(self, *_, gpus):
            return iter([(gpus, None)])

    class Offering:
        cluster_resources = staticmethod(lambda: offered)

    workers = ray_work.RayWorkers(Connection(Offering, 1))
    assert workers.device == device
    assert list(workers._outcomes(None, b"", [], None)) == [(taken, None)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"workers": 2}, "workers = 2: only for executor = ray; otherwise this process does all the work"),
        ({"executor": "rya"}, "unknown executor 'rya': did you mean 'ray'"),
        ({"ray_address": "x:1"}, "ray_address = x:1: needs executor = ray"),
    ],
)
def test_a_bad_argument_is_one_line_before_any_work(tmp_path, data, arguments, message):
    with pytest.raises(SalgenError, match=message):
        evaluate(data, out=tmp_path / "run", **arguments)
    assert list(tmp_path.iterdir()) == []


@needs_ray
def test_an_address_where_nobody_answers_is_known_before_any_work(monkeypatch):
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(SalgenError, match=r"^ray_address = 127\.0\.0\.1:1: cannot be reached"):
        ray_work.ray_executor("ray", None, "127.0.0.1:1")
    assert ray_work.ray_executor("ray", 3, None) == Executor("ray", 3)
