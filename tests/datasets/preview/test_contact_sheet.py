from itertools import product
import numpy as np
import pytest
from made_datasets import made
from salgen.datasets.preview import contact_sheet as sheets
from salgen.datasets.preview.contact_sheet import contact_sheet
from salgen.datasets.preview.dataset_summary import describe, describe_sample
from salgen.datasets.reading import pictures
from salgen.datasets.reading.reader import open_dataset


def find(picture, part):
    """Top left corners at which a part lies in a picture."""
    windows = np.lib.stride_tricks.sliding_window_view(picture, part.shape)[:, :, 0]
    middle = len(part) // 2
    begun = np.argwhere((windows[:, :, middle] == part[middle]).all(axis=(2, 3)))
    return [(row, column) for row, column in begun if np.array_equal(windows[row, column], part)]


@pytest.mark.parametrize("parameters", [{}, {"channels": 3}, {"bit_depth": 16}], ids=["grey", "colour", "deep"])
def test_images_twins_and_differences_are_in_their_columns(tmp_path, monkeypatch, parameters):
    monkeypatch.setattr(pictures, "PANEL", 12)  # pictures at their own size
    folder = made(tmp_path / "squares", parameters=parameters)
    picture = np.asarray(contact_sheet(folder, "train", count=4))
    dataset = open_dataset(folder, "train")
    labels = np.asarray(dataset.column("label"))
    shown = [*np.flatnonzero(labels == 1)[:2], *np.flatnonzero(labels == 0)[:2]]
    places = []
    for index in shown:
        image = np.rint(dataset[int(index)]["image"].transpose(1, 2, 0) * 255).astype(np.uint8)
        found = find(picture, np.broadcast_to(image, (12, 16, 3)))
        assert len(found) == 1
        places.append(found[0])
    assert [place[1] for place in places] == [places[0][1]] * 4, "one column"
    assert sorted(place[0] for place in places) == [place[0] for place in places], "positive samples first"
    twin = np.rint(dataset[int(shown[0])]["twin"].transpose(1, 2, 0) * 255).astype(np.uint8)
    (place,) = find(picture, np.broadcast_to(twin, (12, 16, 3)))
    assert place[0] == places[0][0]
    assert place[1] > places[0][1]


def test_the_amplified_difference_is_zero_outside_the_mask_and_bright_within(folder, monkeypatch):
    monkeypatch.setattr(pictures, "PANEL", 12)
    dataset = open_dataset(folder, "train")
    index = int(np.flatnonzero(dataset.column("label"))[0])
    (batch,) = dataset.batches(1, [index])
    image, twin, mask = batch.levels()[0], batch.twin_levels()[0], batch.masks[0]
    gain = sheets._gain(batch.levels(), batch.twin_levels(), 8)
    _, difference = sheets._twin_pictures(image, twin, gain, 8)
    levels = np.asarray(difference)[..., 0]
    assert not levels[~mask].any()
    assert levels[mask].min() > 200
    assert levels.max() >= 250


def test_small_images_are_enlarged_by_a_whole_number_and_large_ones_fit():
    small = np.arange(12 * 16 * 3, dtype=np.uint8).reshape(12, 16, 3)
    enlarged = np.asarray(pictures.enlarged(small))
    assert enlarged.shape == (132, 176, 3)
    np.testing.assert_array_equal(enlarged, small.repeat(11, axis=0).repeat(11, axis=1))
    assert max(pictures.enlarged(np.zeros((900, 300, 3), np.uint8)).size) == pictures.LARGEST


def test_no_twins_are_shown_as_such(tmp_path):
    folder = made(tmp_path / "squares", twins=False)
    assert contact_sheet(folder, count=2).size[1] > 2 * pictures.PANEL
    assert "not stored" in describe(folder)


def test_the_words_say_what_is_inside(folder):
    text = describe(folder)
    for said in (
        "squares version 1, seed 0",
        "12 x 16 pixels, grey, 8 bits",
        "12 images: 6 empty, 6 square",
        "square (ground truth), frame; maps are scored within frame",
        open_dataset(folder).fingerprint,
    ):
        assert said in text


def test_a_sample_alone_is_shown_and_described(folder, monkeypatch):
    monkeypatch.setattr(pictures, "PANEL", 12)
    dataset = open_dataset(folder, "train")
    item = dataset["train-000007"]
    picture = np.asarray(contact_sheet(folder, "train", ids=["train-000007"]))
    image = np.rint(item["image"].transpose(1, 2, 0) * 255).astype(np.uint8)
    assert len(find(picture, np.broadcast_to(image, (12, 16, 3)))) == 1
    positive, negative = (dataset.ids[int(np.flatnonzero(np.array(dataset.column("label")) == k)[0])] for k in (1, 0))
    pixels = dataset[positive]["mask"].sum()
    for name, said in (
        (positive, ("label    square", f"{pixels} of 192 pixels are square", f"the image in {pixels} pixels", "row ")),
        (negative, ("label    empty", "0 of 192 pixels", "twin     none")),
    ):
        text = describe_sample(dataset, name)
        assert text.startswith(f"{name} of squares\n")
        for part in said:
            assert part in text


def test_the_mask_is_outlined_on_the_image(folder, monkeypatch):
    monkeypatch.setattr(pictures, "PANEL", 12)
    dataset = open_dataset(folder, "train")
    index = int(np.flatnonzero(dataset.column("label"))[0])
    (batch,) = dataset.batches(1, [index])
    (picture,) = sheets._mask_pictures(dataset, batch, 0, batch.levels()[0])
    image, mask = np.broadcast_to(batch.levels()[0].transpose(1, 2, 0), (12, 16, 3)), batch.masks[0]
    valid = batch.regions[dataset.valid_region][0] if dataset.valid_region else np.ones_like(mask)
    for row, column in np.ndindex(mask.shape):
        near = [(row + down, column + right) for down, right in product(range(-2, 3), repeat=2)]
        near = [place for place in near if abs(place[0] - row) + abs(place[1] - column) <= 2]
        inner = all(0 <= y < 12 and 0 <= x < 16 and mask[y, x] for y, x in near)
        expected = np.floor(image[row, column] * (1.0 if valid[row, column] else 0.3))
        if mask[row, column] and not inner:
            expected = [255, 0, 200]
        np.testing.assert_array_equal(np.asarray(picture)[row, column], expected)
