import shutil
import numpy as np
import pytest
from marked_trees import SIDE, name_of, nearest, noise, opened, refusal, resized, samples
from PIL import Image
from salgen.testing import check_importer

H, W = 30, 44
NAMES = [f"{breed}_{number}" for breed in ("Maine_Coon", "pug", "Abyssinian") for number in range(4)]


def trimap(name):
    """1 is pet, 2 background, 3 the border between."""
    levels = np.full((H, W), 2, dtype=np.uint8)
    left = 3 + int(name[-1])
    levels[4:24, left : left + 25] = 3
    levels[6:22, left + 2 : left + 23] = 1
    return levels


@pytest.fixture
def copy(tmp_path):
    root = tmp_path / "oxford-iiit-pet"
    (root / "images").mkdir(parents=True)
    (root / "annotations/trimaps").mkdir(parents=True)
    for name in NAMES:
        noise(name, (H, W)).save(root / "images" / f"{name}.jpg", quality=95)
        Image.fromarray(trimap(name)).save(root / "annotations/trimaps" / f"{name}.png")
        (root / "annotations/trimaps" / f"._{name}.png").write_bytes(b"what macOS leaves")
    return root


def test_breed_and_species_are_both_labels(copy):
    made = opened("pet-xai", copy)
    breeds = ("Abyssinian", "Maine_Coon", "pug")
    assert made.plugin.tasks == {"breed": breeds, "species": ("cat", "dog")}
    found = samples(made)
    assert sorted(map(name_of, found)) == sorted(NAMES)
    for item, sample in found.items():
        breed = name_of(item).rpartition("_")[0]
        assert sample.labels == {"breed": breeds.index(breed), "species": int(breed == "pug")}
        assert sample.target == {"breed": "pet", "species": "pet"}
    chosen = opened("pet-xai", copy, classes=("pug", "Maine_Coon"))
    labels = {name_of(item)[:-2]: sample.labels for item, sample in samples(chosen).items()}
    assert labels == {"pug": {"breed": 0, "species": 1}, "Maine_Coon": {"breed": 1, "species": 0}}


@pytest.mark.parametrize("size", [(16, 16), (30, 44), (41, 29)])
def test_the_border_is_pet_or_not_scored(copy, size):
    for border in ("foreground", "ignore"):
        made = opened("pet-xai", copy, border=border, image_size=size)
        for item, sample in samples(made).items():
            levels = nearest(trimap(name_of(item)), size)
            if border == "foreground":
                assert list(sample.regions) == ["pet"]
                np.testing.assert_array_equal(sample.regions["pet"], levels != 2)
            else:
                np.testing.assert_array_equal(sample.regions["pet"], levels == 1)
                np.testing.assert_array_equal(sample.regions["annotated"], levels != 3)
                assert made.plugin.valid_region == "annotated"
            np.testing.assert_array_equal(sample.image, resized(copy / item, size))


@pytest.mark.parametrize("border", ["foreground", "ignore"])
def test_images_that_the_list_leaves_out_or_without_trimap_have_no_mask_and_stay(copy, border):
    rows = "".join(f"{name} 1 1 1\n" for name in NAMES[1:])
    (copy / "annotations/list.txt").write_text(f"#Image CLASS-ID SPECIES BREED ID\n{rows}\n")
    (copy / "annotations/trimaps" / f"{NAMES[3]}.png").unlink()
    made = opened("pet-xai", copy, border=border)
    found = samples(made)
    empty = {name_of(item) for item, sample in found.items() if not sample.regions["pet"].any()}
    assert len(found) == len(NAMES)
    assert empty == {NAMES[0], NAMES[3]}
    assert "2 of them have no mask: they are trained on, and not scored." in made.source.notes


def test_both_borders_have_counts_of_their_own(copy):
    path = copy / "annotations/trimaps" / f"{NAMES[0]}.png"
    Image.fromarray(np.where(trimap(NAMES[0]) == 1, 3, trimap(NAMES[0]))).save(path)
    assert "1 empty" in opened("pet-xai", copy, border="ignore").source.notes
    assert "no ground truth" not in opened("pet-xai", copy).source.notes
    pet_alone = np.where(trimap(NAMES[1]) == 1, trimap(NAMES[1]), 3)  # all that is scored is pet
    Image.fromarray(pet_alone).save(copy / "annotations/trimaps" / f"{NAMES[1]}.png")
    assert "1 empty, 1 full" in opened("pet-xai", copy, border="ignore").source.notes


OTHER_SIZE = "mask picture of another size than its image, or with colours for numbers"


@pytest.mark.parametrize(
    ("why", "broken"),
    [
        ("unreadable image", lambda image, mask: image.write_bytes(b"no picture")),
        ("unreadable image", lambda image, mask: image.write_bytes(image.read_bytes()[:-9])),
        ("unreadable mask picture", lambda image, mask: mask.write_bytes(b"no picture")),
        (OTHER_SIZE, lambda image, mask: Image.fromarray(trimap("a_0")[1:]).save(mask)),
        (OTHER_SIZE, lambda image, mask: Image.new("RGB", (W, H), (1, 1, 1)).save(mask)),
        ("mask picture with numbers that are of no class", lambda image, mask: Image.new("L", (W, H), 4).save(mask)),
        ("image of no known breed", lambda image, mask: image.rename(image.with_name(f"unicorn_{image.name[-5:]}"))),
    ],
)
def test_what_is_broken_is_skipped_and_counted(copy, why, broken):
    for name in NAMES[:2]:
        broken(copy / "images" / f"{name}.jpg", copy / "annotations/trimaps" / f"{name}.png")
    made = opened("pet-xai", copy)
    assert len(samples(made)) == len(NAMES) - 2
    assert f"Skipped: {why} (2)." in made.source.notes


def test_a_trimap_that_is_mended_is_looked_at_again(copy):
    path = copy / "annotations/trimaps" / f"{NAMES[0]}.png"
    sound = path.read_bytes()
    path.write_bytes(b"no picture")
    assert len(samples(opened("pet-xai", copy))) == len(NAMES) - 1
    path.write_bytes(sound)
    assert len(samples(opened("pet-xai", copy))) == len(NAMES)


def test_parts_of_the_layout_that_are_missing_are_named(copy, tmp_path):
    message = refusal("pet-xai", tmp_path / "nowhere")
    assert message.startswith(f"{tmp_path / 'nowhere/annotations/trimaps'} is missing")
    assert "with image and attention_label" in message
    assert "salgen make drawn-pets draws a stand-in" in message
    (copy / "annotations/list.txt").write_bytes(b"\xff\xfe")
    assert "cannot be read as a list of images" in refusal("pet-xai", copy)
    shutil.rmtree(copy / "images")
    assert refusal("pet-xai", copy).startswith(f"{copy / 'images'} is missing")


def test_it_keeps_the_laws_of_importers_and_the_digest_sees_trimaps(copy, tmp_path):
    for border in ("foreground", "ignore"):
        check_importer("pet-xai", str(copy), image_size=(SIDE, SIDE), border=border)
    digest = opened("pet-xai", copy).source.digest
    assert opened("pet-xai", tmp_path).source.digest == digest
    Image.fromarray(trimap("a_9")).save(copy / "annotations/trimaps" / f"{NAMES[0]}.png")
    assert opened("pet-xai", copy).source.digest != digest
