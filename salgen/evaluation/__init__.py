"""Evaluation: models, training, saliency methods, metrics, the runner, statistics and the report."""
