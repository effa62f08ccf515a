"""The methods that a run uses, chosen by names, calls with parameters, and groups."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple
from torch import Tensor, nn
from salgen.errors import SalgenError, UndefinedMethodError
from salgen.evaluation.attribution.attribution_context import Method
from salgen.evaluation.attribution.batch_explainer import check_methods
from salgen.evaluation.attribution.foreign_methods import ForeignMethod, check_name, foreign_method, is_foreign
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.import_paths import split_name
from salgen.parameters import build, call_text, parse_call
from salgen.registry import METHODS, PROTOCOLS

ALL, QUICK, DEMO = "all", "quick", "demo"
# What the group `quick` leaves out: methods that take hundreds of passes an image, one for each mask or channel.
DEAR = ("score-cam", "ablation-cam", "occlusion", "rise", "lime", "kernel-shap")
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
class MethodSelection:
    """Methods by their calls."""

    named: dict[str, Method]  # methods chosen by name or by a protocol
    others: dict[str, Method]  # methods that ``all`` or the default adds, and the controls

    @property
    def methods(self) -> dict[str, Method]:
        """All of them, the controls last."""
        everything = {**self.named, **self.others}
        return dict(sorted(everything.items(), key=lambda item: item[1].control))

    def defined_for(
        self, model: nn.Module | ModelView, pixels: Tensor, lacking: Mapping[str, str] | None = None
    ) -> tuple[dict[str, Method], dict[str, str]]:
        """The methods that can explain a model, and the reasons why the others cannot.

        `pixels` is one image (1, C, H, W) as the model takes it; `lacking` has needs that cannot be met, and reasons.
        """
        view, left_out = ModelView.of(model), {}
        for call, method in self.methods.items():
            try:
                for need in method.needs & (lacking or {}).keys():
                    raise SalgenError(f"{method.name} {(lacking or {})[need]}")
                check_methods(view, {call: method}, pixels)
            except SalgenError as error:
                left_out[call] = str(error)
        defined = {call: method for call, method in self.methods.items() if call not in left_out}
        check_some_work(defined, self.methods, left_out)
        return defined, left_out


def check_some_work(working: Mapping[str, Method], chosen: Mapping[str, Method], left_out: Mapping[str, str]) -> None:
    """Raise an UndefinedMethodError if all chosen methods but controls are left out, with the reasons of the first."""
    reasons = (left_out[call] for call, method in chosen.items() if call in left_out and not method.control)
    refused = list(dict.fromkeys(reasons))
    if refused and all(method.control for method in working.values()):
        more = f"; and {len(refused) - 3} more reasons" if len(refused) > 3 else ""
        raise UndefinedMethodError("; ".join(refused[:3]) + more)


def select_methods(
    calls: Sequence[Any] | None,
    scale: str = "full",
    earlier: Sequence[Any] = (),
    outside: Mapping[str, Any] | None = None,
) -> MethodSelection:
    """Methods by their calls, the controls always among them.

    Calls are names, calls with parameters, methods, or groups: ``all``, ``quick`` (all but `DEAR`), a protocol's name.
    None means no others than the `earlier` ones of a run's record and the maps from `outside`; without any, ``all``, or
    at scale demo `DEMO_METHODS`. The scale's defaults hold for parameters that a call does not set.
    """
    requested = list(calls or [])
    named = [METHODS.create(*parse_call(call)) if isinstance(call, str) else call for call in earlier]
    for call in requested:
        in_protocol = isinstance(call, str) and call in PROTOCOLS.entries
        given = PROTOCOLS.load(call).methods if in_protocol else [] if call in (ALL, QUICK) else [call]
        named += [create_method(method, {}, scale) for method in given]
    by_call = dict(call_and_method(method) for method in named)
    for method in by_call.values():
        own = METHODS.load(method.name) if method.name in METHODS.entries else ForeignMethod
        if type(method) not in (own, ForeignMethod):
            raise no_method(method)
    if both := by_call.keys() & (outside or {}).keys():
        raise SalgenError(f"{min(both)} is the name of maps from files and of another method: give each its own")
    by_default = DEMO_METHODS if scale == DEMO else all_methods()
    if ALL in requested:
        chosen: Iterable[str] = all_methods()
    elif QUICK in requested:
        chosen = [name for name in all_methods() if name not in DEAR]
    else:
        chosen = () if named or outside else by_default
    added = dict.fromkeys([*chosen, *(name for name in METHODS.names() if METHODS.load(name).control)])
    other_methods = [create_method(name, {}, scale) for name in added]
    return MethodSelection(by_call | dict(outside or {}), {call_text(m): m for m in other_methods})


def all_methods() -> list[str]:
    """The names that ``all`` stands for, sorted."""
    return [name for name in METHODS.names() if METHODS.load(name).in_all]


def check_methods_given(methods: Any, values: Mapping[str, Any] | None = None) -> list[Any]:
    """One or several methods as a list, those that are not salgen's as a `ForeignMethod`, those renamed as a `Renamed`.

    Names are those of a mapping, or before the ``=`` of ``"NAME=package.module:function"`` or ``"NAME=rise:n=200"``.
    `values` are arguments of those that are not salgen's.
    """
    listed = methods if isinstance(methods, Iterable) and not isinstance(methods, str) else [methods]
    pairs = list(listed.items()) if isinstance(listed, Mapping) else [(None, given) for given in listed]
    if not pairs:
        raise SalgenError("no method was chosen: give at least one")
    chosen = [_named(given, name, values) for name, given in pairs]
    calls = [method.call for method in chosen if isinstance(method, (ForeignMethod, Renamed))]
    for call in calls:
        if calls.count(call) > 1:
            raise SalgenError(f"{call} is the name of several methods: give each its own, methods={{'name': ...}}")
    return chosen


class Renamed(NamedTuple):
    """A method of salgen's under another name in the tables."""

    call: str
    given: Any  # its own call, or the method


def _named(given: Any, name: str | None, values: Mapping[str, Any] | None) -> Any:
    if name is None and isinstance(given, str):
        name, given = split_name(given)
    plugin = given.partition(":")[0].strip() if isinstance(given, str) else getattr(given, "name", "")
    if plugin not in METHODS.entries and is_foreign(given):
        return foreign_method(given, name, values)
    if name is None or name == given or (plugin and not isinstance(given, str) and name == method_call(given)):
        return given
    check_name(name, given)
    if plugin not in METHODS.entries or METHODS.load(plugin).control:
        raise SalgenError(f"method {name!r}: only single methods and no controls can be renamed, not {given!r}")
    return Renamed(name, given)


def call_and_method(method: Any) -> tuple[str, Any]:
    """The name of a method in the tables, and the method."""
    return (method.call, method.given) if isinstance(method, Renamed) else (method_call(method), method)


def method_call(method: Any) -> str:
    """A method's name in tables, with the parameters that are not the defaults."""
    return method.call if isinstance(method, ForeignMethod) else call_text(method)


def renamed(call: str, method: Any) -> str | None:
    """The call of a method of salgen's whose name in the tables is another; else None."""
    return call_text(method) if method.name in METHODS.entries and call_text(method) != call else None


def no_method(given: Any) -> SalgenError:
    """The refusal of what is no method."""
    return SalgenError(
        f"method {given!r}: give a name, a call such as 'grad-cam:layer=layer4', an instance of a registered "
        "method (docs/extending.md), or a function of (model, inputs, targets)"
    )


def create_method(given: Any, parameters: Mapping[str, Any], scale: str = "") -> Any:
    """A method of :func:`check_methods_given` with more parameters; the scale's defaults hold for those not stated."""
    if isinstance(given, ForeignMethod):
        return given
    if isinstance(given, Renamed):
        return Renamed(given.call, create_method(given.given, parameters, scale))
    if isinstance(given, str):
        plugin = METHODS.load(given.partition(":")[0].strip())  # an unknown name is said first
        name, values = parse_call(given)
        if repeated := sorted({key.replace("-", "_") for key in values} & parameters.keys()):
            raise SalgenError(f"{repeated[0]} is given twice: in {given!r} and as {parameters[repeated[0]]!r}")
        return METHODS.create(name, {**plugin.scales.get(scale, {}), **values, **parameters})
    if not is_dataclass(given) or isinstance(given, type) or not callable(getattr(given, "attribute", None)):
        raise no_method(given)
    own = {field.name: getattr(given, field.name) for field in fields(given)}
    return build(type(given), {**own, **parameters}) if parameters else given
