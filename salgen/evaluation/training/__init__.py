"""Training of classifiers, its settings, and checkpoints."""
