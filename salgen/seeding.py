"""Random numbers that depend on what they are for, never on when they are drawn.

A :class:`Stream` is Philox4x64-10 under a key made from names (seed, generator, split, purpose)
with the sample's index in the counter, so a sample draws the same numbers alone, in a batch or on
another machine. NumPy promises stable output only for the raw words of a bit generator; the
distributions on top of them are therefore here.

References
----------
Salmon et al. 2011, *Parallel random numbers: as easy as 1, 2, 3* (SC'11).
"""

from __future__ import annotations

import hashlib
import threading
from functools import lru_cache
import numpy as np
import scipy
from numpy.typing import NDArray

UInt64 = NDArray[np.uint64]
Float64 = NDArray[np.float64]

_scratch = threading.local()


@lru_cache(maxsize=4096)
def _digest_words(names: tuple[str | int, ...]) -> tuple[int, int]:
    """Two 64-bit words from a sequence of names; the length prefix keeps ("a", "bc") and ("ab", "c") apart."""
    text = "".join(f"{len(str(name))}:{name}" for name in names)
    digest = hashlib.blake2b(text.encode(), digest_size=16).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little")


def _philox_words(key: tuple[int, int], block: int, lane: int, count: int) -> UInt64:
    """`count` words of Philox4x64-10 from counter (block + 1, 0, 0, lane) on."""
    engine = getattr(_scratch, "engine", None)
    if engine is None:  # constructing one gathers entropy (20 us); setting its state takes 3 us
        engine = _scratch.engine = np.random.Philox(key=0)
    engine.state = {
        "bit_generator": "Philox",
        "state": {"counter": np.array([block, 0, 0, lane], dtype=np.uint64), "key": np.array(key, dtype=np.uint64)},
        "buffer": np.zeros(4, dtype=np.uint64),
        "buffer_pos": 4,
        "has_uint32": 0,
        "uinteger": 0,
    }
    return np.asarray(engine.random_raw(count), dtype=np.uint64)


class Stream:
    """A sequence of random numbers named by its purpose.

    Parameters
    ----------
    names
        The purpose of the numbers: seed, generator family, split, purpose.
    index
        The sample's index, or the key of the group of samples that share these draws.

    Notes
    -----
    Each call takes whole Philox blocks of four words, so what a call returns depends on the calls
    before it on the same stream, and on nothing else.

    Examples
    --------
    >>> Stream(0, "lesions", "train", "centres", index=17).integers(100, 3)
    array([28,  9, 51])
    """

    __slots__ = ("_block", "_key", "_lane")

    def __init__(self, *names: str | int, index: int = 0) -> None:
        self._key = _digest_words(names)
        self._lane = index
        self._block = 0

    @classmethod
    def from_key(cls, key: int, purpose: str) -> Stream:
        """The stream of a recipe's integer stream key."""
        stream = cls(purpose)
        stream._key = (key, stream._key[0])
        return stream

    def words(self, count: int) -> UInt64:
        """`count` raw 64-bit words."""
        words = _philox_words(self._key, self._block, self._lane, count)
        self._block += -(-count // 4)
        return words

    def uniform(self, count: int, low: float = 0.0, high: float = 1.0) -> Float64:
        """`count` float64 in [low, high): 53 random bits each."""
        unit = (self.words(count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return low + (high - low) * unit

    def integers(self, high: int, count: int) -> NDArray[np.int64]:
        """`count` int64 in [0, high), by multiply and shift; high at most 2**31."""
        return ((self.words(count) >> np.uint64(32)) * np.uint64(high) >> np.uint64(32)).astype(np.int64)

    def normal(self, count: int) -> Float64:
        """`count` standard normal float64, by the inverse of the distribution function."""
        midpoints = ((self.words(count) >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        return np.asarray(scipy.special.ndtri(midpoints), dtype=np.float64)

    def permutation(self, count: int) -> NDArray[np.int64]:
        """A random order of range(count): the order that sorts `count` words."""
        return np.argsort(self.words(count), kind="stable").astype(np.int64)

    def key(self) -> int:
        """A 63-bit integer for a recipe, from which :meth:`from_key` expands a stream of its own."""
        return int(self.words(1)[0] >> np.uint64(1))
