"""Networks that were trained elsewhere: modules of PyTorch, and those of torchvision, timm and Hugging Face."""

import re
from collections.abc import Callable, Mapping, Sequence, ValuesView
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias
from warnings import catch_warnings
import torch
from torch import nn
from salgen.errors import SalgenError, unknown_name, warn
from salgen.evaluation.models import normalisation as normalisations
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.logits import last_of
from salgen.evaluation.models.weight_files import load, read_tensors, without_prefixes
from salgen.parameters import parse_call, python_value

TO_FIT = (
    "give weights of this architecture, and behind its name the options they were made with, such as img_size (timm), "
    "image_size (torchvision) or in_chans"
)


IMAGENET_CLASSES = 1000
DEFAULT = "DEFAULT"  # the weights that a library publishes
# The names of all outputs in order, or for each class of the data set the number of its output, or several numbers.
Outputs: TypeAlias = Sequence[int | str] | Mapping[str, Sequence[int]]


class OwnNetwork(NamedTuple):
    """A network with what its library says of it."""

    module: nn.Module  # normalised images to logits
    normalise: nn.Module | None = None  # images in [0, 1] to what it takes, if that is known
    cam_layer: str | None = None  # the layer that it names for the CAM family, if it does
    labels: Sequence[str] = ()  # the classes of its outputs, in order; several names of one are split by commas
    # what its preprocessing does to a picture's size, as parameters of the importer `images`
    inputs: Mapping[str, Any] = MappingProxyType({})

    @property
    def outputs(self) -> Sequence[str]:
        """Its labels, or those that Hugging Face's config or timm's states."""
        if self.labels:
            return self.labels
        module = last_of(self.module)
        config, timm = (getattr(module, name, None) for name in ("config", "pretrained_cfg"))
        if isinstance(timm, Mapping) and len(names := timm.get("label_names") or ()) == module.num_classes:
            return list(map(str, names))
        given, numbers = (getattr(config, name, None) or {} for name in ("id2label", "label2id"))
        names = in_order(given, "config.id2label")
        default = [f"LABEL_{number}" for number in range(len(names))]
        if names == default:
            names = in_order({number: name for name, number in numbers.items()}, "config.label2id")
        return [] if names == default else names


def own_network(module: nn.Module) -> OwnNetwork:
    """A private copy of the user's module, of which a Normalize that comes first is set apart."""
    if isinstance(module, Classifier):
        return OwnNetwork(module.network, module.normalise, cam_layer=module.cam_layer)
    return OwnNetwork(module, normalisations.set_apart(module), getattr(module, "cam_layer", None))


def inputs_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The image size and crop of timm's data config, as parameters of the importer `images`."""
    return {"image_size": tuple(config["input_size"][1:]), "crop": config["crop_pct"]}


def imagenet_labels() -> list[str]:
    """The names of ImageNet's thousand classes in order, such as "tabby, tabby cat, n02123045" with the synset."""
    from timm.data import ImageNetInfo

    known = ImageNetInfo()
    return [f"{name}, {synset}" for name, synset in zip(known.label_descriptions(), known.label_names(), strict=True)]


def places_called(name: str, labels: Sequence[int | str]) -> list[int]:
    """The places of labels that are a name, or have it among several split by commas; in any case and spelling."""
    wanted = _bare(name)
    return [
        place for place, label in enumerate(labels)
        if wanted == _bare(label) or wanted in map(_bare, str(label).split(","))
    ]  # fmt: skip


def _bare(name: object) -> str:
    return "".join(filter(str.isalnum, str(name).casefold()))


def places_of(wanted: Sequence[str], given: Outputs, count: int) -> list[list[int]]:
    """For each class the places of its outputs among a network's `count`.

    `given` are all outputs' names, each class's number, or a mapping from class to numbers.
    """
    if isinstance(given, Mapping):
        groups = [list(given[name]) for name in wanted if name in given]
        flat = [place for group in groups for place in group]
        if set(wanted) != set(given) or not all(groups) or len(set(flat)) != len(flat) or not _all_within(flat, count):
            raise SalgenError(
                f"classes = {dict(given)}: give for each of {', '.join(wanted)} the numbers of its outputs, 0 to "
                f"{count - 1}, each once"
            )
        return groups
    return [[place] for place in _single_places(wanted, given, count)]


def _all_within(places: Sequence[Any], count: int) -> bool:
    return all(type(place) is int and 0 <= place < count for place in places)


def _single_places(wanted: Sequence[str], given: Sequence[int | str], count: int) -> list[int]:
    if all(str(item).isdecimal() for item in given) and not set(wanted) <= set(given):
        given = [int(item) for item in given]
    if all(isinstance(item, int) for item in given):
        places = [int(item) for item in given]
        if len(set(places)) != len(wanted) or len(places) != len(wanted) or not _all_within(places, count):
            raise SalgenError(f"classes = {places}: give numbers, 0 to {count - 1}, of {', '.join(wanted)}, each once")
        return places
    names = list(map(str, given))
    if len(names) != count:
        raise SalgenError(f"classes has {len(names)} names, and the model {count} outputs: give one name for each")
    if missing := [name for name in wanted if name not in names]:
        raise SalgenError(
            f"classes = {names} lack {missing[0]!r}: spell {', '.join(wanted)} as the data set does, or give for each "
            "the number of its output"
        )
    if repeated := [name for name in wanted if names.count(name) > 1]:
        raise SalgenError(f"classes names {repeated[0]!r} {names.count(repeated[0])} times: give the numbers instead")
    return [names.index(name) for name in wanted]


def in_order(given: Any, what: str) -> list[Any]:
    """Names or numbers as a list; those of a mapping, such as Hugging Face's ``id2label``, by their numbers."""
    if isinstance(given, Mapping):
        by_number = {str(number): str(name) for number, name in given.items()}
        if set(by_number) != set(map(str, range(len(given)))):
            raise SalgenError(f"{what} has numbers {', '.join(by_number)}: must be 0 to {len(given) - 1}, each once")
        return [by_number[str(number)] for number in range(len(given))]
    items = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(items, (Sequence, ValuesView)) and not isinstance(items, str):
        items = [item.item() if hasattr(item, "item") else item for item in items]
        if all(type(item) in (int, str) for item in items):
            return items
    raise SalgenError(f"{what} = {given!r}: give a list of names, or of numbers")


# By name ----------------------------------------------------------------------------------------------


def _torchvision(call: str, weights: str) -> OwnNetwork:
    from torchvision.models import get_model, get_model_weights, list_models

    name, options = _name_and_options(call)
    if name not in list_models():
        raise unknown_name("model of torchvision", name, list_models())
    published = get_model_weights(name)
    if weights in (DEFAULT, *published.__members__):
        chosen = published[weights]
        transforms = chosen.transforms()
        normalise = normalisations.stated_normalisation(transforms.mean, transforms.std)
        (size,), (resized,) = transforms.crop_size, transforms.resize_size
        inputs = {"image_size": (size, size), "crop": size / resized}
        network = get_model(name, weights=chosen, **options)
        return OwnNetwork(network, normalise, labels=chosen.meta["categories"], inputs=inputs)
    with torch.device("meta"), catch_warnings(action="ignore", category=FutureWarning):
        template = get_model(name, weights=None, **options)  # without memory: for the name of its last weights
    if hasattr(template, "transform_input") and "transform_input" not in options:
        raise SalgenError(
            f"its weights do not say whether {name} changes its input: write torchvision:{name}:transform_input=true:"
            "weights=FILE for torchvision's own weights and what was trained on from them, false for others"
        )
    names = list(template.state_dict())
    tensors, head = without_prefixes(read_tensors(Path(weights)), names), names[-1]
    outputs = {"num_classes": len(tensors[head])} if head in tensors else {}
    with catch_warnings(action="ignore", category=FutureWarning):
        network = get_model(name, weights=None, **options, **outputs)
    load(network, tensors, f"weights = {weights}", TO_FIT)
    return OwnNetwork(network, normalisations.imagenet_normalisation(3))


def _timm(call: str, weights: str) -> OwnNetwork:
    import timm

    name, options = _name_and_options(call)
    if not timm.is_model(name):
        raise unknown_name("model of timm", name, timm.list_models())
    if weights in ("", DEFAULT):
        network = timm.create_model(name, pretrained=True, **options)
        of_inputs: dict[str, Any] = timm.data.resolve_model_data_config(network)
        labels = imagenet_labels() if network.num_classes == IMAGENET_CLASSES else ()
        normalise = normalisations.stated_normalisation(of_inputs["mean"], of_inputs["std"])
        return OwnNetwork(network, normalise, labels=labels, inputs=inputs_of(of_inputs))
    template = timm.create_model(name, num_classes=0, **options)
    settings: Any = template.default_cfg
    tensors = without_prefixes(read_tensors(Path(weights)), template.state_dict())
    heads = settings["classifier"]  # two of a distilled network
    heads = (heads,) if isinstance(heads, str) else heads
    outputs = [len(tensors[f"{head}.weight"]) for head in heads if f"{head}.weight" in tensors]
    network = timm.create_model(name, num_classes=outputs[0] if outputs else settings["num_classes"], **options)
    mean, std = settings["mean"], settings["std"]
    if options.get("in_chans") == 1:
        mean, std = (sum(values) / len(values) for values in (mean, std))
    load(network, tensors, f"weights = {weights}", TO_FIT)
    return OwnNetwork(network, normalisations.stated_normalisation(mean, std))


def _hugging_face(name: str, _weights: str) -> OwnNetwork:
    from transformers import AutoImageProcessor, AutoModelForImageClassification

    folder = Path(name)
    if not folder.exists() and re.fullmatch(r"[\w.-]+/[\w.-]+", name):
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(name, allow_patterns=["*.json", "*.safetensors"]))
    model = AutoModelForImageClassification.from_pretrained(folder, local_files_only=True)
    is_timm = model.config.model_type == "timm_wrapper"  # whose config.json states it
    if is_timm or any((folder / file).is_file() for file in ("preprocessor_config.json", "processor_config.json")):
        processor = AutoImageProcessor.from_pretrained(folder, local_files_only=True)
        normalise = normalisations.normalisation(processor, getattr(model.config, "num_channels", 3))
    else:
        normalise = None
        warn(f"{folder} has no preprocessor_config.json: the model is given images in [0, 1] as they are")
    return OwnNetwork(model, normalise)


def _name_and_options(call: str) -> tuple[str, dict[str, Any]]:
    name, pairs = parse_call(call)
    return name, {key: python_value(text) for key, text in pairs.items()}


LIBRARIES: Mapping[str, Callable[[str, str], OwnNetwork]] = {
    "torchvision": _torchvision,
    "timm": _timm,
    "huggingface": _hugging_face,
}
