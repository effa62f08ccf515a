"""Importer of the German Traffic Sign Recognition Benchmark, whose signs get a square."""

from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.datasets.layouts.gtsrb import SignFiles, SignPhotographs, open_gtsrb, pairs_of
from salgen.datasets.layouts.imported import read_own_copy
from salgen.generators.traffic_signs.drawn_signs import SignsWithSquare

NAMES = ("gtsrb-square",)


@dataclass(frozen=True)
class GtsrbSquare(SignsWithSquare):
    """Photographs of real traffic signs, half of them with a green square that is painted on them.

    Give the folder of your own copy of GTSRB: as torchvision lays it out (`gtsrb/GTSRB/Training`), or as the
    benchmark's archives unpack (`GTSRB/Final_Training/Images`); the test images `GTSRB/Final_Test/Images` are in both,
    and their classes in `GT-final_test.csv`. With `--set source=download` torchvision fetches it.

    The square always has one place and one size, at the bottom right; two consecutive samples show one of
    the 43 signs, once with the square and once without. It is painted, so its mask and the twin without it are exact.

    The splits `test_original`, `test_absent`, `test_moved`, `test_resized`, `test_noisy_square` and
    `test_noisy_background` show the very signs of `test`, with the square as their names say. The region
    `square` is what was painted, `training_square` what a model was trained on.

    References
    ----------
    Stallkamp et al. 2012, *Man vs. computer: benchmarking machine learning algorithms for traffic sign recognition*
    (Neural Networks 32). The square as in Szczepankiewicz et al. 2023 (Scientific Reports 13:16887).
    """

    name: ClassVar[str] = "gtsrb-square"
    default_source: ClassVar[str] = ""
    stand_in: ClassVar[str] = "drawn-signs"
    takes: ClassVar[str] = "PATH of GTSRB, or download"

    def open_source(self, source: Any) -> SignFiles:
        """The copy at a path, or a fetched one."""
        return read_own_copy(type(self), source, lambda path: open_gtsrb(str(path)))

    def prepare(self, source: SignFiles) -> SignPhotographs:
        """The crops in pairs of one sign."""
        return SignPhotographs(source, pairs_of(source.splits, source.classes))
