"""Rooms stand in the order of docs/design.md: each imports only those before it, and nothing imports in a circle."""

import ast
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
import pytest
import salgen

PACKAGE = Path(salgen.__file__).parent
DESIGN = (PACKAGE.parent / "docs" / "design.md").read_text(encoding="utf-8")
PARTS = ["core", "generators", "datasets", "evaluation", "compat", "cli"]
FORBIDDEN = {"core": {"torch", "pyarrow"}, "generators": {"torch", "pyarrow"}, "datasets": {"torch"}}
DOORS = {"salgen", "salgen.plugins", "salgen.testing"}  # they offer what lies below, and nothing below imports them
LARGEST_ROOM = 35
SHARED_FILE_NAMES = 8  # a generator and its importer may share one


def table_of_rooms():
    """The rooms in the order of the table in docs/design.md."""
    section = DESIGN.partition("## Rooms")[2].partition("\n## ")[0]
    return [f"salgen.{name}".removesuffix(".core") for name in re.findall(r"^\| `([\w.]+)` \|", section, re.MULTILINE)]


def modules():
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


MODULES = dict(modules())
ROOMS = table_of_rooms()


def room_of(module):
    return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]


def part_of(module):
    return next((part for part in PARTS[1:] if module.startswith(f"salgen.{part}")), "core")


@cache
def imports_of(module):
    """Modules that a module imports: at its top, inside functions, and for type checkers alone."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            named = [f"{node.module}.{alias.name}" for alias in node.names]
            found.update(name if name in MODULES else node.module for name in named)
    return found


def own_imports_of(module):
    return {other for other in imports_of(module) if other in MODULES and other != module}


INSIDE = [name for name in MODULES if room_of(name) not in DOORS and name not in DOORS]


def test_the_table_names_every_room():
    there = {room_of(name) for name in INSIDE if MODULES[name].name != "__init__.py"}
    assert sorted(ROOMS) == sorted(there | {"salgen"})


def test_no_module_imports_a_later_room_or_what_its_part_must_not():
    for module in INSIDE:
        allowed = ROOMS[: ROOMS.index(room_of(module)) + 1] if room_of(module) in ROOMS else ROOMS
        for other in own_imports_of(module):
            assert other in DOORS or room_of(other) in allowed, f"{module} imports {other}"
        outside = {name.partition(".")[0] for name in imports_of(module)}
        assert not outside & FORBIDDEN.get(part_of(module), set()), module


def test_no_circle_of_modules():
    list(TopologicalSorter({name: own_imports_of(name) for name in INSIDE}).static_order())  # raises CycleError


def test_no_room_is_crowded():
    crowd = Counter(room_of(name) for name in INSIDE if MODULES[name].name != "__init__.py")
    assert max(crowd.values()) <= LARGEST_ROOM, crowd.most_common(1)


def test_few_file_names_stand_twice():
    paths = [path for path in MODULES.values() if path.name != "__init__.py"]
    importers = {path.name for path in paths if path.parent.name == "importers"}
    names = Counter(path.name for path in paths if not (path.name in importers and "importers" in path.parts))
    assert len([name for name, count in names.items() if count > 1]) <= SHARED_FILE_NAMES, names.most_common(20)


HELP = ("make", "evaluate", "reproduce", "train")


@pytest.mark.parametrize("command", ["--help", "list", *(f"{name} --help" for name in HELP)])
def test_help_starts_without_torch(command):
    heavy = {"torch", "torchvision", "captum", "zennit", "matplotlib", "pyarrow"}
    heavy |= {"numpy", "scipy"} if command in ("--help", "list") else set()
    code = (
        "import sys; from salgen.cli.main import main\n"
        f"status = main({command.split()})\n"
        f"heavy = {heavy} & set(sys.modules)\n"
        "assert not heavy and status == 0, (heavy, status)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_importing_salgen_imports_nothing_heavy():
    code = "import sys, salgen; assert not {'numpy', 'torch'} & set(sys.modules); assert 'make' in dir(salgen)"
    subprocess.run([sys.executable, "-c", code], check=True)
