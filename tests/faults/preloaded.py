"""Imported once by the process that all others are forked from: what commands import while they work."""

import importlib

from salgen.registry import GENERATORS, METHODS, METRICS, MODELS

MODULES = (
    "lightning_fabric",
    "jinja2",
    "pandas",
    "salgen.cli.main",
    "salgen.datasets.making",
    "salgen.datasets.verifying",
    "salgen.datasets.archives.writing",
    "salgen.datasets.archives.unpacking",
    "salgen.evaluation.running",
    "salgen.evaluation.training",
    "salgen.evaluation.report",
)

for name in MODULES:
    importlib.import_module(name)
for registry in (GENERATORS, METHODS, METRICS, MODELS):
    for entry in registry.entries:
        registry.load(entry)
