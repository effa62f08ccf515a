"""Packages stand in one order, and each imports only those before it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import salgen

ROOT = Path(salgen.__file__).parent
ORDER = ["generators", "datasets", "evaluation", "cli"]
FORBIDDEN = {"core": {"torch", "pyarrow"}, "generators": {"torch", "pyarrow"}, "datasets": {"torch"}}


def imports_of(path):
    """Every module that a file imports, inside functions too, type-checking blocks excepted."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    typing_only = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def part_of(path):
    inside = path.relative_to(ROOT).parts
    return inside[0] if inside[0] in ORDER else "core"


FILES = sorted(path for path in ROOT.rglob("*.py") if path.parts[-2] != "testing")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_package_imports_a_later_one(path):
    part = part_of(path)
    later = ORDER if part == "core" else ORDER[ORDER.index(part) + 1 :]
    for module in imports_of(path):
        assert not any(module.startswith(f"salgen.{name}") for name in later), f"{path} imports {module}"
        assert module.partition(".")[0] not in FORBIDDEN.get(part, set()), f"{path} imports {module}"


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["list"], ["make", "--help"], ["evaluate", "--help"], ["reproduce", "--help"], ["train", "--help"]],
)
def test_help_starts_without_torch(arguments):
    code = (
        "import sys; from salgen.cli.main import main\n"
        f"status = main({arguments!r})\n"
        "heavy = {'torch', 'torchvision', 'captum', 'matplotlib', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy and status == 0, (heavy, status)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr


def test_importing_salgen_imports_nothing_heavy():
    code = "import sys, salgen; assert not {'numpy', 'torch'} & set(sys.modules); assert 'make' in dir(salgen)"
    subprocess.run([sys.executable, "-c", code], check=True)
