"""The choice of NumPy's kernels, which is made before NumPy is imported."""

import os
import re
import sys
from importlib.metadata import version

DISABLED = "NPY_DISABLE_CPU_FEATURES"  # NumPy's variable
AVX512 = "X86_V4 AVX512_ICL"  # as NumPy 2.4 and later call them
NAMED_SO_SINCE = (2, 4)
ZEN_4 = {"vendor_id": "AuthenticAMD", "cpu family": "25"}  # Zen 3 too, which has no AVX-512


def prefer_fast_sort(processor: str = "/proc/cpuinfo") -> None:
    """Let NumPy sort by AVX2 on AMD's Zen 4, where its AVX-512 sort is slow (0.99 instead of 0.19 ms for 224x224).

    After NumPy's import, or where the environment says which to take, this does nothing.
    """
    try:
        with open(processor, encoding="utf-8") as file:
            first = file.read(8192)  # the first of the cores, which are alike
    except OSError:
        return
    found = dict(re.findall(r"^([^\t:]+?)\s*: (.*)$", first, re.MULTILINE))
    slow = ZEN_4.items() <= found.items() and "avx512" in found.get("flags", "")
    named = tuple(map(int, version("numpy").split(".")[:2])) >= NAMED_SO_SINCE
    if slow and named and "numpy" not in sys.modules:
        os.environ.setdefault(DISABLED, AVX512)
