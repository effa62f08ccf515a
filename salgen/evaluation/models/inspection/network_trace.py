"""The outputs of a network's modules for images of one size, recorded by running one image once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from salgen.errors import SalgenError, SalgenWarning
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache
from salgen.evaluation.models.inspection.out_of_memory import is_out_of_memory
from salgen.evaluation.models.inspection.random_state import random_state

_RELU_NODE = "ReluBackward"
_NORM_NODE = "NativeLayerNormBackward"
_POOL_NODE = "Pool"


@dataclass(frozen=True)
class NetworkTrace:
    """The outputs of a network's modules for images of one size.

    Attributes
    ----------
    outputs
        Dotted names of the modules that ran, in the order in which they last finished, to the shape
        of their output for one image, or to the name of its type if it is not a tensor.
    stages
        From fine to coarse: the module that gives the last rectified map of its resolution, of those
        that everything after depends on; so ``relu``, ``layer1`` ... ``layer4`` of a ResNet, and the
        ReLU before each max pool of a VGG.
    bottleneck
        The module that gave the last map, of more than one pixel per channel, through which alone
        the logits depend on the image; of modules that give the same map, the outermost. Pools only
        make a map coarser, and don't count. None if there is none.
    features_last
        The modules whose outputs evidently have their channels last, (N, h, w, K) or (N, T, K): a
        layer norm over the last axis gave or took them.
    bytes
        All that the forward pass of one image computes, intermediate results included.
    """

    outputs: dict[str, tuple[int, ...] | str]
    stages: tuple[str, ...]
    bottleneck: str | None
    features_last: frozenset[str]
    bytes: int

    @classmethod
    def of(cls, view: ModelView, image: Tensor) -> NetworkTrace:
        """The trace for images (1, C, h, w) like this one; made by running it, once per network and size."""
        traces = _traces.setdefault(view.network, {})
        size = tuple(image.shape[1:])
        if size not in traces:
            traces[size] = _Trace.of(view, image[:1]).layout()
        return traces[size]

    def pixels(self, name: str) -> int:
        """Number of pixels of each channel that a module gives; 0 if it gives no channels, or does not run."""
        return _pixels(self.outputs.get(name, ""))


def check_model(view: ModelView, image: Tensor) -> NetworkTrace:
    """The trace of a network for one normalised image (1, C, h, w) and those like it.

    Raises
    ------
    SalgenError
        If the network fails on it, returns anything but finite logits (1, K), or draws random numbers.
    """
    try:
        check_deterministic(view, image)
        layout = NetworkTrace.of(view, image)
    except (RuntimeError, ValueError, IndexError, TypeError) as error:
        if is_out_of_memory(error):
            raise
        reason = " ".join(str(error).split())
        raise SalgenError(
            f"the model fails on an image of {tuple(image.shape[1:])}; does it take this many channels, and this size? "
            f"{reason[:300]}"
        ) from error
    return layout


def check_deterministic(view: ModelView, image: Tensor) -> None:
    """Refuse a model that draws random numbers, and warn of one whose answer depends on its batch.

    It is run on one normalised image (1, C, h, w), alone and beside another, once per network and
    size; torch's random state stays what it was.

    Raises
    ------
    SalgenError
        If it draws random numbers, or takes one image but not two.
    """
    if not _batch_independent.of("", view, image):
        warnings.warn(
            "the model's answer for an image depends on the other images of its batch, and so do its maps: "
            "use batch_size=1, or make it independent of them",
            SalgenWarning,
            stacklevel=3,
        )


def _is_batch_independent(_name: str, view: ModelView, image: Tensor) -> bool:
    """True if an image's logits are the same beside another image."""
    with torch.no_grad(), random_state("first look"):
        before = _generator_states(image)
        alone = view.logits(image)
        try:
            together = view.logits(torch.cat([image, image.flip(3) / 2]))
        except (RuntimeError, ValueError) as error:
            if is_out_of_memory(error):
                return True  # there is memory for one image at a time only
            reason = " ".join(str(error).split())
            raise SalgenError(
                f"the model takes one image of {tuple(image.shape[1:])} but not two: {reason[:300]}"
            ) from None
        drawn = any(not torch.equal(old, new) for old, new in zip(before, _generator_states(image), strict=True))
    if drawn:
        raise SalgenError(
            "the model draws random numbers: does dropout stay on (pass training=self.training to it), or is noise "
            "added in evaluation mode?"
        )
    slack = max(1e-3, 8 * torch.finfo(alone.dtype).eps)
    return torch.allclose(alone, together[:1], rtol=slack, atol=slack * float(alone.abs().max()))


def _generator_states(image: Tensor) -> list[Tensor]:
    """The states of torch's random generators that the model may use."""
    on_device = [torch.cuda.get_rng_state(image.device)] if image.is_cuda else []
    return [torch.get_rng_state(), *on_device]


_batch_independent = NetworkCache(_is_batch_independent)


_traces: WeakKeyDictionary[nn.Module, dict[tuple[int, ...], NetworkTrace]] = WeakKeyDictionary()


@contextmanager
def hooked(hooks: Iterable[tuple[nn.Module, Callable[..., Any]]]) -> Iterator[None]:
    """Forward hooks for as long as the block runs."""
    handles = [module.register_forward_hook(hook) for module, hook in hooks]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@dataclass
class _Trace:
    """One image's forward pass: what each module gave last, and the autograd node that made it."""

    outputs: dict[str, tuple[int, ...] | str]
    nodes: dict[str, Any]
    end: Any = None
    bytes: int = 0

    @classmethod
    def of(cls, view: ModelView, image: Tensor) -> _Trace:
        trace = cls({}, {})
        named = list(view.network.named_modules())
        hooks = [(m, partial(trace.note, name)) for name, m in named if not isinstance(m, torch.jit.ScriptModule)]
        with torch.enable_grad(), hooked(hooks), _Counter() as counter:
            trace.end = view.logits(image.detach().requires_grad_()).grad_fn
        trace.bytes = counter.bytes
        return trace

    def note(self, name: str, _module: nn.Module, _inputs: Any, output: Any) -> None:
        self.outputs.pop(name, None)  # a module that runs again goes to the end
        self.nodes.pop(name, None)
        if isinstance(output, Tensor):
            self.outputs[name], self.nodes[name] = tuple(output.shape), output.grad_fn
        else:
            self.outputs[name] = type(output).__name__

    def layout(self) -> NetworkTrace:
        """The trace without the nodes, which hold the pass's tensors."""
        features_last = self._features_last()
        return NetworkTrace(self.outputs, self._stages(), self._bottleneck(features_last), features_last, self.bytes)

    def _stages(self) -> tuple[str, ...]:
        sizes: dict[tuple[int, ...], list[str]] = {}
        for name, node in self.nodes.items():
            shape = self.outputs[name]
            if _pixels(shape) > 1 and node is not None and node.name().startswith(_RELU_NODE):
                sizes.setdefault(tuple(shape[2:]), []).append(name)  # type: ignore[arg-type]
        stages = (
            next((n for n in reversed(names) if self._carries_all(self.nodes[n])), None) for names in sizes.values()
        )
        return tuple(name for name in stages if name is not None)

    def _bottleneck(self, features_last: frozenset[str]) -> str | None:
        maps = (n for n in self.nodes if n in features_last or _pixels(self.outputs[n]) > 1)
        return next((n for n in reversed([*maps]) if not self._pooled(n) and self._carries_all(self.nodes[n])), None)

    def _pooled(self, name: str) -> bool:
        return self.nodes[name] is not None and _POOL_NODE in self.nodes[name].name()

    def _features_last(self) -> frozenset[str]:
        norms = [
            n for n in _ancestors(self.end) if n.name().startswith(_NORM_NODE) and len(n._saved_normalized_shape) == 1
        ]
        norm_nodes = {*norms, *(norm.next_functions[0][0] for norm in norms)} - {None}
        candidates = {name for name, shape in self.outputs.items() if len(shape) in (3, 4) and shape[1] != 1}
        return frozenset(name for name in candidates if self.nodes.get(name) in norm_nodes)

    def _carries_all(self, node: Any) -> bool:
        """True if the logits depend on the image through this node alone."""
        # only the image has nothing before it: nothing else in the network asks for a gradient
        return self.end is not None and all(ancestor.next_functions for ancestor in _ancestors(self.end, {node}))


def _ancestors(end: Any, seen: Iterable[Any] = ()) -> Iterator[Any]:
    """The autograd node `end` and all that it depends on, not going past the nodes in `seen`."""
    visited, waiting = {None, *seen}, [end]
    while waiting:
        node = waiting.pop()
        if node not in visited:
            visited.add(node)
            yield node
            waiting.extend(parent for parent, _ in node.next_functions)


def _pixels(shape: tuple[int, ...] | str) -> int:
    return prod(shape[2:]) if len(shape) == 4 and not isinstance(shape, str) else 0


class _Counter(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of every tensor that is computed."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        self.bytes += sum(leaf.nbytes for leaf in tree_leaves(result) if isinstance(leaf, Tensor))
        return result
