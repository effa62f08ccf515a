"""The filter of eBAM: what is kept of what a detector finds, and how the files of detectors are read."""

import json
import pickle
import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torchvision.models import detection, get_model
from salgen.datasets.picture_libraries import filtering
from salgen.datasets.picture_libraries.filtering import filtered, on_black, weights_in
from salgen.datasets.picture_libraries.picture_file import PictureFile, write_library
from salgen.errors import SalgenError
from salgen.evaluation.detectors.torchvision_networks import TorchvisionDetector
from salgen.generators.stand_ins import cutouts
from salgen.seeding import Stream

SIDE, LONGEST = 64, 45
SPLITS = ("test", "train", "val")
KNOWN = ("stop sign", "kite")
ARCHITECTURE = "fasterrcnn_mobilenet_v3_large_320_fpn"


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SALGEN_CACHE", str(tmp_path / "cache"))


class Told:
    """A detector that is told by a picture's colour what to say: red by how sure, green by which name."""

    categories = ("background", "a", "b", "c")
    asked: list[int]

    def __init__(self):
        self.asked = []

    def detect(self, images):
        self.asked.append(len(images))
        brightest = [image.reshape(-1, 3).max(axis=0) for image in images]
        found = [[(self.categories[green], red / 200)] if green else [] for red, green, _ in brightest]
        return [[*one, ("c", 0.3)] for one in found]


def library(path, told, channels=4):
    """A library of pictures, 6x6, that carry their findings: by class, pairs of confidence and name in each split."""

    def picture(sure, name, number):
        made = np.full((6, 6, channels), 255, dtype=np.uint8)
        made[..., :3] = (round(200 * sure), Told.categories.index(name) if name else 0, number)
        return made

    places = [
        ((split, name, number), picture(sure, found, number))
        for split in SPLITS
        for name in sorted(told)
        for number, (sure, found) in enumerate(told[name])
    ]
    write_library(path, places)
    return PictureFile(path, sorted(told))


@pytest.fixture
def told(monkeypatch, tmp_path):
    """A file of weights that stands for :class:`Told`, who counts how often it is asked."""
    found = Told()
    monkeypatch.setitem(vars(filtering.DETECTORS), "load", lambda name: lambda path: found)
    (tmp_path / "told.safetensors").write_bytes(b"told")
    return tmp_path / "told.safetensors", found


def blue(pictures):
    return [int(picture[0, 0, 2]) for picture in pictures]


def kept(library, name, split="train"):
    return [library.load(split, name, number) for number in range(library.count(split, name))]


def test_objects_found_by_their_own_name_are_kept_and_classes_with_too_few_are_dropped(tmp_path, told):
    weights, _ = told
    given = {
        "a": [(0.9, "a"), (0.5, "a"), (0.505, "a"), (0.9, "b"), (0.9, None), (1.0, "a")],
        "b": [(0.9, "b")] * 3,
        "c": [(0.9, "c"), (0.9, "c"), (0.9, "a"), (0.4, "c")],
    }
    found = filtered("objects", library(tmp_path / "all", given), weights, (8, 8), 6, 3)
    assert found.library.classes == ("a", "b")
    assert blue(kept(found.library, "a")) == [0, 2, 5]
    assert blue(kept(found.library, "a", "val")) == [0, 2, 5]
    assert found.dropped == {"c": "2 of 4 pictures for train pass, and 3 are needed"}
    assert (found.kept, found.total) == (24, 39)


def test_scenes_with_an_object_in_them_are_dropped(tmp_path, told):
    weights, _ = told
    given = {"x": [(0.9, "a"), (0.5, "b"), (0.4, "b")], "y": [(0.6, "a")] * 3, "z": [(0.0, None)] * 2}
    found = filtered("scenes", library(tmp_path / "all", given, 3), weights)
    assert found.library.classes == ("x", "z")
    assert blue(kept(found.library, "x", "test")) == [1, 2]
    assert found.dropped == {"y": "0 of 3 pictures for train pass, and 2 are needed"}


def test_the_detector_is_asked_once_in_batches_and_another_threshold_of_classes_asks_nobody(tmp_path, told):
    weights, detector_ = told
    given = {name: [(0.9, name)] * 5 for name in ("a", "b")}
    every = library(tmp_path / "all", given)
    first = filtered("objects", every, weights, (8, 8), 6, 2)
    assert detector_.asked == [filtering.TOGETHER, 30 - filtering.TOGETHER]
    stamp = first.library.path.stat().st_mtime_ns
    again = filtered("objects", every, weights, (8, 8), 6, 2)
    other = filtered("objects", every, weights, (8, 8), 6, 3)
    assert len(detector_.asked) == 2
    assert again.library.path.stat().st_mtime_ns == stamp
    assert other.library.path != again.library.path
    assert other.library.digest == again.library.digest
    filtered("objects", every, weights, (8, 8), 5, 2)
    assert len(detector_.asked) == 4


def test_where_nothing_passes_it_is_said_and_what_is_damaged_is_looked_for_again(tmp_path, told):
    weights, detector_ = told
    every = library(tmp_path / "all", {name: [(0.9, name)] * 8 for name in ("a", "b")}, 3)
    with pytest.raises(SalgenError, match=r"leaves none of the classes of scenes, .*: a: 0 of 8 pictures"):
        filtered("scenes", every, weights)
    assert not list((tmp_path / "cache/libraries").glob("*.parquet"))
    asked = len(detector_.asked)
    next((tmp_path / "cache").glob("judged-*.npz")).write_text("{")
    with pytest.raises(SalgenError, match="leaves none of the classes of scenes"):
        filtered("scenes", every, weights)
    assert len(detector_.asked) == 2 * asked


@pytest.mark.parametrize(("size", "shape"), [((64, 64), (20, 10)), ((48, 64), (10, 40)), ((64, 32), (90, 90))])
def test_an_object_is_shown_on_black_as_large_as_it_is_pasted(size, shape):
    picture = np.zeros((*shape, 4), dtype=np.uint8)
    picture[..., :3], picture[..., 3] = 200, 255
    shown = on_black(picture, size, round(max(size) * 0.7))
    rows, columns = np.nonzero(shown.any(axis=2))
    tall, wide = np.ptp(rows) + 1, np.ptp(columns) + 1
    assert max(tall / size[0], wide / size[1]) == pytest.approx(0.7, abs=0.03)
    assert tall / wide == pytest.approx(shape[0] / shape[1], rel=0.08)
    assert abs(rows.min() + rows.max() - size[0] + 1) <= 1
    assert abs(columns.min() + columns.max() - size[1] + 1) <= 1
    assert (shown[rows, columns] == 200).all()
    picture[..., 3] = 128
    assert on_black(picture, size, 40).max() == round(200 * 128 / 255)


def objects_of(names, split, count):
    """Objects on black as the filter shows them."""
    for name in names:
        for number in range(count):
            cutout = cutouts.cutout(name, Stream("thing", split, name, index=number), LONGEST)
            yield on_black(cutout, (SIDE, SIDE), LONGEST)


def saved(network, path, **about):
    known = {"architecture": ARCHITECTURE, "categories": json.dumps(["background", *KNOWN])}
    described = {**known, "min_size": str(SIDE), "max_size": str(SIDE), **about}
    save_file(network.state_dict(), path, {key: text for key, text in described.items() if text})
    return path


def test_what_a_network_detects_is_told_by_name_the_surest_first_in_any_batch(tmp_path):
    """Of chance weights, which are not sure of anything."""
    network = get_model(ARCHITECTURE, weights=None, weights_backbone=None, num_classes=3, min_size=SIDE, max_size=SIDE)
    weights = saved(network.eval(), tmp_path / "chance.safetensors")
    images = list(objects_of(KNOWN, "again", 3))
    first, second = TorchvisionDetector(weights), TorchvisionDetector(weights)
    assert first.categories == ("background", *KNOWN)
    together = first.detect(images)
    assert together == second.detect(images)
    with torch.inference_mode():
        expected = network([torch.tensor(image).permute(2, 0, 1) / 255 for image in images])
    for image, found, wanted in zip(images, together, expected, strict=True):
        (alone,) = first.detect([image])
        pairs = sorted(zip(wanted["scores"].tolist(), wanted["labels"].tolist(), strict=True), reverse=True)
        assert len(found) == len(pairs) > 1
        assert [sure for _, sure in found] == pytest.approx([sure for sure, _ in pairs], abs=1e-4)
        assert [sure for _, sure in alone] == pytest.approx([sure for _, sure in found], abs=1e-4)
        assert {name for name, _ in found} == {first.categories[label] for _, label in pairs}


def test_torchvision_s_checkpoint_is_read_as_torchvision_reads_it(tmp_path, monkeypatch):
    """With weights of chance in its form: frozen statistics, which have no count of batches and no epsilon."""
    known = detection.FasterRCNN_ResNet50_FPN_Weights.COCO_V1
    network = detection.fasterrcnn_resnet50_fpn(weights=None, weights_backbone=None)
    state = {name: value for name, value in network.state_dict().items() if not name.endswith("num_batches_tracked")}
    for name in [name for name in state if name.endswith("running_var")]:
        state[name] = (torch.rand_like(state[name]) + 0.5) * 1e-3
        state[name.replace("running_var", "weight")] = torch.full_like(state[name], 1e-3**0.5)
    torch.save(state, tmp_path / "fasterrcnn_resnet50_fpn_coco-00000000.pth")
    monkeypatch.setattr(type(known), "get_state_dict", lambda self, *args, **options: state)
    theirs = detection.fasterrcnn_resnet50_fpn(weights=known, progress=False).eval()
    ours = TorchvisionDetector(tmp_path / "fasterrcnn_resnet50_fpn_coco-00000000.pth")
    assert (len(ours.categories), ours.categories[17:19]) == (91, ("cat", "dog"))
    (found, expected) = (made.state_dict() for made in (ours._network, theirs))
    assert all(torch.equal(found[name], value) for name, value in expected.items())
    with torch.inference_mode():
        image = torch.rand(1, 3, 64, 64)
        found, expected = (made.backbone(image) for made in (ours._network, theirs))
        for level, features in expected.items():
            torch.testing.assert_close(found[level], features, rtol=1e-4, atol=1e-4)


def test_what_is_no_detector_is_refused(tmp_path):
    def refused(message, path):
        with pytest.raises(SalgenError, match=message):
            TorchvisionDetector(path)

    checkpoint = tmp_path / "fasterrcnn_resnet50_fpn_coco-1.pth"
    for content in (b"no checkpoint", pickle.dumps(Told())):
        checkpoint.write_bytes(content)
        refused("it is not torchvision's checkpoint", checkpoint)
    torch.save({"a": torch.zeros(1)}, checkpoint)
    refused("its weights do not fit the network", checkpoint)
    path = tmp_path / "x.safetensors"
    path.write_bytes(b"none")
    refused("cannot be read", path)
    few = torch.nn.Linear(1, 1)
    refused(r"metadata unknown architecture 'fasterrcnn_mobilenet_v3': did you mean",
            saved(few, path, architecture="fasterrcnn_mobilenet_v3"))  # fmt: skip
    for categories in ("", '["background"]'):
        refused("must have categories, a JSON list of names", saved(few, path, categories=categories))
    for size in ("x", "0", "-1"):
        refused("may have min_size and max_size, whole numbers above 0", saved(few, path, min_size=size))
    refused("its weights do not fit the network: .* is missing or unexpected", saved(few, path))


def test_one_file_of_weights_is_expected(tmp_path):
    with pytest.raises(SalgenError, match=f"detector is missing: .*{filtering.PUBLISHED}"):
        weights_in(tmp_path)
    (tmp_path / "detector").mkdir()
    (tmp_path / "detector/README.txt").touch()
    with pytest.raises(SalgenError, match="detector holds 0 files of weights, but one is expected"):
        weights_in(tmp_path)
    (tmp_path / "detector/fasterrcnn_resnet50_fpn_coco-258fb6c6.pth").write_bytes(b"x")
    found = weights_in(tmp_path)
    assert found.suffix == ".pth"
    found.rename(tmp_path / "detector/other.pth")
    with pytest.raises(SalgenError, match="holds 0 files"):
        weights_in(tmp_path)
