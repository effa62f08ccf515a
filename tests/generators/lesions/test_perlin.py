"""Perlin fields against a slow transcription of the formula, and against the `noise` package."""

import math
from fractions import Fraction
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from salgen.generators.lesions.perlin import _axis, _cells, from_zero, lattice_gradients, perlin_fields

TOLERANCE = 1e-6  # operands are multiples of 2**-24


def slow_perlin(gradients, image_size):
    """One octave, pixel by pixel, from Perlin 2002."""
    rows, columns = gradients.shape[1] - 1, gradients.shape[2] - 1
    field = np.zeros(image_size)
    for r in range(image_size[0]):
        for c in range(image_size[1]):
            y, x = r * rows / image_size[0], c * columns / image_size[1]
            i, j = math.floor(y), math.floor(x)
            v, u = y - i, x - j
            fade_v, fade_u = (6 * t**5 - 15 * t**4 + 10 * t**3 for t in (v, u))
            corner = {
                (a, b): gradients[0, i + a, j + b] * (v - a) + gradients[1, i + a, j + b] * (u - b)
                for a in (0, 1)
                for b in (0, 1)
            }
            near = (1 - fade_v) * corner[0, 0] + fade_v * corner[1, 0]
            far = (1 - fade_v) * corner[0, 1] + fade_v * corner[1, 1]
            field[r, c] = math.sqrt(2) * ((1 - fade_u) * near + fade_u * far)
    return field


@given(
    st.integers(0, 2**63 - 1),
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.tuples(st.integers(5, 17), st.integers(5, 17)),
)
def test_fields_follow_the_formula_on_any_lattice(key, lattice, image_size):
    gradients = lattice_gradients(key, lattice)
    field = perlin_fields(gradients[None], image_size)[0]
    assert np.allclose(field, slow_perlin(gradients, image_size), atol=TOLERANCE)


def test_sums_are_exact_so_their_order_does_not_matter():
    """The same field, bit for bit, from rational numbers that are never rounded."""
    gradients = lattice_gradients(9, (3, 4))
    field = perlin_fields(gradients[None], (10, 9))[0]
    weight_x, ramp_x = ([[Fraction(v) for v in row] for row in part] for part in _axis(9, 4))
    for rows, down in _cells(10, 3):
        cell = rows.start * 3 // 10
        for r, weights in zip(range(rows.start, rows.stop), down, strict=True):
            for c in range(9):
                across = [
                    _round_to(sum(Fraction(gradients[part, cell + k, j]) * axis[c][j] for j in range(5)), 25)
                    for k in (0, 1)
                    for part, axis in ((0, weight_x), (1, ramp_x))
                ]
                assert field[r, c] == sum(Fraction(w) * a for w, a in zip(weights, across, strict=True))


def _round_to(value, bits):
    return Fraction(round(value * 2**bits), 2**bits)


def test_agrees_with_the_noise_package():
    noise = pytest.importorskip("noise")
    rows, columns, step = 3, 4, 1e-3
    gradients = np.zeros((2, rows + 1, columns + 1))
    for i in range(rows + 1):
        for j in range(columns + 1):
            slope = noise.pnoise2(i + step, j) / step, noise.pnoise2(i, j + step) / step
            gradients[:, i, j] = np.rint(slope)
    theirs = [[noise.pnoise2(r * rows / 30, c * columns / 40) for c in range(40)] for r in range(30)]
    ours = perlin_fields(gradients[None], (30, 40))[0] / math.sqrt(2)
    assert np.abs(gradients).max() == 1
    assert np.allclose(ours, theirs, atol=1e-5)


def test_from_zero_bears_a_constant():
    raised = from_zero(np.array([[[1.0, 3.0]], [[2.0, 2.0]]]))
    assert raised.tolist() == [[[0.0, 2.0]], [[1.0, 1.0]]]
