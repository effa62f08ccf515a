"""salgen-bench: a frozen benchmark of saliency methods, and its results."""
