"""Sweeps: a generator's parameter as a dose, and how weak a cause the model and each method still find."""
