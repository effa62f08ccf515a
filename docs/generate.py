"""Write the pages of docs/ that list plug-ins from their own declarations.

Run as ``python docs/generate.py``; a test fails when a page is not what this script writes.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from salgen.parameters import describe
from salgen.registry import GENERATORS, IMPORTERS, METHODS, METRICS, MODELS, Registry

FOLDER = Path(__file__).parent


def pages() -> dict[str, str]:
    """File name to text of every generated page."""
    return {
        "datasets.md": _page("datasets", GENERATORS, _generator_facts)
        + "\n"
        + _page("importers", IMPORTERS, _importer_facts),
        "methods.md": _page("methods", METHODS, _method_facts)
        + "\n"
        + _text("agreement.intro.md")
        + _text("agreement.md"),
        "metrics.md": _page("metrics", METRICS, _metric_facts, _metric_table())
        + "\n"
        + _text("metric_check.intro.md")
        + _text("metric_check.md"),
        "models.md": _page("models", MODELS, _model_facts),
    }


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _page(name: str, registry: Registry, facts: Any, *overview: str) -> str:
    introduction = _text(f"{name}.intro.md").rstrip()
    sections = [_section(registry, entry, facts) for entry in registry.names()]
    return "\n\n".join([introduction, *overview, *sections]) + "\n"


def _section(registry: Registry, name: str, facts: Any) -> str:
    plugin = registry.load(name)
    lines = [f"- {fact}" for fact in facts(plugin)]
    sheet = FOLDER / "sheets" / f"{name}.png"
    picture = f"![Contact sheet of {name}](sheets/{name}.png)" if registry is GENERATORS and sheet.exists() else ""
    text = re.sub(r"\n+(Ties|Undefined|Errata):", r"\n\n**\1:**", inspect.cleandoc(plugin.__doc__ or ""))
    parts = [f"## `{name}`", text, picture, "\n".join(lines), _parameters(plugin)]
    return "\n\n".join(part for part in parts if part)


def _parameters(plugin: type) -> str:
    rows = [
        f"| `{p.name}` | {p.type.replace('|', ' / ')} | `{_plain(p.default)}` | {_in_cell(p.help)} |"
        for p in describe(plugin)
    ]
    return "\n".join(["| parameter | type | default | meaning |", "| --- | --- | --- | --- |", *rows]) if rows else ""


def _in_cell(text: str) -> str:
    return text.replace("|", r"\|")


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _generator_facts(plugin: Any) -> Iterator[str]:
    region, source = plugin().valid_region or "whole image", plugin.default_source or "none"
    yield f"version {plugin.version}; scored region: {region}; source: {source}"
    for scale, defaults in plugin.scales.items():
        splits = ", ".join(f"{split} {count:,}" for split, count in defaults.splits.items())
        changed = "; ".join(f"{key}={_plain(value)}" for key, value in defaults.parameters.items())
        yield f"scale `{scale}`: {splits}" + (f" ({changed})" if changed else "")


def _importer_facts(plugin: Any) -> Iterator[str]:
    yield f"version {plugin.version}; scored region: {plugin().valid_region or 'whole image'}; source: your own copy"
    for scale, defaults in plugin.scales.items():
        splits = ", ".join(f"{split} {count:,}" for split, count in defaults.splits.items())
        changed = "; ".join(f"{key}={_plain(value)}" for key, value in defaults.parameters.items())
        yield (
            f"scale `{scale}`: "
            + (f"at most {splits}" if splits else "all images")
            + (f" ({changed})" if changed else "")
        )


def _method_facts(plugin: Any) -> Iterator[str]:
    yield f"reference: {plugin.reference}"
    sign = "signed" if plugin.signed else "non-negative"
    depends = "depends on the class" if plugin.class_dependent else "does not depend on the class"
    yield f"native reduction `{plugin.reduction}`; {sign}; {depends}" + ("; a control" if plugin.control else "")
    if "model" in plugin.needs:
        yield f"defined for {plugin.defined_for}; raw maps have {plugin.resolution} resolution"
    for scale, values in plugin.scales.items():
        yield f"scale `{scale}`: " + ", ".join(f"{key}={_plain(value)}" for key, value in values.items())


def _metric_table() -> str:
    """Direction, range and family of all metrics."""
    better = {True: "higher", False: "lower", None: "none"}
    rows = []
    for name in METRICS.names():
        plugin = METRICS.load(name)
        range_ = "{:g} to {:g}".format(*plugin.bounds)
        summary = _in_cell(inspect.cleandoc(plugin.__doc__).partition("\n")[0])
        rows.append(
            f"| [`{name}`](#{name}) | {summary} | {better[plugin.higher_is_better]} | {range_} | {plugin.family} |"
        )
    return "\n".join(["| metric | what it is | better | range | family |", "| --- | --- | --- | --- | --- |", *rows])


def _metric_facts(plugin: Any) -> Iterator[str]:
    directions = {True: "higher is better", False: "lower is better", None: "a diagnostic: no value is better"}
    low, high = plugin.bounds
    yield f"{directions[plugin.higher_is_better]}; range {low:g} to {high:g}; version {plugin.version}"
    region = "scored within the region" if plugin.regional else "looks at the whole image"
    yield f"family {plugin.family}; kind {plugin.kind}; {region}"
    if plugin.needs:
        yield "needs: " + ", ".join(sorted(plugin.needs - {"negatives"}))
    for key, values in plugin.sweep.items():
        yield f"a run takes `{key}` = " + ", ".join(map(_plain, values))
    for scale, values in plugin.scales.items():
        yield f"scale `{scale}`: " + ", ".join(f"{key}={_plain(value)}" for key, value in values.items())
    yield f"reference: {plugin.reference}"
    if plugin.aliases:
        yield "also called: " + ", ".join(plugin.aliases)


def _model_facts(plugin: Any) -> Iterator[str]:
    yield f"reference: {plugin.reference}"
    for scale, values in plugin.scales.items():
        settings = {**values, **plugin.training.get(scale, {})}
        changed = ", ".join(f"{key}={_plain(value)}" for key, value in settings.items())
        yield f"scale `{scale}`: {changed or 'as below'}"


if __name__ == "__main__":
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
