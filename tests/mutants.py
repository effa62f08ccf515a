"""Plant faults of one line in salgen, one at a time, and count those that the tests catch: `make mutants`.

The faults are drawn by a seed, the same number from each of `AREAS`, on lines that some test executes. Each is planted
in a copy of the tree, where the tests that execute its line run until one fails, those of the quickest file first.
"""

import argparse
import ast
import copy
import multiprocessing
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
import coverage
import pytest

ROOT = Path(__file__).parents[1]

# Folders of salgen for each area.
AREAS = {
    "generators": ["generators"],
    "metrics": ["evaluation/metrics"],
    "methods": ["evaluation/methods"],
    "statistics": ["evaluation/statistics"],
    "reader": ["datasets/reading"],
    "runner": ["evaluation/runs", "evaluation/scoring"],
    "archives": ["datasets/archives"],
}
SWAPPED: dict[type[ast.AST], list[type[ast.AST]]] = {
    ast.Lt: [ast.LtE, ast.Gt],
    ast.LtE: [ast.Lt, ast.GtE],
    ast.Gt: [ast.GtE, ast.Lt],
    ast.GtE: [ast.Gt, ast.LtE],
    ast.Eq: [ast.NotEq],
    ast.NotEq: [ast.Eq],
    ast.In: [ast.NotIn],
    ast.NotIn: [ast.In],
    ast.Is: [ast.IsNot],
    ast.IsNot: [ast.Is],
    ast.Add: [ast.Sub],
    ast.Sub: [ast.Add],
    ast.Mult: [ast.Div],
    ast.Div: [ast.Mult],
    ast.FloorDiv: [ast.Mult],
    ast.Mod: [ast.Mult],
    ast.Pow: [ast.Mult],
    ast.And: [ast.Or],
    ast.Or: [ast.And],
}
NEGATED = re.compile(r"bool|int|float|Array|Tensor|Floats?\b")  # what a function returns that can be negated
# What tests import and salgen does not change is imported once, and forked for each fault.
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["captum.attr", "hypothesis", "pandas", "pyarrow", "pytest", "scipy.stats", "skimage", "torchvision"]
)
SECONDS = 60.0  # of tests, by the times of the first run, that one fault is given


@dataclass(frozen=True)
class Fault:
    """One expression of a module, and what is written in its place."""

    area: str
    path: str
    node: ast.expr
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.node.lineno}  {ast.unparse(self.node)} → {self.instead}"

    def planted(self, source: str) -> str:
        """The module with the fault in it."""
        lines = source.encode().splitlines(keepends=True)
        node, first, last = self.node, self.node.lineno - 1, (self.node.end_lineno or 0) - 1
        head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        return b"".join([*lines[:first], head, f"({self.instead})".encode(), tail, *lines[last + 1 :]]).decode()


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """The node with one fault in it, each that there is."""

    def but(**fields: object) -> ast.AST:
        other = copy.copy(node)
        vars(other).update(fields)
        return other

    match node:
        case ast.Compare(ops=[operator]):
            yield from (but(ops=[other()]) for other in SWAPPED[type(operator)])
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator):
            yield from (but(op=other()) for other in SWAPPED.get(type(operator), []))
        case ast.Constant(value=bool(value)):
            yield but(value=not value)
        case ast.Constant(value=int(value) | float(value)):
            yield but(value=value + 1)
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield operand
        case ast.Call(args=[_, *_, _] as given, keywords=[]):
            yield but(args=given[:-1])
        case ast.Call(keywords=[*others, _]):
            yield but(keywords=others)


def in_functions(tree: ast.Module) -> Iterator[tuple[ast.expr, str]]:
    """Each expression of the functions' bodies, and its fault's text; annotations, defaults and f-strings apart."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            negates = function.returns and NEGATED.match(ast.unparse(function.returns))
            waiting: list[ast.AST] = list(function.body)
            while waiting:
                node = waiting.pop()
                if isinstance(node, ast.FunctionDef | ast.JoinedStr | ast.ClassDef | ast.Raise):
                    continue
                if isinstance(node, ast.Return) and node.value and negates:
                    sign = "not" if ast.unparse(function.returns) == "bool" else "-"
                    yield node.value, f"{sign} ({ast.unparse(node.value)})"
                if isinstance(node, ast.expr):
                    yield from ((node, ast.unparse(other)) for other in changed(node))
                waiting += [
                    child
                    for field, value in ast.iter_fields(node)
                    if field != "annotation"
                    for child in (value if isinstance(value, list) else [value])
                    if isinstance(child, ast.AST)
                ]


class Tests:
    """The tests that execute a line, and what each takes."""

    def __init__(self, folder: Path) -> None:
        self.data = coverage.CoverageData(str(folder / "coverage"))
        self.data.read()
        self.seconds: dict[str, float] = {}
        self.failing = set()
        for case in ET.parse(folder / "tests.xml").iter("testcase"):
            test = f"{case.get('file')}::{case.get('name')}"
            self.seconds[test] = float(case.get("time", 0))
            if case.find("failure") is not None or case.find("error") is not None:
                self.failing.add(test)

    def of(self, path: str, line: int) -> list[str]:
        """The tests that execute the line, file by file, the quickest first.

        A line that only ran in the setting-up of a test may be in a fixture that the file's other tests share.
        """
        contexts = [context.rpartition("|") for context in self.data.contexts_by_lineno(path).get(line, []) if context]
        tests = {test for test, _, phase in contexts if phase == "run"}
        shared = {test.partition("::")[0] for test, _, phase in contexts if phase == "setup"}
        tests |= {test for test in self.seconds if test.partition("::")[0] in shared}
        files: dict[str, list[str]] = defaultdict(list)
        for test in sorted(tests & self.seconds.keys() - self.failing, key=lambda test: (self.seconds[test], test)):
            files[test.partition("::")[0]].append(test)
        return [test for tests in sorted(files.values(), key=self.total) for test in tests]

    def total(self, tests: list[str]) -> float:
        return sum(self.seconds[test] for test in tests)

    def quickest(self, tests: list[str]) -> list[str]:
        """As many of them, from the first, as take `SECONDS`."""
        left, chosen = SECONDS, []
        for test in tests:
            left -= self.seconds[test]
            if left < 0 and chosen:
                break
            chosen.append(test)
        return chosen


def drawn(count: int, seed: int, tests: Tests) -> list[Fault]:
    """As many faults of each area, drawn by the seed, on lines that some test executes."""
    faults = []
    for place, (area, folders) in enumerate(AREAS.items()):
        paths = sorted(path for folder in folders for path in (ROOT / "salgen" / folder).rglob("*.py"))
        possible = [
            Fault(area, str(path.relative_to(ROOT)), node, instead)
            for path in paths
            for node, instead in in_functions(ast.parse(path.read_text(encoding="utf-8")))
        ]
        random.Random(f"{seed} {area}").shuffle(possible)
        share = count // len(AREAS) + (place < count % len(AREAS))
        executed = (fault for fault in possible if tests.of(fault.path, fault.node.lineno))
        faults += [fault for _, fault in zip(range(share), executed, strict=False)]
    return faults


def answer(fault: Fault, tree: Path, tests: Tests) -> str:
    """What became of the fault: `caught by` the first test that failed, or `survived`."""
    chosen = tests.quickest(tests.of(fault.path, fault.node.lineno))
    (tree / "chosen").write_text("\n".join(chosen))
    source = (ROOT / fault.path).read_text(encoding="utf-8")
    (tree / fault.path).write_text(fault.planted(source), encoding="utf-8")
    process = FORKS.Process(target=run_tests, args=(tree,))
    process.start()
    process.join(120 + 10 * tests.total(chosen))
    late = process.is_alive()
    if late:
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
    shutil.copy2(ROOT / fault.path, tree / fault.path)
    said = (tree / "said").read_text()
    if process.exitcode == 0:
        return f"survived {len(chosen)} of {len(tests.of(fault.path, fault.node.lineno))} tests"
    failed = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", said, re.M)
    return f"caught by {'the time-out' if late else failed[1] if failed else said[-300:]}"


def left_out(folder: str, names: list[str]) -> set[str]:
    """What is not copied from the project's folder."""
    return {".git", ".venv", "demo", "runs"} & set(names) if Path(folder) == ROOT else set()


def run_tests(tree: Path) -> None:
    """Run the chosen tests on the tree's salgen, in a process group of their own, until one fails."""
    os.setsid()
    os.chdir(tree)
    os.environ.update(PYTHONPATH=str(tree), PYTHONDONTWRITEBYTECODE="1")
    sys.path.insert(0, str(tree))
    sys.dont_write_bytecode = True
    with open("said", "w") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    options = ["-x", "--tb=no", "-rfE", "-p", "no:cacheprovider", "-p", "no:xdist", "@chosen"]
    os._exit(pytest.main(options))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", type=int, help="how many faults are planted")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tests", type=Path, required=True, help="folder with coverage and tests.xml of a whole run")
    given = parser.parse_args()
    tests = Tests(given.tests)
    faults = drawn(given.number, given.seed, tests)
    caught: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(given.jobs) as pool:
        trees: SimpleQueue[Path] = SimpleQueue()
        for job in range(given.jobs):
            trees.put(Path(shutil.copytree(ROOT, Path(folder, str(job)), ignore=left_out)))

        def tried(fault: Fault) -> tuple[str, float]:
            tree, start = trees.get(), time.monotonic()
            try:
                return answer(fault, tree, tests), time.monotonic() - start
            finally:
                trees.put(tree)

        for fault, (end, seconds) in zip(faults, pool.map(tried, faults), strict=True):
            print(f"{fault.area:10}  {fault}\n{'':10}  {end} ({seconds:.0f} s)", flush=True)
            caught[fault.area] += end.startswith("caught")
    planted = Counter(fault.area for fault in faults)
    for area, number in planted.items():
        print(f"{area:10}  {caught[area]} of {number} caught")
    print(f"{'all':10}  {caught.total()} of {planted.total()} caught")


if __name__ == "__main__":
    main()
