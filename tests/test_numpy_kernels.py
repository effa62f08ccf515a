"""NumPy is told to sort by AVX2 where that is faster, and nowhere else."""

import os
import subprocess
import sys
from importlib.metadata import version
import pytest
from packaging.version import Version
from salgen.numpy_kernels import AVX512, prefer_fast_sort

VARIABLE = "NPY_DISABLE_CPU_FEATURES"
ZEN_4 = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nflags\t\t: avx2 avx512f\n"


@pytest.fixture
def told(tmp_path, monkeypatch):
    """What the environment says after a call on a processor, in a process that has not imported NumPy."""
    monkeypatch.setattr(sys, "modules", {name: one for name, one in sys.modules.items() if name != "numpy"})
    monkeypatch.delenv(VARIABLE, raising=False)

    def call(text):
        (tmp_path / "cpuinfo").write_text(text)
        prefer_fast_sort(str(tmp_path / "cpuinfo"))
        return os.environ.get(VARIABLE)

    return call


def test_it_is_told_on_zen_4_alone(told):
    assert told(ZEN_4.replace("avx512f", "sse")) is None  # Zen 3
    assert told(ZEN_4.replace(": 25", ": 26")) is None  # Zen 5
    assert told(ZEN_4.replace("AuthenticAMD", "GenuineIntel")) is None
    assert told("Processor: ARM\n") is None
    prefer_fast_sort("/no/such/file")
    assert VARIABLE not in os.environ
    assert told(ZEN_4) == (AVX512 if Version(version("numpy")) >= Version("2.4") else None)  # older: other names


def test_what_the_environment_says_stays(told, monkeypatch):
    monkeypatch.setenv(VARIABLE, "AVX512_ICL")
    assert told(ZEN_4) == "AVX512_ICL"


def test_it_comes_too_late_once_numpy_is_imported(told, monkeypatch):
    monkeypatch.setitem(sys.modules, "numpy", object())
    assert told(ZEN_4) is None


def test_numpy_knows_the_names():
    """It warns of names that it does not know, and fails for those that it was built to need."""
    command = [sys.executable, "-W", "error", "-c", "import salgen, numpy; numpy.sort(numpy.ones(9))"]
    assert not subprocess.run(command, capture_output=True, check=True, text=True).stderr
