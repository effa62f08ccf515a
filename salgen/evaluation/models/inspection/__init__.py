"""Inspection of a network: its structure, layers, memory and randomised copies."""
