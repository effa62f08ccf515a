"""Execution of shards: in this process, in a pool, or on Ray."""
