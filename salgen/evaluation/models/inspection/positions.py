"""The place in the image that each number within a network belongs to, followed through one forward pass.

`NetworkTrace` uses it to tell which axis of a layer's output counts channels and which count rows and
columns: a shape alone cannot tell (n, K, h, w) from (n, h, w, K), nor a grid from windows of one.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

Places = tuple[Tensor, Tensor]  # rows and columns; an axis along which they do not change has length 1

ROUNDING = 1e-5  # share of the image's sides, in float32: far below a pixel

_KEEPS = frozenset(
    {
        *("native_layer_norm", "native_group_norm", "native_batch_norm", "_native_batch_norm_legit_no_training"),
        *("cudnn_batch_norm", "miopen_batch_norm", "_fused_rms_norm", "_softmax", "_log_softmax", "cumsum"),
        *("_safe_softmax", "_to_copy", "hardswish", "hardtanh", "native_dropout", "roll", "flip"),
    }
)
_MOVES = frozenset({"index", "index_select", "gather", "repeat", "pixel_unshuffle", "channel_shuffle", "im2col"})
_RESHAPES = frozenset({"view", "_unsafe_view", "_reshape_alias"})
_PADS = frozenset({"constant_pad_nd", "reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d"})
_WINDOWS = frozenset(
    {
        *("convolution", "cudnn_convolution", "max_pool2d_with_indices", "avg_pool2d", "_adaptive_avg_pool2d"),
        *("adaptive_max_pool2d", "pixel_shuffle", "upsample_nearest2d", "_upsample_nearest_exact2d"),
        *("upsample_bilinear2d", "upsample_bicubic2d", "_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa"),
    }
)
_PRODUCTS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}  # to the number of arguments before the two factors
_MEANS = frozenset({"mean", "sum", "amax", "amin", "max", "min"})
_ATTENTION = "_scaled_dot_product"


class UncompiledMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """A dispatch mode that is not hidden from torch's compiler, which torch would import for that: a second or more."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False


class Positions(UncompiledMode):
    """A forward pass of one image in which the row and column of every number are followed.

    Rows and columns run from 0 to 1. What is computed number by number, or only moved, keeps its place.
    A mean or a product takes the mean place of what it sums over, and none if that leaves all in one
    place. A convolution or pool of axes 2 and 3 spreads places evenly over its output. Attention has
    its query's place. Parameters, class tokens, padding and the results of other operations have no
    place, NaN. So only the order of places means anything.

    Parameters
    ----------
    image
        (1, C, h, w), what the network takes.
    """

    def __init__(self, image: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        # by address, then by how a tensor looks at it; holding a storage keeps its address its own
        self._stores: dict[int, tuple[Any, dict[Any, Places]]] = {}
        self._write(image, _even(image))

    def of(self, tensor: Tensor) -> Places | None:
        """The places of a tensor's numbers; None if none has any."""
        store = self._stores.get(_address(tensor))
        if store is None:
            return None
        found = store[1].get(_look(tensor))
        return _read(_painted(*store, tensor.dtype), tensor) if found is None else found

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        result = func(*args, **(kwargs or {}))
        outputs = [leaf for leaf in tree_leaves(result) if isinstance(leaf, Tensor) and leaf.numel()]
        if outputs and torch.Tag.inplace_view not in func.tags:
            name = func._schema.name.partition("::")[2]
            if func._schema.is_mutable:
                self._overwrite(func, name.removesuffix("_"), args, outputs[0])
            elif func.is_view or _address(outputs[0]) in self._stores:
                self._look_at(func, name, args, outputs)
            else:
                self._write(outputs[0], self._follow(func, name, args, outputs[0]))
        return result

    def _overwrite(self, func: Any, name: str, args: Sequence[Any], output: Tensor) -> None:
        """Note what an operation writes into memory that other tensors may look at too."""
        places = self._follow(func, name, args, output)
        if torch.Tag.pointwise not in func.tags and _address(output) in self._stores:
            storage, looks = self._stores[_address(output)]
            painted = _painted(storage, looks, output.dtype)
            for part, new in zip(_read(painted, output), places or (torch.full((), torch.nan),) * 2, strict=True):
                part.copy_(new)
            looks.clear()
            looks[output.dtype, 0, (len(painted[0]),), (1,)] = painted
        else:
            self._write(output, places)

    def _look_at(self, func: Any, name: str, args: Sequence[Any], outputs: Sequence[Tensor]) -> None:
        """Note what an operation gives that only looks at memory in another way."""
        places = self.of(args[0])
        if places is None or name == "as_strided":
            return
        if name in _RESHAPES:
            self._write(outputs[0], _each(lambda part: _reshaped(part, args[0].shape, outputs[0].shape), places))
            return
        rows, columns = (func(part.expand(args[0].shape), *args[1:]) for part in places)
        for output, row, column in zip(outputs, tree_leaves(rows), tree_leaves(columns), strict=True):
            self._write(output, (_thin(row), _thin(column)))

    def _follow(self, func: Any, name: str, args: Sequence[Any], output: Tensor) -> Places | None:
        """The places of what an operation computes."""
        if torch.Tag.pointwise in func.tags:
            return self._pointwise([leaf for leaf in tree_leaves(args) if isinstance(leaf, Tensor)], output)
        if name in ("cat", "stack"):
            return self._joined(name, *args)
        if name in _PRODUCTS:
            left, right = args[_PRODUCTS[name] :][:2]
            return _mean(self.of(left), [-1]) or _mean(self.of(right), [-2])
        if name == "copy":  # within one memory it is circular padding
            return None if _address(args[1]) == _address(output) else self._pointwise([args[1]], output)
        first = args[0] if args else None
        places = self.of(first) if isinstance(first, Tensor) else None
        if name in _WINDOWS:
            return _spread_out(places, args[0], output)
        if places is None:
            return None
        if name in _KEEPS:
            return places if name not in ("roll", "flip") else _each(lambda part: func(part, *args[1:]), places)
        if name in _MOVES:
            return _each(lambda part: func(part.expand(args[0].shape), *args[1:]), places)
        if name in _PADS:
            return _each(lambda part: _padded(part, args[0].shape, args[1]), places)
        if name.startswith(_ATTENTION):
            return _mean(places, [-1])
        if name in _MEANS and len(args) > 1 and not isinstance(args[1], Tensor):
            return _reduced(places, args, output)
        return None

    def _pointwise(self, inputs: Sequence[Tensor], output: Tensor) -> Places | None:
        """The mean place of the inputs; of those that are not broadcast, if any of those has one."""
        found = [(tensor.shape == output.shape, self.of(tensor)) for tensor in inputs]
        whole = [places for is_whole, places in found if is_whole and places is not None]
        known = whole or [places for _, places in found if places is not None]
        if not known:
            return None
        rows, columns = known[0]
        for other in known[1:]:
            if other is not known[0]:
                rows, columns = _middle(rows, other[0]), _middle(columns, other[1])
        return _each(lambda part: part[(None,) * (output.ndim - part.ndim)], (rows, columns))

    def _joined(self, name: str, tensors: Sequence[Tensor], dim: int = 0) -> Places | None:
        """The places of tensors along an axis of theirs, or along a new one."""
        found = [self.of(tensor) for tensor in tensors]
        if all(places is None for places in found):
            return None
        known = [
            (torch.full((1,) * t.ndim, torch.nan, device=t.device),) * 2 if p is None else p
            for t, p in zip(tensors, found, strict=True)
        ]
        lengths = [1 if name == "stack" else tensor.shape[dim] for tensor in tensors]

        def join(parts: Sequence[Tensor]) -> Tensor:
            parts = [part.unsqueeze(dim) for part in parts] if name == "stack" else parts
            if all(part.shape == parts[0].shape and part.shape[dim] == 1 for part in parts) and all(
                torch.equal(part, parts[0]) for part in parts
            ):
                return parts[0]
            moved = [part.movedim(dim, 0) for part in parts]
            rest = torch.broadcast_tensors(*(part[0] for part in moved))[0].shape  # type: ignore[no-untyped-call]
            return torch.cat([p.expand(n, *rest) for p, n in zip(moved, lengths, strict=True)]).movedim(0, dim)

        return join([rows for rows, _ in known]), join([columns for _, columns in known])

    def _write(self, tensor: Tensor, places: Places | None) -> None:
        if places is not None:
            looks = self._stores.setdefault(_address(tensor), (tensor.untyped_storage(), {}))[1]
            looks[_look(tensor)] = places
        elif _address(tensor) in self._stores:
            self._stores[_address(tensor)][1].pop(_look(tensor), None)


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _look(tensor: Tensor) -> tuple[Any, ...]:
    """Key of a view: dtype, offset, shape and strides."""
    return tensor.dtype, tensor.storage_offset(), tuple(tensor.shape), tensor.stride()


def _painted(storage: Any, looks: Mapping[Any, Places], dtype: torch.dtype) -> Places:
    """The places of all numbers in a memory, each (m,), by those of the tensors that look at it."""
    painted = tuple(torch.full((storage.nbytes() // dtype.itemsize,), torch.nan, device=storage.device) for _ in "rc")
    for (own, offset, shape, steps), places in looks.items():
        if own == dtype and 0 not in steps:
            for part, new in zip(painted, places, strict=True):
                part.as_strided(shape, steps, offset).copy_(new.expand(shape))
    return painted[0], painted[1]


def _read(painted: Places, tensor: Tensor) -> Places:
    return _each(lambda part: part.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset()), painted)


def _each(change: Callable[[Tensor], Tensor], places: Places) -> Places:
    return change(places[0]), change(places[1])


def _thin(part: Tensor) -> Tensor:
    """The part with one number along each axis on which it was expanded."""
    for axis, step in enumerate(part.stride()):
        part = part if step else part.narrow(axis, 0, 1)
    return part


def _reshaped(part: Tensor, old: Sequence[int], new: Sequence[int]) -> Tensor:
    """The part for a tensor of shape `old` that is looked at as `new`; ends of both that agree stay thin."""
    left, most = 0, min(len(old), len(new))
    while left < most and old[left] == new[left] and part.shape[left] == 1:
        left += 1
    right = 0
    while right < most - left and old[-1 - right] == new[-1 - right] and part.shape[-1 - right] == 1:
        right += 1
    inner = part.expand(*[1] * left, *old[left : len(old) - right], *[1] * right)
    return _thin(inner.reshape(*[1] * left, *new[left : len(new) - right], *[1] * right))


def _padded(part: Tensor, shape: Sequence[int], widths: Sequence[int]) -> Tensor:
    """NaN where a tensor of that shape is padded, by widths from the last axis on."""
    padded = [axis for axis in range(len(widths) // 2) if widths[2 * axis] or widths[2 * axis + 1]]
    sizes = [shape[-1 - axis] if axis in padded else part.shape[-1 - axis] for axis in range(len(shape))]
    return functional.pad(part.expand(sizes[::-1]), list(widths), value=torch.nan)


def _middle(one: Tensor, other: Tensor) -> Tensor:
    return torch.stack(torch.broadcast_tensors(one, other)).nanmean(dim=0)  # type: ignore[no-untyped-call]


def _mean(places: Places | None, dims: Sequence[int]) -> Places | None:
    """Mean places over axes, which are kept; None if what differed comes to lie in one place."""
    if places is None:
        return None
    mean = _each(lambda part: part.nanmean(dim=list(dims), keepdim=True), places)
    return None if _extent(mean) <= ROUNDING < _extent(places) else mean


def _reduced(places: Places, args: Sequence[Any], output: Tensor) -> Places | None:
    source, dims = args[0], args[1]
    dims = [dims] if isinstance(dims, int) else list(dims or range(source.ndim))
    mean = _mean(places, dims)
    if mean is None or output.ndim == source.ndim:
        return mean
    kept = [axis for axis in range(source.ndim) if axis not in [dim % source.ndim for dim in dims]]
    return _each(lambda part: part.reshape([part.shape[axis] for axis in kept]), mean)


def _extent(places: Places) -> float:
    """How far the places lie apart, in rows or columns."""
    return max(float(spans(part.flatten(), 0)) for part in places)


def spans(values: Tensor, dim: int) -> Tensor:
    """The largest less the smallest along an axis, without those that are NaN; 0 if all are."""
    none = values.isnan()
    high, low = values.masked_fill(none, -torch.inf).amax(dim), values.masked_fill(none, torch.inf).amin(dim)
    return (high - low).clamp(min=0)


def _even(output: Tensor) -> Places:
    """Places of (n, K, h, w), rows on axis 2 and columns on axis 3, each (1, 1, h, w)."""
    h, w = output.shape[2:]
    rows, columns = (torch.linspace(0, 1, side, device=output.device) for side in (h, w))
    return rows[None, None, :, None].repeat(1, 1, 1, w), columns.repeat(1, 1, h, 1)


def _spread_out(places: Places | None, source: Tensor, output: Tensor) -> Places | None:
    """The places of what windows over the last axes of `source`, (n, K, w) or (n, K, h, w), give."""
    if places is None:
        return _even(output) if output.ndim == 4 and len(output) == 1 else None
    mean = _each(lambda part: part.nanmean(dim=1, keepdim=True), places)
    if source.shape[2:] == output.shape[2:]:
        return mean
    if output.ndim != 4:
        return None
    if len(output) > 1:  # parts of the image, each of which keeps its own extent
        stretch = partial(functional.interpolate, size=output.shape[2:], mode="bilinear", align_corners=True)
        return _each(lambda part: stretch(part.expand(len(output), 1, *source.shape[2:])), mean)
    rows, columns = (part[0, 0].expand(source.shape[2:]) for part in mean)
    if is_grid(rows, columns):
        return _even(output)
    return _each(lambda part: part.mT, _even(output.mT)) if is_grid(rows.mT, columns.mT) else None


def is_grid(rows: Tensor, columns: Tensor) -> bool:
    """True if rows (h, w) rise along the first axis alone, and columns along the second."""
    return _rises(rows) and _rises(columns.mT)


def _rises(values: Tensor) -> bool:
    """True if (h, w) values rise along the first axis, and differ by no more than a step along the second."""
    along = values.nanmean(dim=1)
    along = along[~along.isnan()]
    if not len(along):
        return False
    step = (along[-1] - along[0]) / max(1, len(along) - 1)
    rising = len(along) == 1 or bool(step > ROUNDING and (along.diff() >= -ROUNDING).all())
    return rising and bool((spans(values, 1) <= step + ROUNDING).all())
