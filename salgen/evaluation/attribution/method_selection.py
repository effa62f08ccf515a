"""The methods that a run uses, chosen by names, calls with parameters, and groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from salgen.errors import SalgenError
from salgen.evaluation.attribution.attribution_context import Method
from salgen.evaluation.attribution.batch_explainer import check_methods
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.parameters import call_text, parse_call
from salgen.registry import METHODS, PROTOCOLS

ALL, DEMO = "all", "demo"
# The default at scale demo: one to three of each family, the best known and cheap first. Patterns are missing, as they
# are fitted to the training images, and the kin of those that are here.
DEMO_METHODS = (
    *("gradient", "smoothgrad", "integrated-gradients"),  # gradients
    *("guided-backprop", "lrp-alpha-beta", "deep-lift", "excitation-backprop"),  # changed backward passes
    *("grad-cam", "layer-cam"),  # class activation maps
    *("occlusion", "rise", "lime"),  # what happens when parts of the image are removed
    "attention-rollout",  # only where the network has attention
)


@dataclass(frozen=True)
class Selection:
    """Methods by their calls.

    Attributes
    ----------
    named
        Methods chosen by name or by a protocol.
    others
        Methods that ``all`` or the default adds, and the controls.
    """

    named: dict[str, Method]
    others: dict[str, Method]

    @property
    def methods(self) -> dict[str, Method]:
        """All of them, the controls last."""
        everything = {**self.named, **self.others}
        return dict(sorted(everything.items(), key=lambda item: item[1].control))

    def defined_for(
        self, model: nn.Module, pixels: Tensor, lacking: Mapping[str, str] | None = None
    ) -> tuple[dict[str, Method], dict[str, str]]:
        """The methods that can explain a model, and the reasons why the others cannot.

        Parameters
        ----------
        pixels
            One image (1, C, H, W) as the model takes it.
        lacking
            Needs that cannot be met here, and the reasons.

        Raises
        ------
        SalgenError
            If a method chosen by name cannot explain it.
        """
        view, left_out = ModelView.of(model), {}
        for call, method in self.methods.items():
            try:
                _check_needs(method, lacking or {})
                check_methods(view, {call: method}, pixels)
            except SalgenError as error:
                if call in self.named:
                    raise
                left_out[call] = str(error)
        return {call: method for call, method in self.methods.items() if call not in left_out}, left_out


def _check_needs(method: Method, lacking: Mapping[str, str]) -> None:
    for need, why in lacking.items():
        if need in method.needs:
            raise SalgenError(f"{method.name} {why}")


def select_methods(
    calls: Sequence[str] | None,
    scale: str = "full",
    earlier: Sequence[str] = (),
    outside: Mapping[str, Any] | None = None,
) -> Selection:
    """Methods by their calls, the controls always among them.

    Parameters
    ----------
    calls
        Names, calls with parameters, or groups (``all``, a protocol's name); None means no others than the `earlier`
        ones, or without any ``all``, at scale demo `DEMO_METHODS`.
    scale
        The scale whose defaults hold for parameters that a call does not set.
    earlier
        Calls with all their parameters, from the record of a run, that come first.
    outside
        Methods that are not registered, by their names. With them, None means no others than the `earlier` ones.

    Raises
    ------
    SalgenError
        If a name or a parameter is unknown.
    """
    requested = list(calls or [])
    named = [METHODS.create(*parse_call(call)) for call in earlier]
    named += [_create(text, scale) for call in requested if call != ALL for text in _expand(call)]
    by_default = DEMO_METHODS if scale == DEMO else METHODS.names()
    chosen = METHODS.names() if ALL in requested else () if named or outside else by_default
    added = dict.fromkeys([*chosen, *(name for name in METHODS.names() if METHODS.load(name).control)])
    other_methods = [_create(name, scale) for name in added]
    return Selection({call_text(m): m for m in named} | dict(outside or {}), {call_text(m): m for m in other_methods})


def check_methods_given(methods: Any) -> list[Any]:
    """One or several methods as a list."""
    listed = [methods] if isinstance(methods, str) else methods
    if isinstance(listed, Mapping) or not isinstance(listed, Iterable):
        raise SalgenError(f"methods = {methods!r}: give a list of names, or of calls such as 'grad-cam:layer=layer4'")
    chosen = list(listed)
    if not chosen:
        raise SalgenError("no method was chosen: give at least one")
    return chosen


def _create(call: str, scale: str) -> Method:
    if not isinstance(call, str):
        raise SalgenError(f"method {call!r}: must be text, a name or a call such as 'grad-cam:layer=layer4'")
    plugin = METHODS.load(call.partition(":")[0].strip())  # an unknown name is said before what is behind the colon
    name, values = parse_call(call)
    method: Method = METHODS.create(name, {**plugin.scales.get(scale, {}), **values})
    return method


def _expand(call: str) -> Iterator[str]:
    if call in PROTOCOLS.entries:
        yield from PROTOCOLS.load(call).methods
    else:
        yield call
