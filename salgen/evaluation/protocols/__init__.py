"""Protocols: the experiments of the papers, each as one command."""
