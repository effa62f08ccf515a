"""Importer of Saliency-Bench's Security-XAI: X-ray images of SIXray."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from salgen.datasets.layouts.broken import check_size
from salgen.datasets.layouts.detection_datasets.object_boxes import Box
from salgen.datasets.layouts.detection_datasets.voc_annotations import box_of, read_xml
from salgen.datasets.layouts.own_images.outlines import BoxOutline
from salgen.datasets.layouts.saliency_bench.marked_images import (
    Found,
    MarkedImage,
    found_at,
    missing,
    pictures_in,
    some_of,
)
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.picture_libraries.picture_sampling import UnusableError, counted

PICTURES, TEXTS = "JPEGImages", ("Annotation", "Annotations")
CLASSES = ("clear", "prohibited")
ITEMS = ("gun", "knife", "wrench", "pliers", "scissors", "hammer")
LICENSE = "SIXray: for academic use only; its images may not be passed on."
ABOUT = (
    "SIXray: the images P* with a prohibited item, and as many of the images N* without one; a mask is the union of "
    "the items' boxes, of which the corners' pixels are part."
)


@dataclass(frozen=True)
class SecurityXai(MarkedImages):
    """X-ray images of luggage with and without prohibited items, with boxes as mask: Security-XAI of Saliency-Bench.

    Give your own copy of SIXray with `JPEGImages` and `Annotation`, or a folder of Saliency-Bench with `image` and
    `attention_label`. All images `P*` are taken, and as many of `N*`, which `split_seed` chooses. The mask, region
    `boxes`, is the union of the boxes around guns, knives, wrenches, pliers, scissors and hammers. An image `P*`
    without a box has no mask, as those of the other class: it is trained on, and not scored.

    References
    ----------
    Miao et al. 2019, *SIXray: a large-scale security inspection X-ray benchmark for prohibited item discovery in
    overlapping images*, doi:10.48550/arXiv.1901.00303. Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark
    for evaluating visual explanations*, doi:10.1145/3711896.3737414.
    """

    name: ClassVar[str] = "security-xai"
    stand_in: ClassVar[str] = "drawn-luggage"
    region: ClassVar[str] = "boxes"

    def read_layout(self, path: Path) -> Found:
        """All images of a copy with an item, and as many without, which a seed chooses."""
        pictures = found_at("the images of SIXray, P*.jpg and N*.jpg, are expected there", path / PICTURES)
        texts = found_at("the annotations of SIXray, P*.xml, are expected there", *(path / name for name in TEXTS))
        by_kind = {kind: [file for file in pictures_in(pictures) if file.name.startswith(kind)] for kind in "PN"}
        for kind, files in by_kind.items():
            if not files:
                raise missing(pictures / f"{kind}*.jpg", f"SIXray's images with{'out' if kind == 'N' else ''} an item")
        skipped: Counter[str] = Counter()
        images, annotations = {}, []
        for file in by_kind["P"]:
            text = texts / f"{file.stem}.xml"
            with counted(skipped):
                outlines = tuple(BoxOutline(box) for box in _boxes(file, text, skipped)) if text.is_file() else ()
                images[f"{PICTURES}/{file.name}"] = MarkedImage(file, CLASSES[1], outlines)
                annotations += [text] if outlines else []
        chosen = some_of((file.name for file in by_kind["N"]), len(images), self.split_seed)
        images |= {f"{PICTURES}/{name}": MarkedImage(pictures / name, CLASSES[0]) for name in sorted(chosen)}
        return Found(path, images, CLASSES, ABOUT, LICENSE, skipped, annotations)


def _boxes(file: Path, text: Path, skipped: Counter[str]) -> Iterator[Box]:
    """The boxes of an image's items that can be used."""
    root, size = read_xml(text), check_size(file)
    for entry in root.iterfind("object"):
        with counted(skipped):
            if entry.findtext("name", "").strip().lower() not in ITEMS:
                raise UnusableError("object of an unknown class")
            yield box_of(entry, size)
