"""A model as saliency methods see it: a private copy that shares the weights.

Methods hook, cut and rewire this copy, so nothing they do, and no exception, can change the
caller's model: its mode, flags, hooks and gradients are never touched. Weights are shared, not
copied, and ask for no gradient.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.compiled_network import compiled
from salgen.evaluation.models.inspection.freed_memory import keep_freed_memory
from salgen.evaluation.models.inspection.probe import counted

T = TypeVar("T")

SCORES = ("logit", "margin")
_CALLER = "<caller>"  # stands for the name of the method that asks, with which its errors begin


@dataclass(frozen=True)
class ModelView:
    """A classifier in evaluation mode whose parameters ask for no gradient.

    Attributes
    ----------
    normalise
        Pixels to the tensor that backward methods attribute to.
    network
        That tensor to logits (N, K).
    cam_layer
        The module of `network` that the CAM family uses, if the model names one.
    unit_pixels
        Whether pixels are known to lie in [0, 1], as those of a :class:`Classifier` do.
    multi_label
        Whether each logit has a probability of its own, as the model's attribute of that name says.
    compile
        Whether :meth:`forward` is compiled.
    """

    normalise: nn.Module
    network: nn.Module
    cam_layer: str | None
    unit_pixels: bool
    multi_label: bool = False
    compile: bool = False

    @classmethod
    def of(cls, model: nn.Module, *, compile: bool = False) -> ModelView:
        """A view of any module; only a :class:`Classifier` has a normalisation of its own.

        Raises
        ------
        SalgenError
            If the model cannot be copied.
        """
        keep_freed_memory()
        private = _private(model).eval()
        several = bool(getattr(private, "multi_label", False))
        if isinstance(private, Classifier):
            parts = private.normalise, private.network, private.cam_layer
            return cls(*parts, unit_pixels=True, multi_label=several, compile=compile)
        layer = getattr(private, "cam_layer", None)
        return cls(nn.Identity(), private, layer, unit_pixels=False, multi_label=several, compile=compile)

    @cached_property
    def forward(self) -> Callable[[Tensor], Any]:
        """The forward pass of `network`, for inputs that it may change and without gradient."""
        return compiled(self.network) if self.compile else self.network

    def like(self, images: Tensor) -> Tensor:
        """The images on the model's device, in its floating-point type."""
        weights = [p for p in (*self.network.parameters(), *self.normalise.parameters()) if p.is_floating_point()]
        return images.to(weights[0].device, weights[0].dtype) if weights else images

    def logits(self, inputs: Tensor) -> Tensor:
        """Checked logits (N, K) of normalised inputs, which a network that works in place does not change."""
        return check_logits(self.network(inputs.clone()), len(inputs))

    def probabilities(self, logits: Tensor) -> Tensor:
        """(N, K): softmax, or sigmoid where labels are independent or there is a single class."""
        alone = self.multi_label or logits.shape[1] == 1
        return logits.sigmoid() if alone else logits.softmax(dim=1)

    def scores(self, inputs: Tensor, targets: Tensor, score: str) -> Tensor:
        """The explained value (N,) of normalised inputs: target logit, or its margin over the best other."""

        def run() -> Tensor:
            logits = self.logits(inputs)
            return (logits * score_gradient(logits, targets, score)).sum(dim=1)

        return counted(len(inputs), run, inputs)

    def corners(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Black and white, each (1, C, H, W), mapped through the normalisation.

        Raises
        ------
        SalgenError
            If the normalisation gives no finite value for a uniform image.
        """
        uniform = torch.zeros_like(pixels[:1])
        black, white = self.normalise(uniform), self.normalise(uniform + 1)
        if not bool(torch.isfinite(black).all() and torch.isfinite(white).all()):
            raise SalgenError("the model's normalisation maps a black or white image to values that are not finite")
        return black, white


class NetworkCache(Generic[T]):
    """Facts about networks: what ``learn(name, view, image)`` gives, kept for as long as the network lives.

    A SalgenError is kept like a result, and raised again under the name of the method that asks.

    Parameters
    ----------
    learn
        Runs one image (1, C, h, w); its result must not reference the network. `name` is used in
        its errors only.
    """

    def __init__(self, learn: Callable[[str, ModelView, Tensor], T]) -> None:
        self._learn = learn
        self._results: WeakKeyDictionary[nn.Module, dict[Hashable, T | _Refusal]] = WeakKeyDictionary()

    def of(self, name: str, view: ModelView, image: Tensor) -> T:
        """The fact for images like this one.

        Raises
        ------
        SalgenError
            If `learn` does.
        """
        results = self._results.setdefault(view.network, {})
        key = (tuple(image.shape[1:]), image.dtype, image.device)
        if key not in results:
            try:
                results[key] = self._learn(_CALLER, view, image[:1])
            except SalgenError as error:
                results[key] = _Refusal(error)  # its text alone: the exception would hold on to the network
        result = results[key]
        if isinstance(result, _Refusal):
            raise SalgenError(result.replace(_CALLER, name))
        return result


class _Refusal(str):
    """The message of an error."""


def check_logits(logits: Any, count: int) -> Tensor:
    """The model's output, if it is finite logits (count, K).

    Raises
    ------
    SalgenError
        If it is anything else.
    """
    if not isinstance(logits, Tensor):
        raise SalgenError(f"the model returns {type(logits).__name__}: it must return logits, a tensor (N, K)")
    if logits.ndim != 2 or len(logits) != count:
        raise SalgenError(
            f"the model's output for {count} images has shape {tuple(logits.shape)}: must be logits ({count}, K)"
        )
    broken = ~torch.isfinite(logits).all(dim=1)
    if bool(broken.any()):
        first = int(broken.nonzero()[0])
        raise SalgenError(f"the model's output is NaN or infinite (image {first} of its batch): check its weights")
    return logits


def score_gradient(logits: Tensor, targets: Tensor, score: str) -> Tensor:
    """The score's gradient at the logits, (N, K): +1 at the target and, for a margin, -1 at the best other class.

    Raises
    ------
    SalgenError
        If a target is no class of the model, or a margin is asked of a single class.
    """
    classes = logits.shape[1]
    if bool((targets >= classes).any()) or bool((targets < 0).any()):
        wrong = int(targets[(targets >= classes) | (targets < 0)][0])
        raise SalgenError(f"target {wrong}: the model has {classes} classes, so targets are 0..{classes - 1}")
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
    except Exception as error:  # a module may hold anything: locks, open files, lazy parameters
        raise SalgenError(
            f"the model ({type(model).__name__}) cannot be copied for explaining: {type(error).__name__}: {error}"
        ) from error
    for module in private.modules():
        for key, hook in list(module._forward_hooks.items()):
            # of a CAM that was made of the model: its copy would keep the activations of every pass
            if type(getattr(hook, "__self__", None)).__module__.startswith("pytorch_grad_cam."):
                del module._forward_hooks[key]
    return private


def private_copy(thing: T, model: nn.Module) -> T:
    """A copy of a model, or of an object that is bound to one, with modules of its own.

    They share the weights, ask for no gradient, and are without `torch.compile` or parallel wrappers.
    """
    with torch.inference_mode(False):
        tensors = [*_computed_tensors(thing), *(t for module in model.modules() for t in _own_tensors(module))]
        copies: dict[int, Any] = {id(t): _without_gradient(t) for t in tensors}
        for module in reversed(list(model.modules())):  # inner modules first
            inner = _unwrapped(module)
            if inner is not None:
                copies[id(module)] = copy.deepcopy(inner, copies)
        return copy.deepcopy(thing, copies)


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


def _unwrapped(module: nn.Module) -> nn.Module | None:
    """The module inside one made by `torch.compile` or a parallel wrapper; None if there is none."""
    if isinstance(module, (nn.DataParallel, nn.parallel.DistributedDataParallel)):
        inner: nn.Module = module.module
        return inner
    return None if isinstance(module, torch.jit.ScriptModule) else module._modules.get("_orig_mod")


def _own_tensors(module: nn.Module) -> list[Tensor]:
    own = [*module._parameters.values(), *module._buffers.values(), *vars(module).values()]
    return [value for value in own if isinstance(value, Tensor)]


def _without_gradient(tensor: Tensor) -> Tensor:
    """The same values without gradient; autograd can use none that were made in inference mode, which are copied."""
    shared = tensor.detach().clone() if tensor.is_inference() else tensor.detach()
    return nn.Parameter(shared, requires_grad=False) if isinstance(tensor, nn.Parameter) else shared
