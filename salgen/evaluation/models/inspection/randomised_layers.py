"""A model whose layers lose what they have learnt, from the logits down or one at a time."""

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor, nn

from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.model_view import ModelView, NetworkCache
from salgen.evaluation.models.inspection.random_state import random_state
from salgen.evaluation.models.inspection.untrained_model import restart

Layer = tuple[str, ...]  # dotted names of the modules that start anew together


def layers_of(view: ModelView, image: Tensor) -> list[Layer]:
    """The layers of a network from the logits down.

    A layer is a module with a weight of two axes or more, and after it those modules that have vectors only, such
    as its batch norm. Modules count in the order in which they are first called; one that is called by nothing but its
    parent's code counts with its parent. Weights that the logits do not depend on are left out.

    Parameters
    ----------
    image
        One normalised image (1, C, h, w); it is run once per network and size.
    """
    return list(_layers.of("parameter-randomization", view, image))


def randomised(
    view: ModelView, layers: Sequence[Layer], cascading: bool, stages: Iterable[int], seed: int
) -> Iterator[ModelView]:
    """Views of the same network with fresh weights in some layers; `view` stays as it is.

    A layer's weights depend on the seed and its modules' names alone. They are drawn on the CPU, hence the
    same on every device.

    Parameters
    ----------
    layers
        The layers, from :func:`layers_of`.
    cascading
        Stage k has all layers up to ``layers[k]`` drawn anew; otherwise that one alone.
    stages
        Values of k, in ascending order.
    """
    network, done = view.network, 0
    for k in stages:
        chosen = [name for layer in layers[done if cascading else k : k + 1] for name in layer]
        fresh = _with_fresh_weights(network, chosen, seed)
        yield replace(view, network=fresh)
        if cascading:
            network, done = fresh, k + 1


def _with_fresh_weights(network: nn.Module, names: Sequence[str], seed: int) -> nn.Module:
    """A copy of a network in which the named modules have fresh weights."""
    device = next((p.device for p in network.parameters()), torch.device("cpu"))
    fresh = copy.deepcopy(network).cpu()
    modules = dict(fresh.named_modules())
    for name in names:
        with random_state(seed, "randomised", name):
            restart(modules[name])
    return fresh.requires_grad_(False).eval().to(device)


def _find_layers(name: str, view: ModelView, image: Tensor) -> tuple[Layer, ...]:
    used, called = _trace_calls(copy.deepcopy(view.network).requires_grad_(True), view, image)
    layers: list[list[str]] = []
    before: list[str] = []  # modules with vectors only, before the first layer with a weight
    for own in sorted(_with_state(view.network, used), key=lambda own: _call_order(own, called)):
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

    handles = [
        module.register_forward_pre_hook(partial(note, name))
        for name, module in network.named_modules()
        if not isinstance(module, torch.jit.ScriptModule)
    ]
    with torch.enable_grad():
        logits = replace(view, network=network).logits(image)
    for handle in handles:
        handle.remove()
    named = dict(network.named_parameters())
    if not logits.requires_grad:  # without gradients no unused parameter can be told
        return set(named), called
    gradients = torch.autograd.grad(logits.sum(), list(named.values()), allow_unused=True)
    return {name for name, gradient in zip(named, gradients, strict=True) if gradient is not None}, called


def _with_state(network: nn.Module, used: set[str]) -> Iterator[str]:
    """Modules with parameters or buffers of their own, without those whose parameters are all unused."""
    for name, module in network.named_modules():
        parameters = [f"{name}.{own}".lstrip(".") for own, _ in module.named_parameters(recurse=False)]
        if any(own in used for own in parameters) or (
            not parameters and any(True for _ in module.buffers(recurse=False))
        ):
            yield name


def _call_order(name: str, called: dict[str, int]) -> int:
    """The order of a module's first call, or of the nearest module that contains it."""
    while name and name not in called:
        name = name.rpartition(".")[0]
    return called.get(name, -1)
