"""`salgen import`, as the documentation writes it."""

from own_image_files import write_boxes, write_images, write_labels, write_masks
from salgen.cli.main import main
from salgen.datasets.reading.reader import open_dataset


def test_images_masks_and_labels_in_one_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_images(tmp_path / "images")
    write_masks(tmp_path / "masks")
    write_labels(tmp_path / "labels.csv")
    assert main(["import", "images/", "--masks", "masks/", "--labels", "labels.csv", "--set", "image_size=16,24"]) == 0
    assert "images-salgen: look at it with  salgen show images-salgen" in capsys.readouterr().out
    assert open_dataset(tmp_path / "images-salgen", "train").spec.image_size == (16, 24)
    assert main(["import", ".", "all", "--set", "image_size=16,24"]) == 0
    same = [(tmp_path / name / "SHA256SUMS").read_bytes() for name in ("images-salgen", "all")]
    assert same[0] == same[1]


def test_several_annotators_and_an_error_in_one_line(tmp_path, capsys):
    images, boxes = write_images(tmp_path / "images"), write_boxes(tmp_path / "boxes.csv")
    masks = write_masks(tmp_path / "masks")
    arguments = ["import", str(images), str(tmp_path / "out"), "--masks", str(boxes), "--masks", str(masks)]
    assert main([*arguments, "--set", "shares=0,0,1"]) == 0
    assert open_dataset(tmp_path / "out")[0]["alternative_masks"].shape == (1, 224, 224)
    capsys.readouterr()
    assert main(["import", str(images), "--masks", str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path / 'nowhere'}: expected the masks or annotations here")
