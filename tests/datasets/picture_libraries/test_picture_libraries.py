import sys
from functools import partial
from pathlib import Path
import coco_tree
import numpy as np
import pytest
from coco_tree import annotation
from own_image_files import run_lengths
from PIL import Image
from salgen.datasets.picture_libraries import coco, coco_instances, miniplaces
from salgen.datasets.picture_libraries.picture_sampling import UnusableError
from salgen.errors import SalgenError
from salgen.generators.factory import generator

pytest.importorskip("pycocotools")
pytestmark = pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # of pycocotools

OBJECTS, SCENES = ("dog", "stop sign"), ("bedroom", "track/outdoor")
H, W = 30, 40
SIDE = 32
SPLITS = ("train", "val", "test")


picture = partial(coco_tree.picture, size=(H, W))
write_coco = partial(coco_tree.write_coco, size=(H, W))


def plain_coco(root, **options):
    def part(numbers):
        return numbers, [annotation(number, OBJECTS[number % 2]) for number in numbers]

    return write_coco(root, {"train2017": part(range(100, 160)), "val2017": part(range(10))}, **options)


def write_miniplaces(root, *, count=20, tested=4):
    lists = {"train": [], "val": []}
    for label, name in enumerate(SCENES):
        folder = f"train/{name[0]}/{name}"
        (root / "images" / folder).mkdir(parents=True)
        (root / "images" / "val").mkdir(exist_ok=True)
        for number in range(count):
            Image.fromarray(picture(1000 * label + number, size=(32, 48))).save(
                root / "images" / folder / f"{number:08}.jpg"
            )
            lists["train"].append(f"{folder}/{number:08}.jpg {label}")
        for number in range(100 * label, 100 * label + tested):
            Image.fromarray(picture(5000 + number, size=(48, 32))).save(root / "images/val" / f"{number:08}.jpg")
            lists["val"].append(f"val/{number:08}.jpg {label}")
    for part, lines in lists.items():
        (root / f"{part}.txt").write_text("\n".join(lines) + "\n")
    return root


@pytest.fixture(scope="module")
def copies(tmp_path_factory):
    """Both copies, one of them as a link."""
    root = tmp_path_factory.mktemp("copies")
    plain_coco(root / "coco")
    (root / "miniplaces").symlink_to(write_miniplaces(root / "elsewhere"), target_is_directory=True)
    return root


@pytest.fixture(autouse=True)
def _own_cache(request, tmp_path, monkeypatch):
    if "bam" not in request.fixturenames:
        monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))


def opened(path, **parameters):
    plain = {"image_size": (SIDE, SIDE), "pictures": 10, "objects": OBJECTS, "scenes": SCENES}
    return generator("bam", source=str(path), **{**plain, **parameters})


@pytest.fixture(scope="module")
def bam(copies):
    return opened(copies)


def contents(library, name):
    return {split: [library.load(split, name, n) for n in range(library.count(split, name))] for split in SPLITS}


def test_both_copies_make_a_source_that_says_what_it_is(bam):
    source = bam.source
    assert source.name == "coco-on-miniplaces"
    assert source.redistributable is False
    assert "CC BY 4.0" in source.license
    assert "research" in source.license
    for said in ("train2017 and val2017", "for test", "20 objects for training", "MiniPlaces", "No picture is in two"):
        assert said in source.notes
    assert "Skipped" not in source.notes


def test_no_picture_is_in_two_splits_and_parts_go_where_they_belong(bam):
    """JPEG blurs the spots, so the nearest drawn picture says which one it was."""
    for library, names, size in ((bam.source.objects, OBJECTS, (15, 20)), (bam.source.scenes, SCENES, (SIDE, SIDE))):
        for name in names:
            found = contents(library, name)
            assert {pixels.shape[:2] for pictures in found.values() for pixels in pictures} == {size}
            everything = [pixels.tobytes() for pictures in found.values() for pixels in pictures]
            assert len(set(everything)) == len(everything)
    box = slice(6, 21), slice(5, 25)
    drawn = {number: picture(number)[box].astype(float) for number in (*range(10), *range(100, 160))}
    for label, name in enumerate(OBJECTS):
        held = contents(bam.source.objects, name)
        assert [len(held["train"]), len(held["test"])] == [10, 5]
        assert 2 <= len(held["val"]) <= 6
        for split, pixels in ((each, pixels) for each in SPLITS for pixels in held[each]):
            nearest = min(drawn, key=lambda number: np.abs(drawn[number] - pixels[..., :3]).mean())
            assert nearest % 2 == label
            assert (nearest < 10) == (split == "test")
    for name in SCENES:
        assert [bam.source.scenes.count(split, name) for split in SPLITS] == [10, 2, 4]


@pytest.mark.parametrize(
    ("there", "name", "said"),
    [
        ("coco", "coco-on-stand-ins", "Scenes are drawn by salgen"),
        ("miniplaces", "stand-ins-on-miniplaces", "Objects are drawn by salgen"),
    ],
)
def test_what_there_is_no_copy_of_is_drawn(copies, tmp_path, there, name, said):
    (tmp_path / there).symlink_to(copies / there)
    bam = opened(tmp_path)
    assert (bam.source.name, bam.source.redistributable) == (name, False)
    assert said in bam.source.notes
    assert bam.sample(0, "test", 1).image.shape == (SIDE, SIDE, 3)


def test_a_library_is_built_once_and_again_when_the_copy_changes(tmp_path, monkeypatch):
    plain_coco(tmp_path / "coco", folder=".")
    first = opened(tmp_path)
    monkeypatch.setitem(sys.modules, "pycocotools.mask", None)  # what is built needs it no more
    assert opened(tmp_path).source.digest == first.source.digest
    file = tmp_path / "coco/train2017" / f"{100:012}.jpg"
    file.write_bytes(file.read_bytes() + b"\0")
    refused(tmp_path, r"cutting objects out of COCO needs pycocotools: pip install '\.\[coco\]' in a clone of salgen$")
    file.write_bytes(file.read_bytes()[:-1])
    assert opened(tmp_path).source.notes == first.source.notes


def painted(outline):
    return coco.mask_of(coco_instances.outline_of({"segmentation": outline}), (H, W))


def test_a_mask_is_what_is_inside_of_polygons_and_runs():
    expected = np.zeros((H, W), dtype=np.uint8)
    expected[6:21, 5:25] = expected[2:10, 30:38] = 1
    polygons = [[5, 6, 25, 6, 25, 21, 5, 21], [30, 2, 38, 2, 38, 10, 30, 10]]
    np.testing.assert_array_equal(painted(polygons), expected)
    spots = (np.random.default_rng(0).random((H, W)) < 0.3).astype(np.uint8)
    for mask in (expected, spots, 1 - spots):
        np.testing.assert_array_equal(painted(run_lengths(mask)), mask)


def test_runs_as_text_are_those_of_pycocotools():
    from pycocotools import mask as theirs

    rng = np.random.default_rng(1)
    for share in (0.01, 0.1, 0.5, 0.99):
        mask = (rng.random((90, 110)) < share).astype(np.uint8)
        text = theirs.encode(np.asfortranarray(mask))["counts"].decode()
        np.testing.assert_array_equal(coco.mask_of({"size": [90, 110], "counts": text}, (90, 110)), mask)


@pytest.mark.parametrize(
    ("outline", "why"),
    [
        ([[1, 1, 9, 9]], "polygon of fewer than three points"),
        ([[1, 1, 20, 1, 20, 20, 1]], "polygon of fewer than three points"),
        ([[1, 1, 1e9, 1, 20, 20]], "polygon far outside of the image"),
        ([[1, 1, float("nan"), 1, 20, 20]], "polygon far outside of the image"),
        (None, "no outline in COCO's form"),
        ([["a", "b"]], "no outline in COCO's form"),
        ([[1, 1, 20, 1, 20, 20], 7], "no outline in COCO's form"),
        (run_lengths(np.ones((H, W - 1), dtype=np.uint8)), "RLE of the wrong size"),
        ({"size": [H, W], "counts": [5, 6]}, "RLE of the wrong size"),
        ({"size": [H, W], "counts": [-5, H * W + 5]}, "RLE of the wrong size"),
        ({"size": [H, W], "counts": "é~zz"}, "RLE of the wrong size"),
        ({"size": [H, W]}, "RLE of the wrong size"),
    ],
)
def test_a_broken_outline_is_refused(outline, why):
    with pytest.raises(UnusableError, match=f"^{why}$"):
        painted(outline)


def instance(box, outline=None):
    x, y, w, h = box
    return coco_instances.Instance(w * h, box, outline or [[x, y, x + w, y, x + w, y + h, x, y + h]])


def test_an_object_is_cut_at_its_box_and_its_black_stays(tmp_path):
    image = picture(1)
    image[10:14, 10:20] = 0
    Image.fromarray(image).save(tmp_path / "a.png")
    found = coco.cut(tmp_path / "a.png", (H, W), instance((5.9, 6.9, 20.2, 15.2), [[5, 6, 30, 6, 5, 30]]), 100)
    assert found.shape == (16, 21, 4)
    mask = coco.mask_of([[5, 6, 30, 6, 5, 30]], (H, W))[6:22, 5:26]
    assert 0 < mask.sum() < mask.size
    np.testing.assert_array_equal(found[..., 3], 255 * mask)
    np.testing.assert_array_equal(found[..., :3], image[6:22, 5:26] * mask[..., None])
    assert (found[4:8, 5:10, 3] == 255).all()
    assert (found[4:8, 5:10, :3] == 0).all()


def test_an_object_is_shrunk_and_never_enlarged_and_its_colours_do_not_darken(tmp_path):
    Image.new("RGB", (W, H), (200, 100, 50)).save(tmp_path / "a.png")
    whole = instance((0, 0, 40, 30), [[0, 0, 40, 0, 0, 30]])
    shrunk = coco.cut(tmp_path / "a.png", (H, W), whole, 10)
    assert shrunk.shape == (8, 10, 4)
    seen = shrunk[shrunk[..., 3] > 60]
    assert ((seen[:, 3] > 0) & (seen[:, 3] < 255)).any()
    assert np.abs(seen[:, :3].astype(int) - (200, 100, 50)).max() <= 3
    assert coco.cut(tmp_path / "a.png", (H, W), whole, 400).shape == (30, 40, 4)


def test_what_makes_no_object_is_refused(tmp_path):
    Image.fromarray(picture(1)).save(tmp_path / "a.png")
    (tmp_path / "b.jpg").write_bytes(b"\xff\xd8\xff no picture")

    def refused(why, file="a.png", size=(H, W), box=(5, 5, 20, 20), outline=None):
        with pytest.raises(UnusableError, match=f"^{why}$"):
            coco.cut(tmp_path / file, size, instance(box, outline), 50)

    refused("missing image", file="c.jpg")
    refused("unreadable image", file="b.jpg")
    refused("image of another size than stated", size=(W, H))
    refused("object without pixels", box=(60, 5, 20, 20), outline=[[5, 5, 20, 5, 20, 20]])
    refused("object without pixels", box=(5, 5, 0.9, 20))
    refused("object smaller than 8x8 pixels", box=(5, 5, 7.9, 20))


def test_the_largest_instance_that_is_no_crowd_is_taken(tmp_path):
    listed = [
        annotation(7, box=(1, 1, 9, 9)),
        annotation(7, box=(2, 2, 30, 20)),
        annotation(7, box=(0, 0, 40, 30), iscrowd=1, segmentation=run_lengths(np.ones((H, W), dtype=np.uint8))),
        annotation(7, "person", box=(0, 0, 40, 30)),
        annotation(7, "person", box=(0, 0, 40, 30), iscrowd=1),
        annotation(7, "stop sign", box=(3, 3, 10, 10)),
        annotation(8, "stop sign", area=float("nan")),
        annotation(8, "stop sign", bbox=[1, 2]),
        annotation(8, "stop sign", image_id=[8]),
        annotation(99, "stop sign"),
    ]
    root = write_coco(tmp_path, {"train2017": ([7, 8], listed)})
    _, largest, skipped = coco_instances.read_instances(root / "annotations/instances_train2017.json", OBJECTS)
    boxes = {name: instance.box for name, instance in largest[7].items()}
    assert boxes == {"dog": (2, 2, 30, 20), "stop sign": (3, 3, 10, 10)}
    assert 8 not in largest
    assert skipped == {
        "crowd region": 1,
        "annotation not in COCO's form": 3,
        "annotation of an image that is not listed": 1,
    }


def test_what_is_skipped_is_counted_and_told(tmp_path):
    numbers = range(100)
    listed = [annotation(number, OBJECTS[number % 2]) for number in numbers]
    listed += [annotation(5, iscrowd=1), annotation(6, iscrowd=1)]
    broken = {n: annotation(n, OBJECTS[n % 2], segmentation=[[1, 1, 9, 9]]) for n in range(30, 34)}
    broken[34] = annotation(34, OBJECTS[0], segmentation={"size": [3, 3], "counts": [9]})
    listed = [broken.get(one["image_id"], one) for one in listed]
    root = write_coco(tmp_path / "coco", {"train2017": (numbers, listed)})
    (root / "images/train2017" / f"{40:012}.jpg").unlink()
    (root / "images/train2017" / f"{41:012}.jpg").write_bytes(b"nothing")
    for _ in range(2):
        bam = opened(tmp_path, pictures=100)
        assert bam.source.notes.count("crowd region (2)") == 1
        for said in ("polygon of fewer than three points (4)", "RLE of the wrong size (1)", "missing image (1)"):
            assert said in bam.source.notes
        assert "unreadable image (1)" in bam.source.notes
        assert sum(bam.source.objects.count(split, name) for split in SPLITS for name in OBJECTS) == 93
        assert "One image in ten is for validation and one in ten for test" in bam.source.notes


def test_an_image_that_shows_two_classes_is_in_one_split(tmp_path):
    numbers = range(60)
    root = write_coco(tmp_path, {"train2017": (numbers, [annotation(n, name) for n in numbers for name in OBJECTS])})
    part = coco.CocoPart("train2017", root / "annotations/instances_train2017.json", root / "images/train2017")
    chosen, _ = coco._select([part], OBJECTS, 50)
    files = {key: {make.args[0] for make in makes} for key, makes in chosen.items()}
    assert [len(files[split, "dog"]) for split in SPLITS] == [48, 6, 6]
    assert all(files[split, "dog"] == files[split, "stop sign"] for split in SPLITS)
    assert len(set.union(*files.values())) == 60


def test_without_a_part_for_test_a_third_is_held_out_of_the_training_photographs(tmp_path):
    root = write_miniplaces(tmp_path / "miniplaces")
    (root / "val.txt").unlink()
    bam = opened(tmp_path)
    assert [bam.source.scenes.count(split, "bedroom") for split in SPLITS] == [10, 2, 2]
    assert "one for test" in bam.source.notes


@pytest.mark.parametrize(
    ("size", "shown"), [((30, 40), (3, 27, 0, 32)), ((40, 20), (0, 30, 8, 23)), ((15, 16), (0, 30, 0, 32))]
)
def test_a_scene_is_cropped_centrally_and_resized(tmp_path, size, shown):
    image = picture(3, size=(30, 32), scale=4)
    Image.fromarray(image).save(tmp_path / "a.png")
    top, bottom, left, right = shown
    crop = Image.fromarray(image[top:bottom, left:right])
    expected = np.asarray(crop.resize(size[::-1], Image.Resampling.BILINEAR))
    np.testing.assert_array_equal(miniplaces.fitted(tmp_path / "a.png", size), expected)


def refused(path, message, **parameters):
    with pytest.raises(SalgenError, match=message):
        opened(path, **parameters)


def test_what_is_not_there_is_named(copies, tmp_path):
    refused(copies, "unknown object 'stop_sign': did you mean 'stop sign'", objects=("dog", "stop_sign"))
    refused(copies, "unknown scene 'track/outdor': did you mean 'track/outdoor'", scenes=("bedroom", "track/outdor"))
    refused(copies, r"objects of 'person' \(0 there for test\)", objects=("dog", "person"))
    (tmp_path / "coco").mkdir()
    refused(tmp_path, r"coco/annotations/instances_train2017\.json is missing")
    (tmp_path / "coco/annotations").mkdir()
    file = tmp_path / "coco/annotations/instances_train2017.json"
    file.write_text("{}")
    refused(tmp_path, "coco/images/train2017 is missing: the images of .*json are expected there")
    (tmp_path / "coco/train2017").mkdir()
    for text in ("{}", "[["):
        file.write_text(text)
        refused(tmp_path, "is not a file of COCO's instances")
    (tmp_path / "coco/annotations").rename(tmp_path / "coco/x")
    (tmp_path / "miniplaces").symlink_to(tmp_path / "nowhere")
    refused(tmp_path, "miniplaces is a link to .*nowhere, which does not exist")


def test_scenes_without_a_folder_around_train_and_val_are_read(tmp_path):
    root = write_miniplaces(tmp_path / "miniplaces")
    source = opened(tmp_path).source
    for inside in (root / "images").iterdir():
        inside.rename(root / inside.name)
    (root / "images").rmdir()
    again = opened(tmp_path).source
    assert (again.digest, again.notes) == (source.digest, source.notes)


def test_what_is_wrong_with_scenes_is_named(tmp_path):
    (tmp_path / "miniplaces").mkdir()
    refused(tmp_path, "images/train is missing: MiniPlaces has its photographs there, .*, or in train without")
    root = tmp_path / "miniplaces"
    write_miniplaces(root, tested=2)
    for number in (0, 100):
        (root / "images/val" / f"{number:08}.jpg").write_bytes(b"broken")
    refused(tmp_path, r"scenes of 'bedroom' \(1 usable for test\), 'track/outdoor' \(1 .*leave these out")
    (root / "val.txt").write_text("val/00000001.jpg 0\nnonsense\n")
    refused(tmp_path, "val.txt: expected a path and a number in each line")
    (root / "train.txt").unlink()
    refused(tmp_path, "train.txt is missing: it says which scenes the numbers in val.txt stand for")
    assert not list(Path(tmp_path / "cache/libraries").glob("scenes-*.parquet"))
