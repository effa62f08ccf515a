import brain_volumes
import numpy as np
import pytest
from salgen.errors import SalgenError
from salgen.generators.factory import generator
from salgen.generators.lesions.brain_files import HEAD, TWICE, choose_brains, subject_of
from salgen.generators.lesions.volumes import open_brains

VOXEL = (4.0, 5.0, 4.0)
SHAPE = (40, 40, 36)  # 160 x 200 x 144 mm
BRAIN = brain_volumes.AXES


def ellipsoid(axes):
    return brain_volumes.radii(SHAPE, VOXEL, axes) < 1


def tissue(seed=0):
    return np.random.default_rng(seed).integers(300, 1000, SHAPE).astype(np.int16)


def write(path, values):
    brain_volumes.write(path, values, np.diag([*VOXEL, 1.0]))


def bids(folder, subjects=3):
    """Derivatives as fMRIPrep and BET write them: whole heads, brains, masks, segmentations and a series."""
    for number in range(subjects):
        name = f"sub-{number:02d}"
        anat, brain = folder / name / "anat", ellipsoid(BRAIN)
        write(anat / f"{name}_desc-preproc_T1w.nii.gz", tissue(number))
        write(anat / f"{name}_desc-brain_mask.nii.gz", brain.astype(np.uint8))
        write(anat / f"{name}_dseg.nii.gz", (2 * brain).astype(np.uint8))
        write(anat / f"{name}_label-GM_probseg.nii.gz", (0.5 * brain).astype(np.float32))
        write(folder / name / "func" / f"{name}_task-rest_bold.nii.gz", np.stack([tissue()] * 2, axis=-1))
        write(folder / name / "func" / f"{name}_task-rest_desc-brain_mask.nii.gz", brain.astype(np.uint8))
    return folder


def test_a_bids_folder_gives_its_brains_and_says_what_was_skipped(tmp_path):
    source = open_brains(str(bids(tmp_path)))
    assert source.names() == [f"sub-{k:02d}/anat/sub-{k:02d}_desc-preproc_T1w.nii.gz" for k in range(3)]
    for number, name in enumerate(source.names()):
        np.testing.assert_array_equal(source.load(name).values, tissue(number) * ellipsoid(BRAIN))
    assert "3 brain volumes of 3 subjects" in source.notes
    assert source.notes.endswith("Skipped: 3 x *_bold, 3 x *_dseg, 3 x *_mask, 3 x *_probseg.")
    before = source.digest
    write(tmp_path / "sub-00/anat/sub-00_desc-brain_mask.nii.gz", ellipsoid((50, 70, 45)).astype(np.uint8))
    assert open_brains(str(tmp_path)).digest != before, "another mask is another brain"


@pytest.mark.parametrize(
    ("names", "masks", "skipped"),
    [
        (["a.nii", "sub-1.nii"], {"a.nii": None, "sub-1.nii": None}, {}),
        (["sub-1_T1w.nii", "sub-1_T2w.nii", "x.nii"], {"sub-1_T1w.nii": None}, {"*_T2w": 1, "file of another kind": 1}),
        (["sub-1_T1w.nii", "sub-1_desc-brain_T1w.nii"], {"sub-1_desc-brain_T1w.nii": None}, {HEAD: 1}),
        (
            ["sub-1_T1w.nii", "sub-1_desc-brain_T1w.nii", "sub-1_desc-brain_mask.nii"],
            {"sub-1_desc-brain_T1w.nii": "sub-1_desc-brain_mask.nii"},
            {TWICE: 1},
        ),
        (["sub-1_T1w.nii", "sub-1_label-lesion_mask.nii"], {"sub-1_T1w.nii": None}, {"*_mask": 1}),
        (["sub-1_T1w.nii", "sub-1_space-MNI_desc-brain_mask.nii"], {"sub-1_T1w.nii": None}, {"*_mask": 1}),
        (["ann_brain.nii", "ann_brain_mask.nii"], {"ann_brain.nii": "ann_brain_mask.nii"}, {}),
        (["a/sub-1_T1w.nii", "b/sub-1_desc-brain_mask.nii"], {"a/sub-1_T1w.nii": None}, {"*_mask": 1}),
        (["sub-1_bold.nii", "sub-1_mask.nii"], {}, {"*_bold": 1, "*_mask": 1}),
    ],
)
def test_names(names, masks, skipped):
    assert choose_brains(names) == (masks, skipped)


def test_scans_of_a_subject_are_one_cluster(tmp_path):
    for subject in ("01", "02"):
        for session in ("1", "2"):
            name = f"sub-{subject}_ses-{session}_T1w.nii.gz"
            write(tmp_path / name, tissue() * ellipsoid(BRAIN))
    made = generator("mri-lesions", source=str(tmp_path), image_size=(32, 32), diameter=4, slices=8)
    assert made.material.bank.subjects.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert subject_of("sub-01_ses-2_T1w.nii.gz") == "sub-01"


def test_participants_tsv_says_whose_volumes_are_used(tmp_path):
    bids(tmp_path)
    (tmp_path / "participants.tsv").write_text("participant_id\tage\nsub-00\t31\nsub-02\t\n")
    source = open_brains(str(tmp_path))
    assert [subject_of(name) for name in source.names()] == ["sub-00", "sub-02"]
    assert "1 x volume of a subject that participants.tsv does not list" in source.notes
    (tmp_path / "participants.tsv").write_text("id\nsub-00\n")
    with pytest.raises(SalgenError, match=r"participants\.tsv: .* \(it has no column 'participant_id'\)"):
        open_brains(str(tmp_path))
    (tmp_path / "participants.tsv").write_text("participant_id\nsub-99\n")
    with pytest.raises(SalgenError, match="holds no brain volume among 18 files"):
        open_brains(str(tmp_path))


def test_a_link_that_leads_nowhere_is_skipped(tmp_path):
    write(tmp_path / "sub-1_T1w.nii.gz", tissue() * ellipsoid(BRAIN))
    (tmp_path / "sub-2_T1w.nii.gz").symlink_to(tmp_path / "not fetched")
    source = open_brains(str(tmp_path))
    assert source.names() == ["sub-1_T1w.nii.gz"]
    assert "Skipped: 1 x link to a file that is not there" in source.notes
    assert len(source.digest) == 64


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (ellipsoid(BRAIN).astype(np.uint8), "1 distinct values above 0, but a brain has 32 or more: it is a mask"),
        (tissue() % 31 * ellipsoid(BRAIN), "30 distinct values"),
        (tissue() * ellipsoid((78, 98, 70)), r"2\.2\d litres are above 0, but a brain has 0\.5 to 2\.2: give a skull"),
        (tissue() * ellipsoid((40, 50, 40)), r"0\.3\d litres"),
    ],
    ids=["mask", "segmentation", "head whose air is zero", "piece"],
)
def test_what_is_no_brain_is_refused(tmp_path, values, message):
    write(tmp_path / "a.nii.gz", values)
    source = open_brains(str(tmp_path))
    with pytest.raises(SalgenError, match=message) as caught:
        source.load("a.nii.gz")
    assert "a.nii.gz" in str(caught.value)


def test_a_mask_of_another_shape_is_refused(tmp_path):
    write(tmp_path / "a.nii.gz", tissue())
    write(tmp_path / "a_mask.nii.gz", ellipsoid(BRAIN)[1:].astype(np.uint8))
    with pytest.raises(SalgenError, match=r"a_mask\.nii\.gz: 39x40x36 voxels, but .*a\.nii\.gz has 40x40x36"):
        open_brains(str(tmp_path)).load("a.nii.gz")
