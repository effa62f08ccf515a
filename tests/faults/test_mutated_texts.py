"""Damaged texts: settings, calls of methods and metrics, and files of settings."""

import dataclasses
import json
import string
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import either, mutated_bytes, mutated_json, mutated_text
from trials import HARMLESS, REFUSED, Box, Calls, Result, check_line, command, count, damage, how_many
from salgen.datasets.format.manifest import Manifest
from salgen.errors import SalgenError
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.scoring.metric_selection import choose_metrics
from salgen.evaluation.training.training_settings import TrainingSettings
from salgen.generators.factory import plugin_class
from salgen.parameters import build, canonical_json, parse_call, parse_pairs, to_json
from salgen.spec import DatasetSpec

GENERATORS = ("perlin-lesions", "mri-lesions", "drawn-signs", "drawn-lights", "drawn-figures")
METHODS = ("lrp-alpha-beta:alpha=1,beta=0", "occlusion:window=15,15,stride=8", "rise:n=10,grid=7", "grad-cam:layer=x")
METRICS = ("iou:threshold=0.3|0.5", "prec99:compat=authors_exact", "roc-auc", "insertion-auc:step=10", "ranking,all")
PAIRS = (
    "image_size=16,16",
    "diameter=3",
    "epochs=2",
    "learning_rate=1e-3",
    "flips=true",
    "slices=none",
    "bit_depth=16",
)
SPEC = DatasetSpec("perlin-lesions", "1", {"lesions": 2, "angles": [0.5, 1]}, {"train": 3}, 0, (16, 16), 8, "", "")
CONFIG = {"scale": "demo", "seed": 1, "splits": {"train": 2}, "parameters": {"image_size": [16, 16]}, "workers": 1}

TEXTS = st.text(alphabet=st.one_of(st.sampled_from(string.printable), st.characters()), max_size=60)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4))
RANDOMS = st.randoms(use_true_random=False)


def damaged(texts: tuple[str, ...]) -> st.SearchStrategy[str]:
    """One of some texts with changes, or any text."""
    return st.one_of(st.builds(mutated_text, st.sampled_from(texts), RANDOMS), TEXTS)


def build_pairs(name: str, pairs: list[str]) -> None:
    cls = TrainingSettings if name == "training" else plugin_class(name)
    canonical_json(to_json(build(cls, parse_pairs(pairs))))


def build_value(name: str, number: int, value: Any) -> None:
    """Of a parameter that exists."""
    cls = plugin_class(name)
    names = [field.name for field in dataclasses.fields(cls)]
    canonical_json(to_json(build(cls, {names[number % len(names)]: value})))


def read_spec(changes: dict[str, Any]) -> None:
    assert len(DatasetSpec.from_json({**SPEC.to_json(), **changes}).fingerprint) == 64


KEYS = st.one_of(st.sampled_from(list(SPEC.to_json())), TEXTS)
KINDS: dict[str, tuple[int, Callable[..., object], tuple[st.SearchStrategy[Any], ...]]] = {
    "--set pairs": (
        800, build_pairs, (st.sampled_from(("training", *GENERATORS)), st.lists(damaged(PAIRS), max_size=3))
    ),
    "parameter values": (600, build_value, (st.sampled_from(GENERATORS), st.integers(0, 100), VALUES)),
    "method calls": (400, lambda call: select_methods([call], "demo"), (damaged(METHODS),)),
    "metric calls": (400, lambda text: choose_metrics([text], ("mask",), "demo"), (damaged(METRICS),)),
    "calls as text": (200, parse_call, (damaged((*METHODS, *METRICS)),)),
    "specs": (800, read_spec, (st.dictionaries(KEYS, VALUES, min_size=1, max_size=3),)),
    "manifests of any JSON": (300, Manifest.from_text, (st.one_of(TEXTS, VALUES.map(json.dumps)),)),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_what_hypothesis_draws_is_refused_in_one_line_or_harmless(request: pytest.FixtureRequest, kind: str) -> None:
    large, call, inputs = KINDS[kind]
    results: list[Result] = []

    @settings(max_examples=how_many(request, large), deadline=20_000, suppress_health_check=list(HealthCheck))
    @given(st.tuples(*inputs))
    def law(given: tuple[Any, ...]) -> None:
        started, text = time.monotonic(), ""
        try:
            call(*given)
        except SalgenError as error:
            text = str(error)
            check_line(text, "")
        seconds = time.monotonic() - started
        results.append(Result(len(results), REFUSED if text else HARMLESS, text, seconds))

    law()
    count(request, kind, results)


@pytest.fixture
def original(tmp_path: Path) -> Path:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "tiny.json").write_text(json.dumps(CONFIG))
    (tmp_path / "configs" / "tiny.toml").write_text(TOML)
    assert tomllib.loads(TOML) == CONFIG
    return tmp_path / "configs"


def other_config(data: bytes, rng: Random) -> bytes:
    if data.startswith(b"{"):
        return mutated_json(data, rng)
    return either(mutated_bytes, lambda text, rng: mutated_text(text.decode(), rng).encode("utf-8", "surrogatepass"))(
        data, rng
    )


def test_mutated_config_files(request: pytest.FixtureRequest, box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files for --config; what they ask for is checked but not made, as they may ask for a billion images."""

    def describe(_: object, described: Manifest, folder: Path, *__: object) -> int:
        (folder / "salgen.json").write_text(described.to_text())
        return 0

    monkeypatch.setattr("salgen.datasets.making._write", describe)

    def look(box: Box, path: Path, altered: bool, rng: Random) -> tuple[str, Calls]:
        words = ("make", "drawn-figures", str(box.out / "made"), "--config", str(path))
        return "", {"make": lambda: command(*words)}

    damage(request, box, "--config files", 500, "tiny.*", other_config, look)


TOML = """scale = "demo"
seed = 1
workers = 1

[splits]
train = 2

[parameters]
image_size = [16, 16]
"""
