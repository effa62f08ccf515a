"""
My data
=======

Your own images with masks as a data set, and the methods on it.
"""

import tempfile
from pathlib import Path
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
import salgen

folder = Path(tempfile.mkdtemp())  # or wherever you like

# %%
# Stand-ins for your images: a red or a blue disc on noise, as ``images/red/000.png`` and so on. A mask picture has
# the image's name and is not black where the object is. COCO, YOLO, boxes in a table and datasets of torch are read
# as well: see :doc:`/own_images`.

random = np.random.default_rng(0)
rows, columns = np.mgrid[:32, :32]
for number in range(200):
    label = ("red", "blue")[number % 2]
    row, column = random.integers(8, 24, 2)
    disc = (rows - row) ** 2 + (columns - column) ** 2 < 36
    image = random.integers(0, 200, (32, 32, 3), dtype=np.uint8)
    image[disc, 0 if label == "red" else 2] = 255
    for kind, picture in (("images", image), ("masks", disc)):
        path = folder / kind / label / f"{number:03d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(picture).save(path)

# %%
# The folders ``red`` and ``blue`` are the classes. A fifth of each class is for test, unless you say otherwise.

data = salgen.import_images(
    folder / "images", folder / "discs", masks=folder / "masks", parameters={"image_size": (32, 32)}
)
test = salgen.load(data)
assert len(test) == 40
test

# %%
# Look at it: are the masks where they should be?

plt.figure(figsize=(6, 3))
plt.imshow(test[0].show())
plt.axis("off")
plt.show()

# %%
# From here on it is a data set like any other, but without twins: nobody can render your photographs again without
# the object. So it is not known whether the model relies on it, and no sample is certified.

run = salgen.evaluate(
    data,
    model="scnn",
    methods=["gradient", "grad-cam", "integrated-gradients"],
    scale="demo",
    reliance=False,
    out=folder / "run",
)
run

# %%
run.plot()
plt.show()
