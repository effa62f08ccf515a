"""Reading a user's images, masks and labels: everything that must belong together is compared here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from salgen.datasets.importers.layouts.broken import broken_items
from salgen.datasets.importers.layouts.own_images.annotated_tables import is_table, masks_named_in
from salgen.datasets.importers.layouts.own_images.annotation_formats import read_annotations_at
from salgen.datasets.importers.layouts.own_images.annotations import Annotations
from salgen.datasets.importers.layouts.own_images.class_outlines import labels_of, largest_class, outlines_of
from salgen.datasets.importers.layouts.own_images.image_tree import ImageTree, Skipped
from salgen.datasets.importers.layouts.own_images.label_table import LabelRow, read_labels
from salgen.datasets.importers.layouts.own_images.outlines import MaskPicture
from salgen.datasets.importers.layouts.own_images.own_images import OwnImage, OwnImages, Reading
from salgen.datasets.importers.layouts.own_images.own_split import about_splits, assign_splits
from salgen.datasets.importers.layouts.own_images.source_text import Paths
from salgen.datasets.importers.layouts.own_images.upright_pictures import size_of
from salgen.errors import SalgenError, unknown_name


def open_images(text: str, reading: Reading) -> OwnImages:
    """The images that the text of a source names.

    Raises
    ------
    SalgenError
        If something is missing or does not belong together; the message names the file.
    """
    given, skipped = Paths.of(text), Skipped()
    root = given.images
    named = [picture for path in given.masks if is_table(path) and path.is_file() for picture in masks_named_in(path)]
    tree = ImageTree.at(root, [*given.masks, *named], skipped)
    annotations = [read_annotations_at(path, tree, skipped, reading.mask_values) for path in given.masks]
    rows: dict[str, LabelRow] = {}
    for table in given.labels:
        rows |= read_labels(table, tree)
    damaged = _damaged_masks(annotations, tree)
    for item, why in damaged.items():
        skipped.add(why.replace("image", "mask"), item)
    usable = [item for item in tree.sizes if item not in damaged]
    labels, categories = labels_of(usable, tree, annotations, rows, skipped)
    classes = reading.classes or categories
    for name in reading.classes:
        if name not in categories:
            raise unknown_name("class", name, categories)
    shown = {}
    for item, of_image in labels.items():
        wanted = {classes.index(name): outlines_of(item, name, annotations) for name in of_image if name in classes}
        if wanted:
            shown[item] = dict(sorted(wanted.items()))
        else:
            skipped.add("image of no class that is wanted", item)
    if not shown:
        raise SalgenError(f"{root}: no image can be used. {skipped.sentence}")
    main = {item: largest_class(outlines, tree.sizes[item]) for item, outlines in shown.items()}
    clusters = {item: (rows[item].cluster if item in rows else None) or item for item in shown}
    stated = {item: (rows[item].split if item in rows else None) or tree.split(item) for item in shown}
    splits = assign_splits(stated, main, clusters, reading.shares, reading.split_seed)
    images = {
        item: OwnImage(tree.files[item], tree.sizes[item], splits[item], clusters[item], main[item], shown[item])
        for item in sorted(shown)
    }
    files = {f"images/{item}": tree.files[item] for item in images}
    files |= {f"masks-{n}/{name}": path for n, each in enumerate(annotations) for name, path in each.files.items()}
    files = {name: path for name, path in files.items() if path.is_file()}  # a broken mask may be a link to nowhere
    files |= {f"labels/{path.relative_to(root) if path.is_relative_to(root) else n or ''}": path
              for n, path in enumerate(given.labels)}  # fmt: skip
    return OwnImages(
        files=files,
        splits={f"images/{item}": split for item, split in splits.items()},
        images=images,
        classes=tuple(classes),
        several=any(len(image.outlines) > 1 for image in images.values()),
        reading=reading,
        about=" ".join(filter(None, [about_splits(stated, reading.shares), skipped.sentence])),
    )


def _damaged_masks(annotations: Iterable[Annotations], tree: ImageTree) -> dict[str, str]:
    """Items with a mask picture that cannot be decoded, with the reason.

    Raises
    ------
    SalgenError
        If a mask picture is of another size than its image.
    """
    pictures: dict[str, list[Path]] = defaultdict(list)
    for each in annotations:
        for item, objects in each.objects.items():
            pictures[item] += [one.outline.path for one in objects if isinstance(one.outline, MaskPicture)]
    damaged = broken_items(pictures)
    for item in sorted(pictures.keys() & tree.sizes.keys() - damaged.keys()):
        for path in pictures[item]:
            if size_of(path) != tree.sizes[item]:
                sizes = " and ".join(f"{width} x {height}" for height, width in (size_of(path), tree.sizes[item]))
                raise SalgenError(
                    f"{path}: mask and image {item} have {sizes} pixels: save the mask in the image's size"
                )
    return damaged
