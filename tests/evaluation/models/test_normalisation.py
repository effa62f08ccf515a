"""What is stated of a network's inputs is applied in full, or refused by name."""

import numpy as np
import pytest
import timm
import torch
import torchvision
import transformers
from PIL import Image, ImageOps
from torchvision.transforms import v2
from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.models.normalisation import Normalisation, normalisation

T = torchvision.transforms
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
MEAN_255, STD_255 = (123.675, 116.28, 103.53), (58.395, 57.12, 57.375)
PICTURE = np.random.default_rng(1).integers(256, size=(32, 32, 3), dtype=np.uint8)
IMAGES = torch.from_numpy(PICTURE).permute(2, 0, 1)[None] / 255


class Albumentations:
    """Takes and gives pictures (H, W, C) by name, as that library does."""

    def __call__(self, *, image):
        return {"image": ((image / 255.0 - MEAN) / STD).astype(np.float32)}


def processors():
    """Image processors of Hugging Face, those on tensors and those on arrays, with each step left out or changed."""
    for name in ("ViT", "EfficientNet", "MobileViT", "Bit", "CLIP", "MobileNetV1"):
        for backend in ("", "Pil"):
            if kind := getattr(transformers, f"{name}ImageProcessor{backend}", None):  # transformers 4 has no Pil
                for changes in ({}, {"do_normalize": False}, {"rescale_factor": 1 / 127.5}, {"do_rescale": False}):
                    yield pytest.param(kind, changes, id=f"{name}{backend}-{next(iter(changes), 'default')}")


@pytest.mark.parametrize(("kind", "changes"), list(processors()))
@pytest.mark.filterwarnings("ignore::salgen.errors.SalgenWarning")
def test_a_processor_of_hugging_face_is_applied_in_full(kind, changes):
    processor = kind(**changes)
    how = {"return_tensors": "pt", "do_resize": False, "do_center_crop": False}
    expected = processor(images=Image.fromarray(PICTURE), **how)["pixel_values"].float()
    torch.testing.assert_close(normalisation(processor)(IMAGES), expected, rtol=1e-5, atol=1e-4)


def test_the_order_of_channels_is_applied_and_a_missing_rescaling_is_said():
    processor = transformers.MobileViTImageProcessor(do_resize=False, do_center_crop=False)
    found = normalisation(processor)
    assert found.order == [2, 1, 0]
    torch.testing.assert_close(found(IMAGES), IMAGES.flip(1))
    with pytest.warns(SalgenWarning, match=r"values of -1 to 509: does it lack the step from 0..255"):
        normalisation(transformers.ViTImageProcessor(do_rescale=False))


PIPELINES = {
    "v1": T.Compose([T.ToTensor(), T.Normalize(MEAN, STD)]),
    "v2": v2.Compose([v2.ToImage(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(MEAN, STD)]),
    "0..255": v2.Compose([v2.PILToTensor(), v2.ToDtype(torch.float32, scale=False), v2.Normalize(MEAN_255, STD_255)]),
    "twice": T.Compose([T.ToTensor(), T.Normalize(MEAN, STD), T.Normalize([0.5] * 3, [2.0] * 3)]),
    "lambda": T.Compose([T.ToTensor(), T.Lambda(lambda x: x * 2 - 1)]),
    "caffe": T.Compose(
        [T.PILToTensor(), T.Lambda(lambda x: x[[2, 1, 0]].float()), T.Normalize((104, 117, 123), [1] * 3)]
    ),
    "raw": T.PILToTensor(),
    "function": lambda picture: torch.from_numpy(np.array(picture)).permute(2, 0, 1) / 127.5 - 1,
}


@pytest.mark.parametrize("name", PIPELINES)
def test_a_pipeline_is_applied_in_full(name):
    expected = PIPELINES[name](Image.fromarray(PICTURE))[None].float()
    torch.testing.assert_close(normalisation(PIPELINES[name])(IMAGES), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "preprocess",
    [
        v2.Normalize(MEAN, STD),
        v2.Compose([v2.ToDtype(torch.float32, scale=False), v2.Normalize(MEAN_255, STD_255)]),  # of uint8 tensors
        T.Compose([T.Resize(48), T.CenterCrop(40), T.ToTensor(), T.Normalize(MEAN, STD)]),
        torchvision.models.ResNet18_Weights.DEFAULT,
        torchvision.models.ResNet18_Weights.DEFAULT.transforms(),
        timm.data.create_transform((3, 40, 40), mean=MEAN, std=STD),
        timm.data.resolve_data_config({}, pretrained_cfg={"mean": MEAN, "std": STD}),
        lambda images: (images - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1),
        Albumentations(),
        (MEAN, STD),
        Normalisation(MEAN, STD),
    ],
    ids=[
        *("v2", "tensors", "resized", "weights", "preset", "timm", "timm's config", "function", "albumentations"),
        *("numbers", "module"),
    ],
)
def test_resizing_and_cropping_are_left_out(preprocess):
    torch.testing.assert_close(normalisation(preprocess)(IMAGES), T.Normalize(MEAN, STD)(IMAGES), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("preprocess", "values"),
    [
        (T.Compose([T.Grayscale(), T.ToTensor(), T.Normalize((0.1,), (0.3,))]), [(0.1, 0.3)]),
        (transformers.ViTImageProcessor(image_mean=MEAN, image_std=STD), zip(MEAN, STD, strict=True)),
    ],
)
def test_grey_images_go_through_their_own_pipeline_or_that_of_colours(preprocess, values):
    grey = IMAGES[:, :1]
    expected = torch.cat([(grey - mean) / std for mean, std in values], dim=1)
    torch.testing.assert_close(normalisation(preprocess, 1)(grey), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("preprocess", "says"),
    [
        ((MEAN_255, STD_255), "divide both by 255"),
        (T.Normalize(MEAN_255, STD_255), "Normalize.* divide by 255"),
        ((MEAN, (1, 1, 0)), "and std"),
        ({"mean": MEAN_255, "std": STD_255, "to_rgb": True}, "states to_rgb beside mean and std"),
        (T.Compose([T.Grayscale(3), T.ToTensor()]), "Grayscale, ToTensor.* does more to colours"),
        (T.Compose([T.Lambda(ImageOps.equalize), T.ToTensor()]), "does more to colours"),
        (T.Compose([T.ToTensor(), T.Lambda(lambda x: (x - x.mean()) / x.std())]), "does more to colours"),
        (T.Compose([T.ToTensor(), T.Lambda(lambda x: x**2.2)]), "does more to colours"),
        (T.Compose([T.ColorJitter(0.5), T.ToTensor()]), "has ColorJitter, a step of training"),
        (timm.data.create_transform((3, 40, 40), is_training=True), "has Random.*, a step of training"),
        (T.Compose([T.FiveCrop(16), T.Lambda(lambda crops: crops)]), "fails on a picture of 3 channels"),
    ],
)
def test_what_cannot_be_applied_is_refused_by_name(preprocess, says):
    with pytest.raises(SalgenError, match=says):
        normalisation(preprocess)
