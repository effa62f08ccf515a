"""The spec: canonical, without a path, and refusing what is not one."""

import dataclasses
import pytest
from salgen.errors import SalgenError
from salgen.spec import DatasetSpec

SPEC = DatasetSpec("toy", "1", {"b": 1, "a": [1, 2]}, {"train": 4, "test": 2}, 0, (8, 6), 8, "none", "")


def test_json_round_trip_keeps_the_fingerprint():
    again = DatasetSpec.from_json(SPEC.to_json())
    assert again == SPEC
    assert again.fingerprint == SPEC.fingerprint
    assert len(SPEC.fingerprint) == 64


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1},
        {"image_size": (6, 8)},
        {"splits": {"train": 4, "test": 3}},
        {"source_digest": "x"},
        {"bit_depth": 16},
    ],
)
def test_every_field_changes_the_fingerprint(change):
    assert dataclasses.replace(SPEC, **change).fingerprint != SPEC.fingerprint


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"seed": -1}, "seed = -1"),
        ({"splits": {}}, "at least one split"),
        ({"splits": {"train": 0}}, "must be an integer of 1 or more"),
        ({"splits": {"test-noisy": 4}}, "use letters, digits and underscores"),
    ],
)
def test_impossible_specs_are_refused(change, says):
    with pytest.raises(SalgenError, match=says):
        dataclasses.replace(SPEC, **change)


@pytest.mark.parametrize(
    "values",
    [
        {"image_size": 3},
        {"image_size": [float("inf"), 16]},
        {"image_size": [1 << 17, 16]},
        {"parameters": {"lesions": float("nan")}},
        {"splits": []},
        {"splits": {"train": "3"}},
        {"splits": {"train": True}},
        {"seed": 0.5},
        {"seed": "0"},
    ],
)
def test_what_is_not_a_spec_is_refused(values):
    with pytest.raises(SalgenError, match="not a salgen data set description"):
        DatasetSpec.from_json({**SPEC.to_json(), **values})
    with pytest.raises(SalgenError, match="not a salgen data set description"):
        DatasetSpec.from_json({"generator": "x"})
