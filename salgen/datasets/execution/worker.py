"""A worker process: reads what to do from standard input, answers on standard output.

It is a plain interpreter, so a script needs no ``if __name__ == "__main__"``, and plug-ins may print what they like.
"""

import os
import pickle
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, BinaryIO
from salgen.datasets.execution import ray_tasks
from salgen.errors import SalgenError

Work = Callable[[Any], Any]  # what is done with each task; both are pickled


def main() -> None:
    """Serve until standard input ends, which it does when the parent is done or dead."""
    commands = os.fdopen(os.dup(sys.stdin.fileno()), "rb")  # a forked child closes sys.stdin, which must be free
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a plug-in prints must not mix with the answers
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # an exception, so that temporary files are removed
    with suppress(BrokenPipeError, EOFError, SystemExit):
        _serve(commands, answers)
    os._exit(0)  # the thread that listens would hold up an ordinary exit


def _serve(commands: BinaryIO, answers: BinaryIO) -> None:
    work = _receive(commands)
    orders: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_listen, args=(commands, orders), daemon=True).start()
    while (task := orders.get()) is not None:
        known = work if isinstance(work, ray_tasks.Fault) else ray_tasks.attempt(partial(work, task), str(task))
        pickle.dump(known, answers)
        answers.flush()


def _receive(commands: BinaryIO) -> Work | ray_tasks.Fault:
    received = pickle.load(commands)  # bytes first: what cannot be loaded is taken whole
    try:
        work: Work = pickle.loads(received)
        return work
    except Exception as error:  # a plug-in that this process cannot import
        return ray_tasks.Fault(
            SalgenError(
                f"a worker process cannot load its work ({type(error).__name__}: {error}): "
                "put plug-ins into modules that can be imported, or use one worker"
            )
        )


def _listen(commands: BinaryIO, orders: SimpleQueue[Any]) -> None:
    try:
        while True:
            orders.put(pickle.load(commands))
    except EOFError:
        orders.put(None)
        os.kill(os.getpid(), signal.SIGTERM)  # do not finish what nobody waits for


if __name__ == "__main__":
    main()
