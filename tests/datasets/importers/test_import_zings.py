import shutil
import numpy as np
import pytest
from PIL import Image
from salgen.errors import SalgenError
from salgen.generators.factory import generator
from salgen.testing import check_importer

COUNTS = {"heroes": 7, "villains": 5}
SIZE = (20, 28)


@pytest.fixture
def copy(tmp_path):
    """A whole copy."""
    root = tmp_path / "copy"
    for number, (folder, count) in enumerate(COUNTS.items()):
        (root / folder).mkdir(parents=True)
        (root / "masks" / folder).mkdir(parents=True)
        for index in range(count):
            picture = np.random.default_rng(100 * number + index).integers(0, 256, (*SIZE, 3), dtype=np.uint8)
            mask = np.zeros(SIZE, dtype=np.uint8)
            mask[4:9, 5:10] = mask[4:9, 15:20] = 1 + index
            Image.fromarray(picture).save(root / folder / f"z{index}.png")
            Image.fromarray(mask).save(root / "masks" / folder / f"z{index}.png")
    return root


def imported(path, size=SIZE, **parameters):
    return generator("zings", source=str(path), image_size=size, **parameters)


def test_pictures_and_masks_of_both_classes(copy):
    check_importer("zings", str(copy))
    made = imported(copy)
    assert made.plugin.tasks == {"label": ("hero", "villain")}
    assert made.available == {"train": 8, "val": 2, "test": 2}
    for split, count in made.available.items():
        for index in range(count):
            sample = made.sample(0, split, index)
            item = sample.recipe.parameters["item"]
            np.testing.assert_array_equal(sample.image, np.asarray(Image.open(copy / item)))
            np.testing.assert_array_equal(sample.regions["eyes"], np.asarray(Image.open(copy / "masks" / item)) > 0)
            assert sample.labels["label"] == ["heroes", "villains"].index(item.partition("/")[0])
    assert imported(copy, classes="villains").plugin.tasks == {"label": ("villain",)}


@pytest.mark.parametrize("inside", ["zings", "zings/zings"])
def test_a_folder_that_holds_the_copy_will_do(copy, tmp_path, inside):
    doubled = tmp_path / "outer" / inside
    doubled.parent.mkdir(parents=True)
    shutil.copytree(copy, doubled)
    assert imported(tmp_path / "outer").source.digest == imported(copy).source.digest


@pytest.mark.parametrize("missing", ["heroes", "villains", "masks/heroes", "masks/villains"])
def test_a_missing_folder(copy, missing):
    shutil.rmtree(copy / missing)
    with pytest.raises(SalgenError, match=rf"^{copy / missing} is missing: a folder is expected there"):
        imported(copy)
