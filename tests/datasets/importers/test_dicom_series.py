from collections import Counter
import numpy as np
import pytest
from ct_series import write_slice
from salgen.datasets.layouts.saliency_bench.dicom_series import open_series, read_dicom, series_of
from salgen.datasets.picture_libraries.picture_sampling import UnusableError

SIZE = (10, 12)
NAMED = {"series": "1.2.3", "patient": "p"}


def test_slices_stand_from_foot_to_head_whatever_their_names(tmp_path):
    heights = [-97.5, 12.0, -100.0, 2.5, 0.0]
    for number, height in enumerate(heights):
        write_slice(tmp_path / f"{number}.dcm", np.full(SIZE, number), height, **NAMED, PixelSpacing=[0.5, 0.75])
    (tmp_path / "5.dcm").write_bytes(b"none")
    skipped = Counter()
    scan = open_series(sorted(tmp_path.glob("*.dcm")), skipped)
    assert [path.stem for path in scan.paths] == ["2", "0", "4", "3", "1"]
    assert scan.heights.tolist() == sorted(heights)
    assert (scan.uid, scan.patient, scan.spacing, scan.thickness) == ("1.2.3", "p", (0.5, 0.75), 2.5)
    assert (scan.size, scan.upright, len(scan)) == (SIZE, True, 5)
    assert skipped == {"unreadable slice": 1}
    assert [int(read_dicom(path)[3, 4]) for path in scan.paths] == [2, 0, 4, 3, 1]
    assert [series_of(tmp_path / f"{number}.dcm") for number in (0, 5)] == ["1.2.3", ""]


@pytest.mark.parametrize(("heights", "gap"), [((0, 2, 4, 6, 9), 2), ((5,), 1)])
def test_without_a_thickness_it_is_the_usual_gap_and_without_a_patient_the_series(tmp_path, heights, gap):
    for height in heights:
        tags = {"SliceThickness": None, "PatientID": None, "InstanceNumber": None}
        write_slice(tmp_path / f"{height}.dcm", np.zeros(SIZE, int), height, **NAMED, **tags)
    scan = open_series(list(tmp_path.iterdir()), Counter())
    assert (scan.thickness, scan.patient) == (gap, "1.2.3")


def test_hounsfield_units_are_the_same_however_a_slice_is_shown_and_colours_are_refused(tmp_path):
    values = np.arange(120).reshape(SIZE)
    for name, shown in (("a", "MONOCHROME1"), ("b", "MONOCHROME2"), ("c", "PALETTE COLOR")):
        write_slice(tmp_path / f"{name}.dcm", values, 3, **NAMED, PhotometricInterpretation=shown)
    np.testing.assert_array_equal(read_dicom(tmp_path / "a.dcm"), read_dicom(tmp_path / "b.dcm"))
    with pytest.raises(UnusableError, match="slice that is not of greys"):
        read_dicom(tmp_path / "c.dcm")
