"""A Ray of two nodes on this machine, for the tests of what runs on a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager

NODE = {"num_cpus": 1, "num_gpus": 0, "object_store_memory": 80 * 2**20}


@contextmanager
def two_nodes() -> Iterator[str]:
    """Its address; each node has a processor. This process is not connected to it."""
    from ray.cluster_utils import Cluster

    started = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
    try:
        started.add_node(**NODE)
        yield started.address
    finally:
        started.shutdown()
