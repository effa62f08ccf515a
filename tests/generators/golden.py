"""Digests of the first samples of every generator: a change of pixels does not go unseen.

After a change that is meant, raise the generator's version and run ``python tests/generators/golden.py``.
"""

import hashlib
import json
from pathlib import Path
import numpy as np
from salgen.generators.factory import generator
from salgen.registry import GENERATORS

PATH = Path(__file__).with_suffix(".json")
SAMPLES = 4


def digests(name: str) -> dict[str, list[str] | str]:
    """The generator's version, and for four samples a digest of image, twin and regions."""
    made = generator(name, **GENERATORS.load(name).quick)
    return {
        "version": made.plugin.version,
        "samples": [_digest(*pair) for pair in made.pairs(0, "train", range(SAMPLES))],
    }


def _digest(sample, twin) -> str:
    content = hashlib.sha256(json.dumps(sample.recipe.parameters, sort_keys=True).encode())
    for array in [sample.image, *([twin] if twin is not None else []), *sample.regions.values()]:
        content.update(np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


if __name__ == "__main__":
    PATH.write_text(json.dumps({name: digests(name) for name in GENERATORS.names()}, indent=1) + "\n", encoding="utf-8")
