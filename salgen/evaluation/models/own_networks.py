"""Networks that were trained elsewhere: modules of PyTorch, and those of torchvision, timm and Hugging Face."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping, Sequence, ValuesView
from pathlib import Path
from typing import Any, NamedTuple
from warnings import catch_warnings

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError, reason, unknown_name
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.normalisation import IMAGENET_MEAN, IMAGENET_STD, Normalisation
from salgen.evaluation.models.start_weights import read_tensors
from salgen.parameters import parse_call, python_value

HOW_TO_NORMALISE = (
    "give a torch.nn.Module of images in [0, 1], (mean, std), or what has a mean and std: torchvision's Normalize or "
    "weights.transforms(), timm's data config, a Hugging Face image processor"
)


class OwnNetwork(NamedTuple):
    """A network with what its library says of it.

    Attributes
    ----------
    module
        Normalised images to logits.
    normalise
        Images in [0, 1] to what it takes, if that is known.
    cam_layer
        The layer that it names for the CAM family, if it does.
    """

    module: nn.Module
    normalise: nn.Module | None = None
    cam_layer: str | None = None

    @property
    def outputs(self) -> Sequence[str]:
        """The classes of its outputs, in order, if Hugging Face's config or timm's states them."""
        config, timm = (getattr(self.module, name, None) for name in ("config", "pretrained_cfg"))
        if isinstance(timm, Mapping) and len(names := timm.get("label_names") or ()) == self.module.num_classes:
            return list(map(str, names))
        given, numbers = (getattr(config, name, None) or {} for name in ("id2label", "label2id"))
        names = in_order(given, "config.id2label")
        default = [f"LABEL_{number}" for number in range(len(names))]
        if names == default:
            names = in_order({number: name for name, number in numbers.items()}, "config.label2id")
        if names == default:
            return []
        for name, number in numbers.items():
            if name in names and names.index(name) != int(number):
                raise SalgenError(
                    f"config.id2label and config.label2id give {name!r} the numbers {names.index(name)} and {number}: "
                    "correct them, or give the outputs' names in order as classes="
                )
        return names


def own_network(module: nn.Module) -> OwnNetwork:
    """A module of the user's; a Normalize that comes first is set apart."""
    if isinstance(module, Classifier):
        return OwnNetwork(module.network, module.normalise, cam_layer=module.cam_layer)
    if isinstance(module, nn.Sequential) and len(module) > 1 and type(module[0]).__name__ == "Normalize":
        rest = list(module)[1:]
        return OwnNetwork(rest[0] if len(rest) == 1 else nn.Sequential(*rest), normalisation(module[0]))
    return OwnNetwork(module, cam_layer=getattr(module, "cam_layer", None))


def normalisation(preprocess: Any) -> nn.Module:
    """The normalisation within whatever prepares images for a network; it neither resizes nor crops.

    Parameters
    ----------
    preprocess
        A mean and a standard deviation of each channel, in any form that `HOW_TO_NORMALISE` names, or a module.

    Raises
    ------
    SalgenError
        If it is none of these.
    """
    if isinstance(preprocess, (tuple, list)) and len(preprocess) == 2:
        return _normalisation(*preprocess)
    for step in getattr(preprocess, "transforms", [preprocess]):
        values = step if isinstance(step, Mapping) else {**getattr(step, "__dict__", {})}
        for mean, std in (("mean", "std"), ("image_mean", "image_std")):
            if mean in values and std in values:
                return _normalisation(values[mean], values[std])
    if isinstance(preprocess, nn.Module):
        return copy.deepcopy(preprocess)  # the user's own keeps its mode and its device
    raise SalgenError(f"preprocess is {type(preprocess).__name__}: {HOW_TO_NORMALISE}")


def _normalisation(mean: Any, std: Any) -> Normalisation:
    try:
        means, stds = (torch.as_tensor(values, dtype=torch.float32).flatten().tolist() for values in (mean, std))
    except (TypeError, ValueError, RuntimeError):
        raise SalgenError(f"preprocess has mean {mean!r} and std {std!r}: give a number for each channel") from None
    return Normalisation(means, stds)


def places_of(wanted: Sequence[str], given: Sequence[int | str], count: int) -> list[int]:
    """The places of a data set's classes among a network's outputs.

    Parameters
    ----------
    wanted
        The data set's classes.
    given
        The names of all outputs, or for each class the number of its output.
    count
        Number of outputs.

    Raises
    ------
    SalgenError
        If they do not fit.
    """
    if all(str(item).isdecimal() for item in given) and not set(wanted) <= set(given):
        given = [int(item) for item in given]
    if all(isinstance(item, int) for item in given):
        places = [int(item) for item in given]
        if len(set(places)) != len(wanted) or len(places) != len(wanted) or not all(0 <= p < count for p in places):
            raise SalgenError(
                f"classes = {places}: give the numbers, 0 to {count - 1}, of {', '.join(wanted)}, each once"
            )
        return places
    names = list(map(str, given))
    if len(names) != count:
        raise SalgenError(f"classes has {len(names)} names, and the model {count} outputs: give one name for each")
    if missing := [name for name in wanted if name not in names]:
        raise unknown_name("class among those of the model", missing[0], names)
    if repeated := [name for name in wanted if names.count(name) > 1]:
        raise SalgenError(f"classes names {repeated[0]!r} {names.count(repeated[0])} times: give the numbers instead")
    return [names.index(name) for name in wanted]


def in_order(given: Any, what: str) -> list[Any]:
    """Names or numbers as a list; those of a mapping, such as Hugging Face's ``id2label``, by their numbers.

    Raises
    ------
    SalgenError
        If they are nothing of these; `what` says whose they are.
    """
    if isinstance(given, Mapping):
        by_number = {str(number): str(name) for number, name in given.items()}
        if set(by_number) != set(map(str, range(len(given)))):
            raise SalgenError(
                f"{what} has the numbers {', '.join(by_number)}: must be 0 to {len(given) - 1}, each once"
            )
        return [by_number[str(number)] for number in range(len(given))]
    items = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(items, (Sequence, ValuesView)) and not isinstance(items, str):
        items = [item.item() if hasattr(item, "item") else item for item in items]
        if all(type(item) in (int, str) for item in items):
            return items
    raise SalgenError(f"{what} = {given!r}: give a list of names, or of numbers")


# By name ----------------------------------------------------------------------------------------------


def _torchvision(call: str, weights: Path) -> OwnNetwork:
    from torchvision.models import get_model, list_models

    name, options = _name_and_options(call)
    if name not in list_models():
        raise unknown_name("model of torchvision", name, list_models())
    with torch.device("meta"), catch_warnings(action="ignore", category=FutureWarning):
        template = get_model(name, weights=None, **options)  # without memory: for the name of its last weights
    if hasattr(template, "transform_input") and "transform_input" not in options:
        raise SalgenError(
            f"its weights do not say whether {name} changes its input: write torchvision:{name}:transform_input=true:"
            "weights=FILE for torchvision's own weights and what was trained on from them, false for others"
        )
    tensors = read_tensors(weights)
    head = list(template.state_dict())[-1]
    outputs = {"num_classes": len(tensors[head])} if head in tensors else {}
    with catch_warnings(action="ignore", category=FutureWarning):
        network = get_model(name, weights=None, **options, **outputs)
    return OwnNetwork(_loaded(network, tensors, weights), Normalisation(IMAGENET_MEAN, IMAGENET_STD))


def _timm(call: str, weights: Path) -> OwnNetwork:
    import timm

    name, options = _name_and_options(call)
    if not timm.is_model(name):
        raise unknown_name("model of timm", name, timm.list_models())
    tensors = read_tensors(weights)
    settings: Any = timm.create_model(name, num_classes=0, **options).default_cfg
    head = settings["classifier"]
    bias = tensors.get(f"{head}.bias")
    network = timm.create_model(name, num_classes=settings["num_classes"] if bias is None else len(bias), **options)
    return OwnNetwork(_loaded(network, tensors, weights), _normalisation(settings["mean"], settings["std"]))


def _hugging_face(name: str, folder: Path) -> OwnNetwork:
    from transformers import AutoModelForImageClassification

    model = AutoModelForImageClassification.from_pretrained(folder, local_files_only=True)
    config = folder / "preprocessor_config.json"
    prepared = json.loads(config.read_text(encoding="utf-8")) if config.is_file() else {}
    normalise = normalisation(prepared) if prepared.get("do_normalize", True) and prepared else None
    return OwnNetwork(model, normalise)


def _name_and_options(call: str) -> tuple[str, dict[str, Any]]:
    name, pairs = parse_call(call)
    return name, {key: python_value(text) for key, text in pairs.items()}


def _loaded(network: nn.Module, tensors: Mapping[str, Tensor], file: Path) -> nn.Module:
    try:
        found = network.load_state_dict(tensors, strict=False)
    except RuntimeError as error:
        raise SalgenError(f"weights = {file} do not fit {type(network).__name__}: {reason(error)}") from None
    wrong = [name for name in (*found.missing_keys, *found.unexpected_keys) if not name.lower().startswith("aux")]
    if wrong:
        raise SalgenError(f"weights = {file} do not fit {type(network).__name__}: {wrong[0]} is in only one of them")
    return network


LIBRARIES: Mapping[str, Callable[[str, Path], OwnNetwork]] = {
    "torchvision": _torchvision,
    "timm": _timm,
    "huggingface": _hugging_face,
}
