import json
import numpy as np
import pytest
from marked_trees import SIDE, name_of, nearest, noise, opened, refusal, samples
from salgen.testing import check_importer

H, W = 30, 44
# Of each image its captions and the boxes of its people; each outline is the box less a pixel around.
PEOPLE = {
    1: (["A man rides.", "The rider is fast"], [(3, 4, 20, 20)]),
    2: (["A WOMAN, cooking"], [(13, 4, 20, 20)]),
    3: (["two girls and a lady", "a lady"], [(5, 2, 12, 26)]),
    4: (["a boy's kite"], [(8, 6, 22, 20)]),
    5: (["a man and a woman"], [(3, 4, 20, 20)]),  # both
    6: (["a person"], [(3, 4, 20, 20)]),  # neither
    7: (["a man"], [(3, 4, 12, 20), (20, 4, 12, 20)]),  # two people
    8: (["a man far away"], [(3, 4, 5, 5)]),  # too small: 9 of 1320 pixels
    9: (["a woman in a crowd"], [(3, 4, 20, 20)]),
    10: (["a man nobody outlined"], []),
    11: (["chairmen and womanly things"], [(3, 4, 20, 20)]),  # no word of theirs
}
TOLD = {1: 0, 2: 1, 3: 1, 4: 0}


def entry(image, box, **changes):
    left, top, width, height = box
    right, bottom = left + width - 1, top + height - 1
    polygon = [left + 1, top + 1, right, top + 1, right, bottom, left + 1, bottom]
    area = (width - 2) * (height - 2)
    return {"image_id": image, "category_id": 1, "bbox": box, "segmentation": [polygon], "area": area} | changes


def write(root, part="val2017", **changes):
    images = [{"id": image, "file_name": f"{image:012}.jpg", "height": H, "width": W} for image in PEOPLE]
    annotations = [entry(image, box) for image, (_, boxes) in PEOPLE.items() for box in boxes]
    annotations.append(entry(9, (0, 0, W, H), iscrowd=1, segmentation={"counts": [0, H * W], "size": [H, W]}))
    annotations.append(entry(1, (1, 1, 9, 9), category_id=2))
    categories = [{"id": 1, "name": "person"}, {"id": 2, "name": "bicycle"}]
    whole = {"images": images, "annotations": annotations, "categories": categories} | changes
    (root / "annotations" / f"instances_{part}.json").write_text(json.dumps(whole))
    captions = [{"image_id": image, "caption": text} for image, (texts, _) in PEOPLE.items() for text in texts]
    (root / "annotations" / f"captions_{part}.json").write_text(json.dumps({"annotations": captions}))


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "coco"
    (root / "annotations").mkdir(parents=True)
    (root / "images/val2017").mkdir(parents=True)
    for image in PEOPLE:
        noise(f"{image}", (H, W)).save(root / f"images/val2017/{image:012}.jpg", quality=95)
    write(root)
    return root


def number_of(item):
    return int(name_of(item))


def test_one_person_by_words_of_one_kind_with_outline_and_box(copy, tmp_path):
    check_importer("gender-xai", str(copy), image_size=(SIDE, SIDE))
    for path in (copy, tmp_path):
        made = opened("gender-xai", path)
        assert made.plugin.tasks == {"label": ("man", "woman")}
        found = samples(made)
        assert {number_of(item): sample.labels["label"] for item, sample in found.items()} == TOLD
        for item, sample in found.items():
            left, top, width, height = PEOPLE[number_of(item)][1][0]
            outline, box = np.zeros((2, H, W), dtype=bool)
            outline[top + 1 : top + height - 1, left + 1 : left + width - 1] = True
            box[top : top + height, left : left + width] = True
            np.testing.assert_array_equal(sample.regions["person"], nearest(outline))
            np.testing.assert_array_equal(sample.regions["boxes"], nearest(box))
    assert "they tell nobody's gender" in made.source.notes
    assert "Skipped" not in made.source.notes


def test_so_many_of_each_class_are_taken(copy):
    chosen = [tuple(sorted(samples(opened("gender-xai", copy, images=1, split_seed=seed)))) for seed in range(9)]
    assert {len(items) for items in chosen} == {2}
    assert len(set(chosen)) > 1
    assert chosen[0] == tuple(sorted(samples(opened("gender-xai", copy, images=1))))


@pytest.mark.parametrize(
    ("why", "broken"),
    [
        ("no outline in COCO's form", {"segmentation": None}),
        ("box outside of the image", {"bbox": (99, 4, 20, 20)}),
        ("annotation not in COCO's form", {"bbox": (1, 2, 3)}),
    ],
)
def test_a_person_that_is_broken_is_skipped_and_counted(copy, why, broken):
    write(copy, annotations=[entry(1, PEOPLE[1][1][0], **broken), *(entry(k, PEOPLE[k][1][0]) for k in (2, 3, 4))])
    made = opened("gender-xai", copy)
    assert f"Skipped: {why} (1)." in made.source.notes
    assert {number_of(item) for item in samples(made)} == {2, 3, 4}


def test_images_that_are_broken_are_skipped_and_counted(copy):
    images = copy / "images/val2017"
    (images / "000000000001.jpg").unlink()
    noise("other", (H - 1, W)).save(images / "000000000002.jpg")
    (images / "000000000003.jpg").write_bytes((images / "000000000003.jpg").read_bytes()[:-9])
    made = opened("gender-xai", copy)
    said = "Skipped: image of another size than stated (1), missing image (1), unreadable image (1)."
    assert said in made.source.notes
    assert {number_of(item) for item in samples(made)} == {4}


def test_files_that_are_missing_or_of_another_kind_are_named(copy, tmp_path):
    expected = tmp_path / "nowhere/annotations/instances_train2017.json"
    assert refusal("gender-xai", tmp_path / "nowhere").startswith(f"{expected} is missing")
    write(copy, categories=[{"id": 1, "name": "bicycle"}])
    assert "category 1 must be 'person'" in refusal("gender-xai", copy)
    captions = copy / "annotations/captions_val2017.json"
    for content in ("[1, 2]", "no JSON", '{"annotations": [{"image_id": 1}]}', '{"annotations": [1]}'):
        captions.write_text(content)
        assert refusal("gender-xai", copy).startswith(f"{captions} is not a file of COCO's captions")
    captions.unlink()
    expected = f"{captions} is missing: COCO has its captions there; or give a folder of Saliency"
    assert refusal("gender-xai", copy).startswith(expected)
