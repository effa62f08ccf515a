"""The outputs of a network's modules for images of one size, recorded by running one image once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any
from weakref import WeakKeyDictionary
import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves
from salgen.errors import SalgenError, reason, warn
from salgen.evaluation.models.inspection.grid import Grid
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache
from salgen.evaluation.models.inspection.positions import Positions, UncompiledMode
from salgen.evaluation.models.inspection.random_state import random_state
from salgen.evaluation.models.logits import learn

_RELU_NODE = "ReluBackward"
_CLIP_NODE = "HardtanhBackward"
_POOL_NODE = "Pool"


@dataclass(frozen=True)
class NetworkTrace:
    """The outputs of a network's modules for images of one size."""

    # dotted names of the modules that ran, in the order in which they last finished, to the shape of their output for
    # one image, or to the name of its type if it is not a tensor
    outputs: dict[str, tuple[int, ...] | str]
    # from fine to coarse: the module that gives the last rectified map of its resolution, of those that everything
    # after depends on; so ``relu``, ``layer1`` ... ``layer4`` of a ResNet, and the ReLU before each max pool of a
    # VGG.
    stages: tuple[str, ...]
    # the module that gave the last map, of more than one pixel per channel, through which alone the logits depend on
    # the image; of modules that give the same map, the outermost. Pools only make a map coarser, and don't count.
    # None if there is none.
    bottleneck: str | None
    grids: Mapping[str, Grid]  # the arrangement of each module's output as channels of an image, where it can be told
    # the modules of whose grids no pixel counts for the logits, only what is beside them: the last block of a
    # transformer whose class token alone is read
    unread: frozenset[str]

    @classmethod
    def of(cls, view: ModelView, image: Tensor) -> NetworkTrace:
        """The trace for images (1, C, h, w) like this one; made by running it, once per network and size."""
        traces = _traces.setdefault(view.network, {})
        size = tuple(image.shape[1:])
        if size not in traces:
            traces[size] = _Trace.of(view, view.like(image[:1])).layout()
        return traces[size]

    def pixels(self, name: str) -> int:
        """Number of pixels of each channel that a module gives; 0 if it gives no channels, or does not run."""
        return prod(self.grids[name].size) if name in self.grids else 0


@dataclass(frozen=True)
class ForwardPass:
    """One image's forward pass."""

    image: Tensor  # (1, C, h, w)
    logits: Tensor  # (1, K)
    bytes: int  # the size of all that it computes, intermediate results included
    largest: int  # the size of the largest of these

    @property
    def classes(self) -> int:
        """The number of logits."""
        return self.logits.shape[1]


def forward_pass(view: ModelView, image: Tensor) -> ForwardPass:
    """The forward pass of images (1, C, h, w) like this one; measured by running it, once per network and size."""
    return _forward_pass.of("", view, image)


def _run_forward(_name: str, view: ModelView, image: Tensor) -> ForwardPass:
    kept = image.detach().clone()  # a network may write into its input
    with torch.no_grad(), random_state("first look"):
        with view.failures(image):
            learn(view.network, image)
        with _Counter() as counter:
            logits = view.logits(image)
    return ForwardPass(kept, logits, counter.bytes, counter.largest)


_forward_pass = NetworkCache(_run_forward)


def check_model(view: ModelView, image: Tensor) -> ForwardPass:
    """The forward pass of a network for one normalised image (1, C, h, w) and those like it."""
    check_deterministic(view, image)
    _idle_hooks_left_out.of("", view, image)
    return forward_pass(view, image)


def check_deterministic(view: ModelView, image: Tensor) -> None:
    """Refuse a model that draws random numbers, and warn of one whose answer depends on its batch.

    It is run on one normalised image (1, C, h, w), alone and beside another, once per network and size.
    """
    if not _batch_independent.of("", view, image):
        warn(
            "the model's answer for an image depends on the other images of its batch, and so do its maps: "
            "use batch_size=1, or make it independent of them"
        )


def _is_batch_independent(_name: str, view: ModelView, image: Tensor) -> bool:
    """True if an image's logits are the same beside another image."""
    first = forward_pass(view, image)  # perhaps of another image, which was seen before
    image, alone = first.image, first.logits
    with torch.no_grad(), random_state("first look"):
        before = _generator_states(image)
        try:
            together = view.logits(torch.cat([image, image.flip(3) / 2]))
        except SalgenError as error:
            why = reason(error.__cause__ or error)
            raise SalgenError(f"the model takes one image of {tuple(image.shape[1:])} but not two: {why}") from None
        except (RuntimeError, MemoryError):
            return True  # there is memory for one image at a time only
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


def _leave_out_idle_hooks(_name: str, view: ModelView, image: Tensor) -> None:
    """Remove forward hooks without which the logits are the same: they may change gradients, or keep every pass."""
    kinds = [m._forward_hooks for m in view.network.modules()] + [m._forward_pre_hooks for m in view.network.modules()]
    hooks = [(kind, dict(kind)) for kind in kinds if kind]
    if hooks:
        with torch.no_grad():
            before = view.logits(image)
            for kind, _ in hooks:
                kind.clear()
            try:
                same = torch.equal(view.logits(image), before)
            except Exception:  # a hook may make the forward pass possible
                same = False
        for kind, own in hooks if not same else ():
            kind.update(own)


_idle_hooks_left_out = NetworkCache(_leave_out_idle_hooks)


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
    tensors: dict[str, Tensor]
    grids: dict[str, Grid]
    unread: frozenset[str] = frozenset()
    end: Any = None

    @classmethod
    def of(cls, view: ModelView, image: Tensor) -> _Trace:
        trace = cls({}, {}, {}, {})
        learn(view.network, image)
        named = list(view.network.named_modules())
        hooks = [(m, partial(trace.note, name)) for name, m in named if not isinstance(m, torch.jit.ScriptModule)]
        leaf = image.detach().requires_grad_()
        with torch.enable_grad(), hooked(hooks), Positions(leaf.detach()) as positions:
            logits = view.logits(leaf)
        trace.end = logits.grad_fn
        trace.find_grids(positions)
        trace.unread = trace.find_unread(logits)
        return trace

    def note(self, name: str, _module: nn.Module, _inputs: Any, output: Any) -> None:
        self.outputs.pop(name, None)  # a module that runs again goes to the end
        self.nodes.pop(name, None)
        self.tensors.pop(name, None)
        if isinstance(output, Tensor):
            self.outputs[name], self.nodes[name], self.tensors[name] = tuple(output.shape), output.grad_fn, output
        else:
            self.outputs[name] = type(output).__name__

    def find_grids(self, positions: Positions) -> None:
        """Find the arrangement of each module's output."""
        for name, tensor in self.tensors.items():
            grid = Grid.of(tuple(tensor.shape), positions.of(tensor)) if tensor.numel() else None
            if grid is not None:
                self.grids[name] = grid

    def find_unread(self, logits: Tensor) -> frozenset[str]:
        """The modules of whose numbers only those count that are no pixel, by the way back from the logits."""
        names = [name for name, grid in self.grids.items() if not grid.whole and self.tensors[name].requires_grad]
        if not names or not logits.requires_grad:
            return frozenset()
        start = torch.full_like(logits, torch.nan)  # reaches all that counts, whatever the weights are
        gradients = torch.autograd.grad(
            logits, [self.tensors[name] for name in names], start, retain_graph=True, allow_unused=True
        )
        reached = {
            name: gradient.isnan() for name, gradient in zip(names, gradients, strict=True) if gradient is not None
        }
        return frozenset(
            name for name, at in reached.items() if bool(at.any()) and not bool(self.grids[name].channels(at).any())
        )

    def layout(self) -> NetworkTrace:
        """The trace without the nodes, which hold the pass's tensors."""
        return NetworkTrace(self.outputs, self._stages(), self._bottleneck(), self.grids, self.unread)

    def _stages(self) -> tuple[str, ...]:
        sizes: dict[tuple[int, int], list[str]] = {}
        for name, node in self.nodes.items():
            if self._pixels(name) > 1 and _is_rectifier(node):
                sizes.setdefault(self.grids[name].size, []).append(name)
        stages = (
            next((n for n in reversed(names) if self._carries_all(self.nodes[n])), None) for names in sizes.values()
        )
        return tuple(name for name in stages if name is not None)

    def _bottleneck(self) -> str | None:
        maps = (n for n in self.nodes if self._pixels(n) > 1 and n not in self.unread)
        return next((n for n in reversed([*maps]) if not self._pooled(n) and self._carries_all(self.nodes[n])), None)

    def _pixels(self, name: str) -> int:
        return prod(self.grids[name].size) if name in self.grids else 0

    def _pooled(self, name: str) -> bool:
        return self.nodes[name] is not None and _POOL_NODE in self.nodes[name].name()

    def _carries_all(self, node: Any) -> bool:
        """True if the logits depend on the image through this node alone."""
        # only the image has nothing before it: nothing else in the network asks for a gradient
        return self.end is not None and all(ancestor.next_functions for ancestor in ancestors(self.end, {node}))


def ancestors(end: Any, seen: Iterable[Any] = ()) -> Iterator[Any]:
    """The autograd node `end` and all that it depends on, not going past the nodes in `seen`."""
    visited, waiting = {None, *seen}, [end]
    while waiting:
        node = waiting.pop()
        if node not in visited:
            visited.add(node)
            yield node
            waiting.extend(parent for parent, _ in node.next_functions)


def _is_rectifier(node: Any) -> bool:
    """True if the node is that of a ReLU, or of a ReLU with a ceiling."""
    name = "" if node is None else node.name()
    return name.startswith(_RELU_NODE) or (name.startswith(_CLIP_NODE) and node._saved_min_val == 0)


class _Counter(UncompiledMode):
    """Counts the bytes of every tensor that is computed, and of the largest that is of the image."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes = self.largest = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        computed = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        self.bytes += sum(leaf.nbytes for leaf in computed)
        of_the_image = [leaf.nbytes for leaf in computed if leaf.shape[:1] == (1,)]  # weights are larger
        self.largest = max([self.largest, *of_the_image])
        return result
