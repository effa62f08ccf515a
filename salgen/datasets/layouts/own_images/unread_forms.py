"""Forms of annotations that are not read, told by their keys: messages name them."""

import json
import re
from itertools import islice
from pathlib import Path

from salgen.datasets.layouts.own_images.image_tree import PICTURES, visible_files

COCO = "COCO's"
JSON = (  # keys of a file, or of the first entry of its list or mapping
    *(("images annotations categories", COCO), ("shapes", "LabelMe's"), ("categories items", "Datumaro's")),
    *(("image annotations image_id", "that of Segment Anything, a file for each image"),),
    *(("image annotations", "CreateML's"), ("imagefilename annotation", "CreateML's")),
    *(("image_id category_id", "that of COCO's results, without images and categories"), ("data_row", "Labelbox's")),
    *(("data annotations", "Label Studio's"), ("data completions", "Label Studio's"), ("asset regions", "VoTT's")),
    *(("image annotator", "Label Studio's"), ("objects size", "Supervisely's"), ("_via_img_metadata", "VIA's")),
    ("filename regions", "VIA's"),
)
XML = {"annotation": "PASCAL VOC's (the importer voc-2012 takes VOC 2012 as a whole)", "annotations": "CVAT's"}
READ = {".csv": "that file", ".jsonl": "that file", ".txt": "YOLO's data.yaml or classes.txt"}  # what to give
MANY = 20  # files of a folder that are looked at


def unread_form(path: Path) -> str:
    """The end of a message: the form of a file, or of the first known one in a folder; "" if none is known."""
    files = (each for each in visible_files(path) if each.suffix.lower() not in PICTURES) if path.is_dir() else [path]
    for file in islice(files, MANY):
        form, read = _form(file), READ.get(file.suffix.lower())
        if (read or form == COCO) and file != path:
            return f"; {file} may hold the annotations: give {read or 'that file'}"
        if form and form != COCO:
            return f"; the form of {file} is {form}, which is not read: give it as COCO instances (.json)"
    return ""


def _form(file: Path) -> str:
    try:
        if file.suffix.lower() == ".xml":
            with open(file, encoding="utf-8", errors="replace") as handle:
                return XML.get("".join(re.findall(r"<(\w+)", handle.read(10_000))[:1]), "")
        if file.suffix.lower() == ".json":
            whole = json.loads(file.read_text(encoding="utf-8-sig"))
            inner = next(iter(whole.values() if isinstance(whole, dict) else whole), None)
            keys = {key for each in (whole, inner) if isinstance(each, dict) for key in each}
            return next((form for known, form in JSON if keys.issuperset(known.split())), "")
    except (OSError, ValueError, TypeError, RecursionError):
        pass
    return ""
