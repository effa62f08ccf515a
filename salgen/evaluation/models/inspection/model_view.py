"""A model as saliency methods see it: a private copy that shares the weights.

Methods hook, cut and rewire this copy, so the caller's model never changes. Weights ask for no gradient. Those of half
precision are copied to float32, those that a parametrisation computes are computed once; backward hooks are left out.
"""

from __future__ import annotations

import copy
import gc
import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary
import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize
from salgen.errors import SalgenError, named, warn
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.compiled_network import compiled
from salgen.evaluation.models.inspection.memory import is_out_of_memory, keep_freed_memory
from salgen.evaluation.models.inspection.probe import counted
from salgen.evaluation.models.logits import as_logits
from salgen.evaluation.models.normalisation import Normalisation, normalisation, set_apart

T = TypeVar("T")

SCORES = ("logit", "margin")
HALVES = (torch.float16, torch.bfloat16)
_CALLER = "<caller>"  # stands for the name of the method that asks, with which its errors begin


@dataclass(frozen=True)
class ModelView:
    """A classifier in evaluation mode whose parameters ask for no gradient."""

    normalise: nn.Module  # pixels to the tensor that backward methods attribute to
    network: nn.Module  # that tensor to logits (N, K)
    cam_layer: str | None  # the module of `network` that the CAM family uses, if the model names one
    unit_pixels: bool  # whether pixels are known to lie in [0, 1], as those of a `Classifier` do
    # whether each logit has a probability of its own, as the model's attribute of that name says
    multi_label: bool = False
    compile: bool = False  # whether `forward` is compiled
    # of the model's own weights, the least
    precision: torch.dtype = torch.float32

    @classmethod
    def of(cls, model: Any, *, compile: bool = False) -> ModelView:
        """A view of any module, which gives logits; a :class:`Classifier`'s normalisation is apart, and a Normalize.

        A view is returned as it is.
        """
        if isinstance(model, ModelView):
            return model
        if not isinstance(model, nn.Module):
            advice = ", such as its .classifier" if hasattr(model, "classifier") else ""
            raise SalgenError(f"model is {type(model).__name__}: must be a torch.nn.Module{advice}")
        keep_freed_memory()
        private = _private(model)
        if any(weight.is_meta for weight in private.parameters()):
            raise SalgenError(f"the model ({type(model).__name__}) is on the device meta: load its weights first")
        multi_label = bool(getattr(private, "multi_label", False))
        dtypes = [weight.dtype for weight in model.parameters() if weight.is_floating_point()]
        precision = max(dtypes, key=lambda dtype: torch.finfo(dtype).eps, default=torch.float32)
        network, normalise = private, None
        if isinstance(private, Classifier):
            network, normalise = private.network, private.normalise
        else:
            with suppress(SalgenError):  # one for pixels of 0 to 255 stays in the network
                normalise = set_apart(private)
        unit_pixels = isinstance(private, Classifier) or isinstance(normalise, Normalisation)
        network, layer = as_logits(network, multi_label), getattr(private, "cam_layer", None)
        return cls(normalise or nn.Identity(), network, layer, unit_pixels, multi_label, compile, precision)

    def prepared(self, preprocess: Any, channels: int) -> ModelView:
        """The view of images in [0, 1] that are prepared as :func:`normalisation` says; itself if that is None."""
        if preprocess is None:
            return self
        device = self.like(torch.empty(0)).device
        return replace(self, normalise=normalisation(preprocess, channels).to(device).eval(), unit_pixels=True)

    @cached_property
    def forward(self) -> Callable[[Tensor], Any]:
        """The forward pass of `network`, for inputs that it may change and without gradient."""
        return compiled(self.network) if self.compile else self.network

    def like(self, images: Tensor) -> Tensor:
        """The images on the model's device, in its floating-point type; contiguous, as networks that flatten need."""
        weights = [p for p in (*self.network.parameters(), *self.normalise.parameters()) if p.is_floating_point()]
        return (images.to(weights[0].device, weights[0].dtype) if weights else images).contiguous()

    def logits(self, inputs: Tensor) -> Tensor:
        """Checked logits (N, K) of normalised inputs, which a network that works in place does not change."""
        with self.failures(inputs):
            logits = self.network(inputs.clone())
        return check_logits(logits, len(inputs))

    @contextmanager
    def failures(self, images: Tensor, outcome: str = "fails") -> Iterator[None]:
        """Whatever the model raises on images (N, C, H, W) as a SalgenError, except when memory runs out."""
        try:
            yield
        except Exception as error:  # a user's network may fail in any way
            if isinstance(error, SalgenError) or is_out_of_memory(error):
                raise
            check_channels(error, images)
            half = " and float32, in which its half-precision weights are explained" if "Half" in str(error) else ""
            asked = f"; does it take this many channels, and this size{half}? " if outcome == "fails" else ": "
            raise SalgenError(
                f"the model ({type(self.network).__name__}) {outcome} on an image of {tuple(images.shape[1:])}{asked}"
                f"{named(error)}"
            ) from error

    @property
    def independent(self) -> bool:
        """Whether each logit has a probability of its own: as the network itself says, or else `multi_label`."""
        stated = getattr(self.network, "multi_label", None)
        return self.multi_label if stated is None else bool(stated)

    def probabilities(self, logits: Tensor) -> Tensor:
        """(N, K): softmax, or sigmoid where logits are independent."""
        return logits.sigmoid() if self.independent else logits.softmax(dim=1)

    def log_probabilities(self, logits: Tensor) -> Tensor:
        """The logarithms of :meth:`probabilities`, exact where a probability rounds to 0."""
        return nn.functional.logsigmoid(logits) if self.independent else logits.log_softmax(dim=1)

    def scores(self, inputs: Tensor, targets: Tensor, score: str) -> Tensor:
        """The explained value (N,) of normalised inputs: target logit, or its margin over the best other."""

        def run() -> Tensor:
            logits = self.logits(inputs)
            return (logits * score_gradient(logits, targets, score)).sum(dim=1)

        return counted(len(inputs), run, inputs)

    def corners(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Black and white, each (1, C, H, W), mapped through the normalisation."""
        uniform = torch.zeros_like(pixels[:1])
        black, white = self.normalise(uniform), self.normalise(uniform + 1)
        if not bool(torch.isfinite(black).all() and torch.isfinite(white).all()):
            raise SalgenError("the model's normalisation maps a black or white image to values that are not finite")
        return black, white


class NetworkCache(Generic[T]):
    """Facts about networks: what ``learn(name, view, image)`` gives, kept for as long as the network lives.

    `learn` runs one image (1, C, h, w), and its result must not reference the network. Its SalgenError is kept like a
    result, and raised again under the name of the method that asks.
    """

    def __init__(self, learn: Callable[[str, ModelView, Tensor], T]) -> None:
        self._learn = learn
        self._results: WeakKeyDictionary[nn.Module, dict[Hashable, T | SalgenError]] = WeakKeyDictionary()

    def of(self, name: str, view: ModelView, image: Tensor) -> T:
        """The fact for images like this one."""
        results = self._results.setdefault(view.network, {})
        key = (tuple(image.shape[1:]), image.dtype, image.device)
        if key not in results:
            try:
                results[key] = self._learn(_CALLER, view, image[:1])
            except SalgenError as error:
                results[key] = SalgenError(str(error))  # the one raised would hold on to the network
        result = results[key]
        if isinstance(result, SalgenError):
            raise SalgenError(str(result).replace(_CALLER, name))
        return result


def check_channels(error: Exception, images: Tensor) -> None:
    """Raise a SalgenError if a network failed as its images (N, C, H, W) have another number of channels."""
    found = re.search(r"(?:to have|Expected) (\d+)(?: channels,)? but got (\d+)", str(error))
    if found and int(found[2]) == images.shape[1]:
        advice = f"give images of {found[1]}"
        if found[2] == "1":
            advice = f"repeat the channel, images.repeat(1, {found[1]}, 1, 1), or do so in a module before the network"
        takes = f"{found[1]} channel{'s' * (found[1] != '1')}"
        raise SalgenError(f"the network takes {takes}, the images have {found[2]}: {advice}") from error


def check_logits(logits: Any, count: int) -> Tensor:
    """The model's output, if it is finite logits (count, K)."""
    if not isinstance(logits, Tensor):
        raise SalgenError(f"the model returns {type(logits).__name__}: it must return logits, a tensor (N, K)")
    if logits.ndim != 2 or len(logits) != count:
        raise SalgenError(f"the model's output has shape {tuple(logits.shape)}: must be logits ({count}, K)")
    broken = ~torch.isfinite(logits).all(dim=1)
    if bool(broken.any()):
        first = int(broken.nonzero()[0])
        raise SalgenError(f"the model's output is NaN or infinite (image {first} of its batch): check its weights")
    return logits


def score_gradient(logits: Tensor, targets: Tensor, score: str) -> Tensor:
    """The score's gradient at the logits, (N, K): +1 at the target and, for a margin, -1 at the best other class."""
    classes = logits.shape[1]
    wrong = targets[(targets >= classes) | (targets < 0)]
    if len(wrong):
        raise SalgenError(f"target {int(wrong[0])}: the model has {classes} classes, so targets are 0..{classes - 1}")
    start = torch.zeros_like(logits).scatter_(1, targets[:, None], 1.0)
    if score == "logit":
        return start
    if classes < 2:
        raise SalgenError("score='margin' needs two classes or more; this model has 1: use score='logit'")
    other_logits = logits.detach().masked_fill(start.bool(), -torch.inf)
    return start.scatter_(1, other_logits.argmax(dim=1, keepdim=True), -1.0)


def margins(logits: Tensor) -> Tensor:
    """Each class's logit less the best other one, (N, K), of two classes or more."""
    highest = logits.topk(2, dim=1).values
    best, second = highest[:, :1], highest[:, 1:]
    return logits - torch.where(logits == best, second, best)


def _private(model: nn.Module) -> nn.Module:
    try:
        private = private_copy(model, model)
        try:
            private.eval()
        except NotImplementedError:  # raised by exported modules
            for module in private.modules():
                module.training = False
        for module in private.modules():
            _settle(module)
        if {p.dtype in HALVES for p in private.parameters() if p.is_floating_point()} == {True}:
            private.float()
    except Exception as error:  # a module may hold anything: locks, open files, lazy parameters
        raise SalgenError(f"the model ({type(model).__name__}) cannot be copied: {named(error)}") from error
    backward = [hooks for m in private.modules() for hooks in (m._backward_hooks, m._backward_pre_hooks) if hooks]
    if backward:
        warn("the model has backward hooks, which change gradients: they are left out, and maps are of the model alone")
    for hooks in backward:
        hooks.clear()
    return private


def _settle(module: nn.Module) -> None:
    """Let weights that a parametrisation or a hook computes be plain ones, and leave out the hooks of CAMs."""
    for key, hook in list(module._forward_hooks.items()):
        # of a CAM that was made of the model: its copy would keep the activations of every pass
        if type(getattr(hook, "__self__", None)).__module__.startswith("pytorch_grad_cam."):
            del module._forward_hooks[key]
    for key, hook in list(module._forward_pre_hooks.items()):
        if type(hook).__module__.startswith("torch.nn.utils."):  # weight_norm, spectral_norm, prune
            hook.remove(module)  # type: ignore[attr-defined]
            module.requires_grad_(False)  # the plain weight is new
            del module._forward_pre_hooks[key]
    if parametrize.is_parametrized(module):
        with torch.no_grad():
            names = dict(module.get_submodule("parametrizations").named_children())
            values = {name: nn.Parameter(getattr(module, name), False) for name in names}
        del module._modules["parametrizations"]
        module.__class__ = type(module).__bases__[0]  # the parametrised class is the caller's module's too
        for name, value in values.items():
            module.register_parameter(name, value)


def private_copy(thing: T, model: nn.Module) -> T:
    """A copy of a model or an object bound to one; it shares weights and is without compilers and parallel wrappers."""
    copies: dict[int, Any] = {}
    with torch.inference_mode(False):
        for tensor in (*_computed_tensors(thing), *_tensors_of_modules(model)):
            # autograd can use none that were made in inference mode
            shared = tensor.detach().clone() if tensor.is_inference() else tensor.detach()
            is_parameter = isinstance(tensor, nn.Parameter)
            copies[id(tensor)] = nn.Parameter(shared, requires_grad=False) if is_parameter else shared
        for module in reversed(list(model.modules())):  # inner modules first
            if isinstance(module, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
                copies[id(module)] = copy.deepcopy(module.module, copies)
            elif not isinstance(module, torch.jit.ScriptModule) and "_orig_mod" in module._modules:  # torch.compile's
                copies[id(module)] = copy.deepcopy(module._modules["_orig_mod"], copies)
        return copy.deepcopy(thing, copies)


def _tensors_of_modules(model: nn.Module) -> Iterator[Tensor]:
    for module in model.modules():
        for value in (*module._parameters.values(), *module._buffers.values(), *vars(module).values()):
            if isinstance(value, Tensor):
                yield value


def _computed_tensors(thing: Any) -> Iterator[Tensor]:
    """Tensors within an object that autograd made, such as a CAM's last outputs: torch refuses to copy them."""
    atoms = (type, ModuleType, FunctionType, BuiltinFunctionType, str, bytes, int, float)
    waiting, seen = [thing], set()
    while waiting:
        value = waiting.pop()
        if id(value) in seen or isinstance(value, atoms):
            continue
        seen.add(id(value))
        if not isinstance(value, Tensor):
            waiting += gc.get_referents(value)
        elif not value.is_leaf:
            yield value
