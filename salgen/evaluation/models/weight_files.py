"""Files of weights: read without running code in them, and loaded into a network."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings
from salgen.errors import SalgenError, warn

if TYPE_CHECKING:
    from torch import Tensor, nn

SUFFIXES = (".pth", ".pt", ".safetensors")
# keys of the weights in a trainer's checkpoint
HOLDERS = ("", "state_dict", "model_state_dict", "model", "net", "network")
UNKNOWN = "<of a file>"  # module of the classes that stand for those whose code is not run


def read_tensors(file: Path) -> dict[str, Tensor]:
    """The tensors of a state dict by name, also of one within a trainer's checkpoint; no code in the file is run."""
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise SalgenError(f"weights = {file}: there is no such file; give the path of one, or scratch") from None
    except OSError as error:
        raise SalgenError(f"weights = {file} cannot be read: {error.strerror or error}") from None
    held: Any = None
    with suppress(Exception), catch_warnings(action="ignore"):  # a damaged file fails in any way; none of it is run
        held = _decode(data, file.suffix)
    found = dict(_state_dicts(held))
    named = [name for name in HOLDERS if name in found] or list(found)
    if not found:
        what = "is damaged, or is no state dict of tensors"
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


def load(network: nn.Module, tensors: Mapping[str, Tensor], source: str, advice: str, last_layer: str = "") -> None:
    """Load tensors into a network; `last_layer` stays as it is if theirs has another number of classes."""
    own = network.state_dict()
    loaded, reset = {}, set()
    for name, tensor in tensors.items():
        if name in own and tensor.shape != own[name].shape:
            same_columns = tensor.ndim == own[name].ndim and tensor.shape[1:] == own[name].shape[1:]
            if name in (f"{last_layer}.weight", f"{last_layer}.bias") and same_columns:
                reset.add(name)
                continue
            fault = f"{name!r} has shape {tuple(tensor.shape)}, not {tuple(own[name].shape)}"
            raise SalgenError(f"{source} does not fit: tensor {fault}; {advice}")
        loaded[name] = tensor
    # torch decides which names are required: older files lack some and spell others differently.
    missing, unknown = network.load_state_dict(loaded, strict=False)
    faults = {name: "missing" for name in missing if name not in reset} | dict.fromkeys(unknown, "unknown")
    wrong = next((name for name in faults if not name.lower().startswith("aux")), None)  # heads of training alone
    if wrong:
        raise SalgenError(f"{source} does not fit: tensor {wrong!r} is {faults[wrong]}; {advice}")
