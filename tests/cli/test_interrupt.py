"""Ctrl-C: one line that says how to go on, and a folder that can be gone on with."""

import os
import signal
import subprocess
import sys
import time
from salgen.evaluation.verification.verifying import verify

COMMAND = [sys.executable, "-m", "salgen.cli.main", "make", "perlin-lesions", "data", "--workers", "2"]
SIZES = ["--train", "1024", "--val", "64", "--test", "64"]
SMALL = ["--set", "image_size=32,32", "--set", "diameter=4", "--set", "slices=8"]


def test_ctrl_c_says_how_to_go_on_and_leaves_a_resumable_folder(tmp_path):
    command = [*COMMAND, *SIZES, *SMALL]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not list(tmp_path.glob("data/data/*.parquet")):
        assert process.poll() is None
        time.sleep(0.005)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "run the same command again" in err
    assert "Traceback" not in err
    assert not list(tmp_path.rglob("*.part"))
    assert not (tmp_path / "data" / "SHA256SUMS").exists()
    subprocess.run(command, cwd=tmp_path, check=True, stderr=subprocess.DEVNULL)
    assert verify(tmp_path / "data", samples=4) == []
