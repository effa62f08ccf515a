"""Images and mask pictures as a viewer shows them, of any kind."""

import numpy as np
import pytest
from own_image_files import BOXES, H, W, painted, picture
from PIL import ExifTags, Image, ImageOps

from salgen.datasets.importers.layouts.own_images.upright_pictures import read_mask, read_picture, size_of
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
@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_what_has_an_orientation_is_turned_to_how_viewers_show_it(tmp_path, orientation, suffix):
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    path = tmp_path / f"a.{suffix}"
    picture(3).save(path, exif=exif)
    with Image.open(path) as stored:
        shown = np.asarray(ImageOps.exif_transpose(stored))
    np.testing.assert_array_equal(read_picture(path), shown)
    np.testing.assert_array_equal(read_mask(path), shown.any(axis=2))
    assert size_of(path) == shown.shape[:2] == ((H, W) if orientation < 5 else (W, H))


def test_what_is_no_picture_is_named(tmp_path):
    (tmp_path / "a.png").write_text("no picture")
    for read in (size_of, read_mask, read_picture):
        with pytest.raises(SalgenError, match=r"a\.png: cannot be read as a picture"):
            read(tmp_path / "a.png")
