"""Streams: NumPy's Philox is the oracle for the words, closed forms for what is made of them."""

import hashlib
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest, norm
from salgen.seeding import Stream


def philox_words(names, index, count):
    """The documented definition, through NumPy's own generator."""
    text = "".join(f"{len(str(name))}:{name}" for name in names).encode()
    key = np.frombuffer(hashlib.blake2b(text, digest_size=16).digest(), dtype="<u8")
    counter = np.array([0, 0, 0, index], dtype=np.uint64)
    return np.random.Philox(key=key, counter=counter).random_raw(count)


@given(st.integers(0, 2**40), st.integers(0, 2**62), st.integers(1, 23))
def test_words_are_numpys_philox_under_the_documented_key(seed, index, count):
    names = (seed, "lesions", "train", "centres")
    assert np.array_equal(Stream(*names, index=index).words(count), philox_words(names, index, count))


def test_each_call_takes_whole_blocks():
    stream, reference = Stream("a"), philox_words(("a",), 0, 12)
    assert np.array_equal(stream.words(5), reference[:5])
    assert np.array_equal(stream.words(4), reference[8:12])


def test_uniform_normal_and_integers_follow_their_distributions():
    assert kstest(Stream("u").uniform(20_000, 2.0, 5.0), "uniform", args=(2.0, 3.0)).pvalue > 1e-3
    assert kstest(Stream("n").normal(20_000), norm.cdf).pvalue > 1e-3
    counts = np.bincount(Stream("i").integers(7, 70_000), minlength=7)
    assert counts.min() > 9_500
    assert counts.sum() == 70_000


def test_uniform_is_the_top_53_bits():
    words = Stream("u").words(6)
    assert np.array_equal(Stream("u").uniform(6), [int(word) / 2**64 // 2**-53 * 2**-53 for word in words >> 11 << 11])


@given(st.integers(1, 2**31), st.integers(0, 1000))
def test_integers_is_multiply_and_shift(high, index):
    words = Stream("i", index=index).words(5)
    expected = [(int(word) >> 32) * high >> 32 for word in words]
    assert Stream("i", index=index).integers(high, 5).tolist() == expected


def test_permutation_is_one():
    assert sorted(Stream("p").permutation(100).tolist()) == list(range(100))


def test_keys_fit_json_and_differ():
    keys = {Stream("k", index=i).key() for i in range(1000)}
    assert len(keys) == 1000
    assert all(0 <= key < 2**63 for key in keys)
