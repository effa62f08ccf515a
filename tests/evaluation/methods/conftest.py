"""Fixtures of the tests of methods."""

import pytest
import torch


@pytest.fixture
def images():
    """Three images of one channel of 8 x 8 pixels in [0, 1)."""
    return torch.rand(3, 1, 8, 8, generator=torch.Generator().manual_seed(1))
