"""Imported once by the process that all others are forked from: what commands import while they work."""

import importlib
from salgen.registry import GENERATORS, METHODS, METRICS, MODELS

MODULES = (
    "lightning_fabric",
    "jinja2",
    "matplotlib.colors",
    "pandas",
    "salgen.cli.main",
    "salgen.datasets.making",
    "salgen.datasets.verification.verify_dataset",
    "salgen.datasets.archives.writing",
    "salgen.datasets.archives.unpacking",
    "salgen.evaluation.runs.running",
    "salgen.evaluation.training.training",
    "salgen.evaluation.report",
)

for name in MODULES:
    importlib.import_module(name)
for registry in (GENERATORS, METHODS, METRICS, MODELS):
    for entry in registry.entries:
        registry.load(entry)
