"""Importer of the German Traffic Sign Recognition Benchmark, whose signs get a square."""

from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.datasets.layouts.gtsrb import SignFiles, SignPhotographs, open_gtsrb, pairs_of
from salgen.datasets.layouts.imported import read_own_copy
from salgen.generators.traffic_signs.drawn_signs import SignsWithSquare


@dataclass(frozen=True)
class GtsrbSquare(SignsWithSquare):
    """Photographs of real traffic signs, half of them with a green square that is painted on them.

    Give your own copy of GTSRB: as torchvision lays it out (`gtsrb/GTSRB/Training`), or as the benchmark's archives
    unpack (`GTSRB/Final_Training/Images`). The test images `GTSRB/Final_Test/Images` are in both, and their classes in
    `GT-final_test.csv`. With `--set source=download` torchvision fetches it.

    The square, its splits and its regions are those of `drawn-signs`. It is painted, so its mask and the twin without
    it are exact.

    References
    ----------
    Stallkamp et al. 2012, *Man vs. computer: benchmarking machine learning algorithms for traffic sign recognition*,
    doi:10.1016/j.neunet.2012.02.016. Szczepankiewicz et al. 2023, *Ground truth based comparison of saliency maps
    algorithms*, doi:10.1038/s41598-023-42946-w (the square).
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
