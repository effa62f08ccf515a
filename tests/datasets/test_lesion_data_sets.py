import numpy as np
import pytest
from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.verification.verifying import verify
from salgen.registry import GENERATORS


@pytest.mark.parametrize("name", ["perlin-lesions", "mri-lesions"])
@pytest.mark.parametrize("lesion_classes", ["none_vs_two", "one_vs_two"])
def test_made_small_verified_and_read(tmp_path, name, lesion_classes):
    parameters = {**GENERATORS.load(name).quick, "lesion_classes": lesion_classes}
    splits = {"train": 6, "val": 2, "test": 4}
    folder = make(name, tmp_path / "data", splits=splits, parameters=parameters, workers=1)
    assert verify(folder, samples=12) == []
    dataset = open_dataset(folder, "train")
    assert sorted(np.asarray(dataset.column("label")).tolist()) == [0, 0, 0, 1, 1, 1]
    for row in dataset:
        differs = np.zeros_like(row["mask"]) if row["twin"] is None else (row["image"] != row["twin"]).any(axis=0)
        assert not (differs & ~row["mask"]).any()
        assert not (row["mask"] & ~row["regions"]["brain"]).any()
        assert (row["twin"] is None) == (lesion_classes == "none_vs_two" and row["label"] == 0)
