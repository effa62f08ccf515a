"""
Read a report
=============

What the page of a run says, in the order in which to read it, and where the same stands in Python.
"""

import tempfile
from pathlib import Path
import matplotlib.pyplot as plt
import salgen

folder = Path(tempfile.mkdtemp())  # or wherever you like

data = salgen.make(
    "mri-lesions",
    folder / "lesions",
    splits={"train": 400, "val": 40, "test": 60},
    parameters={"image_size": (48, 48), "slices": 128},
)
run = salgen.evaluate(
    data, scale="demo", methods=["gradient", "grad-cam", "smoothgrad", "occlusion"], out=folder / "run"
)
page = run.report()
assert page.read_text(encoding="utf-8").startswith("<!doctype html>")

# %%
# ``report.html`` is one file that opens offline. Its first screen holds the answer, a few pictures and the means;
# all other sections unfold.
#
# **1. Has the model learnt the task?** A map of a model that guesses explains nothing. The page begins with a warning
# then. The test accuracy stands below the answer.

(run.predictions["label"] == run.predictions["predicted"]).mean()

# %%
# **2. Does it rely on the feature?** Only then is a map that misses the mask wrong. Each sample is rendered again on
# other backgrounds, with and without the feature; it is certified if the feature moves the model's score and the
# background does not. Where fewer than half of the samples are certified, no method is called the best. See
# :doc:`/reliance`.

run.certificates["certified"].mean()

# %%
# **3. Which methods are the best?** The one with the best mean under the headline metric, and those that no test
# tells apart from it.

run.best()

# %%
# **4. Are they better than nothing?** Means stand between floors, which know nothing of the model (``random``,
# ``center``, ``sobel``, ``untrained``), and ceilings, which know the mask (``oracle``). A method that does not beat
# ``sobel`` is no better than an edge filter.

run.plot()
plt.show()

# %%
# **5. How sure is that?** Intervals are about clusters of images, and tests of all pairs are corrected by Holm's
# procedure. With few images most pairs are undecided. See :doc:`/statistics`.

run.comparisons[["method_a", "method_b", "difference", "p_value", "p_holm"]].head()

# %%
# **6. What was undefined?** A score that cannot be computed has a reason, and is counted. The column
# ``value_worst_case`` gives a map that failed the worst value, so that no method gains by failing. :doc:`/columns`
# describes all files.

run.scores["reason"].value_counts()
