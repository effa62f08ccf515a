"""Weights that a training starts from: read from a file or fetched, and fitted to other images and classes."""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings

from salgen.errors import SalgenError, warn

if TYPE_CHECKING:
    from torch import Tensor, nn

SCRATCH = "scratch"
IMAGENET = "imagenet"
SUFFIXES = (".pth", ".pt", ".safetensors")
# keys of the weights in a trainer's checkpoint
HOLDERS = ("", "state_dict", "model_state_dict", "model", "net", "network")
UNKNOWN = "<of a file>"  # module of the classes that stand for those whose code is not run
NO_STATE_DICT = "is damaged, or is not a state dict of tensors"
FOREIGN = {  # bytes near the beginning or end of other files
    b"constants.pkl": "is a TorchScript archive, for a function that loads it by torch.jit.load",
    b"\x89HDF": "is an HDF5 file, as of Keras",
    b"\x12\x07pytorch": "is an ONNX graph",
    b"git-lfs": "is a pointer, whose file is fetched by git lfs pull",
    b"<html": "is a web page",
}
TO_START = f"give weights of this architecture and set its parameters to what they were made with, or weights={SCRATCH}"


@dataclass(frozen=True)
class Seams:
    """The names of a network's first and last weights, which depend on images and classes."""

    input: str  # name of the convolution that sees the image
    # name of a tensor, one number per output of that convolution, that takes up a constant: its bias, or the running
    # mean of the batch norm after it
    offset: str
    logits: str  # name of the linear layer with an output for each class


def read_tensors(file: Path) -> dict[str, Tensor]:
    """The tensors of a state dict by name, also of one within a trainer's checkpoint; no code in the file is run."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise SalgenError(f"weights = {file}: there is no such file; give the path of one, or {SCRATCH}") from None
    except OSError as error:
        raise SalgenError(f"weights = {file} cannot be read: {error.strerror or error}") from None
    held: Any = None
    with suppress(Exception), catch_warnings(action="ignore"):  # a damaged file fails in any way; none of it is run
        held = _decode(data, file.suffix)
    found = dict(_state_dicts(held))
    named = [name for name in HOLDERS if name in found] or list(found)
    if not found:
        what = next((text for mark, text in FOREIGN.items() if mark in data[:64] + data[-(2**16) :]), NO_STATE_DICT)
        inner = held.values() if isinstance(held, Mapping) else ()
        if kind := next((type(part) for part in (held, *inner) if type(part).__module__ == UNKNOWN), None):
            what = f"holds an object of {kind.__name__}, whose code is not run"
        how = "restore it, or write it with torch.save(network.state_dict(), file) or safetensors"
        raise SalgenError(f"weights = {file} {what}: {how}")
    if named[0] not in HOLDERS and len(named) > 1:
        raise SalgenError(f"weights = {file} holds several state dicts ({', '.join(named)}): save one alone")
    if averaged := [name for name in found if "ema" in name.lower() and name != named[0]]:
        warn(f"weights = {file} holds {named[0]} and {averaged[0]}: {named[0]} is taken")
    return found[named[0]]


def imagenet_tensors(architecture: str) -> dict[str, Tensor]:
    """Torchvision's first ImageNet weights of an architecture, from its cache or downloaded."""
    import torch
    from torchvision.models import get_model_weights

    weights = get_model_weights(architecture).IMAGENET1K_V1
    cached = Path(torch.hub.get_dir()) / "checkpoints" / Path(weights.url).name
    try:
        tensors: dict[str, Tensor] = weights.get_state_dict(
            progress=sys.stderr.isatty(), map_location="cpu", check_hash=True, weights_only=True
        )
    except (OSError, HTTPException) as error:
        raise SalgenError(
            f"weights = {IMAGENET}: {weights.url} cannot be fetched ({_reason(error)}): download it to {cached} "
            f"yourself, or give weights=<its path> or weights={SCRATCH}"
        ) from None
    except Exception:  # a damaged file fails in any way; its content is never executed
        raise SalgenError(
            f"weights = {IMAGENET}: the file fetched from {weights.url} is damaged: remove {cached} if it "
            "exists, and try again"
        ) from None
    return tensors


def colour_map(colour: nn.Module, grey: nn.Module) -> tuple[Tensor, Tensor]:
    """Slope and offset (3,), float64, that turn a normalised grey value into its normalised colours.

    Parameters
    ----------
    colour, grey
        Normalisations, affine by channel, of images with 3 channels and with 1.
    """
    import torch

    black, white = torch.zeros(1, 3, 1, 1), torch.ones(1, 3, 1, 1)
    colours = [colour(image).flatten().double() for image in (black, white)]
    greys = [grey(image[:, :1]).flatten().double() for image in (black, white)]
    slope = (colours[1] - colours[0]) / (greys[1] - greys[0])
    return slope, colours[0] - slope * greys[0]


def to_grey(tensors: Mapping[str, Tensor], seams: Seams, slope: Tensor, offset: Tensor) -> dict[str, Tensor]:
    """Weights for 3 channels as weights for 1, such that a grey image means the same to both.

    The kernel is summed over the colours, each with its `slope`. What the colours' `offset` adds
    goes into the tensor `seams.offset`. Outputs are then equal up to rounding wherever the
    convolution sees no padding: with it, the two differ in what the padding's zeros stand for.

    Parameters
    ----------
    tensors
        By name, among them the input convolution's kernel (K, 3, h, w).
    slope, offset
        Float64 (3,), see :func:`colour_map`.
    """
    kernel, constant = tensors[f"{seams.input}.weight"], tensors.get(seams.offset)
    summed = (kernel.double() * slope.view(3, 1, 1)).sum(dim=1, keepdim=True)
    added = (kernel.double() * offset.view(3, 1, 1)).sum(dim=(1, 2, 3))
    grey = {**tensors, f"{seams.input}.weight": summed.to(kernel)}
    if constant is not None and constant.shape == added.shape:
        is_subtracted = seams.offset.endswith("running_mean")
        moved = constant.double() - added if is_subtracted else constant.double() + added
        grey[seams.offset] = moved.to(constant)
    return grey


def load(
    network: nn.Module, tensors: Mapping[str, Tensor], seams: Seams | None, source: str, advice: str = TO_START
) -> None:
    """Load tensors into a network; its last layer stays as it is if theirs has another number of classes.

    Without `seams` all layers are loaded, except for heads that are of training alone.
    """
    own = network.state_dict()
    last = [name for name in (f"{seams.logits}.weight", f"{seams.logits}.bias") if name in tensors] if seams else []
    reset = [name for name in last if _differ_in_rows(tensors[name], own[name])]
    loaded = {name: tensor for name, tensor in tensors.items() if name not in reset}
    for name in own:
        if name in loaded and loaded[name].shape != own[name].shape:
            fault = f"{name!r} has shape {tuple(loaded[name].shape)}, not {tuple(own[name].shape)}"
            raise SalgenError(f"{source} does not fit: tensor {fault}; {advice}")
    # torch decides which names are required: older files lack some and spell others differently.
    missing, unknown = network.load_state_dict(loaded, strict=False)
    faults = {name: "missing" for name in missing if name not in reset} | dict.fromkeys(unknown, "unknown")
    wrong = next((name for name in faults if not name.lower().startswith("aux")), None)
    if wrong:
        raise SalgenError(f"{source} does not fit: tensor {wrong!r} is {faults[wrong]}; {advice}")


def without_prefixes(tensors: Mapping[str, Tensor], own: Collection[str]) -> dict[str, Tensor]:
    """Tensors under the names `own` of a network, without what a wrapper, a trainer or a checkpoint put before them."""
    kept = {
        name if name in own else re.sub(r"(^|\.)(_orig_mod|module)\.", r"\1", name): tensor
        for name, tensor in tensors.items()
        if name in own or not re.match(r"normalise\.|n_averaged$|criterion\.|loss\w*\.", name)
    }
    while kept and not any(name in own for name in kept):
        prefix = next(iter(kept)).partition(".")[0] + "."
        if not all(name.startswith(prefix) for name in kept):
            break
        kept = {name.removeprefix(prefix): tensor for name, tensor in kept.items()}
    return kept


def _differ_in_rows(first: Tensor, second: Tensor) -> bool:
    """True if two tensors differ in their number of rows alone."""
    return first.ndim == second.ndim and len(first) != len(second) and first.shape[1:] == second.shape[1:]


def _decode(data: bytes, suffix: str) -> Any:
    import safetensors.torch
    import torch

    if suffix == ".safetensors":
        return safetensors.torch.load(data)
    stand_ins: list[Any] = []
    with suppress(Exception):  # files before torch 1.6 do not say it
        for name in torch.serialization.get_unsafe_globals_in_checkpoint(BytesIO(data)):
            members = {"__module__": UNKNOWN, "__init__": lambda *_: None, "__setstate__": lambda *_: None}
            stand_ins.append((type(name, (dict,), members), name))
    with torch.serialization.safe_globals(stand_ins):  # such as a trainer's settings, beside the weights
        return torch.load(BytesIO(data), map_location="cpu", weights_only=True)


def _state_dicts(held: Any, holder: str = "") -> Iterator[tuple[str, dict[str, Tensor]]]:
    """The mappings of names to tensors within what a file holds, by their keys."""
    import torch

    if isinstance(held, Mapping) and held and all(isinstance(name, str) for name in held):
        if all(isinstance(tensor, torch.Tensor) for tensor in held.values()):
            yield holder, dict(held)
        else:
            for name, inner in held.items():
                yield from _state_dicts(inner, name)


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", None) or error or type(error).__name__).partition("\n")[0]
