"""
Which method for my network?
============================

Five images with masks are enough to choose a saliency method for a network, and to say how far it may lie below the
best.
"""

import tempfile
from pathlib import Path
import matplotlib.pyplot as plt
import torch
from torch import nn
import salgen

folder = Path(tempfile.mkdtemp())  # or wherever you like
torch.manual_seed(0)

# %%
# A network of yours: any ``torch.nn.Module`` from images (N, C, H, W) in [0, 1] to logits (N, K). This one learns
# within seconds whether a slice has lesions.

data = salgen.make(
    "perlin-lesions",
    folder / "lesions",
    splits={"train": 320, "val": 40, "test": 40},
    parameters={"image_size": (32, 32), "diameter": 8, "window": "flat", "slices": 64},
)
network = nn.Sequential(
    *(nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
    *(nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
    *(nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveMaxPool2d(1)),
    *(nn.Flatten(), nn.Linear(32, 2)),
)
optimiser = torch.optim.Adam(network.parameters(), 3e-3)
for _ in range(16):
    for images, labels in torch.utils.data.DataLoader(salgen.load(data, "train").to_torch(), 32, shuffle=True):
        optimiser.zero_grad()
        nn.functional.cross_entropy(network(images), labels).backward()
        optimiser.step()

# %%
# Five images, float (N, C, H, W), and what a right map marks in each, bool (N, H, W). For photographs of yours,
# ``salgen annotate`` draws masks in the browser.

marked = salgen.collate([item for item in salgen.load(data) if item["label"] == 1][:5])
images, masks = marked["image"], marked["mask"]

# %%
# Without ``methods``, all that the network takes are tried. The answer says how sure it is. Of this small network it
# also warns: no method is surely better than a map that does not look at the network.

methods = ["gradient", "input-x-gradient", "smoothgrad:n=20", "guided-backprop", "grad-cam", "lrp-z"]
choice = salgen.choose(network.eval(), images, masks, methods=methods)
assert choice.method in methods
assert "ignores the network" in str(choice)
print(choice)

# %%
# The chosen method beside the habit, Grad-CAM, and the worst. ``choice.report()`` writes the same as a page.

choice.plot()
plt.show()

# %%
# What was measured of each method.

choice.table

# %%
# Maps of further images by the chosen method.

maps = choice.explain(salgen.collate(list(salgen.load(data))[:8])["image"])
maps.values.shape
