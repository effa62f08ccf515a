"""Shards written by the tasks of a Ray: a task is one shard, written straight to the data set's folder."""

from collections.abc import Iterator, Sequence
from functools import lru_cache

from salgen.datasets.execution.executors import Executor
from salgen.datasets.execution.ray_tasks import (
    attempt,
    check_libraries,
    check_shared,
    connected,
    here,
    pack,
    unpack,
    wait_until_seen,
)
from salgen.datasets.execution.worker import Job
from salgen.datasets.format import manifest
from salgen.datasets.format.shards import DATA, Shard, write_shard
from salgen.errors import SalgenError
from salgen.files import remove_temporaries


def write_with_ray(job: Job, shards: Sequence[Shard], executor: Executor) -> Iterator[Shard]:
    """Write shards as tasks of Ray; yields each when it is done, in any order.

    A Ray that this process is connected to already is used and left running.

    Parameters
    ----------
    job, shards
        What to write; the folder must be the same one for all machines.
    executor
        The Ray.
    """
    folder = job[2]
    try:
        with connected(executor) as connection:
            for shard, _ in connection.outcomes(_write, pack(job), shards, lambda shard: shard.path):
                wait_until_seen(folder / shard.path)
                yield shard
    finally:
        remove_temporaries(folder / DATA)  # left by workers that were killed


# In a worker of Ray ---------------------------------------------------------------------------------


def _write(payload: bytes, shard: Shard) -> object:
    """Write a shard; the value is an error, if any."""

    def write() -> None:
        generator, described, folder = _job(payload)
        write_shard(generator, described, shard, folder)

    return attempt(write, shard.path)


@lru_cache(maxsize=1)
def _job(payload: bytes) -> Job:
    """The job, once per process, so that its material is prepared once."""
    job: Job = unpack(payload, "the generator")
    generator, described, folder = job
    check_shared(folder / manifest.FILE)
    check_libraries(described.libraries, manifest.installed_libraries(), "would write other bytes")
    try:
        generator.material  # noqa: B018
    except SalgenError as error:  # the caller could prepare it
        raise ChildProcessError(f"{here()}: {error}") from None
    return job
