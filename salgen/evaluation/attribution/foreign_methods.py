"""Methods that are not salgen's: functions of the user's, and classes and objects of other libraries."""

import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.metadata import packages_distributions, version
from pathlib import Path
from types import FunctionType
from typing import Any
from torch import Tensor
from salgen.errors import SalgenError, named, reason
from salgen.evaluation.attribution.attribution_context import AttributionContext, Method
from salgen.evaluation.attribution.class_activation import layer_names
from salgen.evaluation.attribution.file_maps import CEILINGS
from salgen.evaluation.attribution.foreign_calls import foreign_maps
from salgen.evaluation.attribution.library_methods import LIBRARY_NAMES, bound_copy, library_of
from salgen.evaluation.models.inspection.layers import find_layer
from salgen.evaluation.models.inspection.memory import is_out_of_memory
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.import_paths import imported, is_import_path
from salgen.parameters import NAME, by_parameters, canonical_json, parse_call, python_value
from salgen.registry import METHODS
from salgen.source_code import import_path, in_words, source_digest

EXAMPLE = "my_methods:mine"


@dataclass(frozen=True)
class ForeignMethod(Method):
    """A function, or a class or an object of another library, as a method; channels are summed."""

    resolution = "its own"
    shares = None  # explained alone, so that what fails stops no other method
    version = by_parameters("1")(lambda method: method.only_key or "1")

    call: str = field(compare=False)  # its name in the tables, with its parameters and without
    # the function, class or object; None where a run's record stands for it, which does not import anything
    given: Any = field(compare=False, repr=False)
    arguments: Mapping[str, Any] = field(compare=False, repr=False)  # what it is called or made with
    signed: bool = field(compare=False)  # type: ignore[misc]  # whether raw attributions may be negative
    origin: str = field(compare=False)  # the kind of thing that it is, in words
    # a random text where it cannot be told whether another is the same, so that no cached maps count as its; else ""
    only_key: str = field(compare=False)
    # ``module:name``, which an import turns into the same thing; None if it cannot be run again
    import_path: str | None
    parameters: Mapping[str, Any]  # the arguments as JSON values
    library: str | None  # the distribution that it is from, and its version; None if it is from none
    # SHA-256 of its source, see :func:`salgen.source_code.source_digest`; of an object's, of the module that names it
    sha256: str | None

    def __reduce__(self) -> Any:
        """Import it again, in this working directory: a worker of Ray has no other way to it."""
        if self.import_path is None:
            raise SalgenError(
                f"method {self.call!r} is {self.origin}, which workers cannot import: give it as {EXAMPLE}, or use "
                "executor='local'"
            )
        return _imported_there, (self.import_path, self.call, dict(self.parameters), str(Path.cwd()))

    @property
    def name(self) -> str:  # type: ignore[override]
        """Its name without parameters."""
        return parse_call(self.call)[0]

    @property
    def reference(self) -> str:  # type: ignore[override]
        """Where it is from, and whether it can be run again."""
        digest = f"SHA-256 of its source {self.sha256[:12]}" if self.sha256 else None
        again = self.import_path or f"{self.origin}, not re-runnable"
        return ", ".join(filter(None, (again, self.library, digest)))

    def check(self, model: ModelView, image: Tensor) -> None:
        """Refuse an object that is bound to another model, and a layer that the model does not have."""
        with self._failures():
            if self.given is None:
                raise SalgenError("a run's record tells of it, and does not bring its code")
            library = library_of(self.given)
            bound = None if library is None or isinstance(self.given, type) else library.model_of(self.given)
            if bound is not None:
                bound_copy(self.given, bound, model)
            elif library is not None and "layer" in self.arguments:
                for layer in layer_names(self.arguments["layer"]):
                    find_layer(model, layer)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Raw maps (n, C, h, w)."""
        with self._failures():
            return foreign_maps(self.given, self.arguments, context, self.call)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (Exception, SystemExit) as error:  # the code of others may fail in any way
            if is_out_of_memory(error):
                raise
            why = reason(error) if isinstance(error, SalgenError) else named(error)
            raise SalgenError(f"method {self.call!r} failed: {why}") from error


def _imported_there(path: str, call: str, parameters: dict[str, Any], folder: str) -> ForeignMethod:
    with chdir(folder):
        return foreign_method(path, call, parameters)


# What was given ---------------------------------------------------------------------------------------


def is_foreign(given: Any) -> bool:
    """True of what is no name, call or instance of a method of salgen's."""
    if isinstance(given, str):
        return given.partition(":")[0] not in METHODS.entries and is_import_path(given)
    return library_of(given) is not None or (callable(given) and not callable(getattr(given, "attribute", None)))


def foreign_method(given: Any, call: str | None = None, values: Mapping[str, Any] | None = None) -> ForeignMethod:
    """A method of what was given, by its name in the tables, with `values` besides the arguments that it holds.

    It may be a function, a class or an object of a library, ``functools.partial`` of these or of a captum object's
    ``attribute``, or ``"package.module:name:key=value"``. By default its name is its own, with its parameters.
    """
    thing, path, stated = given, None, dict(values or {})
    if isinstance(given, str):
        module, _, rest = given.partition(":")
        attribute, colon, _ = rest.partition(":")
        path, name = f"{module}:{attribute}", attribute.rpartition(".")[2]
        pairs = parse_call(rest)[1] if colon else {}  # a layer is a name, also where it is "3"
        stated = {**{key: text if key == "layer" else python_value(text) for key, text in pairs.items()}, **stated}
        thing = imported(path, "method", EXAMPLE)
    held = {}
    if isinstance(thing, partial) and not thing.args:
        held, thing = thing.keywords, thing.func
    if getattr(thing, "__name__", "") == "attribute" and library_of(owner := getattr(thing, "__self__", None)):
        thing = owner  # captum's objects are called by this method of theirs
    if not isinstance(given, str):
        stated, name = {**held, **stated}, getattr(thing, "__name__", type(thing).__name__)
    plain = {key: value for key, value in stated.items() if _is_plain(value)}
    home = import_path(thing) if isinstance(thing, (FunctionType, type)) else None
    if path is None:
        path, digest = home, source_digest(thing) if home else None
    else:  # what is made in a module is as that module's source makes it
        digest = source_digest(thing if home and not held else sys.modules[path.partition(":")[0]])
    is_known = path is not None and digest is not None and len(plain) == len(stated)
    library = library_of(thing)
    if library is None and (isinstance(thing, type) or not callable(thing)):
        raise SalgenError(
            f"method {given!r} is {in_words(thing)}, and not of {LIBRARY_NAMES}: give a function of (model, inputs, "
            "targets), or an object that can be called so"
        )
    written = ",".join(f"{key}={value}" for key, value in plain.items()).replace(", ", ",")
    call = call or (f"{name}:{written}" if written else name)
    check_name(call, given)
    return ForeignMethod(
        call=call,
        given=thing,
        arguments={**held, **stated},
        signed=bool(getattr(thing, "signed", library is None or library.signed)),
        origin=in_words(thing),
        only_key="" if is_known else uuid.uuid4().hex,
        import_path=path if is_known and not str(path).startswith("__main__:") else None,
        parameters={key: value if key in plain else f"<{type(value).__name__}>" for key, value in stated.items()},
        library=_distribution(str(getattr(thing, "__module__", "")).partition(".")[0]),
        sha256=digest,
    )


def check_name(call: Any, given: Any) -> None:
    """Refuse a name in the tables that is salgen's, or none."""
    name = parse_call(call)[0] if isinstance(call, str) else ""
    if name in METHODS.entries or name.startswith(CEILINGS) or not NAME.fullmatch(name):
        raise SalgenError(
            f"method {given!r}: {name!r} is salgen's, or no name for a table: give one, as in methods={{'mine': ...}}"
        )


def _is_plain(value: Any) -> bool:
    try:
        return bool(canonical_json(value))
    except (TypeError, ValueError):
        return False


@cache
def _distribution(package: str) -> str | None:
    """The installed distribution of a top-level package, and its version; None of a module that no one installed."""
    names = packages_distributions().get(package)
    return f"{names[0]} {version(names[0])}" if names else None
