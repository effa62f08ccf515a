"""Asking a server again, as long as the fault may pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from salgen.errors import SalgenError

BACKOFF_S = (1.0, 2.0, 4.0, 8.0)  # between five tries
LONGEST_WAIT_S = 3600.0

T = TypeVar("T")


class PassingError(Exception):
    """A fault that may be gone at the next try, and how many seconds the server asks to wait for that."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


def insist(attempt: Callable[[], T], sleep: Callable[[float], None]) -> T:
    """Try, and try again while the fault may pass.

    Parameters
    ----------
    attempt
        One try. It raises :class:`PassingError` where another may go better.
    sleep
        Waits between two tries.

    Raises
    ------
    SalgenError
        After the last try, or if the server asks for a wait that is too long.
    """
    for wait in (*BACKOFF_S, None):
        try:
            return attempt()
        except PassingError as fault:
            if wait is None or (fault.wait or 0) > LONGEST_WAIT_S:
                asked = f"; it asks to wait {fault.wait:.0f} s" if fault.wait else ""
                raise SalgenError(f"{fault}{asked}: run the same command again later") from None
            sleep(wait if fault.wait is None else fault.wait)
    raise AssertionError("the last try returns or raises")


def asked_wait(header: str | None) -> float | None:
    """The seconds of a Retry-After header, which may be a date; None if it says nothing."""
    if header is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", header.strip()):
        return float(header)
    try:
        when = parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
