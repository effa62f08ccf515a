"""What is drawn in Saliency-Bench's form: the same masks for salgen's reader, and for one like the benchmark's."""

import numpy as np
import pytest
from marked_trees import nearest, opened, resized, samples
from own_image_files import H, W, painted, write_images, write_labels
from PIL import Image
from salgen.datasets.annotation.annotated_dataset import Annotation
from salgen.datasets.layouts.saliency_bench.attention_folders import read_benchmark

SIZE = (224, 224)
DRAWN = {
    "cat/a.png": {"anna": (3, 2, 12, 9), "ben": (6, 2, 20, 9), "chris": (6, 5, 12, 19)},
    "cat/a.bmp": {"anna": (0, 0, 0, 0)},
    "dog/a.png": {"anna": (9, 9, 20, 15), "ben": (1, 1, 4, 4)},
    "dog/b.png": {},
}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))


def annotated(tmp_path, **options):
    images = write_images(tmp_path / "photos", list(DRAWN))
    annotation = Annotation.at(images, parameters={"image_size": (H, W), "shares": (0, 0, 1)}, **options)
    for item, drawn in DRAWN.items():
        for name, box in drawn.items():
            annotation.masks.write(name, item, painted(box))
    annotation.finish()
    return annotation


def half(item):
    """The pixels that half of those marked who drew on an image, at the benchmark's size."""
    masks = [painted(box) for box in DRAWN[item].values()]
    votes = np.array([[sum(mask[y, x] for mask in masks) for x in range(W)] for y in range(H)])
    return nearest((votes >= len(masks) / 2) & bool(masks), SIZE)


@pytest.mark.parametrize("merge", ["acceptable", "majority"])
def test_salgen_reads_the_masks_back(tmp_path, merge):
    folder = annotated(tmp_path, merge=merge).work / "saliency-bench"
    found = read_benchmark(folder)
    assert found.classes == ("cat", "dog")
    assert not found.skipped
    names = {"cat/a.bmp": "000000-a", "cat/a.png": "000001-a", "dog/a.png": "000002-a", "dog/b.png": "000003-b"}
    assert found.images.keys() == {f"image/{item[:3]}/{name}.png" for item, name in names.items()}
    for item, name in names.items():
        image = found.images[f"image/{item[:3]}/{name}.png"]
        np.testing.assert_array_equal(image.mask(SIZE), half(item))
        with Image.open(tmp_path / "photos" / item) as stored:
            np.testing.assert_array_equal(image.read(), resized(stored.convert("RGB"), SIZE))
    made = samples(opened("object-xai", folder, image_size=SIZE))
    np.testing.assert_array_equal(made["image/cat/000001-a.png"].regions["object"], half("cat/a.png"))


def test_finishing_again_leaves_nothing_of_before(tmp_path):
    images = write_images(tmp_path / "photos", ["a.png", "b.png"])
    for names in ({"a": "cat", "b": "up/down"}, {"a": "dog", "b": "up/down"}):
        labels = write_labels(tmp_path / "labels.csv", names)
        annotation = Annotation.at(images, tmp_path / "out", labels=labels, parameters={"shares": (0, 0, 1)})
        annotation.masks.write("anna", "a.png", painted((3, 2, 12, 9)))
        annotation.finish()
    found = read_benchmark(annotation.work / "saliency-bench")
    assert found.classes == ("dog", "up%2Fdown")
    assert [bool(image.outlines) for image in found.images.values()] == [True, False]
