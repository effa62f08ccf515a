"""Values that several methods need: each is computed once, and its time divided among its users."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import torch

T = TypeVar("T")


class TimedCache:
    """A cache of computed values that also keeps account of time.

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
        self._inner = [0.0]  # time spent in cached values that the running computation reads

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of `key`, computed on first use."""
        if key not in self._values:
            self._values[key], self._seconds[key] = self._timed(compute)
        if self._user is not None:
            self._users.setdefault(key, set()).add(self._user)
        value: T = self._values[key]
        return value

    def run(self, user: str, work: Callable[[], T]) -> T:
        """The result of `work`, whose time counts as the user's own."""
        self._user = user
        try:
            result, self._own[user] = self._timed(work)
        finally:
            self._user = None  # work between users counts for no user
        return result

    def seconds(self) -> dict[str, float]:
        """Per user: the time of its own work, and its share of what it had in common with others."""
        shares = {
            user: sum(self._seconds[key] / len(users) for key, users in self._users.items() if user in users)
            for user in self._own
        }
        return {user: own + shares[user] for user, own in self._own.items()}

    def release(self) -> None:
        """Forget the values, calling their own `release` where they have one."""
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
