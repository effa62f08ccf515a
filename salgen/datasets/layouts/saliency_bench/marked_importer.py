"""Base of the importers of Saliency-Bench's data sets.

References
----------
Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual explanations* (KDD).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from salgen.datasets.layouts.imported import Items, read_own_copy, refuse_edit
from salgen.datasets.layouts.mask_limits import MaskLimits
from salgen.datasets.layouts.own_images.own_images import SPLITS
from salgen.datasets.layouts.saliency_bench.attention_folders import read_benchmark
from salgen.datasets.layouts.saliency_bench.marked_copy import MarkedCopy
from salgen.datasets.layouts.saliency_bench.marked_images import IMAGES, Found
from salgen.errors import SalgenError
from salgen.generators.drawing.pictures import resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered, Scale
from salgen.parameters import param


@dataclass(frozen=True)
class MarkedImages(MaskLimits):
    """Base of importers of images that have one class each, of which some are marked.

    A subclass says what `task` the class answers and which `region` is marked, and reads the published layout in
    `read_layout`; the benchmark's own folders are read here. `boxed` says whether images have boxes beside the mask.
    """

    name: ClassVar[str]
    task: ClassVar[str] = "label"
    region: ClassVar[str] = "object"
    boxed: ClassVar[bool] = False
    scales: ClassVar[Mapping[str, Scale]] = {
        "demo": Scale({"train": 2000, "val": 200, "test": 200}, {"image_size": (64, 64)}),
        "small": Scale({"train": 8000, "val": 500, "test": 1000}, {"image_size": (64, 64)}),
        "full": Scale({}, {}),
    }
    quick: ClassVar[Mapping[str, Any]] = {"image_size": (32, 32)}

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

    def open_source(self, source: str | None) -> MarkedCopy:
        """The copy at a path, in the published layout or in the benchmark's own."""
        return read_own_copy(type(self), source, self._opened)

    def _opened(self, path: Path) -> MarkedCopy:
        found = read_benchmark(path) if (path / IMAGES).is_dir() else self.read_layout(path)
        return MarkedCopy(found, self.classes, self.image_size, self.min_mask, self.shares, self.split_seed)

    def fitted(self, source: MarkedCopy) -> Self:
        """With the classes that were found."""
        return replace(self, classes=source.classes)

    def prepare(self, source: MarkedCopy) -> Items:
        """The images of each split."""
        splits: dict[str, list[str]] = {split: [] for split in SPLITS}
        for item in source.images:
            splits[source.splits[item]].append(item)
        return Items(source, splits)

    def labels_of(self, number: int) -> dict[str, int]:
        """Task to class number of an image of a class."""
        return {self.task: number}

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        """The image as a whole, resized, with its mask; an empty one if there is none that is ground truth."""
        refuse_edit(edit)
        source, item = cast(MarkedCopy, material.source), parameters["item"]
        image = source.images[item]
        pixels = resize_rgb(image.read(), self.image_size)
        annotated = image.annotated(self.image_size)
        regions = {self.region: self.ground_truth(image.mask(self.image_size), annotated)}
        if self.boxed:
            regions["boxes"] = image.box_mask(self.image_size)
        if self.valid_region:
            regions[self.valid_region] = annotated
        return Rendered(pixels, self.labels_of(source.number(item)), regions)

    def draw(self, context: Context) -> dict[str, Any]:
        """The item, and the number of its class."""
        item = context.material.at(context)
        return {"item": item, "label": context.material.source.number(item)}

    def target(self, task: str) -> str:
        """What is marked."""
        return self.region

    def region_names(self) -> list[str]:
        """What is marked, and where there are these, its boxes and what is scored."""
        return [self.region, *(["boxes"] if self.boxed else []), *([self.valid_region] if self.valid_region else [])]

    def cluster(self, parameters: Mapping[str, Any], material: Items) -> str:
        """What the image shares with others, such as the patient; else the image."""
        item = str(parameters["item"])
        return cast(MarkedCopy, material.source).images[item].cluster or item
