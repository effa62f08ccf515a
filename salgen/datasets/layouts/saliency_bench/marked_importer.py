"""Base of the importers of Saliency-Bench's data sets."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os.path import relpath
from pathlib import Path
from typing import Any, ClassVar, Self
from salgen.datasets.layouts.broken import sound_items
from salgen.datasets.layouts.imported import SPLITS, Items, MaskLimits, UserCopy, about_faults, mask_faults, refuse_edit
from salgen.datasets.layouts.own_images.own_split import assign_splits
from salgen.datasets.layouts.saliency_bench.attention_folders import read_benchmark
from salgen.datasets.layouts.saliency_bench.marked_images import IMAGES, Found, MarkedImage
from salgen.datasets.picture_libraries.picture_sampling import listed
from salgen.errors import SalgenError, unknown_name
from salgen.generators.drawing.pictures import resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered
from salgen.parameters import param


@dataclass(frozen=True, eq=False)
class MarkedCopy(UserCopy):
    """Images with a class each, of which some are marked."""

    images: Mapping[str, MarkedImage]  # item to image
    classes: tuple[str, ...]  # their names, in the order of the labels
    about: str
    skipped: Counter[str]
    importer: "MarkedImages"

    def number(self, item: str) -> int:
        """The number of an image's class."""
        return self.classes.index(self.images[item].label)

    @cached_property
    def notes(self) -> str:
        """Numbers of images by split, what has no mask, and what was skipped, for the data set's card."""
        counts, shares = Counter(self.splits.values()), self.importer.shares
        numbers = ", ".join(f"{counts[split]:,} {split}" for split in SPLITS if counts[split])
        parts = (f"{100 * share / sum(shares):.3g} % {split}" for share, split in zip(shares, SPLITS, strict=True))
        texts = [self.about, f"Images: {numbers}; of each class {', '.join(parts)}, in an order fixed by the names."]
        if any(image.cluster for image in self.images.values()):
            texts.append("Images of a patient stay together.")
        marked = [item for item, image in self.images.items() if image.outlines]
        if without := len(self.images) - len(marked):
            texts.append(f"{without:,} of them have no mask: they are trained on, and not scored.")
        size, min_mask = self.importer.image_size, self.importer.min_mask

        def fault(item: str) -> int:
            image = self.images[item]
            return self.importer.mask_fault(image.mask(size), image.annotated(size) if image.void else None)

        # Which masks there are depends on parameters too, which no file tells.
        marks: list[Any] = [(item, len(self.images[item].outlines), bool(self.images[item].void)) for item in marked]
        faults = mask_faults("masks", ["saliency bench", self.digest, list(size), min_mask, marks], marked, fault)
        return " ".join(filter(None, [*texts, about_faults(faults), listed(self.skipped)]))


@dataclass(frozen=True)
class MarkedImages(MaskLimits):
    """Base of importers of images that have one class each, of which some are marked.

    A subclass names its `task` and the marked `region`, and reads the published layout in `read_layout`. The
    benchmark's own folders are read here. `boxed` says whether images have boxes beside the mask.
    """

    task: ClassVar[str] = "label"
    region: ClassVar[str] = "object"
    boxed: ClassVar[bool] = False

    classes: tuple[str, ...] = param((), "the classes that are wanted, in the order of the labels; all if empty")
    shares: tuple[float, float, float] = param((0.7, 0.15, 0.15), "parts of each class for train, val, test", low=0.0)
    split_seed: int = param(0, "another one gives other splits by those parts", low=0)

    def __post_init__(self) -> None:
        if not sum(self.shares):
            raise SalgenError(f"{self.name}: shares = {self.shares}: give at least one of train, val and test a part")

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The class."""
        return {self.task: self.classes}

    def read_layout(self, path: Path) -> Found:
        """What a copy in the published layout holds."""
        raise NotImplementedError

    def read_copy(self, path: Path) -> MarkedCopy:
        """The copy at a path, in the published layout or in the benchmark's own."""
        found = read_benchmark(path) if (path / IMAGES).is_dir() else self.read_layout(path)
        for name in self.classes:
            if name not in found.classes:
                raise unknown_name("class", name, found.classes)
        wanted = {item: image for item, image in found.images.items() if image.label in (self.classes or found.classes)}
        images, broken = sound_items(wanted, {item: image.pictures for item, image in wanted.items()})
        skipped = found.skipped + broken
        if not images:
            raise SalgenError(f"no image of the copy can be used. {listed(skipped)}".strip())
        there = {image.label for image in images.values()}
        classes = self.classes or tuple(name for name in found.classes if name in there)
        numbers = {item: classes.index(image.label) for item, image in images.items()}
        clusters = {item: image.cluster or item for item, image in images.items()}
        splits = assign_splits(dict.fromkeys(images), numbers, clusters, self.shares, self.split_seed)
        paths = (*found.annotations, *(file for image in images.values() for file in image.files))
        files = {Path(relpath(path, found.root)).as_posix(): path for path in paths}
        owners = {item: splits[item] for item in images}
        return MarkedCopy(found.license, files, owners, images, classes, found.about, skipped, self)

    def fitted(self, source: MarkedCopy) -> Self:
        """With the classes that were found."""
        return replace(self, classes=source.classes)

    def labels_of(self, number: int) -> dict[str, int]:
        """Task to class number of an image of a class."""
        return {self.task: number}

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        """The image as a whole, resized, with its mask; an empty one if there is none that is ground truth."""
        refuse_edit(edit)
        source, item = material.source, parameters["item"]
        image = source.images[item]
        annotated = image.annotated(self.image_size)
        regions = {self.region: self.ground_truth(image.mask(self.image_size), annotated)}
        if self.boxed:
            regions["boxes"] = image.box_mask(self.image_size)
        if self.valid_region:
            regions[self.valid_region] = annotated
        return Rendered(resize_rgb(image.read(), self.image_size), self.labels_of(source.number(item)), regions)

    def draw(self, context: Context) -> dict[str, Any]:
        """The item, and the number of its class."""
        item = context.material.at(context)
        return {"item": item, "label": context.material.source.number(item)}

    def region_names(self) -> list[str]:
        """What is marked, and where there are these, its boxes and what is scored."""
        return [self.region, *(["boxes"] if self.boxed else []), *([self.valid_region] if self.valid_region else [])]

    def cluster(self, parameters: Mapping[str, Any], material: Items) -> str:
        """What the image shares with others, such as the patient; else the image."""
        item = str(parameters["item"])
        return material.source.images[item].cluster or item
