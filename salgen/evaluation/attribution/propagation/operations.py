"""Running a network with its operations replaced, wherever they are called.

Rules hooked to modules miss a ReLU called as a function, and confuse the calls of one that is used twice. Here every
operation on the input's signal passes through :meth:`Rewiring.operate`, in place or not, once or often.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Self
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle
from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.model_view import ModelView, check_logits
from salgen.evaluation.models.inspection.network_trace import hooked
from salgen.evaluation.models.logits import learn

if TYPE_CHECKING:
    from zennit.core import BasicHook

Operation = Callable[..., Any]

RELU = frozenset({functional.relu, torch.relu, torch.relu_, Tensor.relu, Tensor.relu_, functional.relu_})
CLIP = frozenset({functional.hardtanh, functional.hardtanh_, functional.relu6})
LINEAR = frozenset({functional.linear, torch.conv1d, torch.conv2d, torch.conv3d})
DROPOUT = frozenset(
    {functional.dropout, functional.dropout1d, functional.dropout2d, functional.dropout3d, functional.alpha_dropout}
)
AVERAGE = frozenset(
    {
        *(functional.avg_pool1d, functional.avg_pool2d, functional.avg_pool3d),
        *(functional.adaptive_avg_pool1d, functional.adaptive_avg_pool2d, functional.adaptive_avg_pool3d),
        *(torch.mean, Tensor.mean, torch.sum, Tensor.sum),
    }
)
ADD = frozenset({torch.add, Tensor.add, Tensor.add_})
SCALE = frozenset({torch.mul, Tensor.mul, torch.div, Tensor.div})
DIVISIONS: frozenset[Operation] = frozenset(
    {torch.div, Tensor.div, Tensor.div_, torch.divide, Tensor.divide, torch.true_divide, Tensor.true_divide}
)
WINNER = frozenset(
    {
        *(functional.max_pool1d, functional.max_pool2d, functional.max_pool3d),
        *(functional.adaptive_max_pool1d, functional.adaptive_max_pool2d, functional.adaptive_max_pool3d),
        *(torch.max_pool1d, torch.max_pool2d, torch.max_pool3d),
    }
)
MOVE = frozenset(
    {
        *(torch.flatten, torch.reshape, torch.permute, torch.transpose, torch.squeeze, torch.unsqueeze, torch.movedim),
        *(Tensor.flatten, Tensor.reshape, Tensor.permute, Tensor.transpose, Tensor.squeeze, Tensor.unsqueeze),
        *(torch.chunk, torch.split, torch.cat, torch.concat, torch.stack, torch.clone, functional.pad),
        *(torch.flip, torch.roll, torch.narrow, torch.select, torch.unbind, torch.index_select, torch.swapaxes),
        *(functional.pixel_shuffle, functional.pixel_unshuffle, functional.channel_shuffle, functional.unfold),
        *(torch.t, torch.ravel, torch.tile, torch.repeat_interleave, torch.broadcast_to, torch.unflatten, torch.gather),
        *(Tensor.t, Tensor.ravel, Tensor.tile, Tensor.repeat_interleave, Tensor.broadcast_to, Tensor.unfold),
        *(Tensor.gather, Tensor.T.__get__, Tensor.mT.__get__, Tensor.bfloat16, Tensor.type),  # type: ignore[attr-defined]
        *(Tensor.chunk, Tensor.split, Tensor.clone, Tensor.view, Tensor.unflatten, Tensor.movedim, Tensor.contiguous),
        *(Tensor.expand, Tensor.repeat, Tensor.__getitem__, Tensor.to, Tensor.float, Tensor.double, Tensor.half),
        *(Tensor.flip, Tensor.roll, Tensor.narrow, Tensor.select, Tensor.unbind, Tensor.index_select, Tensor.swapaxes),
        *(Tensor.type_as, Tensor.view_as, Tensor.reshape_as, Tensor.expand_as),
    }
)
SUMS = ADD | {
    *(torch.sub, Tensor.sub, Tensor.sub_, torch.rsub, Tensor.__rsub__, torch.subtract, Tensor.subtract),
    *(torch.neg, Tensor.neg, torch.negative, Tensor.negative, torch.cumsum, Tensor.cumsum),
    *(functional.interpolate, functional.unfold, functional.fold),
}
PRODUCTS = (SCALE - DIVISIONS) | {
    *(Tensor.mul_, torch.multiply, Tensor.multiply, torch.einsum),
    *(torch.matmul, Tensor.matmul, torch.mm, Tensor.mm, torch.bmm, Tensor.bmm),
    *(torch.conv_transpose1d, torch.conv_transpose2d, torch.conv_transpose3d),
}
FILLED = frozenset({torch.zeros_like, torch.ones_like, Tensor.new_zeros, Tensor.new_ones, Tensor.new_full})
READS = frozenset({Tensor.item, Tensor.tolist, Tensor.numpy, Tensor.__float__, Tensor.__bool__, Tensor.__int__})
IN_PLACE = frozenset(
    {
        *(torch.relu_, Tensor.relu_, functional.relu_, functional.hardtanh_, Tensor.clamp_),
        *(Tensor.add_, Tensor.sub_, Tensor.mul_, Tensor.div_),
    }
)
ANY_NETWORK = "gradient, integrated-gradients, occlusion and rise work with any"  # for errors


class Rewiring(TorchFunctionMode):
    """A forward pass in which :meth:`operate` decides what each operation does; made by :meth:`forward`."""

    def __init__(self, method: str, leaf: Tensor) -> None:
        super().__init__()
        self.method = method  # its name, for errors
        self.leaf = leaf  # the network's input, which requires a gradient
        self.output = leaf  # the logits (n, K)
        # dotted names of the modules that ran to what they gave last, in the order in which they finished, so that a
        # backward pass can begin or end there
        self.outputs: dict[str, Tensor] = {}
        self._seen = {id(leaf): leaf}  # holding the tensors keeps their ids from being used again
        self._hooks: list[Any] = []
        self._handles: list[RemovableHandle] = []
        self._in_place = False

    @classmethod
    def forward(
        cls, method: str, view: ModelView, inputs: Tensor, expected: Callable[[], Tensor] | None = None
    ) -> Self:
        """The network after its pass on normalised inputs (n, C, h, w); `expected` gives the logits, if known."""
        precise = torch.promote_types(inputs.dtype, torch.float32)  # a half's denominators would vanish
        network = cls(method, inputs.detach().to(precise).requires_grad_())
        leaf, modules = network.leaf, view.network.named_modules()
        # scripted modules take no hooks, and are refused later
        hooks = [(m, partial(network._note, name)) for name, m in modules if not isinstance(m, torch.jit.ScriptModule)]
        learn(view.network, leaf)
        with view.failures(leaf), torch.enable_grad(), hooked(hooks), network:
            logits = view.network(leaf.clone())
        network.output = check_logits(logits, len(leaf))
        network._check_seen([network.output])
        if network._in_place and expected is not None:
            network._check_same(expected())
        elif network._in_place:
            with torch.no_grad():
                network._check_same(view.logits(view.like(leaf.detach())))
        return network

    def operate(self, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of an operation on the input's signal; subclasses may change it."""
        return operation(*args, **kwargs)

    def run(self, module: nn.Module, choose: Callable[[], BasicHook | None], signal: Tensor) -> Tensor:
        """Run `module` once on the signal, going back by the zennit rule that is chosen then."""
        from salgen.evaluation.attribution.propagation.chosen_rule import Chosen  # zennit loads torchvision

        hook = Chosen(choose)
        self._hooks.append(hook)
        self._handles.append(hook.register(module))
        output: Tensor = module(signal)
        return output

    def release(self) -> None:
        """Let go of every tensor that the backward pass needed."""
        for handle in self._handles:
            handle.remove()
        self._seen.clear()
        self._hooks.clear()
        self.outputs.clear()

    def refuse(self, operation: str, advice: str) -> SalgenError:
        """An error for a network with an operation that the method has no rule for."""
        return SalgenError(f"{self.method} has no rule for {operation}: {advice}")

    def __torch_function__(
        self, func: Operation, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if not args and "input" in kwargs:
            args, kwargs = (kwargs["input"],), {key: value for key, value in kwargs.items() if key != "input"}
        signals = [t for t in tensors_in((args, kwargs)) if t.requires_grad]
        if not signals or not torch.is_grad_enabled():  # the inside of a custom autograd function is not recorded
            return func(*args, **kwargs)
        self._check_seen(signals)
        self._in_place |= func in IN_PLACE or bool(kwargs.get("inplace"))
        result = self.operate(func, args, kwargs)
        self._seen.update((id(tensor), tensor) for tensor in tensors_in(result))
        return result

    def _note(self, name: str, _module: nn.Module, _inputs: Any, output: Any) -> None:
        if isinstance(output, Tensor):
            self.outputs.pop(name, None)  # a module that runs again moves to the end
            self.outputs[name] = output

    def _check_seen(self, signals: Sequence[Tensor]) -> None:
        if any(signal.requires_grad and id(signal) not in self._seen for signal in signals):
            raise self.refuse(
                "an operation that runs outside Python", "use a network without torch.jit, autograd.Function or C++"
            )

    def _check_same(self, expected: Tensor) -> None:
        """Refuse a network whose logits changed, as they do if the result of an in-place operation was dropped."""
        slack, scale = max(1e-3, 8 * torch.finfo(expected.dtype).eps), float(expected.abs().max())
        if not torch.allclose(self.output, expected.to(self.output), rtol=slack, atol=0.1 * slack * scale):
            raise self.refuse(
                "this use of in-place operations", "use their results (x = relu(x)), or set inplace=False in the model"
            )


class AffineNetwork(Rewiring):
    """A forward pass of affine operations, and of those that :meth:`nonlinear` has a rule for; others are refused."""

    advice: ClassVar[str]  # for the refusal

    def nonlinear(self, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The result of an operation that is not affine; None without a rule for it."""
        raise NotImplementedError

    def operate(self, operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The operation itself if it is affine, else what its rule gives."""
        if operation in DROPOUT and kwargs.get("training", True):
            raise self.refuse("dropout that stays on", "pass training=self.training to it in the model")
        affine = is_affine(operation, args, kwargs)
        result = None if affine else self.nonlinear(operation, args, kwargs)
        if result is None:
            result = operation(*args, **kwargs)
            matters = operation in READS or any(True for _ in tensors_in(result))
            if matters and not affine and operation not in FILLED:
                raise self.refuse(name_of(operation), self.advice)
        return result


def is_affine(operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """True if the result is affine in the signals, the arguments that require a gradient.

    Norms are affine where they use stored statistics instead of the signal's.
    """
    signals = sum(tensor.requires_grad for tensor in tensors_in((args, kwargs)))
    first = args[0] if args else kwargs.get("input")
    if operation is functional.batch_norm:
        return not (kwargs.get("training") or (len(args) > 5 and args[5])) and args[1] is not None
    if operation is functional.instance_norm:
        return not kwargs.get("use_input_stats", True)
    if operation in DIVISIONS:
        rounded = kwargs.get("rounding_mode") is not None
        return signals == 1 and isinstance(first, Tensor) and first.requires_grad and not rounded
    if operation in LINEAR | PRODUCTS:
        return signals == 1
    return operation in SUMS | AVERAGE | MOVE | DROPOUT


def rectifier(operation: Operation, args: Sequence[Any], kwargs: Mapping[str, Any]) -> nn.Module | None:
    """A ReLU, or one with a ceiling such as ReLU6, as a module of its own; None for any other operation."""
    if operation in RELU:
        return nn.ReLU()
    if operation is functional.relu6:
        return nn.ReLU6()
    if operation in CLIP:
        given = {**dict(zip(("min_val", "max_val"), args[1:], strict=False)), **kwargs}
        bounds = {"min_val": -1.0, "max_val": 1.0, **given}
        return None if bounds["min_val"] else nn.Hardtanh(0.0, bounds["max_val"])
    return None


def tensors_in(values: Any) -> Iterator[Tensor]:
    """Every tensor in nested arguments."""
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, dict):
        yield from tensors_in(tuple(values.values()))
    elif isinstance(values, (tuple, list)):
        for value in values:
            yield from tensors_in(value)


def name_of(operation: Operation) -> str:
    """The name of an operation in errors."""
    return str(getattr(operation, "__name__", operation))


def names_of(operations: Iterable[Any]) -> str:
    """The names of operations in errors, one for all spellings and numbers of axes: ``add_`` is ``add``."""
    return ", ".join(sorted({re.sub(r"^linalg_|\dd$", "", name_of(operation).strip("_")) for operation in operations}))


def attention_by_head(
    linear: Callable[..., Tensor], attend: Callable[..., tuple[Tensor, Tensor]], refuse: Callable[[str], Exception],
    args: Sequence[Any], kwargs: Mapping[str, Any],
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Projections, attention by head and a projection, of (T, n, E), as ``nn.MultiheadAttention`` calls it.

    `attend` takes queries, keys and values (n, heads, T, E / heads) and gives what they give and the weights.
    """
    call = signature(functional.multi_head_attention_forward).bind(*args, **kwargs)
    call.apply_defaults()
    given = call.arguments
    masks = [given[name] for name in ("key_padding_mask", "attn_mask", "bias_k", "bias_v")]
    dropped = given["dropout_p"] and given["training"]
    if any(mask is not None for mask in masks) or given["add_zero_attn"] or dropped or given["query"].ndim != 3:
        raise refuse("masks, added keys or dropout, or no axis for the batch")
    separate = [given[f"{name}_proj_weight"] for name in "qkv"]
    weights = separate if given["use_separate_proj_weight"] else given["in_proj_weight"].chunk(3)
    biases = [None] * 3 if given["in_proj_bias"] is None else given["in_proj_bias"].chunk(3)
    tokens = (given[name] for name in ("query", "key", "value"))
    mixed, shares = attend(*(
        linear(*part).view(*part[0].shape[:2], given["num_heads"], -1).permute(1, 2, 0, 3)
        for part in zip(tokens, weights, biases, strict=True)
    ))  # fmt: skip
    shown = (shares.mean(dim=1) if given["average_attn_weights"] else shares) if given["need_weights"] else None
    return linear(mixed.permute(2, 0, 1, 3).flatten(2), given["out_proj_weight"], given["out_proj_bias"]), shown
