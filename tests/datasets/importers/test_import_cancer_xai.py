import itertools
import shutil
import nibabel
import numpy as np
import pytest
from ct_series import UPRIGHT, cut_short, greys, write_slice
from marked_trees import SIDE, name_of, nearest, opened, refusal, resized, samples
from PIL import Image
from salgen.datasets.layouts.saliency_bench.ct_slices import CtVolume
from salgen.testing import check_importer

SHAPE = (20, 24, 10)  # right, front, up
TUMOURS = range(3, 7)  # slices from below
COUNT = 4
FIRST, OTHER = "Task07_Pancreas/imagesTr/pancreas_000.nii.gz", "Pancreas-CT/PANCREAS_0001.nii.gz"


def body(name):
    return np.random.default_rng(list(name.encode())).integers(-300, 500, SHAPE).astype(np.int16)


def labels(name):
    """The pancreas, and a tumour in it that each slice shows elsewhere."""
    values = np.zeros(SHAPE, dtype=np.uint8)
    values[4:16, 4:20, 2:9] = 1
    for up in TUMOURS:
        values[5 + up : 11 + up, 6:14, up] = 2
    return values


def save(path, values, order=(0, 1, 2), turned=()):
    """Values whose axes run to the right, the front and the head, stored along other ones."""
    path.parent.mkdir(parents=True, exist_ok=True)
    affine = np.zeros((4, 4))
    affine[3, 3] = 1
    for stored, axis in enumerate(order):
        affine[axis, stored] = -0.8 if axis in turned else 0.8
        affine[axis, 3] = 0.8 * (SHAPE[axis] - 1) if axis in turned else 0
    flipped = np.flip(values, turned) if turned else values
    nibabel.save(nibabel.Nifti1Image(flipped.transpose(order), affine), path)


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "pancreas"
    for number in range(COUNT):
        name = f"pancreas_{number:03}"
        save(root / f"Task07_Pancreas/imagesTr/{name}.nii.gz", body(name), turned=(0,))
        save(root / f"Task07_Pancreas/labelsTr/{name}.nii.gz", labels(name), turned=(0,))
        (root / f"Task07_Pancreas/imagesTr/._{name}.nii.gz").write_bytes(b"what macOS leaves")
        save(root / f"Pancreas-CT/PANCREAS_{number + 1:04}.nii.gz", body(f"{number}"), turned=(1,))
    save(root / "Pancreas-CT/labels/label0001.nii.gz", labels("a"))
    return root


def shown(values, up):
    """A slice row by row: from front to back, and in each row from the patient's right to the left."""
    right, front, _ = SHAPE
    return np.array([[values[x, y, up] for x in reversed(range(right))] for y in reversed(range(front))])


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
@pytest.mark.parametrize("turned", [(), (0,), (1, 2), (0, 1, 2)])
def test_slices_are_the_same_whichever_way_the_axes_run(tmp_path, order, turned):
    save(tmp_path / "a.nii", body("a"), order, turned)
    volume = CtVolume(tmp_path / "a.nii")
    assert len(volume) == SHAPE[2]
    for place in range(SHAPE[2]):
        up = SHAPE[2] - 1 - place if 2 in turned else place
        np.testing.assert_array_equal(volume.slice(place), shown(body("a"), up))


def test_a_slice_of_each_volume_with_the_tumour_as_mask(copy):
    check_importer("cancer-xai", str(copy), image_size=(SIDE, SIDE))
    size = (SHAPE[1], SHAPE[0])
    made = opened("cancer-xai", copy, image_size=size)
    assert made.plugin.tasks == {"label": ("healthy", "tumour")}
    found = samples(made)
    assert len(found) == 2 * COUNT
    for item, sample in found.items():
        name = name_of(item).removesuffix(".nii")
        sick = name.startswith("pancreas")
        values = body(name if sick else f"{int(name[-4:]) - 1}")
        (up,) = [up for up in range(SHAPE[2]) if np.array_equal(greys(shown(values, up), -100, 240), sample.image)]
        expected = shown(labels(name), up) == 2 if sick else np.zeros(size, dtype=bool)
        assert sample.labels == {"label": int(sick)}
        np.testing.assert_array_equal(sample.regions["tumour"], expected)
        assert expected.any() == sick
        assert made.plugin.cluster(sample.recipe.parameters, made.material) == name
    assert "a model can tell the hospitals apart" in made.source.notes
    assert "Images of a patient stay together." in made.source.notes
    small = samples(opened("cancer-xai", copy))[FIRST]
    assert small.regions["tumour"].shape == (SIDE, SIDE)
    np.testing.assert_array_equal(small.regions["tumour"], nearest(found[FIRST].regions["tumour"]))
    np.testing.assert_array_equal(small.image, resized(Image.fromarray(found[FIRST].image)))


def test_another_seed_draws_other_slices(copy):
    images = [samples(opened("cancer-xai", copy, split_seed=seed))[OTHER].image for seed in (0, 0, *range(1, 6))]
    np.testing.assert_array_equal(images[0], images[1])
    assert any(not np.array_equal(images[0], image) for image in images[2:])


LABELS = FIRST.replace("imagesTr", "labelsTr")
BROKEN = {
    "unreadable volume": (FIRST, lambda path: path.write_bytes(b"no volume")),
    "unreadable volume ": (LABELS, cut_short),
    "unreadable volume  ": (OTHER, lambda path: save(path, body("a")[:, :, :5])),
    "missing volume": (LABELS, lambda path: path.unlink()),
    "volume of labels without a tumour": (LABELS, lambda path: save(path, 0 * labels("a"), turned=(0,))),
    "volume with values that are no numbers": (FIRST, lambda path: save(path, np.full(SHAPE, np.nan), turned=(0,))),
}


@pytest.mark.parametrize("why", BROKEN)
def test_a_volume_that_is_broken_is_skipped_and_counted(copy, why):
    path, breaking = BROKEN[why]
    breaking(copy / path)
    made = opened("cancer-xai", copy)
    assert f"Skipped: {why.strip()} (1)." in made.source.notes
    assert len(samples(made)) == 2 * COUNT - 1


def stored(rows, turns):
    """A slice as it is seen, stored in another way."""
    if turns[0]:
        return rows[:: turns[4], :: turns[0]]
    return rows[:: turns[1], :: turns[3]].T


def as_dicom(copy, number, turns=UPRIGHT, **tags):
    """NIH's volume of a number in DICOM files, of which the highest slice is the first, instead of NIfTI."""
    (copy / f"Pancreas-CT/PANCREAS_{number:04}.nii.gz").unlink()
    folder = copy / f"NIH/Pancreas-CT/PANCREAS_{number:04}/11-24-2015-18957/Pancreas-63502"
    for up in range(SHAPE[2]):
        values = stored(shown(body(f"{number - 1}"), up), turns)
        chosen = {"series": f"1.2.{number}", "patient": f"PANCREAS_{number:04}", "turns": turns, **tags}
        write_slice(folder / f"1-{SHAPE[2] - up:03}.dcm", values, 1.5 * up - 200, **chosen)
    return folder


TURNS = [(a, 0, 0, 0, b, 0) for a in (1, -1) for b in (1, -1)] + [(0, a, 0, b, 0, 0) for a in (1, -1) for b in (1, -1)]


@pytest.mark.parametrize("turns", TURNS)
def test_dicom_as_published_shows_the_slices_of_nifti(copy, turns):
    size = (SHAPE[1], SHAPE[0])
    expected = samples(opened("cancer-xai", copy, image_size=size))
    for number in range(1, COUNT):  # the last one stays as it is
        as_dicom(copy, number, turns, slope=0.5)
    made = opened("cancer-xai", copy, image_size=size)
    found = samples(made)
    assert len(found) == 2 * COUNT
    for item, sample in found.items():
        name = item.split("/")[-1]
        same = expected[f"Pancreas-CT/{name}.nii.gz" if item.startswith("NIH") else item]
        np.testing.assert_array_equal(sample.image, same.image)
        np.testing.assert_array_equal(sample.regions["tumour"], same.regions["tumour"])
        assert sample.labels == same.labels
        assert made.plugin.cluster(sample.recipe.parameters, made.material) == name.removesuffix(".nii.gz")


def every(change):
    return lambda folder: [change(path) for path in folder.iterdir()]


def other(**tags):
    """Write the first slice with other tags."""

    def write(folder):
        write_slice(folder / "1-001.dcm", shown(body("0"), 0), 0, **{"series": "1.2.1", "patient": "a", **tags})

    return write


@pytest.mark.parametrize(
    ("why", "breaking"),
    [
        ("unreadable slice", every(cut_short)),
        ("unreadable slice", lambda folder: (folder / "1-001.dcm").write_bytes(b"")),
        ("unreadable slice", other(PixelSpacing=None)),
        ("unreadable slice", other(ImagePositionPatient=[0, 0])),
        ("unreadable slice", other(ImageOrientationPatient=[1, 0, 0])),
        ("slice that is not transverse", other(ImageOrientationPatient=[1, 0, 0, 0, 0, -1])),
        ("folder with slices of several series or sizes", other(series="1.2.2")),
        ("series without a slice that can be used", every(lambda path: path.write_bytes(b""))),
    ],
)
def test_a_dicom_series_that_is_broken_is_skipped_and_counted(copy, why, breaking):
    breaking(as_dicom(copy, 1))
    made = opened("cancer-xai", copy)
    assert f"Skipped: {why} (1)." in made.source.notes
    assert len(samples(made)) == 2 * COUNT - 1


@pytest.mark.parametrize("tags", [{"RescaleSlope": None}, {"RescaleIntercept": "NaN"}, {"PixelData": b"few"}])
def test_slices_that_say_no_units_are_skipped_and_counted(copy, tags):
    as_dicom(copy, 1, **tags)
    assert "Skipped: unreadable slice (1)." in opened("cancer-xai", copy).source.notes


def test_withdrawn_volumes_are_left_out(copy):
    for number in (25, 70):
        shutil.copy(copy / OTHER, copy / f"Pancreas-CT/PANCREAS_{number:04}.nii.gz")
    as_dicom(copy, 70)
    assert len(samples(opened("cancer-xai", copy))) == 2 * COUNT


def test_parts_of_the_layout_that_are_missing_are_named(copy, tmp_path):
    message = refusal("cancer-xai", tmp_path / "nowhere")
    assert message.startswith(f"{tmp_path / 'nowhere/Task07_Pancreas/imagesTr/pancreas_NNN.nii.gz'} is missing")
    assert "salgen make perlin-lesions draws a stand-in" in message
    shutil.rmtree(copy / "Pancreas-CT")
    (copy / "Pancreas-CT/PANCREAS_0001").mkdir(parents=True)
    said = f"{copy / 'Pancreas-CT/PANCREAS_NNNN'} is missing: NIH Pancreas-CT is expected there"
    assert refusal("cancer-xai", copy).startswith(said)
    shutil.rmtree(copy / "Task07_Pancreas/labelsTr")
    assert refusal("cancer-xai", copy).startswith(f"{copy / 'Task07_Pancreas/imagesTr/pancreas_NNN.nii.gz'} is missing")
