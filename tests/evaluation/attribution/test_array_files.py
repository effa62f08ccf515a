"""Arrays of other tools' files: every form is read back equal, and what is wrong with one is a line."""

import json
import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_tensors
from salgen.errors import SalgenError
from salgen.evaluation.attribution.array_files import MASK, open_arrays

IDS = [f"test-{number:06d}" for number in range(4)]


@pytest.fixture
def maps(rng):
    return rng.normal(size=(4, 5, 6)).astype(np.float32)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def arrays(path, ids=IDS, kind="map"):
    files = open_arrays(path, kind, ids)
    files.check_samples(IDS, IDS, "the data")
    return np.stack([files.read(name) for name in IDS])


def ordered(maps, path):
    np.save(path / "all.npy", maps)
    np.savez(path / "all.npz", maps)
    save_file({"maps": maps}, path / "all.safetensors")


def named(maps, path):
    """Each under its name, and in another order than the samples'."""
    back = maps[::-1].copy()
    np.savez_compressed(path / "keys.npz", **dict(zip(IDS, maps, strict=True)))
    np.savez(path / "ids.npz", saliency=back, ids=np.array(IDS[::-1]))
    np.savez(path / "bytes.npz", saliency=back, ids=np.array(IDS[::-1], dtype="S"))
    save_file(dict(zip(IDS, maps, strict=True)), path / "keys.safetensors")
    save_file({"saliency": back}, path / "ids.safetensors", {"ids": json.dumps(IDS[::-1])})


def folders(maps, path):
    for name in ("npy", "npz", "safetensors"):
        (path / name).mkdir()
    for sample, values in zip(IDS, maps, strict=True):
        np.save(path / "npy" / f"{sample}.npy", values)
        np.savez(path / "npz" / f"{sample}.npz", values)
        save_file({"map": values}, path / "safetensors" / f"{sample}.safetensors")
        (path / "npy" / f"{sample}.txt").write_text("notes are not maps")


@pytest.mark.parametrize("write", [ordered, named, folders])
@pytest.mark.parametrize("channels", [(), (3,)])
def test_every_form_is_read_back_equal(tmp_path, rng, write, channels):
    given = rng.normal(size=(4, *channels, 5, 6)).astype(np.float32)
    write(given, tmp_path)
    expected = given if channels else given[:, None]
    assert len(list(tmp_path.iterdir())) >= 3
    for path in tmp_path.iterdir():
        read = arrays(path)
        assert read.dtype == np.float32, path
        assert np.array_equal(read, expected), path
        assert open_arrays(path, ids=IDS).named == (write is not ordered), path


def test_types_of_numbers_are_kept_and_half_ones_become_float32(tmp_path, maps):
    for kind in (np.float64, np.int16, np.uint8):
        np.save(tmp_path / "maps.npy", maps.astype(kind))
        assert arrays(tmp_path / "maps.npy").dtype == kind
    halves = torch.from_numpy(maps).bfloat16()
    save_tensors({"maps": halves}, tmp_path / "maps.safetensors")
    assert np.array_equal(arrays(tmp_path / "maps.safetensors")[:, 0], halves.float().numpy())


@pytest.mark.parametrize(("kind", "top"), [(np.uint8, 255), (np.uint16, 65535), (np.bool_, 1)])
def test_grey_pictures_are_read_back_equal(tmp_path, rng, kind, top):
    given = rng.integers(0, top, size=(4, 5, 6), endpoint=True).astype(kind)
    for sample, values in zip(IDS, given, strict=True):
        Image.fromarray(values).save(tmp_path / f"{sample}.png")
    assert np.array_equal(arrays(tmp_path)[:, 0], given)


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "LA", "P", "L", "1"])
def test_masks_may_be_in_colours_where_opacity_is_no_object(tmp_path, rng, mode):
    given = rng.random((4, 5, 6)) < 0.5
    for sample, mask in zip(IDS, given, strict=True):
        grey = Image.fromarray(mask.astype(np.uint8) * 200)
        picture = grey.point(lambda value: value > 0, "1") if mode == "1" else grey.convert(mode)
        if mode == "P":
            picture = Image.fromarray(mask.astype(np.uint8) * 3)
            picture.putpalette([255, 255, 255, 9, 9, 9] * 128)  # what number 0 looks like does not matter
        picture.save(tmp_path / f"{sample}.png")
    assert np.array_equal(arrays(tmp_path, kind=MASK)[:, 0] != 0, given)


def said(path, kind="map", file=None):
    with pytest.raises(SalgenError) as caught:
        arrays(path, kind=kind)
    assert str(file or path) in str(caught.value)
    return str(caught.value)


def first(path):
    return open_arrays(path).read(IDS[0])


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
def test_a_file_that_is_cut_empty_or_of_another_kind_is_named(tmp_path, maps, suffix):
    ordered(maps, tmp_path)
    file = tmp_path / f"all.{suffix}"
    whole = file.read_bytes()
    other = (tmp_path / ("all.npz" if suffix == "npy" else "all.npy")).read_bytes()
    for content in (whole[: len(whole) // 2], b"", other):
        file.write_bytes(content)
        assert f"all.{suffix} cannot be read as .{suffix} (" in said(file)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / f"{IDS[0]}.{suffix}").write_bytes(b"")
    with pytest.raises(SalgenError, match=f"{IDS[0]}.{suffix} cannot be read"):
        first(tmp_path / "folder")


def test_pictures_that_are_cut_of_another_kind_or_in_colours_are_named(tmp_path, rng):
    (tmp_path / "maps").mkdir()
    for sample in IDS:
        noise = rng.integers(0, 255, size=(40, 40), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / "maps" / f"{sample}.png")
    file = tmp_path / "maps" / f"{IDS[2]}.png"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    assert "cannot be read as a picture (image file is truncated" in said(tmp_path / "maps", file=file)
    Image.fromarray(noise).save(file, format="JPEG")
    assert "cannot be read as a picture (it is JPEG" in said(tmp_path / "maps", file=file)
    Image.fromarray(noise).convert("RGB").save(file)
    assert "is in colours: a map is one number for each pixel" in said(tmp_path / "maps", file=file)


FILES = ["cats/0.jpg", "dogs/0.jpg", "dogs/b.1.jpg", "test-000000.jpg"]


def of_names(tmp_path, names):
    for number, name in enumerate(names):
        (tmp_path / "maps" / name).parent.mkdir(parents=True, exist_ok=True)
        np.save(tmp_path / "maps" / f"{name}.npy", np.full((2, 2), number))
    return open_arrays(tmp_path / "maps", ids=IDS, file_names=FILES)


def test_a_sample_has_the_name_of_its_image_too(tmp_path):
    files = of_names(tmp_path, ["cats/0", "dogs/0", "dogs/b.1", "test-000003"])
    assert [array[0, 0, 0] for array in map(files.read, IDS)] == [0, 1, 2, 3]
    np.savez(tmp_path / "all.npz", **{name: np.full((2, 2), number) for number, name in enumerate(FILES[:3])})
    files = open_arrays(tmp_path / "all.npz", ids=IDS, file_names=FILES)
    assert [array[0, 0, 0] for array in map(files.read, IDS[:3])] == [0, 1, 2]


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["test-000000"], "test-000000 is a name of test-000000 and test-000003: name maps by these ids"),
        (["dogs/0", "test-000001"], "holds two maps of test-000001, one of them as test-000001: keep one"),
        (["dogs/0", "dogs/0.jpg"], "holds two maps of test-000001, one of them as dogs/0: keep one"),
    ],
)
def test_a_name_of_two_samples_and_two_maps_of_one_are_refused(tmp_path, names, message):
    with pytest.raises(SalgenError, match=message):
        of_names(tmp_path, names)


def test_what_is_no_map_is_said(tmp_path, maps):
    def of(values, **more):
        np.savez(tmp_path / "maps.npz", **({"maps": values} if values is not None else {}), **more)
        return said(tmp_path / "maps.npz")

    broken = maps.copy()
    broken[2, 0, 0] = np.nan
    assert "map of test-000002 holds NaN or infinite values: give finite ones" in of(broken)
    assert "map of test-000000 is of type complex64: must be real numbers" in of(maps.astype(np.complex64))
    assert "holds an array of shape (5, 6): must be one, (N, H, W) or (N, C, H, W)" in of(maps[0])
    assert "holds 3 maps for 4 samples: give one for each, in their order or with 'ids'" in of(maps[:3])
    assert "holds 4 maps for 3 samples" in of(maps, ids=np.array(IDS[:3]))
    assert "holds 4 maps for 3 samples" in of(maps, ids=np.array([*IDS[:3], IDS[0]]))
    assert "holds 2 arrays: must be one" in of(maps, more=maps, ids=np.array(IDS))
    fewer = of(None, **dict(zip(IDS[:2], maps, strict=False)))
    assert "lacks the maps of 2 samples of the data, such as test-000002, test-000003: give one for each" in fewer
    foreign = of(None, **dict(zip([*IDS, "train-000000"], [*maps, maps[0]], strict=True)))
    assert "holds 1 maps of no sample of the data, such as train-000000: give one for each, named as" in foreign
    assert foreign.endswith("its sample, such as test-000000")
    assert "has shape (6,): must be (H, W) or (C, H, W)" in of(None, **dict(zip(IDS, maps[:, 0], strict=True)))
    assert "has shape (0, 6): must be" in of(None, **dict(zip(IDS, maps[:, :0], strict=True)))


def test_a_path_that_cannot_hold_maps_is_said(tmp_path, maps):
    assert "does not exist: give a folder with a map (.npy, .npz, .safetensors, .png) for" in said(tmp_path / "no.npy")
    (tmp_path / "maps.pt").write_bytes(b"pickle")
    assert "is of another kind: give a folder" in said(tmp_path / "maps.pt")
    (tmp_path / "empty").mkdir()
    assert "empty holds no masks: give a folder with a mask (" in said(tmp_path / "empty", MASK)
    for suffix in ("npy", "png"):
        (tmp_path / "empty" / f"{IDS[0]}.{suffix}").write_bytes(b"")
    assert "test-000000.npy and test-000000.png are of one sample: keep one of them" in said(tmp_path / "empty")
    (tmp_path / "two").mkdir()
    np.savez(tmp_path / "two" / f"{IDS[0]}.npz", maps[0], maps[1])
    with pytest.raises(SalgenError, match=r"test-000000.npz holds 2 arrays: must be one"):
        first(tmp_path / "two")
