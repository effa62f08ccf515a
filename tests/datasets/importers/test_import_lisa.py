import shutil
from functools import partial
from pathlib import Path
import marked_trees
import numpy as np
import pytest
from PIL import Image
import salgen
from salgen.datasets.layouts.lisa import lisa_copy
from salgen.datasets.layouts.lisa.lamp_masks import overlap
from salgen.datasets.layouts.lisa.lisa_layout import nearest_bulb, split_clips
from salgen.errors import SalgenError
from salgen.testing import check_importer

HEADER = (
    "Filename;Annotation tag;Upper left corner X;Upper left corner Y;Lower right corner X;Lower right corner Y;"
    "Origin file;Origin frame number;Origin track;Origin track frame number"
)
BOX, BULB = "frameAnnotationsBOX.csv", "frameAnnotationsBULB.csv"
LAMPS = {"go": (130, 255, 180), "stop": (255, 70, 60)}
CLIPS = {  # clip: the folder written in its Filename column
    "dayClip1": "dayTraining",
    "dayClip2": "dayTraining",
    "dayClip10": "dayTraining",
    "nightClip1": "nightTraining",
    "daySequence1": "dayTest",
    "nightSequence1": "nightTest",
}
SPLITS = {"dayClip1": "train", "dayClip2": "train", "dayClip10": "val", "nightClip1": "train"}
FRAME = (48, 64)


def box_of(tag, left):
    return left, 6, left + 14, 36


def bulb_of(tag, left):
    top = 9 if tag == "stop" else 24
    return left + 2, top, left + 12, top + 10


def annotation_folder(root, clip, doubled=True):
    top = root / "Annotations" / "Annotations" if doubled else root / "Annotations"
    return top / clip if "Sequence" in clip else top / f"{clip.partition('Clip')[0]}Train" / clip


def frame_folder(root, clip, doubled=True):
    top = clip if "Sequence" in clip else f"{clip.partition('Clip')[0]}Train"
    folder = root / top / top if doubled else root / top
    return folder / "frames" if "Sequence" in clip else folder / clip / "frames"


def picture(seed, lights):
    """A dim frame with a red or green light at each place."""
    frame = np.random.default_rng(seed).uniform(90, 130, (*FRAME, 3))
    rows, columns = np.indices(FRAME) + 0.5
    for tag, left in lights:
        x0, y0, x1, y1 = box_of(tag, left)
        frame[y0:y1, x0:x1] *= 0.2
        x0, y0, x1, y1 = bulb_of(tag, left)
        inside = np.hypot(rows - (y0 + y1) / 2, columns - (x0 + x1) / 2) <= 4.5
        frame[inside] = LAMPS[tag]
    return np.rint(frame).astype(np.uint8)


def line(clip, number, tag, rectangle):
    corners = ";".join(map(str, rectangle))
    return f"{CLIPS[clip]}/{clip}--{number:05d}.jpg;{tag};{corners};{CLIPS[clip]}/{clip}.avi;{number};{clip};0"


def tree(root, doubled=True, clips=CLIPS):
    """A copy: two frames of each clip, a red and a green light in each."""
    for seed, clip in enumerate(clips):
        frames, annotations = frame_folder(root, clip, doubled), annotation_folder(root, clip, doubled)
        frames.mkdir(parents=True)
        annotations.mkdir(parents=True)
        boxes, bulbs = [HEADER], [HEADER]
        for number in range(2):
            lights = [("stop", 4 + seed), ("go", 40)]
            pixels = picture(2 * seed + number, lights)
            Image.fromarray(pixels).save(frames / f"{clip}--{number:05d}.jpg", quality=95)
            boxes += [line(clip, number, tag, box_of(tag, left)) for tag, left in lights]
            bulbs += [line(clip, number, tag, bulb_of(tag, left)) for tag, left in lights]
        (annotations / BOX).write_text("\n".join(boxes) + "\n")
        (annotations / BULB).write_text("\n".join(bulbs) + "\n")
    return root


@pytest.fixture
def copy(tmp_path):
    return tree(tmp_path / "lisa")


opened = partial(marked_trees.opened, "lisa-lights", image_size=(32, 32))
refusal = partial(marked_trees.refusal, "lisa-lights")


def add(root, text, name=BOX, clip="dayClip1"):
    """Append a line to an annotation file."""
    path = annotation_folder(root, clip) / name
    path.write_text(path.read_text() + text + "\n")


def test_folders_of_each_spelling_are_the_same_source(tmp_path):
    roots = [tree(tmp_path / name, doubled=name != "single") for name in ("single", "doubled", "mixed")]
    inner = tmp_path / "mixed" / "dayTrain" / "dayTrain"
    (inner / "dayClip1").rename(inner.parent / "dayClip1")
    shutil.copytree(inner, inner.parent, dirs_exist_ok=True)
    shutil.rmtree(inner)
    found = [opened(root) for root in roots]
    assert all(made.available == {"train": 12, "val": 4, "test": 8} for made in found)
    assert found[0].source.digest == found[1].source.digest
    frame = frame_folder(roots[1], "dayClip1") / "dayClip1--00000.jpg"
    Image.fromarray(picture(99, [("stop", 4), ("go", 40)])).save(frame, quality=95)
    assert opened(roots[1]).source.digest != found[0].source.digest


def test_clips_keep_to_their_splits(copy):
    made = opened(copy)
    for split, count in made.available.items():
        recipes = [made.recipe(0, split, index).parameters for index in range(count)]
        assert len({recipe["item"] for recipe in recipes}) == count
        assert {SPLITS.get(recipe["frame"].partition("--")[0], "test") for recipe in recipes} == {split}
        assert sum(recipe["label"] for recipe in recipes) == count // 2
    recipe = made.recipe(0, "val", 0).parameters  # an item is a line of a BOX file
    clip, _, number = recipe["item"].partition(":")
    text = (annotation_folder(copy, clip) / BOX).read_text().splitlines()[int(number) - 1]
    tag = "stop" if recipe["label"] else "go"
    assert f"/{recipe['frame']};{tag};{';'.join(map(str, recipe['box']))};" in text


def test_one_clip_alone_gives_no_val_and_the_notes_say_so(tmp_path):
    made = opened(tree(tmp_path / "lisa", clips={"dayClip1": "", "nightClip1": "", "daySequence1": ""}))
    assert made.available == {"train": 8, "test": 4}
    assert "no split val" in made.source.notes


def test_a_sample_is_the_light_that_its_recipe_names(copy):
    made = opened(copy)
    for index in range(made.available["train"]):
        sample = made.sample(0, "train", index)
        recipe = sample.recipe.parameters
        frame = np.asarray(Image.open(frame_folder(copy, recipe["frame"].partition("--")[0]) / recipe["frame"]))
        left, top, right, bottom = recipe["box"]
        crop = Image.fromarray(frame[top:bottom, left:right]).resize((32, 32), Image.Resampling.BILINEAR)
        assert np.array_equal(sample.image, np.asarray(crop))
        lit = sample.image[sample.regions["lamp"]].mean(axis=0)
        assert sample.labels == {"label": int(lit[0] > lit[1])}
        assert list(sample.regions) == ["lamp", "bulb"]
        assert sample.target == {"label": "lamp"}
        factors, masks = made.plugin.factors(recipe), 1 + len(sample.alternatives)
        agreement = factors.pop("mask_agreement")
        assert 0 < agreement <= 1
        assert (agreement == 1) == (masks == 1)
        night = int(recipe["frame"].startswith("night"))
        assert factors == {"night": night, "n_masks": masks, "crop_height": 30, "crop_width": 14}


def test_masks_are_the_lamp_and_the_bulb_is_its_rectangle(copy):
    made = opened(copy)
    sample = made.sample(0, "train", 0)
    left, top, *_ = box = sample.recipe.parameters["box"]
    x0, y0, x1, y1 = (v - w for v, w in zip(sample.recipe.parameters["bulb"], (left, top, left, top), strict=True))
    rows, columns = np.indices((32, 32)) + 0.5
    down, across = rows / 32 * (box[3] - box[1]), columns / 32 * (box[2] - box[0])
    assert np.array_equal(sample.regions["bulb"], (y0 <= down) & (down <= y1) & (x0 <= across) & (across <= x1))
    disc = np.hypot(down - (y0 + y1) / 2, across - (x0 + x1) / 2) <= 4.5
    masks = [sample.regions["lamp"], *sample.alternatives]
    assert 1 <= len(masks) <= 4
    assert all(mask.shape == (32, 32) and overlap(mask, disc) >= 0.6 for mask in masks)


def test_it_keeps_the_laws_of_importers_in_two_processes_too(copy, tmp_path):
    check_importer("lisa-lights", str(copy), image_size=(16, 16))
    how = {"source": str(copy), "parameters": {"image_size": (16, 16)}}
    one, two = (salgen.make("lisa-lights", tmp_path / f"{workers}", **how, workers=workers) for workers in (1, 2))
    assert (one / "SHA256SUMS").read_bytes() == (two / "SHA256SUMS").read_bytes()
    card = (one / "README.md").read_text()
    for words in ("CC BY-NC-SA 4.0", "24 traffic lights", "12 go, 12 stop", "not exact", "no twins"):
        assert words in card


def test_other_tags_are_counted_known_or_not(copy):
    for tag in ("goLeft", "goLeft", "purple"):
        add(copy, line("dayClip1", 0, tag, (1, 1, 20, 40)))
    made = opened(copy)
    assert made.available["train"] == 12
    assert "its tag is 'goLeft' (2)" in made.source.notes
    assert "its tag is 'purple' (1)" in made.source.notes


@pytest.mark.parametrize(
    ("box", "bulb", "reason"),
    [
        ((4, 6, 11, 36), (5, 9, 10, 14), "its shorter side is less than min_side"),
        ((59, 6, 80, 36), (60, 9, 78, 14), "its shorter side is less than min_side"),  # 5 pixels in the frame
        ((70, 6, 90, 36), (72, 9, 80, 14), "it is outside the frame"),
        ((-30, 6, 0, 36), (-20, 9, -10, 14), "it is outside the frame"),
        ((50, 6, 90, 36), (66, 9, 74, 14), "its bulb is outside the frame"),
        ((20, 6, 34, 36), None, "there is no BULB row for it"),
        ((4, 6, 18, 36), None, "there is no BULB row for it"),  # the bulb in it is one of stop
        ((20, 6, 34, 36), (36, 9, 44, 14), "there is no BULB row for it"),  # its centre is not in the box
        ((22, 10, 34, 40), (26, 30, 28, 32), "no segmentation was accepted"),  # nothing but road
    ],
)
def test_unusable_lights_are_counted(copy, box, bulb, reason):
    add(copy, line("dayClip1", 0, "go", box))
    if bulb:
        add(copy, line("dayClip1", 0, "go", bulb), BULB)
    made = opened(copy)
    assert made.available == {"train": 12, "val": 4, "test": 8}
    assert f"1 annotated lights were left out because: {reason} (1)." in made.source.notes


def test_a_row_that_stands_again_gives_no_second_light(copy):
    lights = opened(copy).material.splits
    for _ in range(3):
        add(copy, line("dayClip1", 0, "go", box_of("go", 40)))
    made = opened(copy)
    assert made.material.splits == lights
    assert "an earlier BOX row is the same (3)" in made.source.notes
    add(copy, line("dayClip1", 0, "go", (39, 6, 54, 36)))  # which differs in its rectangle
    assert opened(copy).available["train"] == 13


def test_a_light_that_the_frame_cuts_is_clipped(copy):
    path = frame_folder(copy, "dayClip1") / "dayClip1--00000.jpg"
    frame = picture(5, [("stop", 4), ("go", 40)])[:, :50]  # the right light lost 4 columns
    Image.fromarray(frame).save(path, quality=95)
    made = opened(copy)
    recipes = [made.recipe(0, "train", index).parameters for index in range(12)]
    assert [40, 6, 50, 36] in [recipe["box"] for recipe in recipes]
    assert [42, 24, 50, 34] in [recipe["bulb"] for recipe in recipes]


def test_min_side_is_a_parameter(copy):
    assert opened(copy, min_side=14).available["train"] == 12
    with pytest.raises(SalgenError, match=r"none of 24 traffic lights can be used: .*min_side \(24\)"):
        opened(copy, min_side=15).available  # noqa: B018


def test_every_fifth_clip_is_for_val_day_and_night_apart():
    clips = [f"dayClip{k}" for k in range(1, 14)] + [f"nightClip{k}" for k in range(1, 6)]
    splits = split_clips([*reversed(clips), "daySequence1", "nightSequence2"])
    expected = {"val": {"dayClip5", "dayClip10", "nightClip5"}, "test": {"daySequence1", "nightSequence2"}}
    assert {split: {clip for clip in splits if splits[clip] == split} for split in expected} == expected


def test_the_nearest_bulb_in_the_box():
    near, far, outside = (10, 20, 14, 24), (0, 0, 4, 4), (40, 40, 44, 44)
    assert nearest_bulb((0, 0, 20, 40), [far, outside, near]) == near
    assert nearest_bulb((0, 0, 20, 40), [outside]) is None
    assert nearest_bulb((0, 0, 42, 42), [outside]) == outside  # its centre is on the corner


@pytest.mark.parametrize("name", [BOX, BULB])
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (None, "FileNotFoundError"),
        (lambda text: text.replace(";", ","), "KeyError: 'Filename'"),
        (lambda text: b"\xff\xfe\x00\x81", "codec can't decode"),
        (lambda text: text + line("dayClip2", 0, "go", (1, "1.5", 20, 40)), "invalid literal"),
        (lambda text: text + "dayTraining/dayClip2--00000.jpg;go;1;2", "TypeError: int() argument"),
        *((lambda text, file=file: f"{text}{file};go;1;2;20;40;a.avi;0;a;0", "is not named CLIP--NUMBER.jpg after")
          for file in ("dayClip1-00000.jpg", "dayTest/dayClip7--00000.jpg")),
    ],
)  # fmt: skip
def test_an_annotation_file_that_is_missing_or_of_another_form(copy, name, change, expected):
    path = annotation_folder(copy, "dayClip2") / name
    changed = change(path.read_text()) if change else None
    path.unlink()
    if changed is not None:
        path.write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    said = refusal(copy)
    assert said.startswith(f"{path}: cannot be read as annotations (")
    assert expected in said


def test_a_folder_that_is_not_there_or_of_something_else(copy, tmp_path, monkeypatch):
    message = refusal(tmp_path / "none")
    assert message.startswith(f"{tmp_path / 'none'}: no annotations of the LISA traffic lights")
    assert message.endswith("; without one, salgen make drawn-lights draws a stand-in")
    assert str(tmp_path / "Annotations/Annotations/dayTrain/dayClip1" / BOX) in refusal(tmp_path)
    monkeypatch.setenv("HOME", str(copy.parent))
    assert opened("~/lisa").available["train"] == 12


@pytest.mark.parametrize("clip", ["nightClip1", "daySequence1"])
def test_a_copy_may_have_the_frames_of_some_clips_only(copy, tmp_path, clip):
    shutil.rmtree(frame_folder(copy, clip))
    made = opened(copy)
    others = tree(tmp_path / "others", clips={name: CLIPS[name] for name in CLIPS if name != clip})
    assert made.available == opened(others).available
    assert f"The copy has no frames of 1 annotated clips ({clip})." in made.source.notes
    assert ("There is no split test" in made.source.notes) == ("test" not in made.available)


def test_no_frames_at_all(copy):
    for clip in CLIPS:
        shutil.rmtree(frame_folder(copy, clip))
    message = refusal(copy)
    assert message.startswith(f"{copy}: no frames of ")
    assert any(str(frame_folder(copy, clip)) in message for clip in CLIPS)


def test_frames_may_be_png_where_the_tables_say_jpeg(copy):
    before = opened(copy)
    samples = [before.sample(0, "train", index) for index in range(before.available["train"])]
    for frame in copy.rglob("*.jpg"):
        Image.open(frame).save(frame.with_suffix(".png"))
        frame.unlink()
    made = opened(copy)
    assert made.available == before.available
    for index, sample in enumerate(samples):
        np.testing.assert_array_equal(made.sample(0, "train", index).image, sample.image)


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Path.unlink, "its frame is not there (2)"),
        (lambda frame: frame.write_bytes(frame.read_bytes()[:-3]), "its frame cannot be read (2)"),
    ],
)
def test_broken_frames_are_skipped_and_counted(copy, fault, reason):
    whole = sum(opened(copy).available.values())
    fault(frame_folder(copy, "dayClip2") / "dayClip2--00001.jpg")
    made = opened(copy)
    assert sum(made.available.values()) == whole - 2
    assert f"2 annotated lights were left out because: {reason}." in made.source.notes


def test_masks_that_differ_are_reported(copy, monkeypatch):
    crop = np.zeros((30, 14), dtype=bool)
    crop[8:16, 3:11] = True
    half = crop.copy()
    half[8:10] = False

    def two(pixels, bulb, *, red, rules):
        return [crop, half]

    monkeypatch.setattr("salgen.datasets.layouts.lisa.lisa_copy.acceptable_masks", two)
    made = opened(copy)
    assert "several acceptable masks, of which the two that differ most have a mean IoU of 0.75" in made.source.notes
    assert made.recipe(0, "train", 0).parameters["agreement"] == 0.75


def test_no_light_of_the_two_classes(copy):
    for clip in CLIPS:
        path = annotation_folder(copy, clip) / BOX
        path.write_text(path.read_text().replace(";stop;", ";warning;").replace(";go;", ";goLeft;"))
    message = refusal(copy)
    assert message.startswith(f"{copy / 'Annotations' / 'Annotations'}: no row")
    assert "expected the tags go and stop" in message
    assert "'warning' (12)" in message


@pytest.fixture
def segmented(monkeypatch):
    """How many crops were segmented."""
    count = []
    real = lisa_copy.acceptable_masks
    monkeypatch.setattr(lisa_copy, "acceptable_masks", lambda *a, **k: count.append(1) or real(*a, **k))
    return count


def test_lights_are_vetted_once_and_are_the_same_at_every_size(copy, tmp_path, segmented):
    first = opened(copy)
    recipes = [first.recipe(0, "train", index) for index in range(12)]
    assert len(segmented) == 24
    second = opened(copy, image_size=(48, 32))
    assert [second.recipe(0, "train", index) for index in range(12)] == recipes
    assert second.source.notes == first.source.notes
    assert len(segmented) == 24
    assert len(list((tmp_path / "cache").glob("lisa-*.npz"))) == 1
    assert second.sample(0, "test", 3).image.shape == (48, 32, 3)


@pytest.mark.parametrize("change", [{"min_side": 9}, {"tolerance": 0.2}, {"area": (0.02, 0.5)}, {"most_masks": 2}])
def test_other_parameters_are_vetted_anew(copy, segmented, change):
    assert opened(copy).available
    assert opened(copy, **change).available
    assert len(segmented) == 48
