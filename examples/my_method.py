"""
My method
=========

A saliency method of yours among those of others.
"""

import tempfile
from pathlib import Path
import matplotlib.pyplot as plt
import torch
import salgen

folder = Path(tempfile.mkdtemp())  # or wherever you like

data = salgen.make(
    "perlin-lesions",
    folder / "lesions",
    splits={"train": 160, "val": 40, "test": 40},
    parameters={"image_size": (32, 32), "diameter": 8, "window": "flat", "slices": 64},
)
trained = salgen.train(data, folder / "model", scale="demo")

# %%
# The method: a function of the network, the images (N, C, H, W) and the explained classes (N,).


def mine(model, inputs, targets):
    """Gradient times input, smoothed."""
    inputs = inputs.clone().requires_grad_()
    model(inputs).gather(1, targets[:, None]).sum().backward()
    return torch.nn.functional.avg_pool2d((inputs * inputs.grad).sum(dim=1), 3, stride=1, padding=1)


# %%
# It stands in the tables by its name. Classes and objects of captum, pytorch-grad-cam and zennit are taken in the same
# way: see :doc:`/own_methods`.

run = salgen.evaluate(
    data,
    model=trained.path,
    methods={
        "mine": mine,
        "saliency of captum": "captum.attr:Saliency",
        **{name: name for name in ("gradient", "smoothgrad")},
    },
    scale="demo",
    out=folder / "run",
)
assert "mine" in run.means.index
run.plot()
plt.show()

# %%
# Is it better than the gradient? The difference is that of means under the headline metric, and p is corrected for
# all pairs of methods.

test_of_two = run.compare("mine", "gradient")
test_of_two.metric, test_of_two.difference, test_of_two.p_holm

# %%
# Maps that another tool wrote into files are a method too: see :doc:`/maps`. A method that is to be offered to
# others under a name is a plug-in of a dozen lines: see :doc:`/extending`.
