"""Registries: read without importing, complete, and clear about what is wrong."""

import re
from collections import defaultdict
from importlib.metadata import EntryPoint
import pytest
from salgen import registry as module
from salgen.errors import SalgenError, SalgenWarning
from salgen.registry import REGISTRIES, Registry


def test_every_registered_name_loads_to_a_class_of_that_name():
    for registry in REGISTRIES.values():
        assert registry.names() == sorted(registry.names())
        for name, entry in registry.entries.items():
            assert registry.load(name).name == name
            assert entry.summary.strip()


def test_every_paper_of_a_reference_has_one_doi():
    found = defaultdict(set)
    for kind in ("methods", "metrics", "models"):
        for plugin in map(REGISTRIES[kind].load, REGISTRIES[kind].names()):
            for part in plugin.reference.split("; "):
                if paper := re.search(r"[A-ZÀ-Þ]\w+ (et al\. |(&|and) \w+ )?(19|20)\d\d[a-z]?", part):
                    found[paper[0]].add(part.partition(", doi:10.")[2])
    assert {paper for paper, dois in found.items() if dois == {""}} == {"Sorensen 1948", "Perazzi et al. 2012"}
    assert all(len(dois) == 1 for dois in found.values())


@pytest.mark.parametrize("name", ["lrp", "lrp-zz", "LRP-epsilon"])
def test_an_unknown_name_is_answered_by_all_of_its_family(name):
    with pytest.raises(SalgenError, match=r"lrp-z\b") as refused:
        REGISTRIES["methods"].load(name)
    assert all(known in str(refused.value) for known in REGISTRIES["methods"].names() if known.startswith("lrp-"))


def _with_foreign(monkeypatch, *points):
    monkeypatch.setattr(module, "entry_points", lambda group: points)
    return Registry("method", "salgen.evaluation.methods", "salgen.methods")


def test_a_duplicate_name_names_both_origins(monkeypatch):
    registry = _with_foreign(monkeypatch, EntryPoint("gradient", "other.package:Gradient", "salgen.methods"))
    with pytest.raises(
        SalgenError, match=r"registered twice: by salgen.evaluation.methods.* and by other.package:Gradient"
    ):
        registry.names()


def test_a_broken_plug_in_warns_on_list_and_explains_itself_on_use(monkeypatch):
    registry = _with_foreign(monkeypatch, EntryPoint("mine", "no_such_package:Mine", "salgen.methods"))
    with pytest.warns(SalgenWarning, match="plug-in 'mine' from no_such_package:Mine does not load"):
        registry.check()
    with pytest.raises(SalgenError, match="ModuleNotFoundError"):
        registry.load("mine")
