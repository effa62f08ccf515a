"""Ray gives the bytes that the local processes give, on several nodes too, and when workers are killed."""

import json
import os
import pickle
import sys
import pytest
from made_datasets import contents, made
from ray_nodes import two_nodes
from worker_orders import DRIVER, ORDERS, orders_path
from salgen.cli.main import main
from salgen.datasets.execution import executors, pool, ray_tasks
from salgen.datasets.format import manifest
from salgen.datasets.format.shards import Shard, shards_of
from salgen.datasets.making import make
from salgen.errors import SalgenError
from salgen.registry import GENERATORS, Entry

try:
    ray = executors.ray_module()
except SalgenError:
    ray = None

needs_ray = pytest.mark.skipif(ray is None, reason="Ray is not installed: pip install '.[ray]' in a clone of salgen")
SPLITS = {"train": 60}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A Ray of two nodes with a processor each, to which this process is not connected."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(ORDERS, str(tmp_path_factory.mktemp("orders")))
        patch.setenv(DRIVER, str(os.getpid()))
        with two_nodes() as address:
            yield address


@pytest.fixture(scope="module")
def connected(cluster):
    """This process, connected to the two nodes for as long as the tests here take."""
    ray.init(cluster, log_to_driver=False, configure_logging=False)
    yield cluster
    ray.shutdown()


@pytest.fixture
def orders(connected):
    for name in ("prepared", "rendered"):
        orders_path(name).mkdir(exist_ok=True)
    yield orders_path()
    for path in orders_path().rglob("*"):
        if path.is_file():
            path.unlink()


@pytest.fixture(autouse=True)
def watched(monkeypatch):
    entries = {**GENERATORS.entries, "watched": Entry("watched", "watched", "Watched squares.")}
    monkeypatch.setitem(vars(GENERATORS), "entries", entries)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What one local process makes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(vars(GENERATORS), "entries", {"watched": Entry("watched", "watched", "Watched squares.")})
        patch.setattr(manifest, "SAMPLES_PER_SHARD", 5)
        patch.setattr(manifest, "ROWS_PER_GROUP", 2)
        patch.delenv(ORDERS, raising=False)
        return contents(make("watched", tmp_path_factory.mktemp("whole") / "watched", splits=SPLITS, workers=1))


def by_ray(out, **arguments):
    return make("watched", out, **{"splits": SPLITS, "executor": "ray", **arguments})


def reports(orders, kind):
    return {path.name for path in (orders / kind).iterdir()}


@needs_ray
def test_two_nodes_give_the_bytes_of_one_process_and_prepare_once_each(tmp_path, whole, orders):
    (orders / "wait").touch()  # long enough for both to have a share
    assert contents(by_ray(tmp_path / "watched")) == whole
    ran = reports(orders, "rendered")
    assert len({name.rpartition("-")[0] for name in ran}) == 2, "both nodes should have rendered"
    workers = {name.rpartition("-")[2] for name in ran}
    assert reports(orders, "prepared") == workers | {str(os.getpid())}
    assert ray.is_initialized(), "what was connected before stays connected"


@needs_ray
def test_a_worker_killed_in_the_middle_changes_nothing(tmp_path, whole, orders, capfd):
    (orders / "die").touch()
    assert contents(by_ray(tmp_path / "watched")) == whole
    assert not (orders / "die").exists(), "nobody was killed"
    assert capfd.readouterr().out == ""


@needs_ray
def test_an_address_says_which_ray_and_the_log_says_that_it_was_ray(tmp_path, whole, orders, connected):
    assert contents(by_ray(tmp_path / "watched", ray_address=connected)) == whole
    entry = json.loads((tmp_path / "watched.log").read_text())
    assert (entry["executor"], entry["workers"], entry["images"]) == ("ray", None, 60)
    with pytest.raises(SalgenError, match=r"ray_address = 127\.0\.0\.1:7: this process is connected to the Ray at"):
        by_ray(tmp_path / "other", ray_address="127.0.0.1:7")


@needs_ray
def test_a_fault_of_the_generator_comes_back_as_it_is_and_leaves_nothing(tmp_path, connected):
    with pytest.raises(SalgenError, match=r"^no place for the square in sample 11$"):
        made(tmp_path / "squares", parameters={"fail_at": 11}, executor="ray", workers=2)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("libraries", "present", "message"),
    [
        ({}, False, r"does not see .*salgen\.json: all machines of a cluster must share the folder"),
        ({"numpy": "1.0"}, True, r"would write other bytes: it has numpy .* for 1\.0"),
    ],
)
def test_a_machine_that_will_not_do_says_why(tmp_path, folder, libraries, present, message):
    from dataclasses import replace
    from salgen.datasets.format.manifest import read_manifest
    from salgen.generators import factory

    described = read_manifest(folder)
    described = replace(described, libraries={**described.libraries, **libraries})
    job = (factory.generator("squares", None, "small"), described, folder if present else tmp_path / "elsewhere")
    fault = pool._ray_task(ray_tasks.pack(job), shards_of(described)[0])
    with pytest.raises(ChildProcessError, match=message):
        raise fault.error


def test_a_machine_without_the_plug_in_says_so():
    fault = pool._ray_task(pickle.dumps(([], b"cnowhere\nThing\n.")), Shard("train", 0, 0, 1, 1))
    assert "cannot load the generator (ModuleNotFoundError: No module named 'nowhere')" in str(fault.error)


def test_a_file_that_a_share_shows_late_is_waited_for(tmp_path, monkeypatch):
    late = tmp_path / "late"
    looks = iter([late.touch])

    def show(folder):  # what another machine wrote shows when the folder is looked at
        assert folder == tmp_path
        next(looks)()

    monkeypatch.setattr("os.listdir", show)
    ray_tasks.wait_until_seen(late)
    assert late.exists()


def test_a_file_that_never_shows_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(ray_tasks, "SEEN_S", 0.0)
    with pytest.raises(ChildProcessError, match=r"lost was written by another machine and is not here: all machines"):
        ray_tasks.wait_until_seen(tmp_path / "lost")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"executor": "rya"}, "unknown executor 'rya': did you mean 'ray'"),
        ({"ray_address": "x:1"}, "ray_address = x:1: needs executor = ray"),
        pytest.param({"executor": "ray", "ray_address": "x:1", "workers": 2}, "leave workers out", marks=needs_ray),
        pytest.param({"executor": "ray", "workers": 0}, "workers = 0: must be 1 or more", marks=needs_ray),
    ],
)
def test_a_bad_argument_is_one_line_and_leaves_nothing(tmp_path, arguments, message):
    with pytest.raises(SalgenError, match=message):
        make("squares", tmp_path / "squares", **arguments)
    assert list(tmp_path.iterdir()) == []


@needs_ray
@pytest.mark.parametrize("address", ["nonsense", "ray://127.0.0.1:1", "127.0.0.1:1", "127.0.0.1:99999"])
def test_a_wrong_address_is_one_line(address):
    with pytest.raises((OSError, ValueError)):
        executors.check_address(address)


def test_without_ray_it_says_how_to_install_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["make", "squares", str(tmp_path / "squares"), "--executor", "ray"]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: executor = ray needs ray: pip install")
    assert error.endswith("pip install '.[ray]' in a clone of salgen\n")
    assert list(tmp_path.iterdir()) == []
