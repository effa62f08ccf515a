"""Generators with the parameters that make them small."""

import importlib.util
import pytest
from salgen.generators.factory import generator
from salgen.registry import GENERATORS

_needs_noise = pytest.mark.skipif(importlib.util.find_spec("noise") is None, reason="the noise extra is not installed")


def quick(name, **changes):
    return generator(name, **{**GENERATORS.load(name).quick, **changes})


def marked(names):
    """The names, of which one needs an extra."""
    return [pytest.param(name, marks=_needs_noise) if name == "simplex-lesions" else name for name in names]
