import numpy as np
import pytest
from brain_volumes import Heads, radii
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from salgen.generators.generator import Generator
from salgen.generators.lesions.mri import MriLesions, rician, tissue_curve
from salgen.generators.lesions.nifti import Volume
from salgen.seeding import Stream

SMALL = {"image_size": (32, 40), "diameter": 5, "slices": 12}


@pytest.fixture(autouse=True, scope="module")
def _own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SALGEN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


class Head(Heads):
    """One brain, white inside and grey outside."""

    def load(self, name):
        radius = radii((27, 37, 25), (5.0, 5.0, 5.0), (65.0, 90.0, 60.0))
        return Volume(np.select([radius < 0.6, radius < 0.95], [900.0, 600.0]).astype(np.float32), (5.0, 5.0, 5.0))


def generator(**parameters):
    return Generator(MriLesions(**{**SMALL, **parameters}), Head(digest="white and grey"))


@given(seed=st.integers(0, 2**40), index=st.integers(0, 10**6))
def test_cores_of_lesions_are_darker_than_what_they_cover(seed, index):
    mri = generator()
    sample = mri.sample(seed, "train", index)
    if sample.labels["label"]:
        core = sample.regions["core"]
        assert (sample.image[core] < mri.twin(sample.recipe).image[core]).all()


def test_with_everything_off_the_background_is_the_slice():
    mri = generator(contrast=0.0, texture=0.0, bias=0.0, noise=0.0)
    parameters, bank = mri.recipe(0, "train", 0).parameters, mri.material.bank
    expected = bank.slices[[parameters["slice"]]] / 65535
    np.testing.assert_array_equal(mri.plugin.backgrounds([parameters], bank), expected)


@given(lift=st.floats(-0.5, 0.5), steepen=st.floats(-0.499, 0.499))
def test_the_tissue_curve_rises_between_its_fixed_ends(lift, steepen):
    curve = tissue_curve(np.linspace(0.0, 1.0, 201), lift, steepen)
    assert (curve[0], curve[-1]) == (0.0, 1.0)
    assert (np.diff(curve) > 0).all()


def test_rician_noise_has_a_rician_distribution():
    for level, deviation in ((0.0, 0.1), (0.05, 0.1), (0.8, 0.1)):
        values = rician(np.full((100, 100), level), deviation, Stream("x", int(100 * level)))
        assert stats.kstest(values.ravel(), stats.rice(level / deviation, scale=deviation).cdf).pvalue > 1e-3
