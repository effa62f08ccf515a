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


def hypothesis_run(
    request: pytest.FixtureRequest, kind: str, large: int, inputs: st.SearchStrategy[Any], call: Callable[[Any], object]
) -> None:
    """Try what Hypothesis draws and demand that each is refused in one line, or harmless."""
    results: list[Result] = []

    @settings(max_examples=how_many(request, large), deadline=20_000, suppress_health_check=list(HealthCheck))
    @given(inputs)
    def law(value: Any) -> None:
        started, text = time.monotonic(), ""
        try:
            call(value)
        except SalgenError as error:
            text = str(error)
            check_line(text, "")
        seconds = time.monotonic() - started
        results.append(Result(len(results), REFUSED if text else HARMLESS, text, seconds))

    law()
    count(request, kind, results)


def damaged(texts: tuple[str, ...]) -> st.SearchStrategy[str]:
    """One of some texts with changes, or any text."""
    return st.one_of(st.builds(mutated_text, st.sampled_from(texts), RANDOMS), TEXTS)


def test_mutated_settings(request: pytest.FixtureRequest) -> None:
    def call(drawn: tuple[str, list[str]]) -> None:
        name, pairs = drawn
        cls = TrainingSettings if name == "training" else plugin_class(name)
        canonical_json(to_json(build(cls, parse_pairs(pairs))))

    names = st.sampled_from(("training", *GENERATORS))
    hypothesis_run(request, "--set pairs", 800, st.tuples(names, st.lists(damaged(PAIRS), max_size=3)), call)


def test_mutated_values(request: pytest.FixtureRequest) -> None:
    """Parameters from a configuration: any JSON value for a parameter that exists."""

    def call(drawn: tuple[str, int, Any]) -> None:
        name, number, value = drawn
        cls = plugin_class(name)
        names = [field.name for field in dataclasses.fields(cls)]
        canonical_json(to_json(build(cls, {names[number % len(names)]: value})))

    drawn = st.tuples(st.sampled_from(GENERATORS), st.integers(0, 100), VALUES)
    hypothesis_run(request, "parameter values", 600, drawn, call)


def test_mutated_method_calls(request: pytest.FixtureRequest) -> None:
    hypothesis_run(request, "method calls", 400, damaged(METHODS), lambda call: select_methods([call], "demo"))


def test_mutated_metric_calls(request: pytest.FixtureRequest) -> None:
    def call(text: str) -> None:
        choose_metrics([text], ("mask",))
        choose_metrics([text], ("mask",), "demo")

    hypothesis_run(request, "metric calls", 400, damaged(METRICS), call)


def test_mutated_calls_are_read(request: pytest.FixtureRequest) -> None:
    hypothesis_run(request, "calls as text", 200, damaged((*METHODS, *METRICS)), parse_call)


def test_mutated_specs(request: pytest.FixtureRequest) -> None:
    """Specs of which one or more entries are any JSON value."""

    def call(changes: dict[str, Any]) -> None:
        spec = DatasetSpec.from_json({**SPEC.to_json(), **changes})
        assert len(spec.fingerprint) == 64

    keys = st.one_of(st.sampled_from(list(SPEC.to_json())), TEXTS)
    hypothesis_run(request, "specs", 800, st.dictionaries(keys, VALUES, min_size=1, max_size=3), call)


def test_mutated_json(request: pytest.FixtureRequest) -> None:
    """Any JSON value, and any text, where a manifest is expected."""
    texts = st.one_of(TEXTS, VALUES.map(json.dumps))
    hypothesis_run(request, "manifests of any JSON", 300, texts, Manifest.from_text)


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
        folder.mkdir()
        (folder / "salgen.json").write_text(described.to_text())
        return 0

    monkeypatch.setattr("salgen.datasets.making._make", describe)

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
