import numpy as np
import pytest
import tifffile
from PIL import Image
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import read_levels, read_rgb

LEVELS = np.array([[0, 128, 129, 255, 256], [30000, 32767, 32768, 65406, 65535]], dtype=np.uint16)


@pytest.mark.parametrize(("name", "mode"), [("grey.png", "I;16"), ("grey.tiff", "I;16"), ("turned.tiff", "I;16B")])
def test_16_bit_greys_are_scaled(tmp_path, name, mode):
    data = LEVELS.astype(">u2" if mode == "I;16B" else "<u2").tobytes()
    Image.frombytes(mode, LEVELS.shape[::-1], data).save(tmp_path / name)
    with Image.open(tmp_path / name) as stored:
        assert stored.mode == mode
    expected = [[[round(int(level) * 255 / 65535)] * 3 for level in row] for row in LEVELS]
    found = read_rgb(tmp_path / name)
    assert found.dtype == np.uint8
    assert found.tolist() == expected
    assert np.array_equal(read_levels(tmp_path / name), LEVELS), "levels are as stored"


@pytest.mark.parametrize("white", [65535, 1000])
def test_16_bit_greys_of_pgm_have_the_white_that_they_state(tmp_path, white):
    levels = LEVELS.astype(np.int64) * white // 65535
    (tmp_path / "grey.pgm").write_bytes(b"P5\n5 2\n%d\n" % white + levels.astype(">u2").tobytes())
    found = read_rgb(tmp_path / "grey.pgm")[..., 0].astype(int)
    assert np.abs(found - levels * 255 / white).max() <= 0.51


@pytest.mark.parametrize(("dtype", "mode"), [(np.int32, "I"), (np.float32, "F")])
def test_numbers_without_a_white_are_refused(tmp_path, dtype, mode):
    path = tmp_path / "numbers.tiff"
    Image.fromarray(LEVELS.astype(dtype)).save(path)
    with pytest.raises(SalgenError) as raised:
        read_rgb(path)
    message = str(raised.value)
    assert message.startswith(f"{path}: expected 8 or 16 bits per channel")
    assert repr(mode) in message
    assert "\n" not in message
    assert np.array_equal(read_levels(path), LEVELS.astype(dtype))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA"])
def test_8_bits_are_as_pillow_converts_them(tmp_path, mode):
    pixels = np.random.default_rng(0).integers(0, 256, (4, 5, 3), dtype=np.uint8)
    picture = Image.fromarray(pixels).convert(mode)
    picture.save(tmp_path / "picture.png")
    assert np.array_equal(read_rgb(tmp_path / "picture.png"), np.asarray(picture.convert("RGB")))


def test_a_16_bit_tiff_whose_white_is_0_is_inverted_as_in_8_bits(tmp_path):
    for levels in (LEVELS, (LEVELS >> 8).astype(np.uint8)):
        tifffile.imwrite(tmp_path / "a.tiff", np.iinfo(levels.dtype).max - levels, photometric="miniswhite")
        assert np.array_equal(read_levels(tmp_path / "a.tiff"), levels)
