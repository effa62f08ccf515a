"""A worker process: reads shards to write from standard input, answers on standard output.

It is a plain interpreter, so a script needs no ``if __name__ == "__main__"``, and plug-ins may print what they like.
"""

import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import BinaryIO
from salgen.datasets.execution import ray_tasks
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.shards import Shard, write_shard
from salgen.errors import SalgenError
from salgen.generators.generator import Generator

Job = tuple[Generator, Manifest, Path]


def main() -> None:
    """Serve until standard input ends, which it does when the parent is done or dead."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a plug-in prints must not mix with the answers
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # an exception, so that temporary files are removed
    with suppress(BrokenPipeError, EOFError, SystemExit):
        _serve(sys.stdin.buffer, answers)
    os._exit(0)  # the thread that listens would hold up an ordinary exit


def _serve(commands: BinaryIO, answers: BinaryIO) -> None:
    job = _receive(commands)
    orders: SimpleQueue[Shard | None] = SimpleQueue()
    threading.Thread(target=_listen, args=(commands, orders), daemon=True).start()
    while (shard := orders.get()) is not None:
        pickle.dump(job if isinstance(job, ray_tasks.Fault) else _written(job, shard), answers)
        answers.flush()


def _receive(commands: BinaryIO) -> Job | ray_tasks.Fault:
    try:
        job: Job = pickle.load(commands)
    except EOFError:
        raise
    except Exception as error:  # a plug-in that this process cannot import
        fault = SalgenError(
            f"a worker process cannot load the generator ({type(error).__name__}: {error}): "
            "put it into a module that can be imported, or use one worker"
        )
        return ray_tasks.Fault(fault)
    return job


def _listen(commands: BinaryIO, orders: SimpleQueue[Shard | None]) -> None:
    try:
        while True:
            orders.put(pickle.load(commands))
    except EOFError:
        orders.put(None)
        os.kill(os.getpid(), signal.SIGTERM)  # do not finish a shard that nobody waits for


def _written(job: Job, shard: Shard) -> object:
    generator, described, folder = job
    return ray_tasks.attempt(lambda: write_shard(generator, described, shard, folder), shard.path)


if __name__ == "__main__":
    main()
