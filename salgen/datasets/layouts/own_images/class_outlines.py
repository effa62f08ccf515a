"""The classes that each image shows, and the outlines of each class's objects."""

from collections.abc import Iterable, Mapping, Sequence

from salgen.datasets.layouts.detection_datasets.object_boxes import Size
from salgen.datasets.layouts.own_images.annotations import Annotations, Object, in_order
from salgen.datasets.layouts.own_images.image_tree import ImageTree, Skipped
from salgen.datasets.layouts.own_images.label_table import LabelRow
from salgen.datasets.layouts.own_images.outlines import Outline
from salgen.errors import SalgenError


def labels_of(
    items: Iterable[str],
    tree: ImageTree,
    annotations: Sequence[Annotations],
    rows: Mapping[str, LabelRow],
    skipped: Skipped,
) -> tuple[dict[str, list[str]], tuple[str, ...]]:
    """Item to the classes that it shows, and all classes: of the table, else the annotations, else the folders."""
    stated = {item: row.label for item, row in rows.items() if row.label is not None}
    categories = tuple(dict.fromkeys(name for each in annotations for name in each.categories))
    labels: dict[str, list[str]] = {}
    for item in items:
        if stated:
            found, lacking = [stated[item]] if item in stated else [], "image without a row in the table of labels"
        elif categories:
            objects = [one for each in annotations for one in each.objects.get(item, [])]
            found, lacking = [one.category for one in objects if one.category], "image without an object"
        else:
            found, lacking = [tree.folder(item)] if tree.folder(item) else [], "image outside of the classes' folders"
        if found:
            labels[item] = list(dict.fromkeys(found))
        else:
            skipped.add(lacking, item)
    if not labels and not stated and not categories:
        raise SalgenError(
            f"{tree.root}: nothing says of which class an image is; give --labels a table with file and label, or put "
            f"the images into a folder for each class. {skipped.sentence}".rstrip()
        )
    named = {name for of_image in labels.values() for name in of_image}
    return labels, categories if named <= set(categories) else tuple(in_order(named))


def outlines_of(item: str, name: str, annotations: Sequence[Annotations]) -> list[list[Outline]]:
    """Each annotator's outlines of a class in an image: of its objects, or of all if no category is called so."""
    is_category = any(name in each.categories for each in annotations)
    marked = []
    for each in annotations:
        objects: Iterable[Object] = each.objects.get(item, [])
        if is_category and each.categories:
            objects = (one for one in objects if one.category == name)
        marked.append([one.outline for one in objects])
    return [outlines for outlines in marked if outlines]


def largest_class(shown: Mapping[int, Sequence[Sequence[Outline]]], size: Size) -> int:
    """The class number of the largest object; `shown` has each annotator's outlines of each class."""
    extents = {number: max((o.extent(size) for each in of for o in each), default=0.0) for number, of in shown.items()}
    return max(extents, key=lambda number: extents[number])
