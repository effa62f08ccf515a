"""Salgen's own readers, fuzzed: atheris goes on from every input that reached code which none before it did."""

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from fuzzed_readers import READERS

HERE = Path(__file__).parent
SMALL = ("--runs", "300")
LARGE = ("--seconds", "30")
PATIENCE_S = 300.0
ALWAYS = ("zip", "SHA256SUMS", "specs")  # the others are mutated by other tests here, which is as good for so few runs
DONE = re.compile(r"#(\d+)\s+DONE\s+cov: (\d+) ft: (\d+)")

with_atheris = pytest.mark.skipif(
    importlib.util.find_spec("atheris") is None,
    reason="atheris is not installed: it exists for CPython before 3.14 on Linux with x86-64",
)


def fuzzed(target: str, size: Sequence[str], place: Path, *first: Path) -> subprocess.CompletedProcess[str]:
    """Fuzz in a process of its own, the same every time; `first` are folders whose modules go before the usual ones."""
    path = os.pathsep.join(map(str, (*first, HERE)))
    return subprocess.run(
        [sys.executable, "-P", str(HERE / "fuzzed.py"), target, *size],
        env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": "0", "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=PATIENCE_S,
    )


@with_atheris
@pytest.mark.parametrize(
    "target", [name if name in ALWAYS else pytest.param(name, marks=pytest.mark.torture) for name in READERS]
)
def test_fuzzed(request: pytest.FixtureRequest, target: str, tmp_path: Path) -> None:
    ended = fuzzed(target, LARGE if request.config.getoption("--torture") else SMALL, tmp_path)
    assert ended.returncode == 0, ended.stdout[-3000:]
    done = DONE.search(ended.stdout)
    assert done is not None, ended.stdout[-3000:]
    tried, places, features = map(int, done.groups())
    tally = ended.stdout.strip().rpartition("\n")[2]
    figure = f"fuzzed {tally} of {tried:,} inputs; {places} places in the code, {features} features"
    request.node.user_properties.append(("figure", figure))
    assert list(tmp_path.glob("salgen-*")) == [], "something was left behind"


@with_atheris
def test_a_fault_is_found_and_its_input_kept(tmp_path: Path) -> None:
    """Or nothing that is fuzzed here would mean anything."""
    planted, place = tmp_path / "planted", tmp_path / "place"
    planted.mkdir()
    place.mkdir()
    (planted / "fuzzed_readers.py").write_text(PLANTED)
    ended = fuzzed("planted", ("--runs", "2000"), place, planted)
    assert ended.returncode == 1
    assert "KeyError: 'planted'" in ended.stdout
    (kept,) = place.glob("salgen-*")
    assert kept.name.startswith("salgen-fuzzed-planted-crash-")
    assert kept.read_bytes() != b"sound"


@pytest.mark.parametrize("target", READERS)
def test_sound_inputs_are_not_refused(target: str, tmp_path: Path) -> None:
    for data in READERS[target].sound():
        READERS[target].read(data, tmp_path)


PLANTED = """
from types import SimpleNamespace


def read(data, _):
    if data not in (b"", b"\\n", b"sound"):
        raise KeyError("planted")


READERS = {"planted": SimpleNamespace(sound=lambda: [b"sound"], read=read, damaged=lambda data, rng: data + b"!")}
"""
