"""DeepLIFT, by captum.

captum needs a network whose nonlinearities are modules that run once each. So torch.fx traces it, and every call of an
activation or max pool becomes a new module with a copy of its input to itself, whose gradient captum replaces. All else
has to be affine in the image.
"""

import copy
import operator
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar
import torch
from torch import Tensor, fx, nn
from torch.nn import functional
from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import AttributionContext, Explanation, baselines_param
from salgen.evaluation.attribution.propagation import operations
from salgen.evaluation.attribution.propagation.operations import name_of, rectifier, tensors_in
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.models.logits import AsLogits, both, step_name

NAMES = ("deep-lift",)

ACTIVATIONS = (nn.ReLU, nn.ELU, nn.LeakyReLU, nn.Sigmoid, nn.Tanh, nn.Softplus)
OTHER_ACTIVATIONS = (nn.SiLU, nn.GELU, nn.Hardswish, nn.Hardsigmoid, nn.Mish, nn.SELU)  # captum does not know these

_FUNCTIONS: dict[Any, type[nn.Module]] = {
    **dict.fromkeys(operations.RELU, nn.ReLU),
    **dict.fromkeys((torch.sigmoid, Tensor.sigmoid, functional.sigmoid), nn.Sigmoid),
    **dict.fromkeys((torch.tanh, Tensor.tanh, functional.tanh), nn.Tanh),
    **{getattr(functional, kind.__name__.lower()): kind for kind in (nn.ELU, nn.Softplus, *OTHER_ACTIVATIONS)},
    functional.leaky_relu: nn.LeakyReLU,
}
_MAX_POOL = frozenset({functional.max_pool2d, torch.max_pool2d})
_POOL_ARGUMENTS = ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode")
_CLIPS = (nn.ReLU6, nn.Hardtanh)
_IN_PLACE: dict[Any, str] = {Tensor.add_: "add", Tensor.sub_: "sub"}
_SUMS = operations.ADD | {
    *(operator.add, operator.sub, operator.neg, torch.sub, Tensor.sub, Tensor.sub_),
    *(torch.cat, torch.concat, torch.stack, both),
}
_DIVISIONS = frozenset({torch.div, Tensor.div, operator.truediv})
_PRODUCTS = (operations.SCALE | {operator.mul}) - _DIVISIONS
_OF_ONE_SIGNAL = (
    operations.LINEAR
    | operations.DROPOUT
    | operations.AVERAGE
    | operations.MOVE
    | {functional.batch_norm, functional.interpolate, operator.getitem}
) - _SUMS
_AFFINE = tuple(
    getattr(nn, name)
    for name in (
        *("Conv1d", "Conv2d", "Conv3d", "ConvTranspose2d", "Linear", "BatchNorm1d", "BatchNorm2d", "Identity"),
        *("Flatten", "Unflatten", "Dropout", "Dropout1d", "Dropout2d", "AlphaDropout", "AvgPool2d"),
        *("AdaptiveAvgPool2d", "Upsample", "ZeroPad2d", "ReflectionPad2d", "ReplicationPad2d", "PixelShuffle"),
    )
)
_ADVICE = (
    "it knows affine layers, sums, max pools and activations of one value; choose another method or network "
    f"({operations.ANY_NETWORK})"
)


@dataclass(frozen=True)
class DeepLift(Explanation):
    """The contribution of each pixel to the difference from a baseline (black by default), by the rescale rule.

    Attributions sum to that difference. The rule takes any activation of one value, such as SiLU and GELU. It has no
    multiplier for a product of two signals or a norm of the signal's own values. Samples go through captum one by one,
    since its rule for max pools depends on the batch.
    """

    name: ClassVar[str] = "deep-lift"
    reads_gradients: ClassVar[bool] = True
    shows_image: ClassVar[bool] = True
    reference: ClassVar[str] = (
        "Shrikumar et al. 2017, Learning important features through propagating activation differences, "
        "doi:10.48550/arXiv.1704.02685"
    )
    reduction: ClassVar[str] = "sum"
    defined_for: ClassVar[str] = (
        "networks of affine layers, sums, max pools and activations of one value such as ReLU, SiLU and GELU, without "
        "layer norm, gates or attention"
    )

    baselines: float | str = baselines_param("black")

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse networks that torch.fx cannot trace, and those with other operations."""
        separated(self.name, model, image)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        import captum.attr
        from captum.attr._core.deep_lift import SUPPORTED_NON_LINEAR, nonlinear

        SUPPORTED_NON_LINEAR.setdefault(Elementwise, nonlinear)
        network = _Scored(separated(self.name, context.model, context.inputs[:1]))
        peer = captum.attr.DeepLift(network, eps=max(1e-10, torch.finfo(context.inputs.dtype).tiny))
        starts = context.start(context.passes.logits())
        baselines = context.baselines_of(self.baselines).expand_as(context.inputs)
        maps = []
        for k in range(len(starts)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # captum says that it sets hooks
                image, start = context.inputs[k : k + 1], starts[k : k + 1]
                maps.append(peer.attribute(image, baselines[k : k + 1], additional_forward_args=(start,)))
        return torch.cat(maps).detach()


class _Scored(nn.Module):
    """A network's score: its logits (n, K) times the gradient that the backward pass starts with."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor, start: Tensor) -> Tensor:
        score: Tensor = (self.network(inputs) * start).sum(dim=1)
        return score


def separated(method: str, view: ModelView, image: Tensor) -> nn.Module:
    """The view's network, for any number of images like `image` (1, C, h, w).

    It shares the weights; the view's own modules are neither changed nor hooked.
    """
    traced = _traced(method, view.network)
    signals = _SignalFinder(traced).signals_of(image)
    for node in list(traced.graph.nodes):
        if node in signals and node.op not in ("placeholder", "output"):
            signals.add(
                _separate(method, traced, node, [source for source in node.all_input_nodes if source in signals])
            )
    traced.graph.lint()
    traced.recompile()
    traced.delete_all_unused_submodules()
    with torch.no_grad():
        expected, logits = view.logits(image), traced(image.clone())
    if not torch.allclose(logits, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max())):
        raise SalgenError(
            f"{method}: without operations that work in place or at random the network gives other logits: "
            "use their results (x = relu(x)) and switch dropout off"
        )
    return traced


def _traced(method: str, network: nn.Module) -> fx.GraphModule:
    try:
        traced = fx.symbolic_trace(network)
    except Exception as error:  # tracing runs the network's own code on stand-ins
        reason = str(error).partition("\n")[0].partition(", but it")[0]
        raise SalgenError(
            f"{method}: torch.fx cannot trace the network ({type(error).__name__}: {reason}): control flow must not "
            f"depend on the image, and no part be scripted; choose another method or network ({operations.ANY_NETWORK})"
        ) from error
    forward = vars(network).get("forward")
    if isinstance(forward, AsLogits):  # torch.fx cannot trace it
        calls = [node for node in traced.graph.nodes if node.op.startswith("call_")]
        steps = [node for node in calls if step_name(_operation(traced, node))]
        for number in forward.skipped or ():
            steps[number].replace_all_uses_with(steps[number].all_input_nodes[0])
            traced.graph.erase_node(steps[number])
        end = traced.graph.output_node()
        value = end.args[0]
        with traced.graph.inserting_before(end):
            for function, others in forward.after:
                taken = not isinstance(value, fx.Node)
                value = function(value, *others) if taken else traced.graph.call_function(function, (value, *others))
        end.args = (value,)
    return traced


class _SignalFinder(fx.Interpreter):
    """Runs an image to see which nodes give tensors that depend on it."""

    def signals_of(self, image: Tensor) -> set[fx.Node]:
        self._signals: set[fx.Node] = set()
        with torch.enable_grad():
            self.run(image.detach().requires_grad_().clone())
        return self._signals

    def run_node(self, n: fx.Node) -> Any:
        result = super().run_node(n)
        if any(tensor.requires_grad for tensor in tensors_in(result)):
            self._signals.add(n)
        return result


def _separate(method: str, traced: fx.GraphModule, node: fx.Node, signals: list[fx.Node]) -> fx.Node:
    """The node in place of this one: a nonlinearity as a module of its own, or the affine operation as it is."""
    operation = _operation(traced, node)
    own = _separate_module(operation, node)
    if own is not None:
        return _replace(traced, node, own, signals[0])
    if node.op == "call_method" and operation in _IN_PLACE:
        node.target = _IN_PLACE[operation]
    elif not _is_affine(operation, node, signals):
        name = type(operation).__name__ if isinstance(operation, nn.Module) else name_of(operation)
        raise SalgenError(f"{method} has no rule for {name}: {_ADVICE}")
    return node


def _operation(traced: fx.GraphModule, node: fx.Node) -> Any:
    """The module or function that the node calls."""
    if node.op == "call_module":
        return traced.get_submodule(str(node.target))
    return getattr(Tensor, str(node.target)) if node.op == "call_method" else node.target


def _separate_module(operation: Any, node: fx.Node) -> nn.Module | None:
    """A new module that does the same, if the operation is a nonlinearity that has a rule."""
    options: dict[str, Any] = {key: value for key, value in node.kwargs.items() if key not in ("input", "inplace")}
    if type(operation) is nn.MaxPool2d and not operation.return_indices:
        return _SeparatePool(**{key: getattr(operation, key) for key in _POOL_ARGUMENTS[1:]})
    clip = operation if type(operation) in _CLIPS else None
    if operation in operations.CLIP:
        clip = rectifier(operation, node.args, node.kwargs)
    if isinstance(clip, nn.Hardtanh) and clip.min_val == 0:
        return _SeparateClip(clip.max_val)
    if type(operation) in ACTIVATIONS + OTHER_ACTIVATIONS:
        own = copy.deepcopy(operation)
        own.inplace = False
        return _own_activation(own)
    if operation in _MAX_POOL and not options.pop("return_indices", False):
        options.update(zip(_POOL_ARGUMENTS[1:], node.args[1:], strict=False))
        return _SeparatePool(**options)
    if not isinstance(operation, nn.Module) and operation in _FUNCTIONS:
        kind = _FUNCTIONS[operation]
        return _own_activation(kind() if kind in (nn.ReLU, nn.Sigmoid, nn.Tanh) else kind(*node.args[1:], **options))
    return None


def _own_activation(module: nn.Module) -> nn.Module:
    return Elementwise(module) if isinstance(module, OTHER_ACTIVATIONS) else module


def _replace(traced: fx.GraphModule, node: fx.Node, module: nn.Module, signal: fx.Node) -> fx.Node:
    name = f"separate_{node.name}"
    traced.add_submodule(name, module)
    with traced.graph.inserting_before(node):
        own = traced.graph.call_function(torch.clone, (signal,))
        called = traced.graph.call_module(name, (own,))
    node.replace_all_uses_with(called)
    traced.graph.erase_node(node)
    return called


def _is_affine(operation: Any, node: fx.Node, signals: list[fx.Node]) -> bool:
    """True if the result is affine in the signals."""
    if isinstance(operation, nn.Module):
        statistics = getattr(operation, "track_running_stats", True)
        return type(operation) in _AFFINE and statistics
    values = (*node.args, *node.kwargs.values())
    first = node.args[0] if node.args else node.kwargs.get("input")
    if operation in _OF_ONE_SIGNAL | _DIVISIONS:
        return signals == [first] and values.count(first) == 1
    if operation in _PRODUCTS:
        return sum(value in signals for value in values) == 1
    return operation in _SUMS


class Elementwise(nn.Module):
    """An activation by its function, to which captum's rescale rule is given by this type."""

    def __init__(self, function: nn.Module) -> None:
        super().__init__()
        self.function = function

    def forward(self, signal: Tensor) -> Tensor:
        """The signal's shape."""
        activated: Tensor = self.function(signal)
        return activated


class _SeparateClip(nn.Module):
    """A ReLU with a ceiling, such as ReLU6, as the difference of two ReLUs, whose shares add up to its own."""

    def __init__(self, ceiling: float) -> None:
        super().__init__()
        self.ceiling = ceiling
        self.below, self.above = nn.ReLU(), nn.ReLU()

    def forward(self, signal: Tensor) -> Tensor:
        clipped: Tensor = self.below(signal.clone()) - self.above(signal - self.ceiling)
        return clipped


class _SeparatePool(nn.Module):
    """A max pool over windows that do not overlap: each takes its pixels along.

    Captum's rule loses part of the share of a pixel that wins in several windows. Padding repeats
    pixels of the window instead.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = {**options, "stride": options.get("stride") or options["kernel_size"]}
        self.kernel, self.stride = _pair(self.options["kernel_size"]), _pair(self.options["stride"])
        self.padding, self.dilation = _pair(options.get("padding", 0)), _pair(options.get("dilation", 1))
        self.maximum = nn.MaxPool1d(self.kernel[0] * self.kernel[1])

    def forward(self, signal: Tensor) -> Tensor:
        """(n, C, h, w) to (n, C, h', w')."""
        size = functional.max_pool2d(torch.empty(signal.shape, device="meta"), **self.options).shape[2:]
        rows, columns = (self._places(axis, size[axis], signal) for axis in (0, 1))
        windows = signal[:, :, rows[:, None, :, None], columns[None, :, None, :]]
        pooled: Tensor = self.maximum(windows.flatten(2)).view(*signal.shape[:2], *size)
        return pooled

    def _places(self, axis: int, count: int, signal: Tensor) -> Tensor:
        """The positions of each window's pixels along one axis, int64 (windows, k); each inside the image."""
        side, step = signal.shape[2 + axis], self.dilation[axis]
        start = torch.arange(count)[:, None] * self.stride[axis] - self.padding[axis]
        places = start + torch.arange(self.kernel[axis]) * step
        inside = (places >= 0) & (places < side)
        last_inside = torch.where(inside, places, -1).amax(dim=1, keepdim=True)
        return torch.where(inside, places, last_inside).to(signal.device)


def _pair(value: Any) -> tuple[int, int]:
    return (value[0], value[-1]) if isinstance(value, (tuple, list)) else (value, value)
