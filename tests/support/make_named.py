"""Run by the tests as a program of its own: make a small data set of a registered generator."""

import sys

from salgen.datasets.format import manifest
from salgen.datasets.making import make
from salgen.registry import GENERATORS


def main() -> None:
    name, out, workers, samples = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    manifest.SAMPLES_PER_SHARD, manifest.ROWS_PER_GROUP = 5, 2
    cls = GENERATORS.load(name)
    left_out = dict.fromkeys(cls.scales["demo"].splits)
    make(name, out, scale="demo", splits={**left_out, "train": samples}, parameters=cls.quick, workers=workers)


if __name__ == "__main__":
    main()
