import io
import imagecodecs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from PIL import Image
from salgen.datasets.format import png

side = st.integers(1, 40)
images = st.one_of(
    st.tuples(side, side, st.sampled_from([1, 3])).flatmap(lambda shape: arrays.arrays(np.uint8, shape)),
    st.tuples(side, side, st.just(1)).flatmap(lambda shape: arrays.arrays(np.uint16, shape)),
)
masks = st.tuples(side, side).flatmap(lambda shape: arrays.arrays(np.bool_, shape))


def by_pillow(data: bytes) -> np.ndarray:
    with Image.open(io.BytesIO(data)) as image:
        image.load()
        return np.asarray(image)


def pillow_png(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


@given(images)
def test_an_image_comes_back_with_every_bit(image):
    data = png.encode(image)
    again = png.decode(data)
    assert again.dtype == image.dtype
    np.testing.assert_array_equal(again, image)
    np.testing.assert_array_equal(by_pillow(data).reshape(image.shape), image)


@given(masks)
def test_a_mask_comes_back_with_every_bit(mask):
    data = png.encode_mask(mask)
    np.testing.assert_array_equal(png.decode_mask(data), mask)
    np.testing.assert_array_equal(by_pillow(data).astype(bool), mask)
    assert data[24] == 1, "one bit per pixel"


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (3, 8), (5, 17)])
def test_the_same_pixels_give_the_same_bytes_whatever_their_layout_in_memory(size):
    image = np.arange(size[0] * size[1] * 3, dtype=np.uint8).reshape(*size, 3)
    assert png.encode(np.asfortranarray(image)) == png.encode(image)
    assert png.encode(image[::-1, ::-1][::-1, ::-1]) == png.encode(image)
    mask = image[..., 0] % 2 == 0
    assert png.encode_mask(np.asfortranarray(mask)) == png.encode_mask(mask)
    big_endian = image[..., :1].astype(">u2")
    assert png.encode(big_endian) == png.encode(big_endian.astype(np.uint16))


@pytest.mark.parametrize(("mode", "channels"), [("L", 1), ("LA", 2), ("RGB", 3), ("RGBA", 4), ("P", 3), ("1", 1)])
def test_any_valid_png_is_read(mode, channels):
    colours = np.random.default_rng(0).integers(0, 256, (9, 7, 3), dtype=np.uint8)
    image = Image.fromarray(colours).convert(mode)
    pixels = png.decode(pillow_png(image))
    assert pixels.shape == (9, 7, channels)
    plain = image.convert("RGB") if mode == "P" else image.convert("L") if mode == "1" else image
    np.testing.assert_array_equal(pixels, np.asarray(plain).reshape(pixels.shape))


def test_sixteen_bits_of_another_writer_are_read():
    levels = np.arange(0, 65536, 997, dtype=np.uint16).reshape(6, 11)
    np.testing.assert_array_equal(png.decode(pillow_png(Image.fromarray(levels)))[..., 0], levels)


def test_every_corruption_up_to_the_last_pixel_is_noticed():
    data = png.encode(np.random.default_rng(1).integers(0, 256, (6, 5, 1), dtype=np.uint8))
    pixels_end = len(data) - 12  # what follows is the end chunk, which holds nothing
    for place in range(pixels_end):
        altered = bytearray(data)
        altered[place] ^= 0x10
        with pytest.raises((imagecodecs.PngError, ValueError)):
            png.decode(bytes(altered))
        with pytest.raises((imagecodecs.PngError, ValueError)):
            png.decode(data[:place])
