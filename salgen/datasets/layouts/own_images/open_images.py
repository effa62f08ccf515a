"""Reading a user's images, masks and labels: everything that must belong together is compared here."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from salgen.datasets.layouts.broken import broken_items
from salgen.datasets.layouts.own_images.annotated_tables import is_table, masks_named_in
from salgen.datasets.layouts.own_images.annotation_formats import read_annotations_at
from salgen.datasets.layouts.own_images.annotations import Annotations
from salgen.datasets.layouts.own_images.class_outlines import labels_of, largest_class, outlines_of
from salgen.datasets.layouts.own_images.image_tree import ImageTree, Skipped
from salgen.datasets.layouts.own_images.label_table import LabelRow, read_labels
from salgen.datasets.layouts.own_images.orientations import turned
from salgen.datasets.layouts.own_images.outlines import MaskPicture
from salgen.datasets.layouts.own_images.own_images import OwnImage, OwnImages, Reading
from salgen.datasets.layouts.own_images.own_split import about_splits, assign_splits
from salgen.datasets.layouts.own_images.source_text import Paths
from salgen.datasets.layouts.own_images.upright_pictures import header_of, masks_told
from salgen.errors import SalgenError, unknown_name, warn


def open_images(text: str, reading: Reading) -> OwnImages:
    """The images that the text of a source names."""
    given, skipped, noted = Paths.of(text), Skipped(), Skipped("Noted")
    root = given.images
    named = [picture for path in given.masks if is_table(path) and path.is_file() for picture in masks_named_in(path)]
    tree = ImageTree.at(root, [*given.masks, *named], skipped, reading.exif == "stored")
    annotations = [read_annotations_at(path, tree, skipped, reading.mask_values) for path in given.masks]
    rows: dict[str, LabelRow] = {}
    for table in given.labels:
        rows |= read_labels(table, tree)
    damaged = _damaged_masks(annotations, tree, reading.mask_values, noted)
    for item, why in damaged.items():
        skipped.add(why.replace("image", "mask"), item)
    usable = {item: header for item, header in tree.headers.items() if item not in damaged}
    annotations = [
        turned(each, path, usable, reading.exif, noted) for each, path in zip(annotations, given.masks, strict=True)
    ]
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
    main = {item: largest_class(outlines, tree.headers[item].size) for item, outlines in shown.items()}
    clusters = {item: (rows[item].cluster if item in rows else None) or item for item in shown}
    stated = {item: (rows[item].split if item in rows else None) or tree.split(item) for item in shown}
    splits = assign_splits(stated, main, clusters, reading.shares, reading.split_seed)
    images = {
        item: OwnImage(tree.files[item], tree.headers[item].size, splits[item], clusters[item], main[item], shown[item])
        for item in sorted(shown)
    }
    for item in images:
        if tree.headers[item].transparent:
            noted.add("image whose opacity is left out", item)
        if tree.headers[item].paged:
            noted.add("image of several pages, of which the first is read", item)
    files = {f"images/{item}": tree.files[item] for item in images}
    files |= {f"masks-{n}/{name}": path for n, each in enumerate(annotations) for name, path in each.files.items()}
    files = {name: path for name, path in files.items() if path.is_file()}  # a broken mask may be a link to nowhere
    files |= {f"labels/{path.relative_to(root) if path.is_relative_to(root) else n or ''}": path
              for n, path in enumerate(given.labels)}  # fmt: skip
    if noted.places:
        warn(noted.sentence)
    return OwnImages(
        files=files,
        splits={f"images/{item}": split for item, split in splits.items()},
        images=images,
        classes=tuple(classes),
        several=any(len(image.outlines) > 1 for image in images.values()),
        reading=reading,
        about=" ".join(filter(None, [about_splits(stated, reading.shares), skipped.sentence, noted.sentence])),
    )


def _damaged_masks(
    annotations: Iterable[Annotations], tree: ImageTree, values: tuple[int, ...], noted: Skipped
) -> dict[str, str]:
    """Items with a mask picture that cannot be decoded, with the reason; `noted` counts how the others are read."""
    pictures: dict[str, list[Path]] = defaultdict(list)
    for each in annotations:
        for item, objects in each.objects.items():
            pictures[item] += [one.outline.path for one in objects if isinstance(one.outline, MaskPicture)]
    damaged = broken_items(pictures)
    sound = {item: pictures[item] for item in sorted(pictures.keys() & tree.headers.keys() - damaged.keys())}
    for item, paths in sound.items():
        image = tree.headers[item]
        for path in paths:
            mask = header_of(path)
            if mask.paged:
                noted.add("mask of several pages, of which the first is read", item)
            if mask.size not in (image.size, image.stored if mask.orientation == 1 else image.size):
                sizes = " and ".join(f"{width} x {height}" for height, width in (mask.size, image.size))
                raise SalgenError(
                    f"{path}: mask and image {item} have {sizes} pixels: save the mask in the image's size"
                )
    for item, said in masks_told(sound, values):
        noted.add(said, item)
    return damaged
