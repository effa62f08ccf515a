"""Models and methods of the user's own modules, named as text: ``package.module:name``."""

import sys
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any

from salgen.errors import SalgenError


def imported(text: str, kind: str, example: str) -> Any:
    """What ``package.module:name`` names, looked up in the working directory too.

    Parameters
    ----------
    kind, example
        Of such a thing, in errors: ``"model"``, ``"my_models:detector"``.

    Examples
    --------
    >>> imported("pathlib:Path.home", "method", "my_methods:mine")()
    PosixPath(...)
    """
    module, _, name = text.partition(":")
    if not module or not name or module.endswith(".py") or "/" in module:
        raise SalgenError(f"{kind} {text}: write PACKAGE.MODULE:FUNCTION, such as {example}")
    working_directory = str(Path.cwd())
    sys.path.insert(0, working_directory)
    try:
        return reduce(getattr, name.split("."), import_module(module))
    except (Exception, SystemExit) as error:  # a user's module may fail in any way
        raise SalgenError(f"{kind} {text}: cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.path.remove(working_directory)
