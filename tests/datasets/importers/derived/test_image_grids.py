import numpy as np
import pytest
import salgen
from salgen.datasets.importers.derived.image_grids import ImageGrids
from salgen.errors import SalgenError
from salgen.evaluation.verification.verifying import verify
from salgen.generators.factory import generator
from salgen.testing import check_generator

SIZE = (27, 36)
SPLITS = {"train": 12, "val": 2, "test": 13}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """Images of four colours, one of which the last sample of `test` shows alone."""
    out = tmp_path_factory.mktemp("grids") / "base"
    return salgen.make("coloured-cells", out, splits=SPLITS, parameters={"image_size": SIZE, "classes": 4})


def samples(made):
    return [made.sample(3, "test", index) for index in range(SPLITS["test"])]


def parts(image, cells):
    """The cells of an image, row by row."""
    height, width = SIZE
    assert image.shape[:2] == (cells * height, cells * width)
    corners = [(row * height, column * width) for row in range(cells) for column in range(cells)]
    return [image[top : top + height, left : left + width] for top, left in corners]


def number_of(picture, images):
    """The place of a picture among images (N, C, H, W)."""
    (place,) = [k for k, image in enumerate(images) if np.array_equal(image.transpose(1, 2, 0), picture)]
    return place


@pytest.mark.parametrize(("cells", "setting"), [(2, "disconnected"), (3, "disconnected"), (2, "gridpg")])
def test_a_grid_shows_its_target_among_others(base, cells, setting):
    made = generator("image-grids", str(base), cells=cells, setting=setting)
    dataset = salgen.load(base)
    images, labels = dataset.images(), dataset.column("label")
    targets = []
    for sample in samples(made):
        numbers = [number_of(part, images) for part in parts(sample.image, cells)]
        masks = [part.all() for part in parts(sample.regions["cell"], cells)]
        assert sample.regions["cell"].sum() == np.prod(SIZE)
        (cell,) = np.flatnonzero(masks)
        targets.append(numbers[cell])
        classes = labels[numbers]
        same = [k for k in np.flatnonzero(classes == classes[cell]) if k != cell]
        if setting == "gridpg":
            assert sample.labels == {"label": classes[cell]}
            assert sample.present == {"label": tuple(sorted(classes))}
            assert len(set(classes)) == cells**2
            assert not sample.regions["copy"].any()
        else:
            assert sample.labels == {"label": cell * 4 + classes[cell]}
            assert sample.present == {"label": tuple(k * 4 + label for k, label in enumerate(classes))}
            (copy,) = np.flatnonzero([part.all() for part in parts(sample.regions["copy"], cells)])
            assert copy in same
            assert numbers[copy] != numbers[cell]
            assert len(same) == 1 or cells == 3  # four classes fill nine cells
        twin = number_of(parts(made.twin(sample.recipe).image, cells)[cell], images)
        assert labels[twin] != classes[cell]
    assert sorted(targets) == list(range(SPLITS["test"]))


def test_targets_lie_in_all_cells_and_clusters_are_those_of_their_images(base, tmp_path):
    grids = salgen.make("image-grids", tmp_path / "grids", source=str(base), splits=SPLITS)
    opened, own = salgen.load(grids), salgen.load(base)
    assert set(opened.column("target")) == {0.0, 1.0, 2.0, 3.0}
    assert sorted(opened.clusters) == sorted(own.clusters)
    first = *(f"{name} at 1,1" for name in ("orange", "green", "violet", "yellow")), "orange at 1,2"
    assert opened.tasks["label"][:5] == first
    assert not verify(grids, source=str(base))


@pytest.mark.parametrize("setting", ["disconnected", "gridpg"])
def test_it_keeps_the_laws_of_generators(base, monkeypatch, setting):
    monkeypatch.setattr(ImageGrids, "quick", {"setting": setting})
    check_generator("image-grids", str(base))


def test_what_cannot_be_put_into_grids_is_refused(base, tmp_path):
    with pytest.raises(SalgenError, match="give --set source=DATA"):
        generator("image-grids")
    with pytest.raises(SalgenError, match="has 4 classes, and 3x3 cells of different ones need 9"):
        generator("image-grids", str(base), cells=3, setting="gridpg")
    quick = {"parameters": {"image_size": (32, 32), "pictures": 10}}
    several = salgen.make("multi-objects", tmp_path / "several", splits={"train": 1, "val": 1, "test": 1}, **quick)
    with pytest.raises(SalgenError, match="show several classes"):
        generator("image-grids", str(several))
    with pytest.raises(SalgenError, match="test = 14: data set coloured-cells has only 13"):
        salgen.make("image-grids", tmp_path / "grids", source=str(base), splits={"test": 14})
