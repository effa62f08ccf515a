"""Relevance propagation: operations of a network, their rules, and the bounds of the input."""
