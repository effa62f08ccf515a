import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader
from salgen.datasets.reading import pictures
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError


@pytest.fixture
def dataset(folder):
    return open_dataset(folder, "train")


def test_a_sample_is_shown_as_image_mask_and_twin(dataset, monkeypatch):
    monkeypatch.setattr(pictures, "PANEL", 1)
    index = int(np.flatnonzero(dataset.column("label"))[0])
    item = dataset[index]
    picture = np.asarray(item.show())
    height, width = item["mask"].shape
    assert picture.shape == (height, 3 * width, 3)
    image, over, twin = (picture[:, start : start + width] for start in range(0, 3 * width, width))
    np.testing.assert_array_equal(image[..., 0], np.round(255 * item["image"][0]))
    np.testing.assert_array_equal(twin[..., 0], np.round(255 * item["twin"][0]))
    np.testing.assert_array_equal((over != image).any(axis=2), item["mask"])
    without = next(dataset[i] for i in range(len(dataset)) if dataset[i]["twin"] is None)
    assert without.show().size == (2 * width, height)


def test_a_loader_takes_the_pairs(dataset):
    images, labels = next(iter(DataLoader(dataset.to_torch(), batch_size=len(dataset))))
    assert images.dtype == torch.float32
    np.testing.assert_array_equal(images.numpy(), np.stack([dataset[i]["image"] for i in range(len(dataset))]))
    assert labels.tolist() == list(dataset.column("label"))
    assert len(list(dataset.to_torch("label"))) == len(dataset)
    with pytest.raises(SalgenError, match="unknown task"):
        dataset.to_torch("species")
