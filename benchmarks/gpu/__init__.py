"""The campaign on a GPU, in parts of a few minutes: ``python -m benchmarks.gpu``."""
