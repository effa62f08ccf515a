import numpy as np
import pytest
from own_image_files import BOXES, H, W, painted, picture
from PIL import ExifTags, Image, ImageOps
from salgen.datasets.layouts.broken import fault_of
from salgen.datasets.layouts.own_images.upright_pictures import header_of, read_mask, read_picture
from salgen.errors import SalgenError

MASK = painted(BOXES["a0"][1])


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "I;16"])
def test_masks_of_any_kind(tmp_path, mode):
    if mode == "I;16":
        saved = Image.fromarray(MASK.astype(np.uint16))
    elif mode == "P":
        saved = Image.fromarray((~MASK).astype(np.uint8))
        saved.putpalette([255, 0, 0, 0, 0, 0])
    else:
        saved = Image.fromarray(np.where(MASK, 255, 0).astype(np.uint8)).convert(mode)
    saved.save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_mask(tmp_path / "a.png"), MASK)


@pytest.mark.parametrize("mode", ["L", "P"])
def test_values_are_those_that_are_stored(tmp_path, mode):
    levels = np.where(MASK, 2, np.arange(W) % 2).astype(np.uint8)
    saved = Image.fromarray(levels)
    if mode == "P":
        saved.putpalette([9, 9, 9] * 256)
    saved.save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_mask(tmp_path / "a.png", (2,)), MASK)
    np.testing.assert_array_equal(read_mask(tmp_path / "a.png", (0, 1)), ~MASK)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", ["jpg", "png", "tiff"])
def test_what_has_an_orientation_is_turned_to_how_viewers_show_it(tmp_path, orientation, suffix):
    """Pillow itself turns TIFF when pixels are read, and not a second time."""
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    path, mask = tmp_path / f"a.{suffix}", tmp_path / f"m.{suffix}"
    picture(3).save(path, exif=exif)
    Image.fromarray(MASK.astype(np.uint8) * 255).save(mask, exif=exif)
    with Image.open(path) as stored:
        shown = np.asarray(ImageOps.exif_transpose(stored))
    np.testing.assert_array_equal(read_picture(path), shown)
    assert header_of(path).size == shown.shape[:2] == ((H, W) if orientation < 5 else (W, H))
    assert header_of(path).stored == ((H, W) if suffix != "tiff" else shown.shape[:2])
    with Image.open(mask) as stored:
        np.testing.assert_array_equal(read_mask(mask), np.asarray(ImageOps.exif_transpose(stored)) >= 128)


def test_16_bit_pictures_are_turned(tmp_path):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = 6
    levels = (np.arange(H * W, dtype=np.uint16) * 100).reshape(H, W)
    Image.fromarray(levels).save(tmp_path / "a.png", exif=exif)
    np.testing.assert_array_equal(read_picture(tmp_path / "a.png")[..., 0], np.rot90((levels + 128.0) // 257, 3))


def test_what_is_no_picture_is_named(tmp_path):
    (tmp_path / "a.png").write_text("no picture")
    for read in (header_of, read_mask, read_picture):
        with pytest.raises(SalgenError, match=r"a\.png: cannot be read as a picture"):
            read(tmp_path / "a.png")


def test_a_picture_of_too_many_pixels_is_refused(tmp_path, monkeypatch):
    Image.new("1", (9, 9)).save(tmp_path / "a.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    for read in (header_of, read_mask, read_picture):
        with pytest.raises(SalgenError, match=r"a\.png: is of more pixels than Pillow's limit .*: save it smaller"):
            read(tmp_path / "a.png")
    said = "image of more pixels than Pillow's limit (PIL.Image.MAX_IMAGE_PIXELS)"
    assert fault_of([tmp_path / "a.png"]) == said


@pytest.mark.parametrize("suffix", ["tiff", "gif"])
def test_what_is_left_out_of_a_picture_is_known(tmp_path, suffix):
    first, second = picture(3), picture(4)
    first.save(tmp_path / f"a.{suffix}")
    assert not header_of(tmp_path / f"a.{suffix}").paged
    first.save(tmp_path / f"a.{suffix}", save_all=True, append_images=[second])
    assert header_of(tmp_path / f"a.{suffix}").paged
    first.convert("RGBA").save(tmp_path / "a.png")
    assert header_of(tmp_path / "a.png").transparent
