"""Registries of plug-ins, which are found without importing them.

A plug-in is a frozen dataclass with a literal ``name = "grad-cam"`` in a module of its kind's package. Names and
one-line descriptions are read from the source, so ``salgen list`` starts without torch. Third parties add theirs
through entry points (``salgen.methods = my-method = package.module:MyMethod``).
"""

from __future__ import annotations

import ast
import fnmatch
import importlib
import importlib.util
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload
from salgen import parameters
from salgen.errors import SalgenError, named, unknown_name, warn

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Entry:
    """A registered name, its origin, and a one-line summary."""

    name: str
    origin: str
    summary: str
    entry_point: EntryPoint | None = None

    def load(self) -> Any:
        """Import the plug-in's class."""
        if self.entry_point is not None:
            try:
                return self.entry_point.load()
            except Exception as error:  # third-party code may fail in any way
                raise SalgenError(f"plug-in {self.name!r} from {self.origin} does not load: {named(error)}") from error
        module = importlib.import_module(self.origin)
        classes = (item for item in vars(module).values() if isinstance(item, type))
        return next(item for item in classes if vars(item).get("name") == self.name)


@dataclass(frozen=True)
class Registry:
    """All plug-ins of one kind."""

    kind: str  # its name in errors: ``"method"``
    package: str  # where salgen's own plug-ins are: ``"salgen.evaluation.methods"``
    group: str  # the entry-point group of third parties: ``"salgen.methods"``

    @cached_property
    def entries(self) -> dict[str, Entry]:
        """Every registered name, sorted; a name registered twice is an error naming both origins."""
        by_name: dict[str, Entry] = {}
        points = entry_points(group=self.group)
        others = [Entry(point.name, point.value, "(third party)", point) for point in points]
        for entry in [*_own_entries(self.package), *others]:
            if entry.name in by_name:
                origins = f"by {by_name[entry.name].origin} and by {entry.origin}"
                raise SalgenError(f"{self.kind} {entry.name!r} is registered twice: {origins}")
            by_name[entry.name] = entry
        return dict(sorted(by_name.items()))

    def names(self) -> list[str]:
        """The registered names, sorted."""
        return list(self.entries)

    def load(self, name: str) -> Any:
        """The class that `name` stands for."""
        if name not in self.entries:
            raise unknown_name(self.kind, name, self.entries)
        return self.entries[name].load()

    def create(self, name: str, values: Mapping[str, Any] | None = None) -> Any:
        """An instance of the plug-in with the given parameters checked."""
        return parameters.build(self.load(name), values or {})

    def check(self) -> None:
        """Warn about third-party plug-ins that do not load."""
        for entry in self.entries.values():
            if entry.entry_point is not None:
                try:
                    entry.load()
                except SalgenError as error:
                    warn(str(error))


DETECTORS = Registry("detector", "salgen.evaluation.detectors", "salgen.detectors")
GENERATORS = Registry("generator", "salgen.generators", "salgen.generators")
IMPORTERS = Registry("importer", "salgen.datasets.importers", "salgen.importers")
LIBRARIES = Registry("library", "salgen.datasets.picture_libraries", "salgen.libraries")
METHODS = Registry("method", "salgen.evaluation.methods", "salgen.methods")
METRICS = Registry("metric", "salgen.evaluation.metrics", "salgen.metrics")
MODELS = Registry("model", "salgen.evaluation.models", "salgen.models")
PROTOCOLS = Registry("protocol", "salgen.evaluation.protocols", "salgen.protocols")

REGISTRIES = {f"{one.kind}s": one for one in (GENERATORS, IMPORTERS, METHODS, METRICS, MODELS, PROTOCOLS)}


@overload
def list_methods(pattern: str = "*", *, table: Literal[False] = False) -> list[str]: ...


@overload
def list_methods(pattern: str = "*", *, table: Literal[True]) -> pd.DataFrame: ...


def list_methods(pattern: str = "*", *, table: bool = False) -> list[str] | pd.DataFrame:
    """The names of saliency methods that match a glob, sorted.

    With ``table=True`` a data frame by name. Its columns are `summary`, `family`, `source` (authors and year) and
    `cost`, the forward passes of an image at default parameters in words. A plug-in that does not load has only a
    summary.

    Examples
    --------
    >>> list_methods("grad-cam*")
    ['grad-cam', 'grad-cam++']
    >>> list_methods("grad-cam", table=True).loc["grad-cam", "source"]
    'Selvaraju et al. 2017'
    """
    names = fnmatch.filter(METHODS.entries, pattern)
    if not table:
        return names
    import pandas as pd

    return pd.DataFrame([_facts(METHODS.entries[name]) for name in names], names, _FACTS)


def list_metrics(pattern: str = "*") -> list[str]:
    """The names of metrics that match a glob, sorted, as :func:`list_methods`."""
    return fnmatch.filter(METRICS.entries, pattern)


def list_generators(pattern: str = "*") -> list[str]:
    """The names of generators that match a glob, sorted, as :func:`list_methods`."""
    return fnmatch.filter(GENERATORS.entries, pattern)


def list_importers(pattern: str = "*") -> list[str]:
    """The names of importers that match a glob, sorted, as :func:`list_methods`."""
    return fnmatch.filter(IMPORTERS.entries, pattern)


def list_models(pattern: str = "*") -> list[str]:
    """The names of models that match a glob, sorted, as :func:`list_methods`."""
    return fnmatch.filter(MODELS.entries, pattern)


_FACTS = ["summary", "family", "source", "cost"]


def _facts(entry: Entry) -> list[str]:
    try:
        method = entry.load()
    except SalgenError:  # a third party's plug-in, of which `Registry.check` warns
        return [entry.summary, "", "", ""]
    return [entry.summary, method.family, method.reference.partition(",")[0], method.cost]


def _own_entries(package: str) -> list[Entry]:
    root = Path(__file__).parents[1]
    paths = sorted(root.joinpath(*package.split(".")).rglob("*.py"))
    named = [(path, ".".join(path.relative_to(root).with_suffix("").parts)) for path in paths]
    return [entry for path, module in named for entry in _entries_of(path, module)]


def _entries_of(path: Path, module: str) -> list[Entry]:
    text = path.read_text(encoding="utf-8")
    if not re.search(r"^    name(: .*)? = \"", text, re.MULTILINE):
        return []
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef):
            for item in (item for item in node.body if isinstance(item, (ast.Assign, ast.AnnAssign))):
                if stated := re.match(r"name(?:: .*)? = '(.+)'", ast.unparse(item)):
                    found.append(Entry(stated[1], module, (ast.get_docstring(node) or "").partition("\n")[0]))
    return found
