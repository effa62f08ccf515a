"""Lossless PNG, written fast: one filter for every row and the lightest deflate level.

Smooth images differ little from row to row, so the Up filter alone will do. The deflate libraries are those of
imagecodecs, whose version is pinned, so the bytes do not depend on the zlib of the machine.
"""

import struct
import zlib
from functools import lru_cache
from typing import Any
import imagecodecs
import numpy as np
from numpy.typing import NDArray
from salgen.types import Mask

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GREY, COLOUR = 0, 2
UP = 2


def encode(image: NDArray[Any]) -> bytes:
    """An image as PNG: uint8 (H, W, 1 or 3), or uint16 (H, W, 1), not empty."""
    depth, (height, width, channels) = 8 * image.dtype.itemsize, image.shape
    big_endian = image if depth == 8 else image.astype(">u2")
    rows = np.ascontiguousarray(big_endian).view(np.uint8).reshape(height, -1)
    buffer, filtered = _rows(height, rows.shape[1] + 1)
    filtered[:, 0] = UP
    filtered[0, 1:] = rows[0]
    np.subtract(rows[1:], rows[:-1], out=filtered[1:, 1:])
    start = _start(width, height, depth, GREY if channels == 1 else COLOUR)
    return start + _chunk(b"IDAT", imagecodecs.deflate_encode(buffer, level=1)) + END


def encode_mask(mask: Mask) -> bytes:
    """A bool (H, W) as a PNG of 1-bit grey levels; masks seen lately are not encoded again."""
    height, width = mask.shape
    axis = 1 if width % 8 else None  # whole bytes in every row: packing them all as one is faster
    return _encode_bits(np.packbits(mask, axis=axis).tobytes(), width, height)


def decode(data: bytes) -> NDArray[Any]:
    """The pixels of any valid PNG, uint8 or uint16 (H, W, C): grey, grey and alpha, red green blue, or these and alpha.

    Fewer than eight bits and palettes are expanded to eight.
    """
    pixels = np.asarray(imagecodecs.png_decode(data))
    return pixels if pixels.ndim == 3 else pixels[..., np.newaxis]


def decode_mask(data: bytes) -> Mask:
    """A grey PNG as bool (H, W): True where the level is not zero."""
    return np.asarray(decode(data)[..., 0] != 0)


@lru_cache(maxsize=4096)  # the same brain masks and empty masks come again and again
def _encode_bits(packed: bytes, width: int, height: int) -> bytes:
    bits = np.frombuffer(packed, dtype=np.uint8).reshape(height, -1)
    buffer, rows = _rows(height, bits.shape[1] + 1)
    rows[:, 1:] = bits
    return _start(width, height, 1, GREY) + _chunk(b"IDAT", imagecodecs.zlibng_encode(buffer, level=1)) + END


def _rows(height: int, width: int) -> tuple[bytearray, NDArray[np.uint8]]:
    """A zeroed buffer, and the same memory as an array (height, width)."""
    buffer = bytearray(height * width)
    return buffer, np.frombuffer(buffer, dtype=np.uint8).reshape(height, width)


def _start(width: int, height: int, depth: int, colour: int) -> bytes:
    return SIGNATURE + _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))


def _chunk(kind: bytes, body: bytes | bytearray) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(body, zlib.crc32(kind)))


END = _chunk(b"IEND", b"")
