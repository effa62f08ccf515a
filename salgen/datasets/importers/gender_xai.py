"""Importer of Saliency-Bench's Gender-XAI: people in COCO 2017, by the words of captions."""

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar
from salgen.datasets.layouts.broken import check_size
from salgen.datasets.layouts.detection_datasets.object_boxes import check_box
from salgen.datasets.layouts.own_images.annotations import coco_outline
from salgen.datasets.layouts.saliency_bench.marked_images import INSTEAD, Found, MarkedImage, found_at, some_of_each
from salgen.datasets.layouts.saliency_bench.marked_importer import MarkedImages
from salgen.datasets.picture_libraries.coco import FOLDER, LICENSE, CocoPart, parts_of
from salgen.datasets.picture_libraries.coco_instances import MALFORMED, Box, box_of, outline_of, read_annotations
from salgen.datasets.picture_libraries.picture_sampling import counted
from salgen.errors import SalgenError, readable
from salgen.parameters import param

WORDS = {
    "man": {"man", "men", "boy", "male", "guy", "gentleman"},
    "woman": {"woman", "women", "girl", "female", "lady"},
}
PERSON = 1  # COCO's number of the category
LEAST = 0.02  # least share of the image's area
ABOUT = (
    "COCO 2017: images with one person, of at least 2 % of the image, whom the captions call by words for a man or by "
    "words for a woman and not by both; a mask is the person's outline, which stands in for what the benchmark's "
    "annotators drew. The labels are words that strangers chose for people in photographs: they tell nobody's gender."
)


@dataclass(frozen=True)
class GenderXai(MarkedImages):
    """Photographs of one person whom captions call a man or a woman, with the person as mask: Gender-XAI.

    Give a folder of Saliency-Bench with `image` and `attention_label`, or your own copy of COCO 2017. It holds
    `annotations/captions_train2017.json` beside what `coco-2017` reads, or the same of `val2017` alone. Images are
    taken with one annotated person, of at least 2 % of the image. Their captions together have words for a man (man,
    men, boy, male, guy, gentleman) or a woman (woman, women, girl, female, lady), not for both. The mask is the
    person's outline, in place of what the benchmark's annotators drew. The region `boxes` is the person's box. The
    labels are words that strangers chose: they tell nobody's gender, and a model of them is for studying explanations
    alone.

    References
    ----------
    Chen et al. 2015, *Microsoft COCO captions: data collection and evaluation server*, doi:10.48550/arXiv.1504.00325.
    Zhang et al. 2025, *Saliency-Bench: a comprehensive benchmark for evaluating visual explanations*,
    doi:10.1145/3711896.3737414.
    """

    name: ClassVar[str] = "gender-xai"
    stand_in: ClassVar[str] = "drawn-people"
    region: ClassVar[str] = "person"
    boxed: ClassVar[bool] = True

    images: int = param(2500, "the most of each class that are taken from COCO", low=1)

    def read_layout(self, path: Path) -> Found:
        """Images whose class their captions tell: of each class as many as wanted, which a seed chooses.

        `path` holds ``annotations`` and ``images``, or ``coco`` with these.
        """
        root = path / FOLDER if (path / FOLDER / "annotations").is_dir() else path
        try:
            parts = parts_of(root)
        except SalgenError as error:
            raise SalgenError(f"{error}{INSTEAD}") from None
        images: dict[str, MarkedImage] = {}
        skipped: Counter[str] = Counter()
        for part in parts:
            images |= _of_part(root, part, skipped)
        kept = some_of_each(images, self.images, self.split_seed)
        files = [file for part in parts for file in (part.annotations, _captions_of(part))]
        return Found(root, kept, tuple(WORDS), ABOUT, LICENSE, skipped, files)


def _captions_of(part: CocoPart) -> Path:
    return part.annotations.with_name(f"captions_{part.name}.json")


def _of_part(root: Path, part: CocoPart, skipped: Counter[str]) -> dict[str, MarkedImage]:
    """The usable images of a part, by their path in the copy."""
    labels = _labels(_captions_of(part))
    people: Counter[int] = Counter()
    alone: dict[int, tuple[float, Any, Box]] = {}

    def take(entry: dict[str, Any]) -> None:
        if entry["category_id"] != PERSON or (image := entry["image_id"]) not in labels:
            return
        area, box = float(entry["area"]), box_of(entry)
        people[image] += 2 if entry["iscrowd"] else 1  # a crowd is several
        alone[image] = area, outline_of(entry), box

    images, categories, malformed = read_annotations(part.annotations, take)
    if categories.get("person") != PERSON:
        raise SalgenError(f"{part.annotations}: category {PERSON} must be 'person', as in COCO's own files")
    skipped.update({MALFORMED: malformed} if malformed else {})
    found = {}
    for number in sorted(image for image, count in people.items() if count == 1 and image in images):
        (file, size), (area, outline, box) = images[number], alone[number]
        if area < LEAST * size[0] * size[1]:
            continue
        picture = part.images / Path(file).name
        left, top, width, height = box
        edges = left, top, left + width, top + height
        with counted(skipped):
            check_size(picture, size)
            check_box(edges, size)
            marks = (coco_outline(outline, None, size),)
            item = picture.relative_to(root).as_posix()
            found[item] = MarkedImage(picture, labels[number], marks, boxes=(edges,))
    return found


def _labels(path: Path) -> dict[int, str]:
    """Image to class, of those whose captions have words for one class."""
    found_at("COCO has its captions there", path)
    words: dict[int, set[str]] = defaultdict(set)
    with readable(f"{path} is not a file of COCO's captions"):
        for entry in json.loads(path.read_text(encoding="utf-8"))["annotations"]:
            words[int(entry["image_id"])].update(re.findall("[a-z]+", entry["caption"].lower()))
    told = {image: [label for label, known in WORDS.items() if said & known] for image, said in words.items()}
    return {image: labels[0] for image, labels in told.items() if len(labels) == 1}
