"""Names of a run's files: digests of everything that a file depends on, so that a stopped run finds its files."""

import hashlib
from functools import cache
from importlib.metadata import version
from typing import Any

from salgen.parameters import canonical_json

LIBRARIES = ("salgen", "numpy", "torch", "captum", "zennit", "pyarrow")


def provenance(depends_on: Any, digits: int = 32) -> str:
    """The first hexadecimal digits of the SHA-256 of everything that a file depends on.

    Parameters
    ----------
    depends_on
        JSON values, or a text that is hashed as it is.
    digits
        Number of digits.
    """
    text = depends_on if isinstance(depends_on, str) else canonical_json(depends_on)
    return hashlib.sha256(text.encode()).hexdigest()[:digits]


@cache
def library_versions() -> dict[str, str]:
    """Versions of the libraries that a score depends on."""
    return {name: version(name) for name in LIBRARIES}
