"""Every family of data sets ends with the same bytes when its making is killed and run again."""

import subprocess
import sys
import time

import pytest
from made_datasets import SUPPORT, contents

PROGRAM = SUPPORT / "make_named.py"
SAMPLES = 120


def start(name, out, workers):
    command = [sys.executable, str(PROGRAM), name, str(out), str(workers), str(SAMPLES)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def finish(name, out, workers):
    assert start(name, out, workers).wait(120) == 0
    return contents(out)


NAMES = ["drawn-figures", "perlin-lesions", "drawn-signs", "drawn-lights", "textured-shapes"]


@pytest.mark.torture
@pytest.mark.parametrize("name", NAMES)
def test_killed_and_run_again_it_ends_with_the_same_bytes(tmp_path, name):
    whole = finish(name, tmp_path / "whole", 2)
    out = tmp_path / "killed"
    process = start(name, out, 1)
    while len(list(out.glob("data/*.parquet"))) < 3:
        assert process.poll() is None
        time.sleep(0.002)
    process.kill()
    process.wait()
    assert not (out / "SHA256SUMS").exists(), "the kill came too late to prove anything"
    assert finish(name, out, 1) == whole
