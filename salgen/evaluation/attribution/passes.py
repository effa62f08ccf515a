"""The forward and backward pass of a batch, run once for all methods that read from it, who share its time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import InitVar, dataclass
from functools import partial
from typing import Any, TypeVar
import torch
from torch import Tensor, nn
from salgen.evaluation.models.inspection.layers import find_layer
from salgen.evaluation.models.inspection.model_view import ModelView, score_gradient
from salgen.evaluation.models.inspection.network_trace import hooked
from salgen.evaluation.models.inspection.probe import now

T = TypeVar("T")


class TimedCache:
    """Values that several methods need: each is computed once, and its time divided among those who asked."""

    def __init__(self) -> None:
        self._values: dict[Hashable, Any] = {}
        self._seconds: dict[Hashable, float] = {}
        self._users: dict[Hashable, set[str]] = {}
        self._own: dict[str, float] = {}
        self._user: str | None = None
        self._inner = [0.0]  # time spent in cached values that the running computation reads

    def get(self, key: Hashable, compute: Callable[[], T]) -> T:
        """The value of `key`, computed on first use."""
        if key not in self._values:
            self._values[key], self._seconds[key] = self._timed(compute)
        if self._user is not None:
            self._users.setdefault(key, set()).add(self._user)
        value: T = self._values[key]
        return value

    def run(self, user: str, work: Callable[[], T]) -> T:
        """The result of `work`, whose time counts as the user's own."""
        self._user = user
        try:
            result, self._own[user] = self._timed(work)
        finally:
            self._user = None  # work between users counts for no user
        return result

    def seconds(self) -> dict[str, float]:
        """Per user: the time of its own work, and its share of what it had in common with others."""
        shares = {
            user: sum(self._seconds[key] / len(users) for key, users in self._users.items() if user in users)
            for user in self._own
        }
        return {user: own + shares[user] for user, own in self._own.items()}

    def release(self) -> None:
        """Forget the values, calling their own `release` where they have one."""
        for value in self._values.values():
            if callable(getattr(value, "release", None)):
                value.release()
        self._values.clear()

    def _timed(self, work: Callable[[], T]) -> tuple[T, float]:
        self._inner.append(0.0)
        started = now()
        try:
            result = work()
        finally:
            elapsed = now() - started
            inner = self._inner.pop()
            self._inner[-1] += elapsed
        return result, elapsed - inner


@dataclass(frozen=True)
class PassRequirements:
    """The values that methods read from the shared pass; layers are dotted names of modules."""

    layers: frozenset[str] = frozenset()  # where outputs are read, and nothing else
    gradients: frozenset[str] = frozenset()  # where the score's gradient is read, and maybe the outputs
    input_gradient: bool = False  # whether the gradient at the network's input is read

    @classmethod
    def together(cls, parts: Iterable[PassRequirements]) -> PassRequirements:
        """The union of several requirements."""
        requirements = list(parts)
        return cls(
            layers=frozenset().union(*(part.layers for part in requirements)),
            gradients=frozenset().union(*(part.gradients for part in requirements)),
            input_gradient=any(part.input_gradient for part in requirements),
        )


@dataclass(eq=False)
class Passes:
    """One forward pass, and at most one backward pass, of a batch of normalised images (n, C, h, w).

    Nothing runs before it is first read. The graph begins at the first layer whose gradient is
    required, or at the input if its gradient is. Without either there is no graph. A value outside the
    requirements gets a pass of its own. `stated` are the classes to explain, int64 (n,); None the predicted ones.
    """

    model: ModelView
    inputs: Tensor
    requirements: PassRequirements
    stated: Tensor | None = None
    score: str = "logit"
    shared: InitVar[TimedCache | None] = None

    def __post_init__(self, shared: TimedCache | None) -> None:
        self.cache = shared or TimedCache()  # the values computed so far, with their times
        self._outputs: dict[str, Tensor] = {}
        self._places: dict[str | None, list[Tensor]] = {}  # where gradients are read; the input's key is None

    def logits(self) -> Tensor:
        """Checked logits (n, K), detached."""
        return self._forward().detach()

    def targets(self) -> Tensor:
        """int64 (n,): the class that each map explains."""
        return self.logits().argmax(dim=1) if self.stated is None else self.stated

    def output(self, layer: str) -> Tensor:
        """The layer's output in whatever shape it has; of its last call, if it is called more than once."""
        if layer not in self.requirements.layers | self.requirements.gradients:
            return self._separate_pass(PassRequirements(layers=frozenset({layer}))).output(layer)
        self._forward()
        return self._outputs[layer]

    def gradient(self, layer: str) -> Tensor:
        """The score's gradient at the output of the layer's last call, shaped as the output."""
        return self.gradients(layer)[-1]

    def gradients(self, layer: str) -> list[Tensor]:
        """The score's gradient at the output of each call of the layer, in order."""
        if layer not in self.requirements.gradients:
            return self._separate_pass(PassRequirements(gradients=frozenset({layer}))).gradients(layer)
        self.output(layer)
        return self._backward()[layer]

    def input_gradient(self) -> Tensor:
        """The score's gradient at the input, (n, C, h, w)."""
        if not self.requirements.input_gradient:
            return self._separate_pass(PassRequirements(input_gradient=True)).input_gradient()
        return self._backward()[None][0]

    def _forward(self) -> Tensor:
        """Logits with the graph that the requirements ask for."""
        return self.cache.get(("forward", self.requirements), self._run_forward)

    def _backward(self) -> dict[str | None, list[Tensor]]:
        """Gradients at every required place, zero where the score does not depend on it."""
        self._forward()
        return self.cache.get(("backward", self.requirements), self._run_backward)

    def _separate_pass(self, requirements: PassRequirements) -> Passes:
        return self.cache.get(
            requirements, lambda: Passes(self.model, self.inputs, requirements, self.stated, self.score, self.cache)
        )

    def _run_forward(self) -> Tensor:
        requirements = self.requirements
        names = sorted(requirements.layers | requirements.gradients)
        leaf = self.inputs.detach().requires_grad_(requirements.input_gradient)
        if requirements.input_gradient:
            self._places[None] = [leaf]
        hooks = [(find_layer(self.model, name), partial(self._keep, name)) for name in names]
        with torch.set_grad_enabled(bool(requirements.gradients) or requirements.input_gradient), hooked(hooks):
            return self.model.logits(leaf)

    def _keep(self, name: str, _module: nn.Module, _inputs: Any, output: Tensor) -> Tensor:
        """Keep a layer's output; the graph begins here if its gradient is required, not earlier."""
        kept = output
        if name in self.requirements.gradients:
            kept = output if output.requires_grad else output.detach().requires_grad_()
            self._places.setdefault(name, []).append(kept)
        self._outputs[name] = kept.detach()
        with torch.set_grad_enabled(kept.requires_grad):  # the layer alone may run without gradient
            return kept.clone()  # what follows may work in place

    def _run_backward(self) -> dict[str | None, list[Tensor]]:
        logits, places = self._forward(), [place for calls in self._places.values() for place in calls]
        gradients: list[Tensor | None] = [None] * len(places)
        if logits.requires_grad:
            start = score_gradient(logits.detach(), self.targets(), self.score)
            score = (logits * start).sum()  # with the start as an argument torch would import sympy, for a second
            with self.model.failures(self.inputs, "has no gradient"):
                gradients = list(torch.autograd.grad(score, places, allow_unused=True))
        pairs = zip(places, gradients, strict=True)
        found = (torch.zeros_like(place) if gradient is None else gradient for place, gradient in pairs)
        return {name: [next(found) for _ in calls] for name, calls in self._places.items()}
