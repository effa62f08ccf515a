"""Whether gradients see all of a network: what it computes from the image without a gradient is found and weighed."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple
import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map
from salgen.errors import SalgenError, warn
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache
from salgen.evaluation.models.inspection.network_trace import hooked
from salgen.evaluation.models.logits import learn

TOLD, REFUSED = 0.02, 0.25  # shares of the logits' change; a detached norm's mean and deviation take .1 or so
DRAWS = 8

_ROUNDING = frozenset({"round", "floor", "ceil", "trunc", "sign", "round_", "floor_", "ceil_", "trunc_", "sign_"})
_CASTS = frozenset({"to", "type", "type_as", "int", "long", "short", "char", "byte", "copy_"})
_MIXING = frozenset({"linear", "conv1d", "conv2d", "conv3d", "matmul", "__matmul__", "bmm", "mm", "addmm"})
_ADVICE = (
    "explain the network without it (in float32, without torch.no_grad, detach() and rounding), or choose a method "
    "that reads no gradient, such as occlusion, rise or lime"
)


def check_gradient(method: str, view: ModelView, image: Tensor, layer: str | None = None) -> None:
    """Refuse a network in which the score's gradient misses values that the logits depend on.

    Values lose their gradient by ``torch.no_grad``, ``detach``, a cast to integers, or an operation without derivative.
    One image (1, C, h, w) is run with noise, free and with these values held: the difference is what the gradient at
    the input, or at a layer's output, misses. Straight-through estimators, masks and the like pass.
    """
    _checks(layer).of(method, view, image)


class _Loss(NamedTuple):
    """Where the gradient was lost, and the values that lost it."""

    kind: str  # "value", "cast" to integers, or "step", whose derivative is zero
    where: str
    values: list[Tensor]


class _Losses(TorchFunctionMode):
    """Finds each operation of a pass that takes a gradient and gives none; `held` ones give their earlier values.

    The inside of an autograd function has a backward of its own.
    """

    def __init__(self, network: nn.Module, held: Sequence[_Loss | None]) -> None:
        super().__init__()
        self.names = {module: name for name, module in network.named_modules()}
        self.held, self.found = held, list[_Loss]()
        functions: list[Any] = [torch.autograd.Function]
        for function in functions:
            functions += function.__subclasses__()
        self.own_backward = {getattr(function.forward, "__code__", None) for function in functions}
        self.rounded: dict[int, Tensor] = {}  # holding a tensor keeps its id its own

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
        made = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        if not given or not made:
            return result
        name = getattr(func, "__name__", str(func))
        real = made[0].is_floating_point() or made[0].is_quantized
        cast = name in _CASTS and not real and made[0].dtype != torch.bool
        estimated = name not in _MIXING and any(id(tensor) in self.rounded for tensor in given)
        if name in _ROUNDING or cast or estimated:
            self.rounded.update((id(tensor), tensor) for tensor in made)
        kind = "cast" if cast else "value" if real and name not in _ROUNDING else "step"
        unbroken = kind == "value" and (estimated or not all(map(_is_lost, made)))
        if unbroken or all(map(_is_lost, given)) or not (where := self._where()):
            return result
        self.found.append(_Loss(kind, f"{'.data' if name == '__get__' else name} in {where}", made))
        held = self.held[len(self.found) - 1] if len(self.found) <= len(self.held) else None
        if held is None:
            return result
        if made[0] is given[0]:  # in place
            with torch.no_grad():
                return made[0].copy_(held.values[0])
        values = iter(held.values)
        return tree_map(lambda leaf: next(values).detach().clone() if isinstance(leaf, Tensor) else leaf, result)

    def _where(self) -> str:
        """The innermost module that runs; empty within an autograd function."""
        frame, where = sys._getframe(2), ""
        while frame.f_back is not None:
            if frame.f_code in self.own_backward:
                return ""
            module = frame.f_locals.get("self")
            if not where and isinstance(module, nn.Module) and module in self.names:
                where = f"{self.names[module] or 'its forward'!r} ({type(module).__name__})"
            frame = frame.f_back
        return where or "its forward"


def _is_lost(tensor: Tensor) -> bool:
    """True if no gradient goes back from a tensor, as from an operation of integers or of custom code."""
    return not tensor.requires_grad or (tensor.grad_fn is not None and "NotImplemented" in tensor.grad_fn.name())


def _run(
    view: ModelView,
    image: Tensor,
    layer: str | None,
    noise: float = 0.0,
    seed: int = 0,
    held: Sequence[_Loss | None] = (),
) -> tuple[Tensor, Tensor, list[_Loss]]:
    """Logits, the values at which the gradient is read, and losses, with noise on these values."""
    read: list[Tensor] = []

    def begin(_module: Any, _inputs: Any, output: Any) -> Tensor:
        with torch._C.DisableTorchFunction(), torch.enable_grad():
            read.append(output if output.requires_grad else output.detach().requires_grad_())
            size = float(output.detach().std()) if output.numel() > 1 else 0.0
            random = torch.randn(output.shape, generator=torch.Generator().manual_seed(seed)).to(output)
            return read[-1] + noise * (size or 1.0) * random

    losses = _Losses(view.network, held)
    hooks = [] if layer is None else [(view.network.get_submodule(layer), begin)]
    with torch.enable_grad(), hooked(hooks):
        inputs = begin(None, None, image.detach()) if layer is None else image.detach()
        with losses:
            logits = view.network(inputs.clone())
    return logits, read[-1], losses.found


def _arrives(logits: Tensor, values: Tensor) -> bool:
    """True if any gradient of the logits arrives at the values."""
    if not logits.requires_grad:
        return False
    with torch.enable_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch's own of operations without derivative
        score = (logits * torch.linspace(1, 2, logits.shape[1]).to(logits)).sum()
        (gradient,) = torch.autograd.grad(score, values, allow_unused=True)
    return gradient is not None and bool(gradient.any())


def _check(layer: str | None, name: str, view: ModelView, image: Tensor) -> None:
    learn(view.network, image)  # whose own passes have no gradient
    run = partial(_run, view, image, layer)
    first, values, losses = run()
    if first.requires_grad and not losses:
        return
    with view.failures(image, "has no gradient"):
        arrives = _arrives(first, values)
    if not arrives:
        for seed in range(DRAWS):
            logits, _, again = run(1.0, seed)
            if not torch.equal(logits, first):
                where = _changed(losses, again, ("value", "cast", "step"))
                raise SalgenError(f"{name}: the score has no gradient, as it is lost at {where}: {_ADVICE}")
        return
    for kind, noise in (("value", 0.01), ("cast", 0.3)):
        held = [loss if loss.kind == kind else None for loss in losses]
        missed = total = 0.0
        for seed in range(DRAWS if any(held) else 0):
            free, _, again = run(noise, seed)
            missed += float((run(noise, seed, held)[0] - free).detach().double().square().sum())
            total += float((free - first).detach().double().square().sum())
        share = min(1.0, (missed / total) ** 0.5) if missed else 0.0
        if share > TOLD:
            where = _changed(losses, again, (kind,))
            text = f"the gradient is lost at {where}, through which {share:.0%} of the logits' change goes"
            if share > REFUSED:
                raise SalgenError(f"{name}: {text}: {_ADVICE}")
            warn(f"{text}: maps that read gradients leave this out")


def _changed(losses: Sequence[_Loss], others: Sequence[_Loss], kinds: Sequence[str]) -> str:
    """The first operation whose values differ between two passes."""
    for loss, other in zip(losses, others, strict=False):
        if loss.kind in kinds and not all(map(torch.equal, loss.values, other.values)):
            return loss.where
    return "code that torch does not see"


@cache
def _checks(layer: str | None) -> NetworkCache[None]:
    return NetworkCache(partial(_check, layer))
