"""Trained networks that are no checkpoints of salgen's: modules, functions that return them, and other libraries'."""

import difflib
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
import numpy as np
import torch
from torch import nn
from salgen.datasets.reading.reader import Dataset
from salgen.errors import MANY, SalgenError, install, named, reason, warn
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.designed.grid_networks import GridNetwork
from salgen.evaluation.models.inspection.layers import default_layer, layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView, check_channels, private_copy
from salgen.evaluation.models.logits import as_logits, take_outputs
from salgen.evaluation.models.normalisation import Normalisation, normalisation
from salgen.evaluation.models.own_networks import (
    LIBRARIES,
    Outputs,
    OwnNetwork,
    in_order,
    own_network,
    places_called,
    places_of,
)
from salgen.evaluation.models.weight_files import SUFFIXES
from salgen.evaluation.training.checkpoints import load_checkpoint
from salgen.generators.factory import plugin_class
from salgen.import_paths import imported
from salgen.parameters import build, parse_call
from salgen.registry import MODELS
from salgen.types import Float32

HUGGING_FACE, TORCHVISION = "huggingface", "torchvision"
_FOLDERS = re.compile(r"(?<=[=:])[^=:,]*/(?=[^=:,])")  # a file's folders after `=` or `:`
FORMS = (
    "PACKAGE.MODULE:FUNCTION, torchvision:NAME:weights=FILE, timm:NAME:weights=FILE or huggingface:FOLDER; with access "
    "to the internet also torchvision:NAME:weights=DEFAULT, timm:NAME or huggingface:OWNER/NAME"
)
# What says which inputs a library's networks take.
_STATE_INPUTS = {
    "timm": "timm.data.resolve_model_data_config(model)",
    "torchvision": "weights.transforms()",
    "transformers": "its image processor",
}


@dataclass(frozen=True, eq=False)
class GivenModel:
    """A trained network as it was given."""

    text: str  # ``"package.module:function"``, a library's name for it, or the name of a module's class
    module: nn.Module | None = None  # the module, if it was given itself
    # see :func:`salgen.evaluation.runs.running.evaluate`
    preprocess: Any = None
    classes: Outputs | None = None

    def __str__(self) -> str:
        return self.text

    @property
    def name(self) -> str:
        """Its name in the tables: of paths in its text the last part."""
        return _FOLDERS.sub("", self.text)

    def load(self, dataset: Dataset) -> Classifier:
        """The network in evaluation mode, checked on the data set's first image; the user's module stays as it is."""
        if is_designed(self.text):
            return self._designed(dataset)
        task, names = next(iter(dataset.tasks.items()))
        return self._classifier(names, task in dataset.manifest.multi_label, _first_image(dataset))

    def _classifier(self, names: Sequence[str], several: bool, image: Float32) -> Classifier:
        """The network for images (C, H, W) like this one, of classes with these names."""
        own = self._network()
        normalise = own.normalise if self.preprocess is None else normalisation(self.preprocess, len(image))
        stated = own.outputs if self.classes is None else self.classes
        said = ""
        alone = not isinstance(stated, Mapping) and (not stated or (len(stated) == 1 and stated[0] not in names))
        if len(names) == 2 and alone:
            said = (
                f"model {self.text} gives one output, taken as the logit of {names[1]} against {names[0]}: if it is "
                f"that of {names[0]}, give classes={names[0]}"
            )
        network = as_logits(private_copy(own.module, own.module), several or len(names) == 1, said)
        classifier = Classifier(network, normalise, own.cam_layer, multi_label=several).eval()
        weights = next(own.module.parameters(), None)
        if self.module is None or weights is None:
            _placed(classifier)
        else:
            classifier.to(weights.device)  # the normalisation may be on another one
        logits = self._logits(classifier, image)
        count = logits.shape[1]
        outputs = self._outputs(stated, names, hasattr(classifier.network, "single_output"))
        if not outputs and count != len(names):
            raise SalgenError(
                f"model {self.text} gives {tuple(logits.shape)} for one image: must be logits (1, {len(names)}), one "
                f"for each of {', '.join(names)}; classes= (--classes) says which of its outputs they are"
            )
        places = places_of(names, outputs, count) if outputs else [[place] for place in range(count)]
        if places != [[place] for place in range(count)]:
            take_outputs(classifier.network, places)
        return classifier

    def _outputs(self, given: Outputs, names: Sequence[str], single: bool) -> Outputs:
        """The outputs as stated here, or the numbers of those whose labels are the data set's classes."""
        if isinstance(given, Mapping):
            return given
        if single and len(names) == 2 and len(given) < 2:
            if given and given[0] in names:  # the one for which it speaks
                return [*(name for name in names if name != given[0]), given[0]]
            return given if self.classes else ()
        if self.classes is not None or not given or set(names) <= set(given):
            return given
        found = {name: places_called(name, given) for name in names}
        wrong = {name: places for name, places in found.items() if len(places) != 1}
        if not wrong and len({places[0] for places in found.values()}) == len(names):
            taken = [f"{name} = {given[place]}" for name, (place,) in found.items()]
            warn(f"model {self.text} spells its labels otherwise: taken are {'; '.join(taken[:MANY])}")
            return [place for (place,) in found.values()]
        near = [str(label) for name in wrong for label in difflib.get_close_matches(name, map(str, given), 2)]
        labels = "; ".join((near or list(map(str, given)))[:MANY])
        raise SalgenError(
            f"model {self.text} has no single label for {', '.join(list(wrong or names)[:MANY])}; among its labels are "
            f"{labels}. Give classes= (--classes), for each class the number of its output or several numbers"
        )

    def digest(self, classifier: Classifier, dataset: Dataset) -> str:
        """SHA-256 of the name, modules, weights, and logits for one image, rounded since threads change them."""
        logits = self._logits(classifier, _first_image(dataset)).flatten().tolist()
        rounded = " ".join(f"{value:.3e}" for value in logits)
        digest = hashlib.sha256(f"{self.name}\n{classifier!r}\n{rounded}".encode())
        for name, tensor in classifier.state_dict().items():
            digest.update(name.encode())
            digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
        return digest.hexdigest()

    def settings(self, classifier: Classifier) -> dict[str, Any]:
        """What was stated or found beside the network, as JSON values."""
        normalise = classifier.normalise
        classes = self.classes if self.classes is None or isinstance(self.classes, Mapping) else list(self.classes)
        found: dict[str, Any] = {"classes": classes}
        if isinstance(normalise, Normalisation):
            found |= {"mean": normalise.mean.flatten().tolist(), "std": normalise.std.flatten().tolist()}
            found["channel_order"] = normalise.order
        elif self.preprocess is not None:
            found["preprocess"] = repr(normalise)
        return {name: value for name, value in found.items() if value is not None}

    def _designed(self, dataset: Dataset) -> Classifier:
        network, spec = MODELS.create(*parse_call(self.text)), dataset.spec
        if spec.generator != network.generator:
            raise SalgenError(f"{network.name} is designed for images of {network.generator}, not of {spec.generator}")
        size = {"image_size": spec.image_size, "bit_depth": spec.bit_depth}
        generator = build(plugin_class(spec.generator), {**spec.parameters, **size})
        if isinstance(network, GridNetwork):
            return _placed(network.wrap(generator, _of_cells(network, generator, _first_image(dataset))))
        return _placed(network.design(generator))

    def _network(self) -> OwnNetwork:
        library, _, rest = self.text.partition(":")
        if self.module is None and is_pretrained(self.text):
            return cast(OwnNetwork, MODELS.create(self.text).pretrained())
        if self.module is not None or library not in LIBRARIES:
            given = _from_function(self.text) if self.module is None else self.module
            given = private_copy(given, given)
            origin = type(given).__module__.partition(".")[0]
            if self.preprocess is None and origin in _STATE_INPUTS:
                warn(
                    f"model {self.text} is of {origin}, and its images stay in [0, 1]: give preprocess="
                    f"{_STATE_INPUTS[origin]} (torch.nn.Identity() if they shall), or a torch.nn.Sequential that "
                    "begins with its Normalize"
                )
            return own_network(given)
        name, _, weights = rest.partition(":weights=")
        if not name or (library == TORCHVISION and not weights) or (library == HUGGING_FACE and weights):
            raise SalgenError(f"model {self.text}: write {FORMS}")
        try:
            return LIBRARIES[library](name, weights)
        except ImportError:
            raise SalgenError(f"model {self.text} needs {library}: {install(library)}") from None
        except SalgenError as error:
            raise SalgenError(f"model {self.text}: {error}") from None
        except Exception as error:  # a damaged folder may fail in any way
            raise SalgenError(f"model {self.text} cannot be loaded: {reason(error)}") from error

    def _logits(self, classifier: Classifier, image: Float32) -> torch.Tensor:
        """The logits (1, K) of an image (C, H, W)."""
        view = ModelView(classifier.normalise, classifier.network, classifier.cam_layer, unit_pixels=True)
        try:
            with torch.inference_mode():
                logits = view.network(view.normalise(view.like(torch.from_numpy(image[None]))))
        except SalgenError as error:
            raise SalgenError(f"model {self.text}: {error}") from None
        except Exception as error:  # a user's network may fail in any way
            check_channels(error, torch.from_numpy(image[None]))
            why = named(error)
            raise SalgenError(f"model {self.text} fails on an image {(1, *image.shape)}: {why}") from error
        if not isinstance(logits, torch.Tensor) or logits.ndim != 2 or len(logits) != 1:
            shape = tuple(logits.shape) if isinstance(logits, torch.Tensor) else type(logits).__name__
            raise SalgenError(f"model {self.text} gives {shape} for one image: must be logits (1, K)")
        return logits


def given_model(model: Any, preprocess: Any = None, classes: Outputs | None = None) -> GivenModel | str | Path:
    """What stands for a model: a `GivenModel`, or as it was given the name of a registered one or a folder."""
    if isinstance(model, GivenModel):
        return model
    if isinstance(classes, Mapping) and any(
        isinstance(numbers, Sequence) and not isinstance(numbers, str) for numbers in classes.values()
    ):
        classes = {name: [numbers] if isinstance(numbers, int) else numbers for name, numbers in classes.items()}
    elif classes is not None:
        classes = in_order(classes, "classes")
    if isinstance(model, nn.Module):
        return GivenModel(type(model).__name__, model, preprocess, classes)
    if not isinstance(model, (str, Path)):
        advice = "; its .classifier is one" if hasattr(model, "classifier") else ""
        raise SalgenError(f"model = {model!r}: must be text, a path or a torch.nn.Module{advice}")
    designed = is_designed(str(model))
    if ":" in str(model) and not designed and not Path(model).exists():
        return GivenModel(str(model), None, preprocess, classes)
    if Path(model).suffix in SUFFIXES and not Path(model).exists():
        raise SalgenError(f"model = {model}: there is no such file")
    if is_pretrained(str(model)):
        return GivenModel(str(model), None, preprocess, classes)
    own = str(model) in MODELS.entries or designed or Path(model).is_dir()
    if own and (preprocess is not None or classes is not None):
        raise SalgenError(f"preprocess and classes are for networks trained elsewhere, and {model} is salgen's")
    return GivenModel(str(model)) if designed else model


def trained_network(model: str) -> tuple[Classifier, Sequence[str]]:
    """A trained network, for images in [0, 1] of any data set, and the names of its outputs if it states them."""
    given = given_model(model)
    if not is_pretrained(model) and (model in MODELS.entries or is_designed(model)):
        raise SalgenError(f"model {model} has no weights without a data set: give a checkpoint's folder, or {FORMS}")
    if isinstance(given, GivenModel):
        own = given._network()
        return _placed(Classifier(own.module, own.normalise, own.cam_layer)), own.outputs
    if not Path(model).exists():
        MODELS.load(model)  # raises with the nearest registered name
    checkpoint = load_checkpoint(model)
    return checkpoint.classifier, checkpoint.card.class_names


def _placed(classifier: Classifier) -> Classifier:
    """A classifier in evaluation mode, on the GPU where there is one."""
    return classifier.eval().to("cuda" if torch.cuda.is_available() else "cpu")


def given_inputs(model: str) -> dict[str, Any]:
    """The image size and crop of a trained network's own preprocessing, if known, for the importer `images`."""
    given = given_model(model)
    return dict(given._network().inputs) if isinstance(given, GivenModel) and not is_designed(model) else {}


def is_designed(model: str) -> bool:
    """True if a model's name, or its call, is that of a designed network."""
    name = model.partition(":")[0]
    return name in MODELS.entries and hasattr(MODELS.load(name), "design")


def is_pretrained(model: str) -> bool:
    """True if a model's name is that of a network whose trained weights come as a package."""
    return model in MODELS.entries and hasattr(MODELS.load(model), "pretrained")


def _of_cells(network: GridNetwork, generator: Any, grid: Float32) -> Classifier:
    """The trained network of a grid network, with the layer of its last maps as `cam_layer`; None if it has none."""
    if not network.model:
        raise SalgenError(f"model {network.name}: give the trained network it is around: {network.name}:model=FOLDER")
    height, width = (extent // generator.cells for extent in generator.image_size)
    cell = np.ascontiguousarray(grid[:, :height, :width])
    if Path(network.model).exists():
        trained = load_checkpoint(Path(network.model))
        has, needed = (trained.card.channels, *trained.card.class_names), (len(cell), *generator.classes)
        if has != needed:
            raise SalgenError(f"{network.model} has channels and classes {has}, and the images in the grids {needed}")
        classifier = trained.classifier
    else:
        classifier = GivenModel(network.model)._classifier(generator.classes, False, cell)
    view = ModelView.of(classifier)
    image = view.normalise(view.like(torch.from_numpy(cell[None])))
    name = default_layer(view, image)
    classifier.cam_layer = name if layer_grid(view, image, name).are_maps else None
    return classifier


def _first_image(dataset: Dataset) -> Float32:
    return np.asarray(dataset[0]["image"])


def check_models_importable(*models: Any) -> None:
    """Raise a SalgenError if workers of Ray cannot load a model."""
    for model in models:
        if not isinstance(model, GivenModel):
            continue
        if any(given is not None for given in (model.module, model.preprocess, model.classes)):
            raise SalgenError(f"workers cannot load model {model}: give PACKAGE.MODULE:FUNCTION alone")


def _from_function(text: str) -> nn.Module:
    factory = imported(text, "model", "my_models:detector")
    try:
        module = factory if isinstance(factory, nn.Module) else factory()
    except (Exception, SystemExit) as error:  # a user's function may fail in any way
        raise SalgenError(f"model {text}: calling it failed: {named(error)}") from error
    if not isinstance(module, nn.Module):
        raise SalgenError(f"model {text}: it returned {type(module).__name__}, but must return a torch.nn.Module")
    return module
