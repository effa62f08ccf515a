"""The definition of salgen-bench: frozen, and in parts that together are the whole."""

import hashlib
from pathlib import Path
import pytest
from salgen.errors import SalgenError
from salgen.evaluation.bench import versions as module
from salgen.evaluation.bench.run_entry import make_data
from salgen.evaluation.bench.versions import VERSION, bench_spec
from salgen.evaluation.scoring.metric_selection import choose_metrics
from salgen.evaluation.sweeps.dose import Dose
from salgen.parameters import parse_call
from salgen.registry import MODELS

DIGESTS = {1: "0e375ee08ab5d3b207d05582734dd35864530f1b0898d1d3957e6d78e0c8a4f3"}


def test_a_version_never_changes():
    content = Path(module.__file__).with_name(f"salgen-bench-{VERSION}.toml").read_bytes()
    assert hashlib.sha256(content).hexdigest() == bench_spec().digest == DIGESTS[VERSION]


# Drawing the others takes minutes; each generator's first pixels are held by tests/generators/golden.json.
QUICK = ("perlin-lesions", "mri-lesions", "coloured-cells", "logic-slots")


@pytest.mark.parametrize(
    "data",
    [pytest.param(data, marks=() if data.name in QUICK else pytest.mark.torture) for data in bench_spec().data],
    ids=lambda data: data.name,
)
def test_its_data_sets_are_those_that_this_salgen_makes(data, tmp_path):
    make_data(bench_spec(), data, tmp_path / data.name, recipes_only=True, workers=1)


def test_a_data_set_that_would_be_another_one_is_refused(tmp_path):
    spec = bench_spec()
    with pytest.raises(SalgenError, match="is not the data of salgen-bench 1: install"):
        make_data(spec, module.BenchData("perlin-lesions", "0" * 64, {"train": 1}), tmp_path / "data")


def test_entries_are_of_registered_networks_and_have_names_of_their_own():
    entries = bench_spec().entries
    assert len({entry.name for entry in entries}) == len(entries) == 24
    for entry in entries:
        MODELS.create(*parse_call(entry.network))
    assert sum(bool(entry.data.designed) for entry in entries) == 2
    assert sum(entry.reliance for entry in entries) == 11


def test_metrics_can_be_computed_and_the_checks_are_of_an_entry_and_of_a_parameter_of_its_data():
    spec = bench_spec()
    choose_metrics([*spec.metrics, *spec.checks.metrics])
    assert set(spec.headlines.values()) <= {*spec.metrics, *spec.attribution_metrics}
    entry = spec.entry(spec.checks.entry)
    Dose.parse(spec.checks.dose, entry.data.name).check(entry.data.name, None, spec.scale, entry.data.parameters)
