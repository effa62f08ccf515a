"""Doses read from text, for parameters of the generators."""

import numpy as np
import pytest
from salgen.errors import SalgenError
from salgen.evaluation.sweeps.dose import Dose

NOT_NUMERIC = ("window", "lattice", "bit_depth", "authors_exact", "contrast")


@pytest.mark.parametrize(
    ("text", "name", "values", "log"),
    [
        ("depth=0.02:0.7:8log", "perlin-lesions", (0.02, 0.0332, 0.0552, 0.0918, 0.153, 0.253, 0.421, 0.7), True),
        ("depth=0.1:0.6:6", "perlin-lesions", (0.1, 0.143, 0.205, 0.293, 0.419, 0.6), True),
        ("noise=0:0.5:6lin", "mri-lesions", (0.0, 0.1, 0.2, 0.3, 0.4, 0.5), False),
        ("diameter=3:30:8", "perlin-lesions", (3, 4, 6, 8, 11, 16, 22, 30), True),
        ("diameter=16,4,6,8,2,12", "perlin-lesions", (2, 4, 6, 8, 12, 16), True),
        ("square-side=2,4,6,8,12,16", "drawn-signs", (2, 4, 6, 8, 12, 16), True),
        ("position_bias=0,.2,.4,.6,.8,1", "drawn-lights", (0, 0.2, 0.4, 0.6, 0.8, 1), False),
        ("strength=1,0", "planted-artefacts", (0, 1), False),
        ("side=2,3,4,5,6,7", "planted-artefacts", (2, 3, 4, 5, 6, 7), True),
    ],
)
def test_values_are_spaced_as_said(text, name, values, log):
    dose = Dose.parse(text, name)
    assert dose.parameter == text.partition("=")[0].replace("-", "_")
    assert (dose.values, dose.log) == (values, log)
    assert np.array_equal(dose.array, values)
    assert dose.spurious == (dose.parameter == "strength")
    assert [type(value) for value in dose.values] == [type(value) for value in values] or not log


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("depth", "write PARAMETER=LOW:HIGH:COUNT"),
        ("depth=0.1:0.5", "write PARAMETER=LOW:HIGH:COUNT"),
        ("depth=0.1:a:8", "write PARAMETER=LOW:HIGH:COUNT"),
        ("depth=0.1:0.5:5", "has 5 different values: a curve takes at least 6"),
        ("diameter=2:4:8", "has 3 different values: a curve takes at least 6"),
        ("depth=0:0.5:8", "0 and less have no logarithm: start above 0, or write COUNTlin"),
        ("diameter=2,2.5,3,4,6,8,10", "diameter takes whole numbers"),
        ("depth=1,2,3,4,5,inf", "values must be finite"),
        *((f"{name}=1:9:6", f"unknown numeric parameter of perlin-lesions {name!r}") for name in NOT_NUMERIC),
    ],
)
def test_what_is_no_dose_is_refused_in_one_line(text, says):
    with pytest.raises(SalgenError) as error:
        Dose.parse(text, "perlin-lesions")
    assert says in str(error.value)


def test_values_are_checked_by_the_generator_before_any_work():
    parameters = {"image_size": (32, 32), "slices": 8}
    with pytest.raises(SalgenError, match=r"perlin-lesions: depth = 1\.5: must be "):
        Dose.parse("depth=0.1:1.5:6", "perlin-lesions").check("perlin-lesions", None, "demo", parameters)
    with pytest.raises(SalgenError, match="depth is the dose: leave it out"):
        Dose.parse("depth=0.1:0.5:6", "perlin-lesions").check("perlin-lesions", None, "demo", {"depth": 0.7})
    Dose.parse("depth=0.1:0.5:6", "perlin-lesions").check("perlin-lesions", None, "demo", parameters)
    for text, says in (("strength=1", "1 different values: a comparison takes at least 2"), ("side=2,4", "at least 6")):
        with pytest.raises(SalgenError, match=says):
            Dose.parse(text, "planted-artefacts")
