"""
Quickstart
==========

Make images whose cause is known, train a model on them, and see which saliency methods find the cause.
"""

import tempfile
from pathlib import Path
import matplotlib.pyplot as plt
import salgen

folder = Path(tempfile.mkdtemp())  # or wherever you like

# %%
# Lesions are painted into slices of a brain: half of the images have some, and the model is to tell which.

data = salgen.make(
    "mri-lesions", folder / "lesions", splits={"train": 240, "val": 40, "test": 60}, parameters={"slices": 128}
)
test = salgen.load(data)
test

# %%
# A sample: the image, the exact mask over it, and the twin, which lacks the lesions and is equal everywhere else.

sample = next(item for item in test if item["label"] == 1)
plt.figure(figsize=(6, 2))
plt.imshow(sample.show())
plt.axis("off")
plt.show()

# %%
# ``evaluate`` trains a model, explains it by each method, and scores the maps. Controls that know nothing of the
# model (``random``, ``sobel``) or everything of the mask (``oracle``) are always among the methods. A model is
# trained so that it relies on the lesions alone, and each sample is tested for whether it does.

run = salgen.evaluate(
    data, scale="demo", methods=["gradient", "grad-cam", "lrp-alpha-beta:alpha=1,beta=0"], out=folder / "run"
)
run

# %%
# Which methods are the best, and which are not told apart from them by a test?

best = run.best()
assert "gradient" in best
best

# %%
run.plot("roc-auc")
plt.show()

# %%
# A test of two methods: the mean difference, and its p value corrected for all pairs.

test_of_two = run.compare("gradient", "random")
assert test_of_two.difference > 0
test_of_two.difference, test_of_two.p_holm

# %%
# All scores and means are pandas data frames, and ``run.report()`` writes the page that :doc:`read_a_report`
# explains.

run.summary[["method", "metric", "variant", "mean", "ci_low", "ci_high"]].head()
