"""Tiny copies of COCO 2017: images in the colours of their numbers, and annotations of a few classes."""

import json
import numpy as np
from PIL import Image

NUMBERS = {"toothbrush": 90, "person": 1, "stop sign": 13, "dog": 18}  # COCO's own, of which some are left out


def picture(number, size, scale=5):
    """Noise in large spots, another for each number, which survives JPEG; uint8 (H, W, 3)."""
    height, width = size
    spots = np.random.default_rng(number).integers(0, 256, (height // scale + 1, width // scale + 1, 3), dtype=np.uint8)
    return spots.repeat(scale, axis=0).repeat(scale, axis=1)[:height, :width]


def annotation(image, name="dog", box=(5, 6, 20, 15), **others):
    """An object that fills its box, unless others say more."""
    x, y, w, h = box
    corners = [x, y, x + w, y, x + w, y + h, x, y + h]
    plain = {"image_id": image, "category_id": NUMBERS[name], "iscrowd": 0, "area": w * h, "bbox": list(box)}
    return {"id": 1, "segmentation": [corners], **plain, **others}


def write_coco(root, parts, size, folder="images"):
    """Parts of COCO: name to the numbers of the images, and their annotations."""
    (root / "annotations").mkdir(parents=True, exist_ok=True)
    height, width = size
    for part, (images, annotations) in parts.items():
        place = root / folder / part
        place.mkdir(parents=True)
        for number in images:
            Image.fromarray(picture(number, size)).save(place / f"{number:012}.jpg", quality=95)
        files = [{"id": n, "file_name": f"{n:012}.jpg", "height": height, "width": width} for n in images]
        categories = [{"id": number, "name": name} for name, number in NUMBERS.items()]
        whole = {"info": {}, "images": files, "annotations": annotations, "categories": categories}
        (root / "annotations" / f"instances_{part}.json").write_text(json.dumps(whole))
    return root
