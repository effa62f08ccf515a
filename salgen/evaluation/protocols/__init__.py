"""Protocols: the experiments of the papers, each as one command.

A file per paper states what was done, the tables and the claims; `protocol` runs it, `paper_table` fills the tables in
again, and `claims` judges the claims.
"""
