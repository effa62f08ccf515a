"""Torchvision's detection networks, with weights from the user's file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar
import numpy as np
import safetensors
import safetensors.torch
import torch
from numpy.typing import NDArray
from torch import nn
from torchvision.models import detection, get_model, list_models
from salgen.errors import SalgenError, readable, unknown_name

SAFETENSORS = ".safetensors"
COCO = detection.FasterRCNN_ResNet50_FPN_Weights.COCO_V1
COCO_ARCHITECTURE = "fasterrcnn_resnet50_fpn"
SIZES = ("min_size", "max_size")  # to which the network resizes images
BATCH_COUNT = "num_batches_tracked"  # batch norm's, missing in networks trained with frozen statistics


class TorchvisionDetector:
    """A detection network of torchvision.

    Parameters
    ----------
    path
        Torchvision's checkpoint of Faster R-CNN for COCO (``COCO_V1``), or a ``.safetensors`` file whose metadata
        give the ``architecture`` (its name in torchvision) and the ``categories`` (a list as JSON, the background
        first), and optionally ``min_size`` and ``max_size``.
    """

    name: ClassVar[str] = "torchvision"

    def __init__(self, path: Path) -> None:
        load = _own if path.suffix == SAFETENSORS else _coco
        network, self.categories = load(path)
        self._device = "cuda" if torch.cuda.is_available() else "cpu"
        self._network = network.eval().to(self._device)

    @torch.inference_mode()
    def detect(self, images: Sequence[NDArray[np.uint8]]) -> list[list[tuple[str, float]]]:
        """For each image, uint8 (H, W, 3), the categories found, each with its confidence, the most confident first."""
        batch = [torch.tensor(image, device=self._device).permute(2, 0, 1) / 255.0 for image in images]
        found = []
        for detections in self._network(batch):
            pairs = zip(detections["labels"].tolist(), detections["scores"].tolist(), strict=True)
            named = ((self.categories[label], score) for label, score in pairs)
            found.append(sorted(named, key=lambda pair: -pair[1]))
        return found


def _coco(path: Path) -> tuple[nn.Module, tuple[str, ...]]:
    with readable(f"{path} cannot be read", ": it is not torchvision's checkpoint"):
        weights = torch.load(path, map_location="cpu", weights_only=True)
    categories = tuple(COCO.meta["categories"])
    network = _built(path, COCO_ARCHITECTURE, categories, {})
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eps = 0.0  # with which this checkpoint was trained
    _fill(path, network, weights)
    return network, categories


def _own(path: Path) -> tuple[nn.Module, tuple[str, ...]]:
    with readable(f"{path} cannot be read"):
        with safetensors.safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
        weights = safetensors.torch.load_file(path)
    what = (
        f"{path}: its metadata must have categories, a JSON list of names with the background first, "
        f"and may have {' and '.join(SIZES)}, whole numbers above 0"
    )
    with readable(what):
        names = json.loads(metadata["categories"])
        sizes = {name: int(metadata[name]) for name in SIZES if name in metadata}
        if not isinstance(names, list) or min([len(names) - 1, *sizes.values()]) < 1:
            raise ValueError("there are too few")
    network = _built(path, metadata.get("architecture", ""), names, sizes)
    _fill(path, network, weights)
    return network, tuple(names)


def _built(path: Path, architecture: str, categories: Sequence[str], sizes: Mapping[str, int]) -> nn.Module:
    architectures = list_models(module=detection)
    if architecture not in architectures:
        raise SalgenError(f"{path}: metadata {unknown_name('architecture', architecture, architectures)}")
    settings: dict[str, Any] = {"weights": None, "weights_backbone": None, "num_classes": len(categories), **sizes}
    with readable(f"{path}: {architecture} cannot be built"):
        built: nn.Module = get_model(architecture, **settings)
    return built


def _fill(path: Path, network: nn.Module, weights: Any) -> None:
    """Load all weights; only batch counts, which nothing depends on here, may be missing."""
    with readable(f"{path}: its weights do not fit the network"):
        missing, unexpected = network.load_state_dict(weights, strict=False)
    wrong = [*(name for name in missing if not name.endswith(BATCH_COUNT)), *unexpected]
    if wrong:
        raise SalgenError(f"{path}: its weights do not fit the network: {wrong[0]} is missing or unexpected")
