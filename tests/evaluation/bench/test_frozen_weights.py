"""Weights in half precision."""

import torch
from salgen.datasets.making import make
from salgen.evaluation.bench.worlds import freeze
from salgen.evaluation.training.checkpoints import save_checkpoint
from salgen.evaluation.training.training import train


def test_weights_stay_as_they_are_where_half_precision_changes_a_prediction(tmp_path):
    how = {"splits": {"train": 32, "val": 8, "test": 12}, "parameters": {"image_size": (32, 32)}}
    data = make("perlin-lesions", tmp_path / "data", **how)
    trained = train(data, tmp_path / "model", settings={"widths": (4, 8), "hidden": 8, "epochs": 1})
    weights = trained.classifier.state_dict()
    last = next(name for name in reversed(weights) if name.endswith("bias"))
    weights[last] = torch.tensor([1.0, 1.0 + 1e-4])  # equal in half precision, where the first class wins
    for name, tensor in weights.items():
        if name != last and tensor.is_floating_point():
            tensor.zero_()
    save_checkpoint(trained.path, weights, trained.card)
    before = (trained.path / "weights.safetensors").read_bytes()
    assert not freeze(trained.path, data)
    assert (trained.path / "weights.safetensors").read_bytes() == before
