"""What a method or a metric would take of a network: its passes are counted, and only the first of them run."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
import torch
from torch import Tensor

PROBE_S = 0.3  # seconds of passes that run; the rest are counted at their pace


@dataclass
class Probe:
    """The images that passed the network in some work, or would have, and the seconds of the work with all of them."""

    images: int = 0
    seconds: float = 0.0
    _first: float = 0.0
    _pace: float | None = None
    _last: Tensor = field(default_factory=lambda: torch.zeros(0))

    def passes(self, count: int, work: Callable[[], Tensor]) -> Tensor:
        """The result (count, ...) of `work`, or a stand-in of its shape."""
        at = now()
        if not self.images:
            self._first = at
        elif self._pace is None and at - self._first > PROBE_S:
            self._pace = (at - self._first) / self.images
        self.images += count
        if self._pace is None:
            result = work()
            self._last = result.detach()[:1]
            return result
        self.seconds += count * self._pace
        return self._last.expand(count, *self._last.shape[1:]).clone()


_PROBE: ContextVar[Probe | None] = ContextVar("probe", default=None)


@contextmanager
def probing() -> Iterator[Probe]:
    """Count the passes of the work within, whose results mean nothing, and its time."""
    probe, started = Probe(), now()
    token = _PROBE.set(probe)
    try:
        yield probe
    finally:
        _PROBE.reset(token)
        probe.seconds += now() - started


def counted(count: int, work: Callable[[], Tensor], inputs: Tensor | None = None) -> Tensor:
    """The result (count, ...) of a pass of images; under a probe perhaps a stand-in, differentiable by `inputs`."""
    probe = _PROBE.get()
    if probe is None:
        return work()
    result = probe.passes(count, work)
    return result if inputs is None or result.requires_grad else result + 0 * inputs.flatten(1).sum(1)


def now() -> float:
    """Seconds on a clock, when the work on accelerators is done."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.perf_counter()
