"""
My model
========

A network of yours, trained by you, and what the methods say about it.
"""

import tempfile
from pathlib import Path
import matplotlib.pyplot as plt
import numpy as np
import torch
from torch import nn
import salgen

folder = Path(tempfile.mkdtemp())  # or wherever you like
torch.manual_seed(0)

data = salgen.make(
    "perlin-lesions",
    folder / "lesions",
    splits={"train": 320, "val": 40, "test": 40},
    parameters={"image_size": (32, 32), "diameter": 8, "window": "flat", "slices": 64},
)

# %%
# Any ``torch.nn.Module`` from images (N, C, H, W) in [0, 1] to logits (N, K) will do. This one is trained in plain
# PyTorch: ``to_torch()`` gives pairs of an image and a label.

network = nn.Sequential(
    *(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
    *(nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
    *(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(1)),
    *(nn.Flatten(), nn.Linear(32, 2)),
)
loader = torch.utils.data.DataLoader(salgen.load(data, "train").to_torch(), batch_size=32, shuffle=True)
optimiser = torch.optim.Adam(network.parameters(), 3e-3)
for _ in range(8):
    for images, labels in loader:
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(images), labels).backward()
        optimiser.step()

# %%
# ``explain`` gives the maps of a batch by one method, float32 (N, H, W). Images above, maps below:

test = next(test for test in torch.utils.data.DataLoader(salgen.load(data), 8, collate_fn=salgen.collate))
maps = salgen.explain(network, test["image"], test["label"], method="gradient")
plt.figure(figsize=(6, 2))
plt.imshow(np.vstack([np.hstack(test["image"][:, 0]), np.hstack(maps.values / maps.values.max())]), cmap="gray")
plt.axis("off")
plt.show()

# %%
# ``evaluate`` copies the network and leaves it as it is. Normalisation, other outputs than the data set's classes, and
# networks of Hugging Face, torchvision and timm: see :doc:`/own_models`.

run = salgen.evaluate(
    data, model=network, methods=["gradient", "grad-cam", "integrated-gradients"], scale="demo", out=folder / "run"
)
assert (run.predictions["label"] == run.predictions["predicted"]).mean() > 0.75
run
