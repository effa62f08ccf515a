"""The errors a user meets: what was given, what is allowed, what to do next."""

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

LONGEST_MESSAGE = 1500  # characters: a name that fills pages hides what is wrong with it


class SalgenError(Exception):
    """A fault that the user can mend; its message is one line, which the command line prints, with exit status 2."""

    def __init__(self, message: str) -> None:
        super().__init__(_one_line(message, LONGEST_MESSAGE))


class UndefinedMethodError(SalgenError):
    """None of the methods that were chosen can explain a network."""


class FailedMethodError(SalgenError):
    """A method, whose name in the tables is `call`, failed on some images; a run goes on without it."""

    def __init__(self, call: str, message: str) -> None:
        super().__init__(message)
        self.call = call

    def __reduce__(self) -> Any:
        return type(self), (self.call, str(self))


class SalgenWarning(UserWarning):
    """A warning to the user, which the command line prints as one line."""


THROUGH = ("salgen", "torch", "functools", "contextlib")  # packages that the call may have gone through


def warn(message: str) -> None:
    """Warn, pointing at the caller's line outside salgen."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in THROUGH:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, SalgenWarning, stacklevel=level)


MANY = 30
LONGEST_REASON = 300  # characters of a library's or a damaged file's message


def reason(error: BaseException | str) -> str:
    """A library's error message in one line that is not too long; its type where it has none.

    Examples
    --------
    >>> reason(ValueError("bad entry:\\n  line 3"))
    'bad entry: line 3'
    """
    return _one_line(" ".join(str(error).split()), LONGEST_REASON) or type(error).__name__


def named(error: BaseException) -> str:
    """A library's error with its type, which says what a short message does not.

    Examples
    --------
    >>> named(KeyError("fc")), named(AssertionError())
    ("KeyError: 'fc'", 'AssertionError')
    """
    kind = type(error).__name__
    return f"{kind}: {reason(error)}" if str(error).strip() else kind


@contextmanager
def readable(what: str, advice: str = "") -> Iterator[None]:
    """Turn any error within the ``with`` block into a SalgenError: what cannot be read, the error, and some advice."""
    try:
        yield
    except SalgenError:
        raise
    except Exception as error:  # libraries meet a damaged file with errors of a dozen kinds
        why = reason(error) if isinstance(error, ValueError) else named(error)
        raise SalgenError(f"{what} ({why}){advice}") from None


def install(extra: str) -> str:
    """The command that installs an optional part of salgen, which no package index is known to have."""
    return f"pip install '.[{extra}]' in a clone of salgen"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> SalgenError:
    """An error for an unknown name, with the nearest known one.

    Examples
    --------
    >>> print(unknown_name("method", "gradcam", ["gradient", "grad-cam"]))
    unknown method 'gradcam': did you mean 'grad-cam'? (known: grad-cam, gradient)
    """
    names = sorted(item for item in known if item)
    word = str(name)[:LONGEST_REASON].lower()
    family = (item for item in names if item.startswith(f"{word.partition('-')[0]}-"))
    near = list(dict.fromkeys([*get_close_matches(word, names, n=5), *family]))
    hint = f": did you mean {near[0]!r}?" if near else ""
    listing = ", ".join(names) if names else "none"
    if len(names) > MANY:
        some = f", nearest: {', '.join(near)}" if near else f" such as {', '.join(names[:5])}"
        listing = f"{len(names)} names{some}"
    return SalgenError(f"unknown {kind} {name!r}{hint} (known: {listing})")


def _one_line(text: str, longest: int) -> str:
    """A text without line ends and other unprintable characters; its middle is left out if it is too long."""
    text = "".join(character if character.isprintable() else " " for character in text)
    return text if len(text) <= longest else f"{text[: longest // 2]} ... {text[-longest // 2 :]}"
