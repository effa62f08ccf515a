import gzip
import hashlib
import subprocess
import sys
import brain_volumes
import nibabel
import numpy as np
import pytest
from salgen.errors import SalgenError
from salgen.generators.lesions.nifti import load_volume
from salgen.generators.lesions.volumes import assign_splits, open_brains, spread_splits

SHAPE = (10, 12, 9)
AFFINE = np.diag([2.0, 3.0, 4.0, 1.0])
MNI152_SHA256 = "421a10e872fd6cadae7f61d358dffbcc1795a497d61ee76c5dda2503e1a1e9e6"  # as nilearn 0.14.1 ships it


def head(seed=0):
    values = np.zeros(SHAPE, dtype=np.int16)
    values[2:8, 3:9, 2:7] = np.random.default_rng(seed).integers(1, 1000, (6, 6, 5))
    return values


def write(path, values, affine=AFFINE):
    return brain_volumes.write(path, values, affine)


def volumes_in(folder, names):
    for seed, name in enumerate(names):
        write(folder / name, head(seed))
    return folder


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("flips", [(1, 1, 1), (-1, 1, 1), (-1, -1, 1), (1, -1, -1)])
def test_any_orientation_gives_the_same_volume(tmp_path, axes, flips):
    turned = head().transpose(axes)[tuple(slice(None, None, flip) for flip in flips)]
    affine = np.zeros((4, 4))
    for stored, (axis, flip) in enumerate(zip(axes, flips, strict=True)):
        affine[axis, stored] = flip * (2.0, 3.0, 4.0)[axis]
    affine[3, 3] = 1.0
    volume = load_volume(write(tmp_path / "turned.nii", turned, affine))
    assert (volume.voxel_size, volume.values.dtype) == ((2.0, 3.0, 4.0), np.float32)
    np.testing.assert_array_equal(volume.values, head())


def test_an_axis_of_one_negative_values_nifti_2_and_scaled_integers_are_read(tmp_path):
    values = head()[..., np.newaxis].copy()
    values[0, 0, 0] = -5
    np.testing.assert_array_equal(load_volume(write(tmp_path / "a.nii.gz", values)).values, head())
    image = nibabel.Nifti2Image(head().astype(np.float32) / 7.0, np.eye(4))
    image.set_data_dtype(np.int16)
    nibabel.save(image, tmp_path / "b.nii.gz")
    np.testing.assert_allclose(load_volume(tmp_path / "b.nii.gz").values, head() / 7.0, atol=0.01)


def refuses(path, message, read=load_volume):
    """Reading fails with one line that names the file."""
    with pytest.raises(SalgenError, match=message) as caught:
        read(path)
    assert path.name in str(caught.value)


def poke(value):
    values = head().astype(np.float32)
    values[3, 4, 5] = value
    return values


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.stack([head()] * 3, axis=-1), "give one 3-D volume"),
        (poke(np.nan), "1 voxels are NaN or infinite"),
        (poke(np.inf), "1 voxels are NaN or infinite"),
        (np.full(SHAPE, np.nan, np.float32), "1080 voxels are NaN or infinite"),
        (head()[:, :, 2:6], "8 or more"),
        (head().astype(np.complex64), "real numbers"),
    ],
    ids=["4-D", "nan", "inf", "all nan", "thin", "complex"],
)
def test_an_unusable_volume_is_refused_in_one_line_that_names_it(tmp_path, values, message):
    refuses(write(tmp_path / "bad.nii.gz", values), message)


def mirrored(axis):
    affine = AFFINE.copy()
    affine[axis, axis] *= -1
    affine[axis, 3] = (SHAPE[axis] - 1) * abs(affine[axis, axis])
    return affine


@pytest.mark.parametrize("affine", [np.eye(4), np.diag([2.0, 3.0, 4.4, 1.0]), np.diag([-2.0, 3, 4, 1])])
def test_a_mask_of_another_affine_is_refused_with_both_named(tmp_path, affine):
    """Each would be turned by its own, and the mask would lie elsewhere."""
    volume, mask = write(tmp_path / "a.nii", head()), write(tmp_path / "a_mask.nii", np.uint8(head() > 0), affine)
    with pytest.raises(SalgenError, match=r"a_mask\.nii: its affine is another than that of .*a\.nii"):
        load_volume(volume, mask)


def test_a_mask_of_the_same_voxels_in_another_order_is_taken(tmp_path):
    volume, inside = write(tmp_path / "a.nii", head()), np.uint8(head() > 500)
    near = AFFINE.copy()
    near[:3, 3] = 0.4  # rounded by another tool
    for mask, affine in ((inside[::-1], mirrored(0)), (inside, near)):
        found = load_volume(volume, write(tmp_path / "a_mask.nii", mask, affine)).values
        np.testing.assert_array_equal(found, head() * inside)
    with pytest.raises(SalgenError, match=r"a_mask\.nii: \d+ voxels are NaN or infinite"):
        load_volume(volume, write(tmp_path / "a_mask.nii", np.where(inside, np.nan, 0).astype(np.float32)))


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("empty.nii.gz", lambda raw: b""),
        ("text.nii.gz", lambda raw: b"not a volume " * 100),
        ("short.nii", lambda raw: raw[:-100]),
        ("short.nii.gz", lambda raw: gzip.compress(raw[: len(raw) // 2])),
        ("plain.nii.gz", lambda raw: raw),
    ],
)
def test_a_damaged_file_is_refused_in_one_line_that_names_it(tmp_path, name, damage):
    path = tmp_path / name
    path.write_bytes(damage(write(tmp_path / "good.nii", head()).read_bytes()))
    refuses(path, "cannot be read as NIfTI")


def test_the_shipped_volume_is_found_without_importing_what_reads_it():
    code = (
        "import sys; from salgen.generators.lesions.volumes import open_brains as o; o('mni152'); print(*sys.modules)"
    )
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "salgen.generators.lesions.volumes" in modules
    assert not {"nibabel", "torch"} & set(modules)


def test_the_shipped_volume_is_one_skull_stripped_anatomy_with_its_notice():
    source = open_brains("mni152")
    (name,) = source.names()
    volume = source.load(name)
    assert source.name == "mni152"
    assert hashlib.sha256(source.files[name].read_bytes()).hexdigest() == MNI152_SHA256
    notice = source.files[name].with_name("mni152_licence.txt").read_text()
    assert source.license.partition(" (Notice of")[0] in " ".join(notice.split())
    assert source.split_of(name) is None
    assert volume.values.shape == (197, 233, 189)
    assert volume.voxel_size == (1.0, 1.0, 1.0)
    assert 0.15 < np.count_nonzero(volume.values) / volume.values.size < 0.30
    assert "not by subject" in source.notes
    assert "one anatomy" in source.notes


@pytest.mark.parametrize("given", ["nowhere", "notes.txt", "empty"])
def test_a_source_that_is_not_one_is_refused(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("no volume")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "._a.nii.gz").write_bytes(b"left by another system")
    with pytest.raises(SalgenError, match=given):
        open_brains(given)


def test_a_single_file_or_fewer_than_three_are_a_source_that_all_splits_share(tmp_path):
    source = open_brains(str(write(tmp_path / "a.nii.gz", head(), np.diag([14.0, 15.0, 16.0, 1.0]))))
    assert (source.name, source.names()) == ("volumes", ["a.nii.gz"])
    np.testing.assert_array_equal(source.load("a.nii.gz").values, head())
    for shared in (source, open_brains(str(volumes_in(tmp_path / "two", ["a.nii", "b.nii"])))):
        assert {shared.split_of(name) for name in shared.names()} == {None}
        assert "not by subject" in shared.notes


def test_volumes_in_subfolders_are_found_and_split_without_a_table(tmp_path):
    source = open_brains(str(volumes_in(tmp_path, [f"site/{k}.nii" for k in range(10)])))
    assert source.names() == [f"site/{k}.nii" for k in range(10)]
    splits = [source.split_of(name) for name in source.names()]
    assert {split: splits.count(split) for split in splits} == {"train": 6, "val": 2, "test": 2}
    assert "splits are by subject" in source.notes
    assert "2 test, 6 train, 2 val" in source.notes


def test_scans_of_one_subject_stay_in_one_split():
    names = [f"sub-{k:02d}/ses-{s}/sub-{k:02d}_ses-{s}_T1w.nii.gz" for k in range(9) for s in range(3)]
    splits = assign_splits(names)
    assert assign_splits(names[::-1]) == splits
    assert set(splits.values()) == {"train", "val", "test"}
    for k in range(9):
        assert len({splits[name] for name in names if name.startswith(f"sub-{k:02d}/")}) == 1


@pytest.mark.parametrize("count", range(3, 40))
def test_every_split_gets_at_least_one(count):
    splits = spread_splits(count)
    assert len(splits) == count
    assert min(splits.count(split) for split in ("train", "val", "test")) >= 1
    assert splits.count("train") >= count / 2 or count == 3


def table(folder, text):
    (folder / "participants.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(folder)


def test_participants_say_what_is_used_and_for_what(tmp_path):
    volumes_in(tmp_path, ["a.nii", "b/c.nii.gz", "d.nii"])
    text = "\ufeffsex,split,path\r\nf, holdout ,./b/c.nii.gz\r\n\r\nm,train,a.nii\r\n"
    source = open_brains(table(tmp_path, text))
    assert source.names() == ["a.nii", "b/c.nii.gz"]
    assert [source.split_of(name) for name in source.names()] == ["train", "holdout"]
    assert "leaves out 1" in source.notes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("path,split\na.nii,train\nmissing.nii,test\n", "line 3: no volume 'missing.nii'"),
        ("path,split\n../a.nii,train\n", "line 2: no volume"),
        ("path\na.nii\n", "no column 'split'"),
        ("", "no column 'path'"),
        ("path,split\n", "lists no volume"),
        ("path,split\na.nii\n", "line 2: split ''"),
        ("path,split\na.nii,test-1\n", "split 'test-1'"),
        ("path,split\nsub-1_a.nii,train\nsub-1_b.nii,test\n", "line 3: sub-1 is in another split above"),
        ("path,split\n" + "x" * 200_000 + ",train\n", "cannot be read as a table with the columns path and split"),
        (b"\xff\xfe\x00path", "cannot be read as a table with the columns path and split"),
    ],
)
def test_a_wrong_table_is_refused_in_one_line_that_names_it(tmp_path, text, message):
    volumes_in(tmp_path, ["a.nii", "sub-1_a.nii", "sub-1_b.nii"])
    table(tmp_path, text)
    refuses(tmp_path / "participants.csv", message, lambda path: open_brains(str(path.parent)))


def test_the_digest_follows_names_contents_and_splits_but_not_the_place(tmp_path):
    def digest(place, names, text):
        volumes_in(tmp_path / place, names)
        return open_brains(table(tmp_path / place, text)).digest

    first = digest("one", ["a.nii", "b.nii"], "path,split\na.nii,train\nb.nii,test\n")
    assert digest("two", ["a.nii", "b.nii", "z.nii"], "split,path\ntest,b.nii\ntrain,a.nii\n") == first
    assert digest("three", ["a.nii", "b.nii"], "path,split\na.nii,test\nb.nii,train\n") != first
    assert digest("four", ["b.nii", "a.nii"], "path,split\na.nii,train\nb.nii,test\n") != first
    assert digest("five", ["a.nii", "c.nii"], "path,split\na.nii,train\nc.nii,test\n") != first
