"""A tiny tree of the layout of PASCAL VOC 2012."""

import numpy as np
from PIL import Image
from salgen.datasets.layouts.detection_datasets.voc_annotations import CLASSES

H, W = 30, 44
VOID = 255
CORNERS = ("xmin", "ymin", "xmax", "ymax")
# Of each image its objects: class, corners as VOC counts them, and whether it is marked as difficult.
TRAIN = {f"2008_{number:06}": [("dog", (3, 4, 20, 25), 0), ("cat", (22, 5, 40, 12), 0)] for number in range(20)}
VAL = {
    "2009_000001": [("dog", (1, 1, 10, 10), 0), ("person", (20, 10, 44, 30), 0), ("dog", (12, 3, 18, 8), 1)],
    "2009_000002": [("tvmonitor", (5, 5, 30, 25), 0)],
    "2009_000003": [("person", (2, 2, 12, 28), 1), ("chair", (15, 2, 25, 12), 0), ("bus", (15, 15, 40, 29), 0)],
}


def picture(name):
    noise = np.random.default_rng(int(name[-6:])).integers(0, 256, (H // 5 + 1, W // 5 + 1, 3), dtype=np.uint8)
    return Image.fromarray(noise.repeat(5, axis=0).repeat(5, axis=1)[:H, :W])


def entry(name, corners, difficult):
    bounds = "".join(f"<{side}>{value}</{side}>" for side, value in zip(CORNERS, corners, strict=True))
    return f"<object><name>{name}</name><difficult>{difficult}</difficult><bndbox>{bounds}</bndbox></object>"


def write_xml(root, name, objects, size=(H, W)):
    inside = "".join(entry(*each) for each in objects)
    stated = f"<size><width>{size[1]}</width><height>{size[0]}</height><depth>3</depth></size>"
    text = f"<annotation><filename>{name}.jpg</filename>{stated}{inside}</annotation>"
    (root / "Annotations" / f"{name}.xml").write_text(text)


def write_mask(root, name, objects):
    """Each object's box, with a rim of void."""
    ids = np.zeros((H, W), dtype=np.uint8)
    for kind, (left, top, right, bottom), _ in objects:
        ids[top - 1 : bottom, left - 1 : right] = VOID
        ids[top : bottom - 1, left : right - 1] = CLASSES.index(kind) + 1
    drawn = Image.fromarray(ids)
    drawn.putpalette([(37 * number) % 256 for number in range(768)])
    drawn.save(root / "SegmentationClass" / f"{name}.png")


def tree(root, train=TRAIN, val=VAL):
    for folder in ("JPEGImages", "Annotations", "SegmentationClass", "ImageSets/Main", "ImageSets/Segmentation"):
        (root / folder).mkdir(parents=True)
    for name, objects in {**train, **val}.items():
        picture(name).save(root / "JPEGImages" / f"{name}.jpg", quality=95)
        write_xml(root, name, objects)
        write_mask(root, name, objects)
    for part, names in (("train", train), ("val", val)):
        (root / "ImageSets/Main" / f"{part}.txt").write_text("".join(f"{name}\n" for name in names))
        (root / "ImageSets/Main" / f"dog_{part}.txt").write_text("".join(f"{name} -1\n" for name in names))
    (root / "ImageSets/Segmentation/train.txt").write_text("".join(f"{name}\n" for name in list(train)[:12]))
    (root / "ImageSets/Segmentation/val.txt").write_text("2009_000001\n2009_000003\n")
    return root
