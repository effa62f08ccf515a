"""The protocol of Aabid and Sicre: its tables on a tiny copy of pets."""

from dataclasses import dataclass
import numpy as np
import pytest
from marked_trees import write_benchmark
from salgen.evaluation.protocols.aabid_sicre import FINE_TUNING, METHODS, TABLE_1, TWELVE, AabidSicre
from salgen.evaluation.training.training_settings import choose_settings


@dataclass(frozen=True)
class Quick(AabidSicre):
    """A small network that is hardly trained, on images of which its last layer has 2x2."""

    def datasets(self):
        return {name: {**how, "parameters": {"image_size": (64, 64)}} for name, how in super().datasets().items()}

    def settings(self, dataset, model, scale):
        return {"epochs": 1, "width": 0.125}


def test_there_are_the_papers_twelve_metrics_and_settings():
    """A mean Dice is never below the mean intersection over union of the same marks."""
    calls = {row.metric.partition(":")[0] for table in (TABLE_1, TWELVE) for row in table.rows}
    of_boxes_and_masks = {"official-localization-error", "mask-localization-error", "f1-mask", "soft-f1"}
    assert len(calls - of_boxes_and_masks) == 12
    printed = {row.label: float(row.printed[0]) for row in TABLE_1.rows}
    assert printed["F1"] < 1 - printed["LE"]
    assert printed["MF1"] < 1 - printed["MLE"]
    assert AabidSicre().settings("pet-xai", "resnet50", "full") == {**FINE_TUNING, "weights": "imagenet"}
    choose_settings("resnet50", "full", AabidSicre().settings("pet-xai", "resnet50", "full"))
    assert AabidSicre().settings("pet-xai", "resnet18", "demo") is None


def test_own_pets_fill_the_tables(tmp_path, monkeypatch):
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))
    pets = write_benchmark(tmp_path / "pets", ("a", "b"), 20)
    found = Quick(pets=str(pets)).run(tmp_path / "out", "demo")
    first, twelve = ({row.label: row.means for row in table.rows} for table in found.tables)
    assert [table.methods for table in found.tables] == [METHODS, METHODS]
    with_energy = [method for method in METHODS if np.isfinite(first["EPG"][method])]
    assert "all-ones" in with_energy
    assert all(first["EPG"][method] >= first["MEPG"][method] for method in with_energy)  # the box holds the mask
    for method in METHODS:
        assert first["LE"][method] <= twelve["LE"][method]  # without what is marked wrongly
        assert first["MLE"][method] <= twelve["MLE"][method]
        assert twelve["LE"][method] <= twelve["LE, wrong where the class is (official)"][method]
    assert first["LE"]["grad-cam"] == pytest.approx(first["LE"]["cam"])
    assert found.tables[0].rows[0].printed == {"grad-cam": ".45"}
