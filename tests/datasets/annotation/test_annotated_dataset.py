import numpy as np
import pyarrow.parquet as pq
import pytest
from made_datasets import contents, made
from own_image_files import H, W, painted, write_images, write_labels
from salgen.cli.main import main
from salgen.datasets.annotation.annotated_dataset import Annotation
from salgen.datasets.annotation.drawn_masks import DrawnMasks, version_of
from salgen.datasets.reading.reader import open_dataset
from salgen.datasets.verification.verify_dataset import verify
from salgen.errors import SalgenError, SalgenWarning

OF_IMAGES = {"image_size": (H, W), "shares": (0, 0, 1)}


@pytest.fixture
def squares(tmp_path):
    """12 train, 4 val and 6 test images."""
    return made(tmp_path / "squares", parameters={"image_size": (16, 20), "channels": 3})


def test_masks_on_a_data_set_are_one_of_the_same_images(squares):
    original = open_dataset(squares, "test")
    annotation = Annotation.at(squares, split="test")
    labels = [original.tasks["label"][number] for number in original.column("label")]
    assert [image.label for image in annotation.pictures.shown] == labels
    for image, item in zip(annotation.pictures.shown, original, strict=True):
        annotation.masks.write("anna", image.item, np.roll(item["mask"], 1, axis=1))
    said = annotation.finish()
    assert said.startswith("6 of 22 images have a mask, by anna. Nobody's masks can be compared")
    drawn = open_dataset(annotation.out, "test")
    assert drawn.spec.splits == original.spec.splits
    by_id = {pixels.tobytes(): mask for pixels, mask in ((item["image"], item["mask"]) for item in drawn)}
    for item in original:
        assert np.array_equal(by_id[item["image"].tobytes()], np.roll(item["mask"], 1, axis=1))
    source = f"{annotation.work}:masks={annotation.masks.folder_of('anna')}:labels={annotation.work / 'labels.csv'}"
    assert verify(annotation.out, source=source) == []


def test_only_the_named_images_are_shown(squares):
    named = ["test/000003.png", "test/000001.png"]
    pictures = Annotation.at(squares, only=named).pictures
    assert [image.item for image in pictures.shown] == sorted(named)
    assert len(pictures.images) == 22
    with pytest.raises(SalgenError, match=r"unknown image of .*'test/00003.png': did you mean"):
        Annotation.at(squares, only=["test/00003.png"])


def test_finishing_one_split_keeps_the_masks_of_the_others(squares):
    pytest.importorskip("krippendorff")
    boxes, masks = {"anna": (3, 2, 12, 9), "ben": (6, 2, 15, 9)}, Annotation.at(squares).masks
    for image in Annotation.at(squares).pictures.images:
        for name, box in boxes.items():
            masks.write(name, image.item, painted(box)[:16, :20])
    annotation = Annotation.at(squares, split="test", merge="majority")
    assert annotation.finish().startswith("22 of 22 images have a mask, by anna, ben. Images with masks of several")
    for split in ("train", "val", "test"):
        for item in open_dataset(annotation.out, split):
            np.testing.assert_array_equal(item["mask"], painted(*boxes.values())[:16, :20])
    agreement = pq.read_table(annotation.work / "agreement.parquet")
    assert len(set(agreement["image"].to_pylist())) == 22


def test_another_data_set_in_the_same_folder_is_refused(squares, tmp_path):
    Annotation.at(squares, tmp_path / "out")
    labels = tmp_path / "out-source" / "labels.csv"
    labels.write_text(labels.read_text().replace(open_dataset(squares).fingerprint, "another"))
    with pytest.raises(SalgenError, match="holds masks of another data set"):
        Annotation.at(squares, tmp_path / "out")


def test_a_folder_without_labels_is_taken_and_may_have_them_later(tmp_path):
    images = write_images(tmp_path / "flat")
    with pytest.warns(SalgenWarning, match="flat has no labels, so each image is called 'object'"):
        annotation = Annotation.at(images, parameters=OF_IMAGES)
    assert {image.label for image in annotation.pictures.shown} == {"object"}
    annotation.masks.write("anna", "a0.png", painted((3, 2, 12, 9)))
    with pytest.warns(SalgenWarning, match="all images have the label 'object'"):
        assert annotation.finish().endswith("flat-annotated --model MODEL")  # none can be trained on one label
    assert sum(bool(item["mask"].any()) for item in open_dataset(annotation.out)) == 1
    Annotation.at(images, labels=write_labels(tmp_path / "labels.csv"), parameters=OF_IMAGES).finish()
    assert len(next(iter(open_dataset(annotation.out).tasks.values()))) > 1


def test_masks_are_kept_whole(tmp_path):
    masks = DrawnMasks(tmp_path)
    masks.write("anna", "cat/a.jpg", painted((3, 2, 12, 9)))
    (tmp_path / "anna" / "cat" / ".a.jpg.png.12-ab.part").write_bytes(b"half")
    again = DrawnMasks(tmp_path)
    assert np.array_equal(again.read("anna", "cat/a.jpg"), painted((3, 2, 12, 9)))
    assert [path.name for path in tmp_path.rglob("*.p*")] == ["a.jpg.png"]
    assert again.annotators == ["anna"]
    assert version_of(None) == "none" != version_of(again.read("anna", "cat/a.jpg"))
    for name in ("", "Anna", "..", "a/b", "-a", "a" * 33, "a\n"):
        with pytest.raises(SalgenError, match="a name has 1 to 32"):
            again.folder_of(name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "nowhere: expected a folder of images here"),
        (["photos", "taken"], "taken holds something else than what was drawn here"),
        (["photos", "--split", "dev"], "unknown split of photos 'dev'"),
        (["photos", "--set", "image_size=8,8"], "image_size = 8: must be at least 16"),
        (["photos", "--finish"], "nothing is drawn yet"),
    ],
)
def test_errors_in_one_line(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    write_images(tmp_path / "photos", ["cat/a.png", "dog/b.png"])
    (tmp_path / "taken").mkdir()
    assert main(["annotate", *arguments]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert error.startswith("error: ")
    assert message in error


def test_finish_by_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_images(tmp_path / "photos", ["cat/a.png", "dog/b.png"])
    Annotation.at("photos").masks.write("anna", "cat/a.png", painted((3, 2, 12, 9)))
    assert main(["annotate", "photos", "--finish", "--set", "shares=0,0,1"]) == 0
    assert "Next: salgen evaluate photos-annotated" in capsys.readouterr().out
    assert open_dataset("photos-annotated").spec.image_size == (224, 224)


def test_a_data_set_stays_where_another_cannot_be_made(tmp_path, monkeypatch):
    write_images(tmp_path / "photos", ["cat/a.png", "dog/b.png"])
    annotation = Annotation.at(tmp_path / "photos", parameters={"shares": (0, 0, 1)})
    annotation.masks.write("anna", "cat/a.png", painted((3, 2, 12, 9)))
    annotation.finish()
    before = contents(annotation.out)

    def refuse(*_args, **_kwargs):
        raise SalgenError("no masks")

    monkeypatch.setattr("salgen.datasets.annotation.annotated_dataset.import_images", refuse)
    with pytest.raises(SalgenError, match="no masks"):
        annotation.finish()
    assert contents(annotation.out) == before
