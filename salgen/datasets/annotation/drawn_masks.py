"""The masks that people drew: one PNG for each annotator and image, and nothing else is remembered."""

import hashlib
from pathlib import Path
import numpy as np
from salgen.datasets.annotation.loopback import NAME, check_name
from salgen.datasets.format.png import encode_mask
from salgen.datasets.layouts.own_images.upright_pictures import read_mask
from salgen.files import remove_temporaries, write_bytes
from salgen.types import Mask


class DrawnMasks:
    """A folder with one folder for each annotator, in which ``ITEM.png`` is the mask of an image.

    A mask is replaced as a whole, so a kill leaves the one before. An image without a file was not looked at; a mask
    without a pixel says that nothing is there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if folder.is_dir():
            remove_temporaries(folder, below=True)

    @property
    def annotators(self) -> list[str]:
        """Those who drew, in the order of their names."""
        found = self.folder.iterdir() if self.folder.is_dir() else ()
        return sorted(path.name for path in found if NAME.fullmatch(path.name) and any(path.rglob("*.png")))

    def folder_of(self, annotator: str) -> Path:
        """The folder of an annotator."""
        return self.folder / check_name(annotator)

    def path(self, annotator: str, item: str) -> Path:
        """The file of a mask; ``.png`` comes after the image's own suffix, since two images may differ in that."""
        return self.folder_of(annotator) / f"{item}.png"

    def read(self, annotator: str, item: str) -> Mask | None:
        """The mask, bool (H, W), or None if there is none yet."""
        path = self.path(annotator, item)
        return read_mask(path) if path.is_file() else None

    def write(self, annotator: str, item: str, mask: Mask) -> None:
        """Keep a mask, bool (H, W), in place of the one before."""
        path = self.path(annotator, item)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(path, encode_mask(mask))

    def remove(self, annotator: str, item: str) -> None:
        """Forget a mask: the image counts as not looked at."""
        self.path(annotator, item).unlink(missing_ok=True)


def version_of(mask: Mask | None) -> str:
    """A digest that tells masks of one image apart; ``none`` where there is none."""
    return "none" if mask is None else hashlib.sha256(np.packbits(mask).tobytes()).hexdigest()[:32]
