"""Fuzz one of salgen's readers: look for inputs that reach code which none before them reached, and that break it.

``python tests/faults/fuzzed.py TARGET --seconds 60`` ends with a status other than 0 if an input leads to any
exception but a refusal in one line, to a hang, or to too much memory. atheris, which does this with libFuzzer,
names the file that it leaves the input in.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import MutableSequence
from multiprocessing import RawArray
from pathlib import Path
from random import Random
from typing import Any

LONGEST = 16_384  # bytes of an input
SECONDS = 20  # after which an input counts as a hang
MEGABYTES = 2048  # of memory, in all
SEED = 1


def main() -> int:
    """Fuzz in a child, so that whatever ends it leaves nothing behind."""
    given = _arguments()
    tallies: Any = RawArray("Q", 2)
    with tempfile.TemporaryDirectory(prefix="salgen-fuzzed-") as place:
        child = os.fork()
        if not child:
            _fuzz(given, Path(place), tallies)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(f"{given.target}: {tallies[0]:,} refused, {tallies[1]:,} harmless")
    return 1 if status else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("target", help="a name in READERS of fuzzed_readers.py")
    parser.add_argument("--seconds", type=int, default=0, help="how long to go on; 0 is forever")
    parser.add_argument("--runs", type=int, default=-1, help="how many inputs to try; -1 is any number")
    return parser.parse_args()


def _fuzz(given: argparse.Namespace, place: Path, tallies: MutableSequence[int]) -> None:
    """Does not return: libFuzzer ends the process."""
    import atheris

    with atheris.instrument_imports(include=["salgen"]):
        from fuzzed_readers import READERS
        from trials import check_line

        from salgen.errors import SalgenError

    reader = READERS[given.target]
    (place / "sound").mkdir()
    (place / "tried").mkdir()
    for number, data in enumerate(reader.sound()):
        (place / "sound" / str(number)).write_bytes(data)

    def once(data: bytes) -> None:
        try:
            reader.read(data, place / "tried")
        except SalgenError as error:
            check_line(str(error), "")
            tallies[0] += 1
        else:
            tallies[1] += 1

    def mutate(data: bytes, longest: int, seed: int) -> bytes:
        """Half of the inputs are damaged as libFuzzer does, half as the mutated inputs are."""
        rng = Random(seed)
        if rng.random() < 0.5:
            mutated: bytes = atheris.Mutate(data, longest)  # another function from `Fuzz` on
            return mutated
        return reader.damaged(data, rng)[:longest]

    atheris.Setup(_options(given, place), once, custom_mutator=mutate)
    atheris.Fuzz()


def _options(given: argparse.Namespace, place: Path) -> list[str]:
    left = Path(tempfile.gettempdir()) / f"salgen-fuzzed-{given.target.replace(' ', '-')}-"
    return [
        sys.argv[0],
        *(
            f"-seed={SEED}",
            f"-max_len={LONGEST}",
            f"-timeout={SECONDS}",
            f"-report_slow_units={SECONDS}",
            f"-rss_limit_mb={MEGABYTES}",
        ),
        *(f"-runs={given.runs}", f"-max_total_time={given.seconds}", f"-artifact_prefix={left}"),
        str(place / "sound"),
    ]


if __name__ == "__main__":
    sys.exit(main())
