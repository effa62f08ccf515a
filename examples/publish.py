"""
Publish
=======

A data set and a run as archives that others can cite, check and score again.
"""

import tempfile
from pathlib import Path
import salgen

folder = Path(tempfile.mkdtemp())  # or wherever you like

data = salgen.make(
    "perlin-lesions",
    folder / "lesions",
    splits={"train": 320, "val": 20, "test": 20},
    parameters={"image_size": (32, 32), "diameter": 8, "window": "flat", "slices": 64},
)
run = salgen.evaluate(
    data, methods=["gradient"], metrics=["roc-auc"], scale="demo", reliance=False, keep_maps=True, out=folder / "run"
)

# %%
# You state the license; it is never guessed. The same data set, published with the same statements, gives the same
# bytes.

archive = salgen.publish(data, folder / "lesions-v1.tar", license="CC-BY-4.0", date="2026-01-31")
again = salgen.publish(data, folder / "again.tar", license="CC-BY-4.0", date="2026-01-31")
assert archive.read_bytes() == again.read_bytes()

# %%
# Whoever has the archive can check it, to the last byte, and sample by sample: some are rendered again from their
# recipes.

assert salgen.verify(archive) == []
folder_of_another = salgen.unpack(archive, folder / "there")
salgen.load(folder_of_another)

# %%
# A run that kept its maps can be scored under other metrics by others, who need neither the model nor a GPU for it.

published = salgen.publish(run, folder / "run-v1.tar", license="CC-BY-4.0", date="2026-01-31")
assert salgen.verify(published) == []
rescored = salgen.rescore(published, metrics=["iou", "roc-auc"], out=folder / "rescored")
assert rescored.means.loc["gradient", "roc-auc"] == run.means.loc["gradient", "roc-auc"]
rescored

# %%
# Drafts on Zenodo and repositories on Hugging Face: see :doc:`/publishing`.
