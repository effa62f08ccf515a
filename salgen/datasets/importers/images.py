"""Importer of a user's own images with masks or annotations."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self
import numpy as np
from salgen.datasets.layouts.imported import SPLITS, Items, refuse_edit
from salgen.datasets.layouts.own_images.open_images import open_images
from salgen.datasets.layouts.own_images.own_images import OwnImages, Reading
from salgen.datasets.layouts.own_images.upright_pictures import read_picture
from salgen.generators.drawing.pictures import resize_rgb
from salgen.generators.interfaces import Context, Edit, Rendered, Scale


@dataclass(frozen=True)
class ImagesImporter(Reading):
    """Your own images, with masks, boxes or outlines in any common format.

    `salgen import IMAGES --masks PATH --labels TABLE` gives it the source `IMAGES:masks=PATH:labels=TABLE`, which other
    commands take as it is written there. A folder that holds `images`, `masks` and `labels.csv` needs no more than its
    path. docs/own_images.md says which formats are read, and where labels and splits come from.

    An image that shows several classes is treated as in `coco-2017`; `label_present` holds all. Where several
    annotators marked an image, any of their masks is acceptable. Images and masks are turned as EXIF says. A mask that
    is empty after resizing, covers the whole image or has fewer than `min_mask` pixels is no ground truth. Such a
    sample is kept with an empty mask and not scored. Broken files are skipped, counted and named.
    """

    name: ClassVar[str] = "images"
    takes: ClassVar[str] = "IMAGES:masks=PATH:labels=PATH, or a folder that holds images, masks and labels.csv"
    region: ClassVar[str] = "object"
    scales: ClassVar[Mapping[str, Scale]] = {**Reading.scales, "small": Scale({}, {})}

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """The class."""
        return {"label": self.classes}

    def open_source(self, source: str) -> OwnImages:
        """The images, masks and labels that a text names."""
        return open_images(source, self)

    def fitted(self, source: OwnImages) -> Self:
        """With the classes that were found."""
        return replace(self, classes=source.classes)

    def prepare(self, source: OwnImages) -> Items:
        """The samples of each split."""
        splits: dict[str, list[str]] = {split: [] for split in SPLITS}
        for name, (item, _) in source.samples.items():
            splits[source.images[item].split].append(name)
        return Items(source, splits)

    def draw(self, context: Context) -> dict[str, Any]:
        """The image and the class that the sample is about."""
        item, number = context.material.source.samples[context.material.at(context)]
        return {"item": item, "label": number}

    def render(self, parameters: Mapping[str, Any], material: Items, edit: Edit) -> Rendered:
        """The image, cropped and resized, with the acceptable masks of the class; an empty one if there is none."""
        refuse_edit(edit)
        source, item, number = material.source, parameters["item"], parameters["label"]
        image = source.images[item]
        masks = source.masks(item, number) or [np.zeros(self.image_size, dtype=bool)]
        present = {"label": tuple(image.outlines)} if source.several else {}
        pixels = resize_rgb(np.ascontiguousarray(self.cropped(read_picture(image.path))), self.image_size)
        return Rendered(pixels, {"label": number}, {self.region: masks[0]}, tuple(masks[1:]), present)

    def region_names(self) -> list[str]:
        """The object."""
        return [self.region]

    def cluster(self, parameters: Mapping[str, Any], material: Items) -> str:
        """What the table of labels says, else the image."""
        return str(material.source.images[parameters["item"]].cluster)
