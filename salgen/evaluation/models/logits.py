"""A network's outputs as logits (N, K), whatever form it gives them in."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from threading import RLock
from types import SimpleNamespace
from typing import Any
from unittest import mock
import torch
import torch.utils.checkpoint
from torch import Tensor, fx, nn
from torch.overrides import TorchFunctionMode
from salgen.errors import SalgenError, warn

SIGMOID = ("sigmoid", "log_sigmoid")
STEPS = {name.replace("_", ""): name for name in (*SIGMOID, "softmax", "log_softmax", "log")} | {"expit": "sigmoid"}
ROUNDING = 1e-4  # tolerance of a sum of probabilities
ONE_OUTPUT = (
    "the model gives one output: the negative of its logit is explained for class 0, and its logit for class 1, which "
    "has its sigmoid as probability"
)


def as_logits(network: nn.Module, multi_label: bool = False, said: str = ONE_OUTPUT) -> nn.Module:
    """A private copy of a network, changed so that it gives logits (N, K); its modules keep their names.

    What is changed it learns in its first run, see `AsLogits`; ``gives_logits = True`` leaves a network as it is. Its
    ``multi_label`` says whether each logit has a probability of its own. `said` warns of one output for two classes.
    """
    if isinstance(vars(network).get("forward"), AsLogits) or getattr(network, "gives_logits", False):
        return network
    if isinstance(network, (torch.jit.ScriptModule, fx.GraphModule)):
        network = nn.Sequential(network).eval()  # it cannot have another forward
    if getattr(getattr(last_of(network), "config", None), "problem_type", None) == "multi_label_classification":
        network.multi_label = True  # type: ignore[assignment]
    if multi_label and not hasattr(network, "multi_label"):
        network.multi_label = True  # type: ignore[assignment]
    network.forward = AsLogits(network, network.forward, said)
    return network


def last_of(network: nn.Module) -> nn.Module:
    """The network, or the last module of a Sequential, such as one behind a Normalize."""
    return network[-1] if isinstance(network, nn.Sequential) and len(network) else network


def learn(network: nn.Module, images: Tensor) -> None:
    """Let a network of :func:`as_logits` learn what it gives, if it has not run yet."""
    forward = vars(network).get("forward")
    if isinstance(forward, AsLogits) and forward.skipped is None:
        with torch.inference_mode(False), torch.no_grad():
            forward.learn(images[:1].clone())


def take_outputs(network: nn.Module, groups: Sequence[Sequence[int]]) -> None:
    """Let a network that gives logits give, in this order, the largest of each group of these numbers."""
    forward = vars(network).get("forward")
    if not isinstance(forward, AsLogits):
        network.forward = forward = AsLogits(network, network.forward, skipped=frozenset())
    if all(len(group) == 1 for group in groups):
        forward.after += ((operator.getitem, ((slice(None), [place for (place,) in groups]),)),)
    else:
        forward.after += ((largest_of_each, (groups,)),)


def largest_of_each(logits: Tensor, groups: Sequence[Sequence[int]]) -> Tensor:
    """The largest logit of each group (N, G), by a pooling as relevance rules know it."""
    pooled = [nn.functional.adaptive_max_pool1d(logits[:, None, list(group)], 1) for group in groups]
    return torch.cat(pooled, dim=2)[:, 0]


@dataclass
class AsLogits:
    """In place of a network's forward: logits.

    The first call runs one image, and warns of what is changed. Of an output that holds more the logits are taken. A
    softmax or sigmoid at the end is left out. One output for two classes becomes two logits. Functions that
    ``torch.utils.checkpoint`` would run again are run once, as hooks would not be called again.
    """

    network: nn.Module
    forward: Callable[..., Any]  # the network's own
    said: str = ONE_OUTPUT
    skipped: frozenset[int] | None = None  # numbers of the calls of `STEPS` that give their input; None: not yet known
    after: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = ()  # functions of the output, with their arguments
    checkpoints: bool = False  # whether the network calls torch.utils.checkpoint

    def __call__(self, images: Tensor, wide: bool = False) -> Any:
        """Normalised images (N, C, H, W) to logits (N, K), or to :func:`wide_range` in place of their logits."""
        learn(self.network, images)
        with ExitStack() as modes:
            if self.skipped:
                modes.enter_context(_Steps(self.skipped, wide))
            if self.checkpoints:
                modes.enter_context(_without_checkpoints())
            output = self.forward(images)
        return self._finish(output)

    def _finish(self, output: Any) -> Any:
        for function, others in self.after:
            output = function(output, *others)
        return output

    def learn(self, image: Tensor) -> None:
        """Find where the logits of one image (1, C, h, w) are, and prepare the network to give them."""
        with torch.enable_grad(), _without_checkpoints() as called, _Steps() as steps:
            output = self.forward(image.clone())
        self.checkpoints = bool(called)
        self.after = _taking_logits(output)
        output = self._finish(output)
        self.skipped = frozenset()
        if isinstance(output, Tensor) and not output.is_floating_point():
            raise SalgenError(f"the model returns {output.dtype}, as of argmax: it must return logits")
        if isinstance(output, Tensor) and output.ndim != 2 and output.numel() == max(output.shape, default=1):
            output = output.reshape(1, -1)
            self.after += ((torch.reshape, ((-1, output.shape[1]),)),)
        if isinstance(output, Tensor) and output.ndim == 2:
            single = output.shape[1] == 1 and not getattr(self.network, "multi_label", False)
            self._leave_out(steps, output, image)
            if single:
                self._double(image)
        if self.skipped or self.after or self.checkpoints:
            return
        if getattr(self.forward, "__func__", None) is type(self.network).forward:
            del self.network.forward
        else:
            self.network.forward = self.forward

    def _leave_out(self, steps: _Steps, output: Tensor, image: Tensor) -> None:
        """Leave out what makes probabilities of logits at the end, or else invert it."""
        several = output.shape[1] > 1
        self.skipped, name = steps.ending(output)
        script = last_of(self.network)
        if isinstance(script, torch.jit.ScriptModule):
            graph = script.inlined_graph  # outlives its nodes
            kind = next(graph.outputs()).node().kind().removeprefix("aten::")
            name = kind if kind in SIGMOID else name
        if self.skipped and not torch.equal(self(image.clone(), wide=True), wide_range(output)):
            self.skipped, name = frozenset(), name if name in SIGMOID else ""  # a clamp or the like follows
        if not name:
            name = self._by_another_route(output, image)
        if not name:
            return
        if not self.skipped:
            inverse = ((torch.exp, ()),) if bool((output < 0).any()) else ()
            self.after += (*inverse, (torch.logit, (torch.finfo(output.dtype).eps,)))
        self.network.multi_label = name in SIGMOID  # type: ignore[assignment]
        if several:
            kind = ("their softmax", "the sigmoid of each: several labels")[name in SIGMOID]
            warn(f"the model ends in {name}: its logits, what goes into it, are explained; probabilities are {kind}")
        logits = self(image.clone())
        for place, module in list(self.network.named_modules()):
            if self.skipped and place and step_name(module):
                self._replace(place, nn.Identity().eval(), image, logits, self.after)

    def _by_another_route(self, output: Tensor, image: Tensor) -> str:
        """Take logarithms of several probabilities; "sigmoid" if one output is a probability, as it stays in [0, 1]."""
        images = [image.flip(2, 3) / 2, -image]  # one image's outputs may look like probabilities by chance
        if output.shape[1] == 1:
            colours = torch.randn((8, image.shape[1], 1, 1), generator=torch.Generator().manual_seed(0)).to(image)
            images += [1e6 * image, *(1e6 * (image + colour) for colour in colours)]
            found = torch.cat([self(changed) for changed in images])
            if bool(((found < 0) | (found > 1)).any()) or bool((found == output).all()):
                return ""
            warn(
                "the model's one output stays in [0, 1], but no sigmoid is found at its end: it is taken for a "
                "probability and its logit is explained, so let it return the logit"
            )
            return "sigmoid"
        if not _sum_to_one(output) or not all(_sum_to_one(self(changed)) for changed in images):
            return ""
        kind, explained = "are log-probabilities", "they"
        if bool((output >= 0).all()):
            self.after += ((torch.clamp_min, (torch.finfo(output.dtype).tiny,)), (torch.log, ()))
            kind, explained = f"are positive and sum to {float(output.sum()):.0f}", "their logarithms"
        self.network.multi_label = False  # type: ignore[assignment]
        warn(
            f"the model's outputs {kind}, but no softmax is found at their end: {explained} are explained, so let "
            "it return logits"
        )
        return ""

    def _double(self, image: Tensor) -> None:
        """Make two logits of one: the negative for class 0, and itself for class 1."""
        if self.said:
            warn(self.said)
        self.network.multi_label = self.network.single_output = True  # type: ignore[assignment]
        logits = both(self(image.clone()))
        after = tuple((f, ((-1, 2),)) if f is torch.reshape else (f, others) for f, others in self.after)
        for place, module in reversed(list(self.network.named_modules())):
            if place and type(module) in (nn.Linear, nn.Conv2d) and len(module.weight) == 1:
                double = copy.deepcopy(module)
                double.out_features = double.out_channels = 2
                for name, weight in module.named_parameters():
                    setattr(double, name, nn.Parameter(torch.cat([-weight, weight]), requires_grad=False))
                if self._replace(place, double, image, logits, after, self.skipped):
                    return
        self.after += ((both, ()),)

    def _replace(
        self, place: str, module: nn.Module, image: Tensor, logits: Tensor, after: Any, skipped: Any = frozenset()
    ) -> bool:
        """Replace one of the network's modules, if the network then gives these logits."""
        holder, last = self.network.get_submodule(place.rpartition(".")[0]), place.rpartition(".")[2]
        before = getattr(holder, last), self.after, self.skipped
        setattr(holder, last, module)
        self.after, self.skipped = after, skipped
        try:
            found = self(image.clone())
            if bool(logits.any()) and torch.allclose(found, logits.view(found.shape), rtol=1e-4, atol=1e-6):
                return True
        except (RuntimeError, ValueError, IndexError, TypeError):
            pass  # it does not fit
        setattr(holder, last, before[0])
        self.after, self.skipped = before[1:]
        return False


_PATCHING = RLock()  # threads may explain at once


@contextmanager
def _without_checkpoints() -> Iterator[list[Any]]:
    """Let torch.utils.checkpoint run functions plainly, and note its calls."""
    called: list[Any] = []

    def plain(function: Any, _preserve: bool, *args: Any) -> Any:
        called.append(function)
        return function(*args)

    def no_hook(frame: Any) -> Any:
        called.append(frame)
        return nullcontext()

    replaced: dict[str, Any] = {"CheckpointFunction": SimpleNamespace(apply=plain), "_checkpoint_hook": no_hook}
    replaced["_NoopSaveInputs"] = SimpleNamespace(apply=lambda *_: SimpleNamespace(grad_fn=plain))  # in older torch
    with _PATCHING, mock.patch.multiple(torch.utils.checkpoint, create=True, **replaced):
        yield called


def _sum_to_one(output: Tensor) -> bool:
    """Whether the outputs of one image are probabilities or percentages that sum to 1, or logarithms of such."""
    positive = bool((output >= 0).all())
    total = float((output if positive else output.exp()).double().sum())
    return min(abs(total - 1), abs(total / 100 - 1) if positive else 1) < ROUNDING


def wide_range(values: Tensor) -> Tensor:
    """Logits of the same shape that a clamp or the like would change."""
    return torch.linspace(-99, 99, values.numel()).view(values.shape).to(values)


def both(logit: Tensor) -> Tensor:
    """A logit (N, 1) as those of two classes (N, 2)."""
    return torch.cat([-logit, logit], dim=1)


def step_name(operation: Any) -> str:
    """The name of a function or a module as one of `STEPS`, or nothing."""
    name = type(operation).__name__ if isinstance(operation, nn.Module) else getattr(operation, "__name__", "")
    return STEPS.get(name.removeprefix("special_").partition(".")[0].replace("_", "").lower(), "")


class _Steps(TorchFunctionMode):
    """Notes the calls of `STEPS`, numbered in their order; some give their input instead, or a wide range."""

    def __init__(self, skipped: Collection[int] = (), wide: bool = False) -> None:
        super().__init__()
        self.skipped, self.wide, self.count = skipped, wide, 0
        self.calls: list[tuple[str, Tensor, Tensor]] = []  # name, input, result

    def __torch_function__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not (name := step_name(func)):
            return func(*args, **kwargs)
        source = args[0] if args else kwargs["input"]
        self.count += 1
        if self.skipped:
            if self.count - 1 not in self.skipped:
                return func(*args, **kwargs)
            return wide_range(source) if self.wide and self.count - 1 == min(self.skipped) else source
        self.calls.append((name, source, func(*args, **kwargs)))
        return self.calls[-1][2]

    def ending(self, output: Tensor) -> tuple[frozenset[int], str]:
        """The numbers of the calls that made one image's probabilities, perhaps reshaped, of logits; and their name."""
        if output.numel() == 1 and self.calls and self.calls[-1][0] == "softmax":
            result = self.calls[-1][2]
            if result.numel() > 1 and bool((result.to(output) == output).any()):
                return frozenset(), "sigmoid"  # the probability of one class, whose logit is that of one output
        numbers = set()
        for number, (name, source, result) in reversed(list(enumerate(self.calls))):
            if torch.equal(result.flatten().to(output), output.flatten()):
                numbers.add(number)
                total = {"softmax": output, "log_softmax": output.exp()}.get(name, torch.ones(1)).double().sum()
                if abs(float(total) - 1) > 0.1:  # over another axis than that of the classes
                    break
                if name != "log":
                    return frozenset(numbers), name
                output = source
        return frozenset(), ""


def _taking_logits(output: Any) -> tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...]:
    """The function that takes the logits from a network's output, if that holds more."""
    if isinstance(output, Tensor):
        return ()
    if isinstance(getattr(output, "logits", None), Tensor):
        return ((getattr, ("logits",)),)
    items = dict(enumerate(output)) if isinstance(output, (tuple, list)) else output
    items = items if isinstance(items, Mapping) else {}
    shapes = {key: tuple(value.shape) for key, value in items.items() if isinstance(value, Tensor)}
    matrices = [key for key, shape in shapes.items() if len(shape) == 2]
    for found in ([key for key in shapes if key == "logits"], matrices, list(shapes)):
        if len(found) == 1 and (found is matrices or isinstance(output, Mapping)):
            return ((operator.getitem, (found[0],)),)
    held = f" of {', '.join(f'{key}: {shape}' for key, shape in shapes.items())}" if shapes else ""
    raise SalgenError(f"the model returns {type(output).__name__}{held}: it must return logits, a tensor (N, K)")
