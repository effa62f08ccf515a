"""The source code of a function or a class, as a digest: whether it is the one that a run used."""

import hashlib
import inspect
import re
import sys
from collections.abc import Iterator
from types import FunctionType
from typing import Any

PLAIN = (bool, int, float, str, type(None))


def source_digest(thing: Any) -> str | None:
    """SHA-256 of the source of a function, a class or a module; None where Python does not know it.

    Of a function or a class it covers what it names of its own module too: functions, classes, and plain values.
    """
    try:
        return hashlib.sha256("\n".join(_sources(thing, set())).encode()).hexdigest()
    except (OSError, TypeError, KeyError):
        return None


def _sources(thing: Any, seen: set[int]) -> Iterator[str]:
    seen.add(id(thing))
    text = inspect.getsource(thing)
    yield text
    if inspect.ismodule(thing):
        return
    there = vars(sys.modules[thing.__module__])
    for name in sorted(set(re.findall(r"[^\W\d]\w*", text)) & there.keys()):
        used = there[name]
        if _is_plain(used):
            yield f"{name} = {used!r}"
        elif isinstance(used, (FunctionType, type)) and used.__module__ == thing.__module__ and id(used) not in seen:
            yield from _sources(used, seen)


def _is_plain(value: Any) -> bool:
    """Whether a value's text is the same in every process: that of a function names its address."""
    return isinstance(value, PLAIN) or (isinstance(value, tuple) and all(map(_is_plain, value)))


def import_path(thing: Any) -> str | None:
    """``module:name`` of a function or a class that an import gives; None for what is made inside others, or a lambda.

    Examples
    --------
    >>> import_path(import_path), import_path(lambda: 0)
    ('salgen.source_code:import_path', None)
    """
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", "")
    found: Any = sys.modules.get(str(module))
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}:{name}" if found is thing else None


def in_words(thing: Any) -> str:
    """The kind of a thing and its module, such as ``"the function mine of my_methods"``."""
    module = getattr(thing, "__module__", None) or type(thing).__module__
    kind = type(thing).__name__
    kind = f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind} object"
    if isinstance(thing, (FunctionType, type)):
        kind = f"the {'class' if isinstance(thing, type) else 'function'} {thing.__qualname__}"
    return f"{kind} of {module}"
