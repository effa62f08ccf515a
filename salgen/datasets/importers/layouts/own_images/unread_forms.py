"""Forms of annotations that are not read, told by their keys: messages name them."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path

from salgen.datasets.importers.layouts.own_images.image_tree import PICTURES, visible_files

JSON = {  # by keys of a file, or of the first entry of its list or mapping
    frozenset({"images", "annotations", "categories"}): "COCO's form",
    frozenset({"shapes"}): "LabelMe's form",
    frozenset({"image_id", "category_id"}): "the form of COCO's results, without images and categories",
    frozenset({"data", "annotations"}): "Label Studio's form",
    frozenset({"data", "completions"}): "Label Studio's form",
    frozenset({"image", "annotator"}): "Label Studio's form",
    frozenset({"image", "annotations"}): "CreateML's form",
    frozenset({"objects", "size"}): "Supervisely's form",
    frozenset({"_via_img_metadata"}): "VIA's form",
    frozenset({"filename", "regions"}): "VIA's form",
    frozenset({"asset", "regions"}): "VoTT's form",
}
XML = {  # by the outermost element
    "annotation": "PASCAL VOC's form (the importer voc-2012 takes VOC 2012 as a whole)",
    "annotations": "CVAT's form",
}
YOLO = "YOLO's form, if it is beside its data.yaml or classes.txt"
OTHERS = {".csv": "the form of a table", ".jsonl": "the form of a table", ".yaml": YOLO, ".txt": YOLO}
UNREAD = {*JSON.values(), *XML.values()} - {"COCO's form"}
MANY = 20  # files of a folder that are looked at


def unread_form(path: Path) -> str:
    """A sentence on the form of a file, or of the first known one in a folder, with what to do; "" if none is known."""
    if not path.is_dir():
        form = _form(path)
        return f". It has {form}, which is not read: save it as COCO instances (.json)" if form in UNREAD else ""
    files = (each for each in visible_files(path) if each.suffix.lower() not in PICTURES)
    for file in islice(files, MANY):
        if form := _form(file):
            do = "save it as COCO instances (.json), and give that" if form in UNREAD else "give that file"
            return f". {file} has {form}: {do}"
    return ""


def _form(file: Path) -> str:
    try:
        if file.suffix.lower() == ".xml":
            with open(file, encoding="utf-8", errors="replace") as handle:
                name = re.search(r"<(\w+)", handle.read(10_000))
            return XML.get(name.group(1), "") if name else ""
        if file.suffix.lower() == ".json":
            whole = json.loads(file.read_text(encoding="utf-8-sig"))
            inner = next(iter(whole.values() if isinstance(whole, dict) else whole), None)
            keys = {key for each in (whole, inner) if isinstance(each, dict) for key in each}
            return next((form for known, form in JSON.items() if known <= keys), "")
    except (OSError, ValueError, TypeError, RecursionError):
        return ""
    return OTHERS.get(file.suffix.lower(), "")
