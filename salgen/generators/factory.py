"""Generators by their registered names, bound to their sources."""

from collections.abc import Mapping
from typing import Any
from salgen.errors import SalgenError, unknown_name
from salgen.generators.generator import Generator
from salgen.generators.interfaces import Fitting, Redrawable
from salgen.parameters import build
from salgen.registry import GENERATORS, IMPORTERS
from salgen.spec import DatasetSpec


def generator(name: str, source: str | None = None, scale: str | None = None, **parameters: Any) -> Generator:
    """A generator by its name.

    Parameters
    ----------
    name
        A registered generator: ``"perlin-lesions"``.
    source
        The outside material: a path or a name that the generator knows; its own default if None.
    scale
        A registered set of defaults: ``"demo"``, ``"small"`` or ``"full"``; if None, the fields' own.
    parameters
        Values that override those defaults.

    Raises
    ------
    SalgenError
        If a name is unknown, a parameter is refused, or the source cannot be read.

    Examples
    --------
    >>> from salgen.generators.factory import generator
    >>> generator("perlin-lesions", image_size=(140, 192)).plugin.image_size
    (140, 192)
    """
    if source is not None and not source.strip():
        raise SalgenError("source is empty: give a path, or leave it out")
    cls = plugin_class(name)
    if source is None and name in IMPORTERS.entries:
        raise no_copy(cls)
    defaults = {} if scale is None else scale_of(cls, scale).parameters
    plain = {key.replace("-", "_"): value for key, value in parameters.items()}
    plugin: Any = build(cls, {**defaults, **plain})
    opened = plugin.open_source(source)
    fitted: Any = plugin.fitted(opened) if isinstance(plugin, Fitting) else plugin
    return Generator(fitted, opened)


def plugin_class(name: str) -> Any:
    """The class that makes a data set: a generator or an importer."""
    for registry in (GENERATORS, IMPORTERS):
        if name in registry.entries:
            return registry.load(name)
    raise unknown_name("generator", name, [*GENERATORS.names(), *IMPORTERS.names()])


def no_copy(plugin: Any) -> SalgenError:
    """The error where an importer is given no source; it names the generator that draws something of the kind."""
    how, instead = getattr(plugin, "takes", "PATH"), stand_in_advice(plugin)
    told = f"{plugin.name} is read from your own copy of the data: give --set source={how}"
    return SalgenError(f"{told}; {instead}" if instead else told)


def stand_in_advice(plugin: Any) -> str:
    """What to make in place of data that one has no copy of; "" where nothing of the kind is drawn."""
    drawn = getattr(plugin, "stand_in", "")
    return f"without one, salgen make {drawn} draws a stand-in" if drawn else ""


def scale_of(cls: Any, scale: str) -> Any:
    """The registered defaults of a generator's class at a scale: split sizes and parameters."""
    if scale not in cls.scales:
        raise unknown_name(f"scale of {cls.name}", scale, cls.scales)
    return cls.scales[scale]


def class_of(spec: DatasetSpec) -> Any:
    """The class of the generator that made a data set, in the version that made it."""
    cls = plugin_class(spec.generator)
    if cls.version != spec.generator_version:
        raise SalgenError(
            f"made by {spec.generator} version {spec.generator_version}, but version {cls.version} is installed: "
            "install the salgen that has the other version"
        )
    return cls


def generator_of(spec: DatasetSpec, source: str | None = None) -> Generator:
    """The generator that made a data set."""
    cls = class_of(spec)
    values: Mapping[str, Any] = {**spec.parameters, "image_size": spec.image_size, "bit_depth": spec.bit_depth}
    plugin = build(cls, values)
    if source is None and spec.source_digest and spec.source != cls.default_source:
        raise SalgenError(
            f"made from {spec.source} of {spec.generator}, which only you have: give its path as the source"
        )
    opened = plugin.open_source(source)
    if opened.digest != spec.source_digest:
        raise SalgenError(
            f"made from source {spec.source!r} with digest {spec.source_digest[:12] or 'none'}, but "
            f"{opened.name!r} has {opened.digest[:12] or 'none'}: give the source it was made from"
        )
    return Generator(plugin, opened)


def redrawing_generator_of(spec: DatasetSpec, source: str | None = None) -> Generator:
    """The generator that made a data set, if it can draw a background again, as importers cannot."""
    if not issubclass(plugin_class(spec.generator), Redrawable):
        raise SalgenError(f"images by {spec.generator!r} cannot be drawn again on other backgrounds")
    return generator_of(spec, source)
