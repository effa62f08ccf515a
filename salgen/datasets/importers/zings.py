"""Importer of a user's own pictures of heroes and villains."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.datasets.importers.images import ImagesImporter
from salgen.datasets.layouts.imported import Imported
from salgen.datasets.layouts.own_images.open_images import open_images
from salgen.datasets.layouts.own_images.own_images import OwnImages
from salgen.datasets.picture_libraries.picture_sampling import found_at
from salgen.generators.interfaces import Scale
from salgen.parameters import param

NAMED = {"heroes": "hero", "villains": "villain"}
FOLDERS = tuple(NAMED)
ROOT = "zings"


@dataclass(frozen=True)
class ZingsImporter(ImagesImporter):
    """Heroes and villains from your own pictures of them, with the masks of their eyes.

    Give the folder that holds `heroes`, `villains`, `masks/heroes` and `masks/villains`, or one that holds it as
    `zings`. It is read as `images` reads any folder with masks. The classes are called hero and villain, and the region
    is `eyes`.

    References
    ----------
    Szczepankiewicz et al. 2023, *Ground truth based comparison of saliency maps algorithms*,
    doi:10.1038/s41598-023-42946-w. Its 481 pictures are not public; the layout is salgen's.
    """

    name: ClassVar[str] = "zings"
    stand_in: ClassVar[str] = "drawn-figures"
    version: ClassVar[str] = "3"
    takes: ClassVar[str] = "PATH of a folder with heroes, villains and masks"
    region: ClassVar[str] = "eyes"
    scales: ClassVar[Mapping[str, Scale]] = {**Imported.scales, "small": Imported.scales["demo"]}

    classes: tuple[str, ...] = param(FOLDERS, "the folders of the classes", choices=FOLDERS)

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """Hero or villain."""
        return {"label": tuple(NAMED[folder] for folder in self.classes)}

    def read_copy(self, path: Path) -> OwnImages:
        """The pictures and masks below a path."""
        return open_images(str(_root(path)), self)

    open_source = Imported.open_source  # the source is a path, and no text


def _root(path: Path) -> Path:
    """The folder itself, or the one of salgen's name in it, as an archive unpacked into its own folder leaves it."""
    places = (path, path / ROOT, path / ROOT / ROOT)
    root = next((place for place in places if (place / FOLDERS[0]).is_dir()), path)
    for folder in (*(root / name for name in FOLDERS), *(root / "masks" / name for name in FOLDERS)):
        found_at(f"a folder is expected there, or in {root / ROOT}", folder)
    return root
