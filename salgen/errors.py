"""The errors a user meets: what was given, what is allowed, what to do next."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class SalgenError(Exception):
    """A fault that the user can mend; its message is one line.

    The command line prints the message and exits with status 2. From Python it is an
    ordinary exception.
    """


class SalgenWarning(UserWarning):
    """Something that a user should know and that stops nothing; the command line prints it as one line."""


MANY = 30


def unknown_name(kind: str, name: str, known: Iterable[str]) -> SalgenError:
    """An error for a name that no one registered, with the nearest one that exists.

    Examples
    --------
    >>> print(unknown_name("method", "gradcam", ["gradient", "grad-cam"]))
    unknown method 'gradcam': did you mean 'grad-cam'? (known: grad-cam, gradient)
    """
    names = sorted(item for item in known if item)
    near = get_close_matches(name.lower(), names, n=5)
    hint = f": did you mean {near[0]!r}?" if near else ""
    listing = ", ".join(names) if names else "none"
    if len(names) > MANY:
        listing = f"{len(names)} names" + (
            f", nearest: {', '.join(near)}" if near else f" such as {', '.join(names[:5])}"
        )
    return SalgenError(f"unknown {kind} {name!r}{hint} (known: {listing})")
