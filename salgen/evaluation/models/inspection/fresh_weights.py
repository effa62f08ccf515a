"""Copies of a network with weights that have learnt nothing: of the whole network, or of some layers."""

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
import torch
from torch import Tensor, nn
from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache
from salgen.evaluation.models.inspection.random_state import random_state

Layer = tuple[str, ...]  # dotted names of the modules that start anew together


def untrained(view: ModelView, seed: int) -> ModelView:
    """A view of the same network with fresh weights, which depend on `seed` alone: the floor of every comparison."""
    every = [name for name, _ in view.network.named_modules()]
    return _restarted(view, {(seed, "untrained"): every})


def randomised(
    view: ModelView, layers: Sequence[Layer], cascading: bool, stages: Iterable[int], seed: int
) -> Iterator[ModelView]:
    """Views of the same network with fresh weights in some layers of :func:`layers_of`; `view` stays as it is.

    Stage k of `stages`, which ascend, has ``layers[k]`` drawn anew, and if `cascading` those before it too. A layer's
    weights depend on the seed and its modules' names alone.
    """
    done = 0
    for k in stages:
        chosen = [name for layer in layers[done if cascading else k : k + 1] for name in layer]
        fresh = _restarted(view, {(seed, "randomised", name): [name] for name in chosen})
        yield fresh
        if cascading:
            view, done = fresh, k + 1


def _restarted(view: ModelView, names: Mapping[tuple[int | str, ...], Iterable[str]]) -> ModelView:
    """A view of a copy whose modules of these names start anew, each group from the random state of its key.

    They are drawn on the CPU, so that weights are the same on every device.
    """
    device = next((p.device for p in view.network.parameters()), torch.device("cpu"))
    network = copy.deepcopy(view.network).cpu()
    for key, group in names.items():
        with random_state(*key):
            for name in group:
                _restart(network.get_submodule(name))
    return replace(view, network=network.requires_grad_(False).eval().to(device))


def _restart(module: nn.Module) -> None:
    """Draw a module's parameters and learnt buffers anew; what ``reset_parameters`` leaves is put in random order."""
    saved = {name for name, _ in module.named_buffers(recurse=False)} - module._non_persistent_buffers_set
    own = [*module.parameters(recurse=False), *(module.get_buffer(name) for name in sorted(saved))]
    before = [tensor.detach().clone() for tensor in own]
    reset = getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)
    if callable(reset):
        with suppress(Exception):  # one of the user's may need arguments
            reset()
    for tensor, old in zip(own, before, strict=True):
        if tensor.is_floating_point() and torch.equal(tensor, old):
            values = old.flatten()[torch.randperm(old.numel())]
            alone = old.numel() == 1 and isinstance(tensor, nn.Parameter)
            tensor.data = (values * torch.randn(1) if alone else values).view_as(old).to(old.dtype)


def layers_of(view: ModelView, image: Tensor) -> list[Layer]:
    """The layers of a network from the logits down, by one normalised image (1, C, h, w), in the order of first calls.

    A layer is a module with a weight of two axes or more, and the modules with vectors only that follow. Weights that
    the logits do not depend on are left out.
    """
    return list(_layers.of("parameter-randomization", view, image))


def _find_layers(name: str, view: ModelView, image: Tensor) -> tuple[Layer, ...]:
    used, called = _trace_calls(copy.deepcopy(view.network).requires_grad_(True), view, image)

    def call_order(name: str) -> int:
        """The order of a module's first call, or of the nearest module that contains it."""
        while name and name not in called:
            name = name.rpartition(".")[0]
        return called.get(name, -1)

    layers: list[list[str]] = []
    before: list[str] = []  # modules with vectors only, before the first layer with a weight
    for own in sorted(_with_state(view.network, used), key=call_order):
        module = view.network.get_submodule(own)
        if any(parameter.ndim > 1 for parameter in module.parameters(recurse=False)):
            layers.append([*before, own])
            before = []
        else:
            (layers[-1] if layers else before).append(own)
    if not layers:
        raise SalgenError(f"{name}: the model has no layer with weights, so that nothing can be drawn anew")
    return tuple(tuple(layer) for layer in reversed(layers))


_layers = NetworkCache(_find_layers)


def _trace_calls(network: nn.Module, view: ModelView, image: Tensor) -> tuple[set[str], dict[str, int]]:
    """The parameters that the logits depend on, and the order in which modules are first called."""
    called: dict[str, int] = {}

    def note(name: str, *_: object) -> None:
        called.setdefault(name, len(called))

    for name, module in network.named_modules():
        if not isinstance(module, torch.jit.ScriptModule):
            module.register_forward_pre_hook(partial(note, name))
    with torch.enable_grad():
        logits = replace(view, network=network).logits(image)
    named = dict(network.named_parameters())
    if not logits.requires_grad:  # without gradients no unused parameter can be told
        return set(named), called
    gradients = torch.autograd.grad(logits.sum(), list(named.values()), allow_unused=True)
    return {name for name, gradient in zip(named, gradients, strict=True) if gradient is not None}, called


def _with_state(network: nn.Module, used: set[str]) -> Iterator[str]:
    """Modules with parameters or buffers of their own, without those whose parameters are all unused."""
    for name, module in network.named_modules():
        parameters = [f"{name}.{own}".lstrip(".") for own, _ in module.named_parameters(recurse=False)]
        buffers = any(True for _ in module.buffers(recurse=False))
        if any(own in used for own in parameters) or (buffers and not parameters):
            yield name
