"""Freed memory: a second pass gets the memory of the first one, and it can be given back."""

import mmap
import platform
import subprocess
import sys
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


def printed(code: str, *how: str) -> list[int]:
    done = subprocess.run([sys.executable, "-c", code, *how], capture_output=True, text=True, check=True)
    return [int(line) for line in done.stdout.split()]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="mallopt and malloc_trim are of glibc, on Linux here")
def test_the_system_clears_no_page_twice_and_what_was_freed_is_given_back():
    assert printed(COUNT, "given back")[0] > PASSES * 20  # at least those of pages of 2 MB
    assert printed(COUNT, "kept")[0] < 100
    before, after = printed(HELD)
    assert (before - after) * mmap.PAGESIZE > 0.9 * SIZE
