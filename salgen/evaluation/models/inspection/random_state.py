"""Torch's random numbers by what they are for, without a trace in its global generators."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock

import torch

from salgen.seeding import Stream

_lock = RLock()


@contextmanager
def random_state(*names: str | int) -> Iterator[None]:
    """Draw from a state that depends on `names` alone; afterwards the generators are where they were.

    The generators are torch's for the whole process, so one thread at a time draws from them.
    """
    with _lock, torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        torch.manual_seed(Stream(*names).key())
        yield
