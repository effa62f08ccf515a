"""Values that several methods need: each is computed once, and its time divided among those who asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import torch

T = TypeVar("T")


class TimedCache:
    """A memory of computed values that also keeps the accounts of time.

    Parameters
    ----------
    device
        Where the work is done; a CUDA device is waited for before a clock is read.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._values: dict[Hashable, Any] = {}
        self._seconds: dict[Hashable, float] = {}
        self._users: dict[Hashable, set[str]] = {}
        self._own: dict[str, float] = {}
        self._user: str | None = None
        self._inner = [0.0]  # time spent in the values that the running computation asked for

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of `key`, computed if nobody has asked for it yet."""
        if key not in self._values:
            self._values[key], self._seconds[key] = self._timed(compute)
        if self._user is not None:
            self._users.setdefault(key, set()).add(self._user)
        value: T = self._values[key]
        return value

    def run(self, user: str, work: Callable[[], T]) -> T:
        """The result of a user's own work, whose time is the user's."""
        self._user = user
        try:
            result, self._own[user] = self._timed(work)
        finally:
            self._user = None  # what is asked between users is at nobody's expense
        return result

    def seconds(self) -> dict[str, float]:
        """Per user: the time of its own work, and its share of what it had in common with others."""
        shares = {
            user: sum(self._seconds[key] / len(users) for key, users in self._users.items() if user in users)
            for user in self._own
        }
        return {user: own + shares[user] for user, own in self._own.items()}

    def release(self) -> None:
        """Forget the values; those that hold on to tensors let go of them."""
        for value in self._values.values():
            if callable(getattr(value, "release", None)):
                value.release()
        self._values.clear()

    def _timed(self, work: Callable[[], T]) -> tuple[T, float]:
        self._inner.append(0.0)
        started = self._now()
        try:
            result = work()
        finally:
            elapsed = self._now() - started
            inner = self._inner.pop()
            self._inner[-1] += elapsed
        return result, elapsed - inner

    def _now(self) -> float:
        if self._device.type == "cuda":
            torch.cuda.synchronize(self._device)
        return time.perf_counter()
