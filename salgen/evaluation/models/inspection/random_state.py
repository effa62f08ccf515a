"""Torch's random numbers by what they are for, without a trace in its global generators."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import RLock
import torch
from salgen.seeding import Stream

_lock = RLock()


@contextmanager
def random_state(*names: str | int) -> Iterator[None]:
    """Draw, one thread at a time, from a state that depends on `names` alone; global generators stay as they are."""
    with _lock, torch.random.fork_rng(devices=range(torch.cuda.device_count())):
        seed = Stream(*names).key()
        torch.default_generator.manual_seed(seed)  # `torch.manual_seed` takes a hundred times as long
        if torch.cuda.is_available():
            torch.cuda.manual_seed_all(seed)
        yield
