"""What a start imports: large libraries wait until they are needed."""

import subprocess
import sys
import pytest

CODE = """
import sys
import torch.utils.checkpoint

of_torch = set(sys.modules)  # sympy, by torch 2.6
import salgen
from salgen.evaluation.runs import running
from salgen.registry import METHODS

for name in METHODS.names():
    METHODS.load(name)
network = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(72, 2))
salgen.explain(network, torch.rand(2, 1, 8, 8), torch.tensor([0, 1]), method=["gradient", "grad-cam", "rise:n=4"])
large = {"zennit", "torchvision", "torch._dynamo", "sympy", "captum", "sklearn", "matplotlib", "scipy.stats", "pandas"}
large |= {"jinja2", "salgen.evaluation.report.page"}
print(*sorted(large & set(sys.modules) - of_torch))
"""


WITHOUT_TORCH = {
    "models": """
from salgen.registry import MODELS
for name in MODELS.names():
    MODELS.load(name)
large |= {"torchvision", "safetensors", "numpy"}
""",
    "settings": """
from salgen.evaluation.training.training_settings import choose_settings
choose_settings("lesion-cnn", "small")
""",
    "metrics": """
import numpy as np, salgen
from salgen.registry import METRICS
for name in METRICS.names():
    METRICS.load(name)
salgen.score(np.ones((1, 2, 2)), np.eye(2, dtype=bool)[None], "all")
""",
}
TORCH = "import sys\nlarge = {{'torch'}}\n{}\nprint(*sorted(large & set(sys.modules)))"


@pytest.mark.parametrize("code", [CODE, *map(TORCH.format, WITHOUT_TORCH.values())], ids=["methods", *WITHOUT_TORCH])
def test_large_libraries_are_not_imported_where_they_are_not_needed(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.split() == []
