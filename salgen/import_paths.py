"""Names that are imported late: those of salgen's own packages on first use, and a user's, given as text."""

import ast
import re
import sys
from collections.abc import Callable
from functools import reduce
from importlib import import_module
from pathlib import Path
from typing import Any
from salgen.errors import SalgenError, install


def imported_on_first_use(door: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module that imports on first use what stands within its ``if TYPE_CHECKING:``."""
    module = sys.modules[door]
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    checked = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in checked.body if isinstance(node, ast.ImportFrom)]
    found = {alias.asname or alias.name: (str(node.module), alias.name) for node in imports for alias in node.names}

    def attribute(name: str) -> Any:
        if name not in found:
            raise AttributeError(f"module {door!r} has no attribute {name!r}")
        source, original = found[name]
        value = getattr(import_module(source), original, None) or import_module(f"{source}.{original}")
        setattr(module, name, value)
        return value

    return attribute


def is_import_path(text: str) -> bool:
    """True of ``package.module:name``, perhaps with parameters behind a further colon."""
    return bool(re.fullmatch(r"(?!\d)[\w.]+:(?!\d)[\w.]+(:.*)?", text, re.DOTALL))


def split_name(text: str) -> tuple[str | None, str]:
    """The parts of ``NAME=CALL``; the name is None where a call stands alone, whose parameters may have ``=``.

    Examples
    --------
    >>> split_name("mine=my_methods:mine:power=2"), split_name("rise:n=200")
    (('mine', 'my_methods:mine:power=2'), (None, 'rise:n=200'))
    """
    name, equals, call = text.partition("=")
    return (name, call) if equals and ":" not in name else (None, text)


def imported(text: str, kind: str, example: str) -> Any:
    """What ``package.module:name`` names, looked up in the working directory too; `kind` and `example` are for errors.

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


def needed(module: str, purpose: str, extra: str) -> Any:
    """A module of a package that is optional, imported; `purpose` and `extra` are for the error where it is missing."""
    try:
        return import_module(module)
    except ImportError:
        raise SalgenError(f"{purpose} needs {module.partition('.')[0]}: {install(extra)}") from None
