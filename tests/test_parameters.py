"""Parameters as text: what is read, what is refused, and what the refusal says."""

from dataclasses import dataclass
from typing import ClassVar
import pytest
from hypothesis import given
from hypothesis import strategies as st
from salgen.errors import SalgenError
from salgen.parameters import build, call_text, canonical_json, describe, param, parse_call, parse_pairs, to_json


@dataclass(frozen=True)
class Toy:
    """A plug-in with one field of each kind."""

    name: ClassVar[str] = "toy"

    size: tuple[int, int] = param((8, 6), "height and width", low=1)
    rate: float = param(0.5, "a share", low=0.0, high=1.0)
    count: int = param(3, "how many", low=1)
    exact: bool = param(False, "or not")
    mode: str = param("a", "which", choices=("a", "b"))
    layer: str | None = param(None, "optional")
    widths: tuple[int, ...] = param((1, 2), "any number", low=1)
    names: tuple[str, ...] = param((), "any names")


def test_text_is_read_by_the_fields_type():
    text = {
        "size": "140x192",
        "rate": "1e-1",
        "count": "7",
        "exact": "true",
        "mode": "b",
        "layer": "x",
        "widths": "4,5,6",
        "names": "pet-xai,fox",
    }
    assert build(Toy, text) == Toy((140, 192), 0.1, 7, True, "b", "x", (4, 5, 6), ("pet-xai", "fox"))
    assert build(Toy, {"layer": "none"}).layer is None
    assert build(Toy, {"size": "64X32"}).size == build(Toy, {"size": "64 x 32"}).size == (64, 32)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({"sise": "8,8"}, "did you mean 'size'"),
        ({"size": "8"}, "size = '8' has 1 values: it takes 2"),
        ({"size": "8,0"}, "must be at least 1"),
        ({"size": "a,b"}, "is not of type int"),
        ({"rate": "1.5"}, "must be from 0.0 to 1.0"),
        ({"rate": "nan"}, "is not of type float"),
        ({"rate": "inf"}, "is not of type float"),
        ({"rate": 10**400}, "is not of type float"),
        ({"count": "9" * 400}, "is not of type int"),
        ({"count": "2.5"}, "is not of type int"),
        ({"count": 2.5}, "is not of type int"),
        ({"count": True}, "is not of type int"),
        ({"count": "-1"}, "must be at least 1"),
        ({"exact": "maybe"}, "is not of type bool"),
        ({"mode": "c"}, "must be one of a, b"),
    ],
)
def test_what_is_refused_and_how(values, says):
    with pytest.raises(SalgenError, match=says) as caught:
        build(Toy, values)
    assert "toy" in str(caught.value)


@given(
    st.builds(
        Toy,
        st.tuples(st.integers(1, 999), st.integers(1, 999)),
        st.floats(0, 1),
        st.integers(1),
        st.booleans(),
        st.sampled_from("ab"),
        st.none() | st.just("layer4"),
        st.lists(st.integers(1, 99), min_size=1).map(tuple),
    )
)
def test_json_gives_the_instance_back(toy):
    assert build(Toy, to_json(toy)) == toy
    name, values = parse_call(call_text(toy))
    assert name == "toy"
    assert build(Toy, values) == toy


def test_calls_and_pairs():
    assert parse_call("gradient") == ("gradient", {})
    assert parse_call("lrp:alpha=1,beta=0") == ("lrp", {"alpha": "1", "beta": "0"})
    assert parse_call("occlusion:window=15,15,stride=8") == ("occlusion", {"window": "15,15", "stride": "8"})
    with pytest.raises(SalgenError, match="write it as key=value"):
        parse_pairs(["a"])
    with pytest.raises(SalgenError, match="write it as key=value"):
        parse_call("lrp:alpha")


def test_describe_lists_fields_in_order():
    rows = describe(Toy)
    assert [row.name for row in rows] == ["size", "rate", "count", "exact", "mode", "layer", "widths", "names"]
    types = ["int,int", "float", "int", "bool", "a|b", "str or none", "list of int", "list of str"]
    assert [row.type for row in rows] == types


def test_canonical_json_sorts_keys_and_refuses_nan():
    assert canonical_json({"b": 1, "a": [1.5]}) == '{"a":[1.5],"b":1}'
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json(float("nan"))


def test_what_is_given_twice_or_left_empty_is_an_error():
    with pytest.raises(SalgenError, match="n is given twice: '1' and '2'"):
        parse_call("smoothgrad:n=1,n=2")
    with pytest.raises(SalgenError, match="epochs is given twice"):
        parse_pairs(["epochs=1", "epochs=2"])
    with pytest.raises(SalgenError, match="'gradient:': write 'gradient', or gradient:key=value"):
        parse_call("gradient:")
