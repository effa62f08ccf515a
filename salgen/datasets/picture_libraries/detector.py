"""The detector that a user gives to filter pictures by: a file of weights in a folder of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path
from typing import Protocol

from salgen.datasets.picture_libraries.picture_file import Pixels
from salgen.errors import SalgenError
from salgen.files import sha256_of
from salgen.registry import DETECTORS

FOLDER = "detector"
FORMS = ("fasterrcnn_resnet50_fpn_coco-*.pth", "*.safetensors")
PUBLISHED = "https://download.pytorch.org/models/fasterrcnn_resnet50_fpn_coco-258fb6c6.pth"
EXPECTED = f"torchvision's weights ({PUBLISHED}) or a .safetensors file of your own"

Finding = tuple[str, float]  # category, confidence


class Detector(Protocol):
    """A network that finds objects."""

    @property
    def categories(self) -> tuple[str, ...]:
        """The names of the objects that it can find."""
        ...

    def detect(self, images: Sequence[Pixels]) -> list[list[Finding]]:
        """For each image, uint8 (H, W, 3), the detections, the surest first."""
        ...


@dataclass(frozen=True)
class Weights:
    """A detector's file."""

    path: Path

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file."""
        try:
            return sha256_of(self.path)
        except OSError as error:
            raise SalgenError(f"{self.path}: cannot be read ({error.strerror})") from None

    def load(self) -> Detector:
        """The network."""
        detector: Detector = DETECTORS.load("torchvision")(self.path)
        return detector


def weights_in(root: Path) -> Weights:
    """The file in the folder ``detector`` of a user's folder."""
    folder = root / FOLDER
    if not folder.is_dir():
        raise SalgenError(f"{folder} is missing: pictures of your own are filtered by a detector; put {EXPECTED} there")
    files = sorted(file for file in folder.iterdir() if any(fnmatch(file.name, form) for form in FORMS))
    if len(files) != 1:
        raise SalgenError(f"{folder} holds {len(files)} files of weights, but one is expected: {EXPECTED}")
    return Weights(files[0])
