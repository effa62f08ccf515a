from dataclasses import replace
import pytest
from salgen.errors import SalgenError
from salgen.generators.factory import generator, generator_of

NAME = "uniform-lesions"


def test_parameters_are_laid_over_the_scale():
    assert generator(NAME).plugin.image_size == (64, 64)
    assert generator(NAME, scale="full").plugin.image_size == (140, 192)
    made = generator(NAME, scale="full", **{"image-size": "32x40", "diameter": 4})
    assert (made.plugin.image_size, made.plugin.diameter) == ((32, 40), 4)


def test_a_spec_leads_back_to_its_generator_and_none_of_another_version_or_source():
    made = generator(NAME, image_size=(32, 32), diameter=4, bit_depth=16)
    spec = made.spec({"train": 2}, 0)
    again = generator_of(spec)
    assert again.plugin == made.plugin
    assert again.source.digest == made.source.digest
    with pytest.raises(SalgenError, match="version 0, but version"):
        generator_of(replace(spec, generator_version="0"))
    with pytest.raises(SalgenError, match="give the source it was made from"):
        generator_of(replace(spec, source_digest="f" * 64))
