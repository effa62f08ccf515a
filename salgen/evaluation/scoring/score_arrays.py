"""The array arguments of `score`: NumPy or tensors, checked, and brought into one form."""

from collections.abc import Callable
from typing import Any
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.types import Float32, Mask, SaliencyMap


def as_images(images: Any, shape: tuple[int, ...]) -> Float32:
    """float32 (N, C, H, W), finite, of the maps' size."""
    wanted = f"(N, C, H, W), one per map, like the maps {shape}"
    return _as_floats(images, "images", wanted, lambda own: len(own) == 4 and (own[0], *own[2:]) == shape)


def as_twins(twins: Any, images: Float32 | None, count: int) -> list[Float32 | None]:
    """For each map float32 (C, H, W), or None."""
    if not hasattr(twins, "__len__") or isinstance(twins, str) or len(twins) != count:
        raise SalgenError(f"twins must be {count} images, one per map, or None where there is none")
    like = None if images is None else images.shape[1:]
    wanted = f"(C, H, W), or None; the images are {like or 'not given'}"

    def fits(own: tuple[int, ...]) -> bool:
        return len(own) == 3 and like in (None, own)

    return [None if twin is None else _as_floats(twin, "twins", wanted, fits) for twin in twins]


def as_attributions(attributions: Any, shape: tuple[int, ...]) -> Float32:
    """float32 (N, rows, columns), finite; rows and columns divide those of the maps."""

    def divides(own: tuple[int, ...]) -> bool:
        return len(own) == 3 and own[0] == shape[0] and all(own) and not (shape[1] % own[1] or shape[2] % own[2])

    wanted = f"(N, rows, columns), whose rows and columns divide those of the maps {shape}"
    return _as_floats(attributions, "attributions", wanted, divides)


def _as_floats(values: Any, name: str, wanted: str, fits: Callable[[tuple[int, ...]], bool]) -> Float32:
    """float32, finite, of a shape that fits."""
    array = _as_array(values)
    if array.dtype.kind != "f" or not fits(array.shape):
        raise SalgenError(f"{name} are {array.dtype} of shape {array.shape}: must be floating-point {wanted}")
    if not np.isfinite(array).all():
        raise SalgenError(f"{name} have NaN or infinite values: leave those samples out")
    return array.astype(np.float32, copy=False)


def as_targets(targets: Any, count: int) -> NDArray[np.int64]:
    """int64 (N,)."""
    array = _as_array(targets)
    if array.dtype.kind not in "iu" or array.shape != (count,):
        raise SalgenError(f"targets are {array.dtype} of shape {array.shape}: must be {count} integers, one per map")
    return array.astype(np.int64)


def as_correct(correct: Any, count: int) -> NDArray[np.bool_]:
    """Bool (N,)."""
    array = _as_bool(correct, "correct")
    if array.shape != (count,):
        raise SalgenError(f"correct has shape {array.shape}: must be ({count},), one per map")
    return array


def as_maps(maps: Any, name: str = "maps") -> Values:
    """float32 or float64 (N, H, W), in the given type where it is one of these."""
    array = _as_array(maps.values if isinstance(maps, SaliencyMap) else maps)
    if not array.ndim:
        raise SalgenError(f"{name} are no array (N, H, W), one map per image: load a file first, or run  salgen score")
    if array.ndim != 3:
        raise SalgenError(f"{name} have shape {array.shape}: must be (N, H, W), one map per image")
    if array.dtype.kind not in "fiub":
        raise SalgenError(f"{name} are of type {array.dtype}: must be real numbers")
    exact = array.dtype.kind in "fb" and array.dtype.itemsize <= 4
    return array.astype(np.float32 if exact else np.float64, copy=False)


def as_masks(masks: Any, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Masks as bool (N, K, H, W)."""
    array = _as_bool(masks, "masks")
    if array.shape == shape:
        return array[:, np.newaxis]
    if array.ndim == 4 and array.shape[1] and (array.shape[0], *array.shape[2:]) == shape:
        return array
    raise SalgenError(f"masks have shape {array.shape} and maps {shape}: must be (N, H, W) like these, or (N, K, H, W)")


def as_valid(valid: Any, shape: tuple[int, ...]) -> Mask:
    """Bool (N, H, W)."""
    array = _as_bool(valid, "valid")
    if array.shape not in (shape, shape[1:]):
        raise SalgenError(f"valid has shape {array.shape} and maps {shape}: valid must be (H, W) or (N, H, W)")
    return np.broadcast_to(array, shape)


def _as_bool(values: Any, name: str) -> NDArray[np.bool_]:
    array = _as_array(values)
    wrong = array[(array != 0) & (array != 1)] if array.dtype.kind != "b" else array[:0]
    if array.dtype.kind not in "bfiu" or wrong.size:
        held = f"the value {wrong.flat[0]}" if wrong.size else str(array.dtype)
        raise SalgenError(f"{name} hold {held}: must be bool, or 0 and 1; compare first, as {name} > 0")
    return array.astype(np.bool_, copy=False)


def _as_array(values: Any) -> NDArray[Any]:
    """A NumPy array of an array or a tensor; torch is not imported."""
    if isinstance(values, np.ma.MaskedArray):
        raise SalgenError("an array of numpy.ma hides values: give plain arrays, and valid= for the scored region")
    try:
        if hasattr(values, "detach"):
            values = values.detach().cpu()
            values = (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()
        return np.asarray(values)
    except (ValueError, TypeError) as error:  # ragged lists, sparse tensors
        raise SalgenError(f"not a dense array: {error}") from None
