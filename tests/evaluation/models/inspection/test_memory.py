"""Freed memory: a second pass gets the memory of the first one, and it can be given back."""

import mmap
import platform
import subprocess
import sys
from pathlib import Path
import pytest

SIZE = 2**26  # bytes, above what glibc keeps by itself
PASSES = 10
COUNT = f"""
import mmap, resource, sys
import numpy as np
from salgen.evaluation.models.inspection.memory import keep_freed_memory

if sys.argv[1] == "kept":
    keep_freed_memory()
np.ones({SIZE} // 8)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({PASSES}):
    np.ones({SIZE} // 8)
print((resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before))
"""

HELD = f"""
import numpy as np
from salgen.evaluation.models.inspection.memory import give_back_freed_memory, keep_freed_memory

def held():
    with open("/proc/self/statm") as handle:
        return int(handle.read().split()[1])

keep_freed_memory()
np.ones({SIZE} // 8)
print(held())
give_back_freed_memory()
print(held())
"""


def page_faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", COUNT, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt is of glibc")
def test_the_system_clears_no_page_twice():
    assert page_faults("given back") > PASSES * 20  # at least those of pages of 2 MB
    assert page_faults("kept") < 100


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="statm is of Linux")
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="malloc_trim is of glibc")
def test_what_was_freed_is_given_back():
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True, check=True)
    before, after = (int(line) * mmap.PAGESIZE for line in done.stdout.split())
    assert before - after > 0.9 * SIZE
