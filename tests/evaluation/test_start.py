"""What a start imports: large libraries wait until they are needed."""

import subprocess
import sys

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


def test_large_libraries_are_not_imported_for_methods_that_do_not_need_them():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True, text=True)
    assert done.stdout.split() == []
