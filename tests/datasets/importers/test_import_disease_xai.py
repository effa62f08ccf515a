import shutil
import sys
import numpy as np
import pytest
from ct_series import cut_short, greys, ring, roi, write_slice, write_xml
from marked_trees import nearest, noise, opened, refusal, resized, samples
from PIL import Image
from salgen.errors import SalgenError
from salgen.testing import check_importer

H, W, SLICES, GAP = 80, 96, 16, 2.5
PATIENTS = 6
PLACES = range(5, 9)  # slices from below with the nodule
HOLED, HOLE = 7, (33, 43, 35, 46)  # the middle one of these slices, and rows and columns
NODULES = [(30, 40, 42, 50), (30, 40, 42, 50), (31, 40, 44, 52), (28, 38, 50, 60)]  # of the four readers: rows, columns


def height(place):
    return -100 + GAP * place


def units(patient, place):
    """Hounsfield units, other ones on each slice."""
    return np.random.default_rng([patient, place]).integers(-1100, 500, (H, W))


def folder_of(root, patient):
    return root / f"LIDC-IDRI/LIDC-IDRI-{patient:04}/01-01-2000-1/3000{patient}-1"


def nodule(rectangle):
    """A reader's rois: a rectangle on some slices, with a hole on the middle one."""
    top, left, bottom, right = rectangle
    holes = [roi(height(HOLED), ring(*HOLE), "FALSE")]
    return [*(roi(f"{height(place):.6f}", ring(top, left, bottom, right)) for place in PLACES), *holes]


def write_scan(root, patient, sessions=None, beside=True):
    folder = folder_of(root, patient)
    tags = {"series": f"1.2.{patient}", "patient": f"LIDC-IDRI-{patient:04}"}
    for place in range(SLICES):
        path = folder / f"1-{SLICES - place:03}.dcm"
        write_slice(path, units(patient, place), height(place), number=place, **tags)
    drawn = [[nodule(rectangle)] for rectangle in NODULES] if sessions is None else sessions
    write_xml((folder if beside else root / "tcia-lidc-xml/157") / f"{patient}.xml", f"1.2.{patient}", drawn)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    root = tmp_path_factory.mktemp("lidc") / "copy"
    for patient in range(1, PATIENTS + 1):
        write_scan(root, patient, beside=patient % 2)
    return root


@pytest.fixture
def copy(whole, tmp_path):
    return shutil.copytree(whole, tmp_path / "copy")


def agreed(place):
    """Pixels that two of the four readers hold, found one by one."""
    mask = np.zeros((H, W), dtype=bool)
    hole_top, hole_left, hole_bottom, hole_right = HOLE
    for y in range(H):
        for x in range(W):
            holed = place == HOLED and hole_top - 1 <= y <= hole_bottom and hole_left - 1 <= x <= hole_right
            held = [top <= y < bottom and left <= x < right for top, left, bottom, right in NODULES]
            mask[y, x] = sum(held) >= 2 and not holed
    return mask


def test_windows_show_the_consensus_and_as_many_show_none(copy):
    check_importer("disease-xai", str(copy))
    made = opened("disease-xai", copy, image_size=(64, 64))
    assert made.plugin.tasks == {"label": ("clear", "nodule")}
    found = samples(made)
    assert len(found) == 2 * PATIENTS
    rows, columns = np.nonzero(agreed(HOLED))
    top = min((rows.min() + rows.max() + 1) // 2 - 32, H - 64)
    left = min((columns.min() + columns.max() + 1) // 2 - 32, W - 64)
    part = slice(top, top + 64), slice(left, left + 64)
    near = [place for place in range(SLICES) if 5 <= min(abs(GAP * (place - one)) for one in PLACES) <= 30]
    for item, sample in found.items():
        patient = int(item.split("/")[1][-4:])
        sick = sample.labels["label"]
        shown = [p for p in range(SLICES) if np.array_equal(greys(units(patient, p)[part], -1000, 400), sample.image)]
        assert shown == [HOLED] if sick else set(shown) <= set(near)
        assert len(shown) == 1
        assert item.endswith(f":{top},{left}")
        expected = agreed(HOLED)[part] if sick else np.zeros((64, 64), dtype=bool)
        np.testing.assert_array_equal(sample.regions["nodule"], expected)
        assert made.plugin.cluster(sample.recipe.parameters, made.material) == f"LIDC-IDRI-{patient:04}"
    assert "Skipped" not in made.source.notes
    assert "Images of a patient stay together." in made.source.notes
    small = samples(opened("disease-xai", copy))
    for item, sample in found.items():
        np.testing.assert_array_equal(small[item].regions["nodule"], nearest(sample.regions["nodule"]))
        np.testing.assert_array_equal(small[item].image, resized(Image.fromarray(sample.image)))


def test_patients_stay_in_one_split_and_classes_are_equal_in_each(copy):
    write_scan(copy, 1, [[nodule(NODULES[0]), [roi(height(12), ring(2, 2, 9, 9))]]])
    made = opened("disease-xai", copy)
    assert sum(made.available.values()) == 2 * PATIENTS + 2
    patients = []
    for split in made.available:
        shown = samples(made, split)
        patients += {item.split("/")[1] for item in shown}
        labels = [sample.labels["label"] for sample in shown.values()]
        assert labels
        assert labels.count(0) == labels.count(1)
    assert len(patients) == PATIENTS == len(set(patients))


def test_another_seed_draws_other_slices_without_a_nodule(copy):
    chosen = [set(samples(opened("disease-xai", copy, split_seed=seed))) for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
    assert len(chosen[0] & chosen[2]) >= PATIENTS


def test_a_window_shows_all_nodules_in_it_and_a_small_one_keeps_others_away(copy):
    other = [roi(height(PLACES[2]), ring(60, 60, 66, 68))]
    small = [roi(height(place), [(45, 35)]) for place in (3, 11, 12, 13, 14, 15)]
    write_scan(copy, 1, [[nodule(NODULES[0]), other, *([one] for one in small)]])
    every = samples(opened("disease-xai", copy, image_size=(64, 64)))
    found = {item: sample for item, sample in every.items() if "0001/" in item}
    masks = [sample.regions["nodule"] for sample in found.values() if sample.labels["label"]]
    assert sorted(mask.sum() for mask in masks) == [12 * 10 - 4 * 5 + 6 * 8] * 2
    clear = [item for item, sample in found.items() if not sample.labels["label"]]
    assert clear
    numbers = {int(item.rpartition("1-")[2][:3]) for item in clear}
    assert numbers <= {SLICES, SLICES - 1}  # the lowest point is on slice 3


SCAN = "LIDC-IDRI/LIDC-IDRI-0001/01-01-2000-1/30001-1"
MIDDLE = f"{SCAN}/1-{SLICES - 7:03}.dcm"


def add(copy, **tags):
    """A slice more in the first scan."""
    chosen = {"series": "1.2.1", "patient": "a", **tags}
    write_slice(copy / SCAN / "1-099.dcm", units(1, 0), height(SLICES), **chosen)


def rewrite(copy, **tags):
    """The first scan in another form."""
    for place in range(SLICES):
        path = copy / SCAN / f"1-{SLICES - place:03}.dcm"
        write_slice(path, units(1, place), height(place), series="1.2.1", patient="a", **tags)


def other_message(copy):
    (copy / "tcia-lidc-xml/chest.xml").write_text("<IdriReadMessage/>")


def read_beside(copy, outline):
    """A reader of the first scan draws a nodule and one outline more."""
    write_scan(copy, 1, [[nodule(NODULES[0]), [outline]]])


def read_on_every_slice(copy):
    write_scan(copy, 1, [[[roi(height(place), ring(30, 30, 40, 40)) for place in range(SLICES)]]])


def without_scan(copy):
    shutil.move(copy / SCAN / "1.xml", copy / "1.xml")
    shutil.rmtree(copy / SCAN)


def readers_apart(copy):
    write_scan(copy, 1, [[[roi(height(6), ring(10 * n, 20, 10 * n + 9, 29))]] for n in (2, 3, 4)])


BROKEN = {
    "unreadable slice": (lambda copy: (copy / SCAN / "1-001.dcm").write_bytes(b"no slice"), 2),
    "unreadable slice ": (lambda copy: cut_short(copy / MIDDLE), 0),
    "unreadable slice  ": (lambda copy: add(copy, ImageOrientationPatient=None), 2),
    "folder with slices of several series or sizes": (lambda copy: add(copy, series="1.2.77"), 0),
    "scan that is turned": (lambda copy: rewrite(copy, turns=(-1, 0, 0, 0, -1, 0)), 0),
    "annotation that is no XML": (lambda copy: (copy / SCAN / "1.xml").write_text("<LidcReadMessage>"), 0),
    "annotation that names no series of CT": (other_message, 2),
    "unreadable annotation": (lambda copy: read_beside(copy, "<roi/>"), 0),
    "outline outside of its slice": (lambda copy: read_beside(copy, roi(height(6), ring(70, 90, 79, 96))), 2),
    "outline on a slice that is missing": (lambda copy: read_beside(copy, roi(height(-2), ring(9, 9, 19, 19))), 2),
    "nodule without a slice near it that shows none": (read_on_every_slice, 1),
    "nodule of which readers agree on no pixel": (readers_apart, 0),
    "annotation of a scan that the copy does not hold": (without_scan, 0),
}


@pytest.mark.parametrize("why", BROKEN)
def test_what_is_broken_is_skipped_and_counted(copy, why):
    breaking, left = BROKEN[why]
    breaking(copy)
    made = opened("disease-xai", copy)
    assert f"Skipped: {why.strip()} (1)." in made.source.notes
    found = samples(made)
    assert sum("0001/" in item for item in found) == left
    assert len(found) == 2 * PATIENTS - 2 + left


def test_of_two_slices_at_one_height_the_first_is_taken(copy):
    expected = samples(opened("disease-xai", copy)).keys()
    write_slice(copy / SCAN / "0-001.dcm", units(99, 0), height(7), series="1.2.1", patient="a", number=99)
    assert samples(opened("disease-xai", copy)).keys() == expected


def test_parts_of_the_layout_that_are_missing_are_named(copy, tmp_path):
    message = refusal("disease-xai", tmp_path / "nowhere")
    assert message.startswith(f"{tmp_path / 'nowhere/LIDC-IDRI/LIDC-IDRI-NNNN/STUDY/SERIES/NAME.dcm'} is missing")
    assert "salgen make pink-lesions draws a stand-in" in message
    for path in copy.rglob("*.xml"):
        path.unlink()
    said = f"{copy / 'tcia-lidc-xml/NNN/NAME.xml'} is missing: the readers' annotations"
    assert refusal("disease-xai", copy).startswith(said)
    (tmp_path / "lidc2d/pos").mkdir(parents=True)
    assert refusal("disease-xai", tmp_path).startswith(f"{tmp_path / 'lidc2d/neg'} is missing: an export lidc2d")


def test_without_pydicom_its_extra_is_named(copy, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydicom", None)
    with pytest.raises(SalgenError, match=r"^reading DICOM needs pydicom: pip install '\.\[dicom\]'"):
        opened("disease-xai", copy)


@pytest.fixture
def exported(tmp_path):
    root = tmp_path / "exported/lidc2d"
    for folder in ("pos", "neg", "masks"):
        (root / folder).mkdir(parents=True)
    for number in range(10):
        for folder in ("pos", "neg"):
            noise(f"{folder}{number}").save(root / folder / f"LIDC-IDRI-{number:04}_{folder}.png")
        mask = np.zeros((30, 44), dtype=np.uint8)
        mask[5 : 15 + number, 8:30] = 255 if number % 2 else 1
        Image.fromarray(mask).save(root / f"masks/LIDC-IDRI-{number:04}_pos.png")
    return root


def test_exported_slices_are_read_without_pydicom(exported, monkeypatch):
    monkeypatch.setitem(sys.modules, "pydicom", None)
    (exported / "masks/LIDC-IDRI-0003_pos.png").unlink()
    for path in (exported, exported.parent):
        made = opened("disease-xai", path, image_size=(30, 44))
        found = samples(made)
        assert len(found) == 20
        for item, sample in found.items():
            number = int(item.split("-")[2][:4])
            expected = np.zeros((30, 44), dtype=bool)
            expected[5 : 15 + number, 8:30] = item.startswith("pos") and number != 3
            np.testing.assert_array_equal(sample.regions["nodule"], expected)
            assert sample.labels == {"label": int(item.startswith("pos"))}
            assert made.plugin.cluster(sample.recipe.parameters, made.material) == f"LIDC-IDRI-{number:04}"
            np.testing.assert_array_equal(sample.image, np.asarray(noise(f"{item[:3]}{number}")))
        assert "11 of them have no mask" in made.source.notes
    Image.new("L", (9, 9), 1).save(exported / "masks/LIDC-IDRI-0001_pos.png")
    assert "mask picture of another size than its image" in opened("disease-xai", exported).source.notes
