"""Run by the tests as a program of its own: make the test generator's data set."""

import sys
from salgen.datasets.format import manifest
from salgen.datasets.making import make
from salgen.registry import GENERATORS, Entry

SAMPLES = 150


def main() -> None:
    out, workers = sys.argv[1], int(sys.argv[2])
    vars(GENERATORS)["entries"] = {"squares": Entry("squares", "squares", "A bright square on coloured noise.")}
    manifest.SAMPLES_PER_SHARD, manifest.ROWS_PER_GROUP = 5, 2
    make("squares", out, splits={"train": SAMPLES}, workers=workers)


if __name__ == "__main__":
    main()
