"""The photographs that come with salgen."""

import pytest
from PIL import Image
import salgen
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError


@pytest.fixture(scope="module")
def photographs(tmp_path_factory):
    return salgen.sample_photographs(tmp_path_factory.mktemp("sample") / "photographs")


def test_they_are_imported_as_they_are(photographs, tmp_path):
    made = open_dataset(salgen.import_images(photographs, tmp_path / "made", parameters={"shares": (0, 0, 1)}), "test")
    assert sorted(made.tasks["label"]) == ["espresso", "projectile", "tiger cat", "tripod", "wall clock"]
    assert len(made) == 5
    assert all(0.01 < sample["mask"].mean() < 0.8 for sample in made)


POINTS = {  # (x, y) in the object and outside of it
    "chelsea": ((170, 110), (430, 100)),  # an eye
    "coffee": ((290, 150), (120, 350)),
    "rocket": ((322, 300), (200, 300)),
    "camera": ((293, 400), (100, 300)),
    "clock": ((212, 154), (50, 50)),
}


@pytest.mark.parametrize("name", POINTS)
def test_masks_mark_the_object(photographs, name):
    mask, image = (Image.open(photographs / folder / f"{name}.png") for folder in ("masks", "images"))
    assert image.size == mask.size
    assert [mask.getpixel(point) for point in POINTS[name]] == [255, 0]


def test_a_folder_that_holds_something_is_refused(photographs):
    with pytest.raises(SalgenError, match="is not empty: give a new folder"):
        salgen.sample_photographs(photographs)
