import numpy as np
import pytest
from PIL import Image
from salgen.datasets.layouts.mask_levels import CLASSES, OPACITY, SOFT, VOID_COLOUR, WITH_VOID, object_of, told_apart
from salgen.errors import SalgenError

ROWS, COLUMNS = np.mgrid[0:64, 0:64]
DISTANCE = np.hypot(ROWS - 28, COLUMNS - 30)
OBJECT, RING = DISTANCE < 15, (DISTANCE >= 15) & (DISTANCE < 18)
SHARES = np.clip(15.5 - DISTANCE, 0, 1)  # an edge of one pixel


def read(picture, path, values=(), **options):
    picture.save(path, **options)
    with Image.open(path) as saved:
        return object_of(saved, values, path.name)


def grey(levels, dtype=np.uint8):
    return Image.fromarray(levels.astype(dtype))


def coloured(*colours):
    """The object, the ring and what is left in colours."""
    pixels = np.zeros((64, 64, 3), dtype=np.uint8)
    for where, colour in zip((OBJECT, RING, ~OBJECT & ~RING), colours, strict=False):
        pixels[where] = colour
    return Image.fromarray(pixels)


@pytest.mark.parametrize("quality", [60, 75, 95])
@pytest.mark.parametrize("again", [False, True])
def test_noise_of_jpeg_is_no_object(tmp_path, quality, again):
    mask, said, _ = read(grey(OBJECT * 255), tmp_path / "a.jpg", quality=quality)
    if again:
        mask, said, _ = read(Image.open(tmp_path / "a.jpg"), tmp_path / "a.png")
    assert (mask & OBJECT).sum() > 0.99 * (mask | OBJECT).sum()
    assert said == SOFT


@pytest.mark.parametrize("top", [255, 65535, 200])
def test_soft_edges_are_cut_at_half(tmp_path, top):
    levels = np.rint(SHARES * top)
    mask, said, _ = read(grey(levels, np.uint16 if top > 255 else np.uint8), tmp_path / "a.png")
    np.testing.assert_array_equal(mask, levels >= top / 2)
    assert said == SOFT


def test_soft_edges_in_colour_and_in_shares_are_cut_at_half(tmp_path):
    red = np.zeros((64, 64, 3), dtype=np.uint8)
    red[..., 0] = np.rint(SHARES * 255)
    for told in (read(Image.fromarray(red), tmp_path / "a.png"), told_apart(SHARES.astype(np.float32), "a")):
        np.testing.assert_array_equal(told.mask, SHARES >= 0.5)
        assert told.said == SOFT


@pytest.mark.parametrize("form", ["grey", "palette", "colours"])
def test_the_void_label_is_no_object(tmp_path, form):
    picture = grey(np.where(OBJECT, 15, np.where(RING, 255, 0)))
    if form == "palette":
        picture = picture.convert("P")
        picture.putpalette([0] * 45 + [192, 128, 128] + [0] * 717 + [*VOID_COLOUR])
    elif form == "colours":
        picture = coloured((192, 128, 128), VOID_COLOUR)
    mask, said, _ = read(picture, tmp_path / "a.png")
    np.testing.assert_array_equal(mask, OBJECT)
    assert said == WITH_VOID


@pytest.mark.parametrize(("inner", "ring", "dtype"), [(1, 2, "u1"), (5, 250, "u1"), (3, 4000, "u2"), (38, 113, "u1")])
def test_numbers_of_classes_are_all_the_object(tmp_path, inner, ring, dtype):
    picture = grey(np.where(OBJECT, inner, np.where(RING, ring, 0)), dtype)
    mask, said, _ = read(picture, tmp_path / "a.png")
    np.testing.assert_array_equal(mask, OBJECT | RING)
    assert said == CLASSES
    np.testing.assert_array_equal(read(picture, tmp_path / "a.png", (inner,)).mask, OBJECT)


def test_colours_of_classes_are_all_the_object(tmp_path):
    for colours in (((128, 0, 0), (0, 255, 0)), ((0, 0, 20), (0, 255, 0))):
        mask, said, _ = read(coloured(*colours), tmp_path / "a.png")
        np.testing.assert_array_equal(mask, OBJECT | RING)
        assert said == CLASSES
    assert read(coloured((128, 0, 0), (128, 0, 0)), tmp_path / "a.png").said == ""


@pytest.mark.parametrize("levels", [(128, 255), (255, 128), (100, 255), (70, 255)])
def test_levels_that_fit_two_readings_are_refused_until_they_are_named(tmp_path, levels):
    wide = (DISTANCE >= 15) & (DISTANCE < 25)
    picture = grey(np.where(OBJECT, levels[0], np.where(wide, levels[1], 0)))
    with pytest.raises(SalgenError, match=rf"a\.png: levels such as 0, .* by --set mask_values={min(levels)} or 255"):
        read(picture, tmp_path / "a.png")
    np.testing.assert_array_equal(read(picture, tmp_path / "a.png", (levels[0],)).mask, OBJECT)
    thin = np.where(ROWS == 30, 2, np.where(abs(ROWS - 30) < 4, 255, 0))  # a number beside void, and no soft edge
    with pytest.raises(SalgenError, match="by --set mask_values=2 or 255"):
        read(grey(thin), tmp_path / "b.png")


def test_what_has_no_two_levels_is_refused(tmp_path):
    noise = np.random.default_rng(0).integers(0, 255, (64, 64, 3), dtype=np.uint8)
    smooth = Image.fromarray(noise).resize((256, 256), Image.Resampling.BICUBIC)
    for picture in (Image.fromarray(noise), Image.fromarray(noise[..., 0]), smooth, smooth.quantize(64)):
        for name in ("a.png", "a.jpg") if picture.mode != "P" else ("a.png", "a.gif"):
            with pytest.raises(SalgenError, match=rf"{name}: \d+% of its pixels lie between black and white"):
                read(picture, tmp_path / name)
    with pytest.raises(SalgenError, match=r"a: a mask has levels from -1 to 3: save it with 0 outside"):
        told_apart(np.where(OBJECT, 3, -1), "a")
    with pytest.raises(SalgenError, match="a: a mask has levels from 0 to nan"):
        told_apart(np.where(OBJECT, np.nan, 0), "a")


def test_a_lossy_format_has_no_numbers(tmp_path):
    picture = grey(np.where(OBJECT, 15, 0))
    with pytest.raises(SalgenError, match=r"a\.jpg: a lossy format changed its levels, .*: save it as PNG"):
        read(picture, tmp_path / "a.jpg")
    with pytest.raises(SalgenError, match=r"a\.jpg: JPEG changes levels, so mask_values cannot name them"):
        read(picture, tmp_path / "a.jpg", (15,))


@pytest.mark.parametrize("colour", [(0, 0, 0), (255, 255, 255), (200, 0, 0)])
def test_opacity_is_the_mask_of_one_colour(tmp_path, colour):
    picture = Image.new("RGB", (64, 64), colour)
    picture.putalpha(grey(OBJECT * 255))
    mask, said, _ = read(picture, tmp_path / "a.png")
    np.testing.assert_array_equal(mask, OBJECT)
    assert said == OPACITY


def test_colours_and_opacity_agree_or_are_refused(tmp_path):
    picture = coloured((255, 0, 0))
    picture.putalpha(grey(OBJECT * 128))
    assert read(picture, tmp_path / "a.png").said == ""
    picture.putalpha(grey((OBJECT | RING) * 128))
    with pytest.raises(SalgenError, match=rf"colours mark {OBJECT.sum()} pixels and its opacity [\d,]+, so it"):
        read(picture, tmp_path / "a.png")


def test_greys_in_channels_have_levels(tmp_path):
    for mode in ("RGB", "LA", "RGBA"):
        picture = grey(np.where(OBJECT, 3, 1)).convert(mode)
        np.testing.assert_array_equal(read(picture, tmp_path / "a.png", (3,)).mask, OBJECT)
    with pytest.raises(SalgenError, match="has colours, so mask_values cannot name"):
        read(coloured((9, 0, 0)), tmp_path / "a.png", (9,))
