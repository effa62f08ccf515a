"""`salgen reproduce designed`: each network on the data sets that are made for it, nothing trained."""

from dataclasses import dataclass, replace
import pytest
from salgen.evaluation.protocols import designed
from salgen.evaluation.protocols.designed import DATASETS, Designed
from salgen.generators.factory import plugin_class
from salgen.parameters import build
from salgen.registry import METHODS, MODELS

CALLS = ("gradient", "lrp-z", "random")


@dataclass(frozen=True)
class Quick(Designed):
    """Three methods on few images, and a network inside grids that is hardly trained on them."""

    def datasets(self):
        splits = {"train": 20, "val": 10, "test": 10}
        few = {designed.CELLS: {"parameters": {"pictures": 10}}}
        return {name: {**how, **few.get(name, {}), "splits": splits} for name, how in super().datasets().items()}

    def settings(self, dataset, model, scale):
        return {"epochs": 1, "widths": (4, 4, 4)} if model == "scnn" else None

    def experiments(self, scale):
        every = super().experiments(scale)
        return [replace(one, methods=CALLS) for one in every if one.datasets[0] in self.datasets()]


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs the protocol on some of its data sets."""

    def of(*names, limit):
        monkeypatch.setattr(designed, "SHOWN", CALLS)
        monkeypatch.setattr(designed, "DATASETS", {name: DATASETS[name] for name in names})
        return Quick(limit=limit).run(tmp_path / "out", "demo")

    return of


def test_every_designed_network_is_run_on_its_generator():
    for generator, values, network in DATASETS.values():
        assert MODELS.load(network).generator == generator
        build(plugin_class(generator), values)
    named = {network for _, _, network in DATASETS.values()}
    assert named == {name for name in MODELS.names() if hasattr(MODELS.load(name), "design")}
    assert not {name for name in Designed().methods if METHODS.load(name).control}
    Designed().check("demo", ())


def test_tables_have_the_means_of_runs_without_training_but_of_the_network_in_grids(run, tmp_path):
    chosen = ("or-slots", "cancelling-patches")
    found = run(*chosen, limit=6)
    titles = [table.title.partition(", beside the ") for table in found.tables]
    assert [title for title, _, _ in titles] == [f"{DATASETS[name][2]} on {name}" for name in chosen]
    assert titles[0][2].startswith("Shapley value of each slot")
    cosine = found.tables[0].rows[0].means
    assert cosine["lrp-z"] == pytest.approx(1)
    assert cosine["gradient"] < 0  # zeros where two discs or more make OR true
    assert not list((tmp_path / "out").rglob("weights.safetensors"))
    assert "the number that the paper prints" not in found.page.read_text(encoding="utf-8")
    found = run("difull-grids", "gridpg-grids", limit=4)
    shares = {table.title: table.rows[0].means for table in found.tables}
    assert shares["difull on difull-grids"]["gradient"] == pytest.approx(1)
    assert shares["gridpg on gridpg-grids"]["gradient"] < 0.99
    assert len(list((tmp_path / "out").rglob("weights.safetensors"))) == 1
    assert str(tmp_path) not in found.page.read_text(encoding="utf-8")
