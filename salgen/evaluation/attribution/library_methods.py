"""Classes and objects of captum, pytorch-grad-cam and zennit, called as each is directly; none is imported unasked."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar
import numpy as np
import torch
from torch import Tensor, nn
from salgen.errors import SalgenError
from salgen.evaluation.attribution.class_activation import layer_names
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.layers import default_layer, find_layer, layer_grid
from salgen.evaluation.models.inspection.model_view import ModelView, private_copy
from salgen.evaluation.models.inspection.network_trace import NetworkTrace
from salgen.evaluation.models.logits import AsLogits
from salgen.evaluation.models.normalisation import set_apart

Arguments = Mapping[str, Any]


@dataclass(frozen=True)
class Question:
    """Images to explain by a library."""

    view: ModelView  # the model that is explained
    network: nn.Module  # a copy of its network, or of the model that an object is bound to
    images: Tensor  # (n, C, h, w) as `network` takes them, a leaf that asks for a gradient
    normalised: Tensor  # one of them as the view's network takes it, (1, C, h, w)
    targets: Tensor  # int64 (n,)

    def layer(self, name: str | None) -> str:
        """A layer that the network has: the named one, else that of salgen's CAMs."""
        name = name or default_layer(self.view, self.normalised)
        find_layer(self.view, name)
        return name


class LibraryCalls:
    """How the classes and objects of a library are called."""

    signed: ClassVar[bool] = True

    def model_of(self, method: Any) -> Any:
        """The module that an object is bound to; None if it is bound to none."""
        return getattr(method, "model", None)

    def make(self, kind: type, question: Question, arguments: Arguments) -> tuple[Any, Arguments]:
        """An object of a class, and the arguments that it is to be called with."""
        return kind(question.network, **arguments), {}

    def maps(self, method: Any, question: Question, arguments: Arguments) -> Any:
        """Raw attributions by an object."""
        raise NotImplementedError


class Captum(LibraryCalls):
    """``captum.attr.Attribution``: attributions of inputs, or of a layer's output, which is brought onto its grid."""

    def model_of(self, method: Any) -> Any:
        """What captum calls the forward function."""
        return method.forward_func

    def make(self, kind: type, question: Question, arguments: Arguments) -> tuple[Any, Arguments]:
        """The object takes the arguments that its class does not."""
        own, others = _divided(kind, arguments)
        if _takes(kind, "layer"):
            own["layer"] = question.network.get_submodule(question.layer(own.get("layer")))
        return kind(question.network, **own), others

    def maps(self, method: Any, question: Question, arguments: Arguments) -> Any:
        """Of a layer with pixels, the attributions as channels of its grid."""
        targets = {"target": question.targets} if _takes(method.attribute, "target", "kwargs") else {}
        found = method.attribute(question.images, **targets, **arguments)
        raw = found[0] if isinstance(found, tuple) else found
        modules = question.network.named_modules()
        name = next((name for name, module in modules if module is getattr(method, "layer", None)), None)
        if name is None or not isinstance(raw, Tensor):
            return raw
        if isinstance(question.network, Classifier):
            name = name.removeprefix("network.")
        grid = layer_grid(question.view, question.normalised, name)
        shape = NetworkTrace.of(question.view, question.normalised).outputs[name]
        return grid.channels(raw) if raw.shape[1:] == tuple(shape)[1:] else raw


class LibraryGradCam(LibraryCalls):
    """Whatever is in ``pytorch_grad_cam``: maps (n, H, W), as it scales them."""

    signed = False

    def model_of(self, method: Any) -> Any:
        """That of the CAM within, for those that wrap one."""
        inner = getattr(method, "base_cam", None) or next(iter(getattr(method, "base_cam_per_layer", ())), None)
        return method.model if inner is None else self.model_of(inner)

    def make(self, kind: type, question: Question, arguments: Arguments) -> tuple[Any, Arguments]:
        """The object knows how the layer arranges pixels, unless it is told otherwise."""
        named = arguments.get("layer")
        names = [question.layer(name) for name in (layer_names(named) if named else (None,))]
        own, others = _divided(kind, {key: value for key, value in arguments.items() if key != "layer"})
        if len(names) == 1 and "reshape_transform" not in own:
            grid = layer_grid(question.view, question.normalised, names[0])
            # in memory as a reshape_transform mostly has it: last digits depend on that
            channels = lambda output: grid.channels(output).contiguous(memory_format=torch.channels_last)  # noqa: E731
            own["reshape_transform"] = None if grid.are_maps else channels
        return kind(question.network, [question.network.get_submodule(name) for name in names], **own), others

    def maps(self, method: Any, question: Question, arguments: Arguments) -> Any:
        """Maps of the targets; FinerCAM compares a target with the classes nearest to it, one image at a time."""
        images, targets = question.images, question.targets.tolist()
        if "targets" not in arguments and _takes(method.forward, "target_idx"):
            pairs = ((images[i : i + 1].detach().requires_grad_(), target) for i, target in enumerate(targets))
            return np.concatenate([method(image, target_idx=target, **arguments) for image, target in pairs])
        kind = arguments.get("targets", "ClassifierOutputTarget")
        if isinstance(kind, str):
            kind = getattr(import_module("pytorch_grad_cam.utils.model_targets"), kind)
        others = {key: value for key, value in arguments.items() if key != "targets"}
        return method(images, targets=[kind(target) for target in targets], **others)


class Attributor(LibraryCalls):
    """``zennit.attribution.Attributor``: the relevance of 1 at the target."""

    def maps(self, method: Any, question: Question, arguments: Arguments) -> Any:
        """Raw attributions."""
        targets = question.targets[:, None]
        return method(question.images, lambda output: torch.zeros_like(output).scatter(1, targets, 1.0), **arguments)[1]


class LibraryComposite(Attributor):
    """``zennit.core.Composite``: the modified gradient of 1 at the target. It is bound to no model."""

    def make(self, kind: type, question: Question, arguments: Arguments) -> tuple[Any, Arguments]:
        """A composite."""
        return kind(**arguments), {}

    def maps(self, method: Any, question: Question, arguments: Arguments) -> Any:
        """Raw attributions."""
        from zennit.attribution import Gradient

        with Gradient(model=question.network, composite=method) as attributor:
            return super().maps(attributor, question, arguments)


LIBRARIES: tuple[tuple[str, str, LibraryCalls], ...] = (
    ("captum", "Attribution", Captum()),
    ("zennit", "Composite", LibraryComposite()),
    ("zennit", "Attributor", Attributor()),
    ("pytorch_grad_cam", "", LibraryGradCam()),
)
LIBRARY_NAMES = "captum, pytorch-grad-cam or zennit"


def library_of(given: Any) -> LibraryCalls | None:
    """How a class or an object is called; None if it is of none of these libraries."""
    kind = given if isinstance(given, type) else type(given)
    for base in kind.__mro__:
        package = base.__module__.partition(".")[0]
        for library, name, found in LIBRARIES:
            if package == library and base.__name__ == (name or base.__name__):
                return found
    return None


def bound_copy(method: Any, model: Any, view: ModelView) -> tuple[Any, nn.Module, bool]:
    """Copies of an object that is bound to a model and of the model, and whether that takes pixels as they are."""
    if not isinstance(model, nn.Module):
        raise SalgenError(f"it is bound to a {type(model).__name__}: bind it to the torch.nn.Module itself")
    own: nn.Module = private_copy(model, model)
    takes_pixels = isinstance(model, Classifier) or set_apart(own) is not None
    pairs = [(own, view.network)]
    if isinstance(model, Classifier):
        pairs = [(model.network, view.network), (model.normalise, view.normalise)]
    forward = vars(view.network).get("forward")
    changed = isinstance(forward, AsLogits) and (forward.skipped or forward.after)
    if changed or not all(_alike(*pair) for pair in pairs):
        raise SalgenError(
            "it is bound to another model than the one that is explained, or to one that gives no logits: bind it to "
            "that, or give its class"
        )
    holder = private_copy({"method": method, "model": model}, model)
    for weight, given in zip(holder["model"].parameters(), model.parameters(), strict=True):
        weight.requires_grad_(given.requires_grad)
    return holder["method"], holder["model"].eval(), takes_pixels


def _alike(first: nn.Module, second: nn.Module) -> bool:
    """Whether two modules are made alike and have the same weights."""
    kinds, others = ([(name, type(module)) for name, module in one.named_modules()] for one in (first, second))
    own, theirs = (one.state_dict() for one in (first, second))
    return (
        kinds == others
        and own.keys() == theirs.keys()
        and all(own[name].device == theirs[name].device and torch.equal(own[name], theirs[name]) for name in own)
    )


def _takes(function: Any, *names: str) -> bool:
    return bool(set(names) & inspect.signature(function).parameters.keys())


def _divided(kind: type, arguments: Arguments) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments that a class takes, and those that its objects are called with."""
    own = {key: value for key, value in arguments.items() if _takes(kind, key)}
    return own, {key: value for key, value in arguments.items() if key not in own}
