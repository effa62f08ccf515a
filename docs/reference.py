"""Sphinx extension: writes the reference of all plug-ins from their own declarations to docs/_reference.

The pages command_line.md, datasets.md, methods.md, metrics.md and models.md include what it writes.
"""

import inspect
import re
from collections import Counter
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any
from salgen.evaluation.protocols.demo_times import demo_times
from salgen.parameters import Parameter, describe
from salgen.registry import GENERATORS, IMPORTERS, METHODS, METRICS, MODELS, PROTOCOLS, Registry

FOLDER = Path(__file__).parent
SHARED = 4  # a parameter that so many plug-ins have is explained at the top of the page
BETTER = {True: "higher is better", False: "lower is better", None: "a diagnostic: no value is better"}


def setup(app: Any) -> None:
    """Write the pages before Sphinx reads them."""
    app.connect("builder-inited", lambda _: write(FOLDER / "_reference"))
    app.connect("html-page-context", _define_metrics)


def _define_metrics(app: Any, name: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Give each metric's name on a page its definition as a tooltip."""

    def defined(found: re.Match[str]) -> str:
        entry = METRICS.entries.get(found[2])
        return f'{found[1]} title="{escape(entry.summary)}"{found[0][len(found[1]) :]}' if entry else found[0]

    code = r'(<code class="docutils literal notranslate")><span class="pre">([\w-]+)</span></code>'
    context["body"] = re.sub(code, defined, context.get("body", ""))


def write(folder: Path) -> None:
    """Write all pages into `folder`."""
    folder.mkdir(exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


def pages() -> dict[str, str]:
    """File name to text of every page."""
    return {
        "generators.md": _page(GENERATORS, _data_facts),
        "importers.md": _page(IMPORTERS, _data_facts),
        "methods.md": _page(METHODS, _method_facts),
        "metrics.md": _metric_table() + "\n\n" + _page(METRICS, _metric_facts),
        "models.md": _page(MODELS, _model_facts),
        "protocols.md": _protocol_table(),
    }


def _page(registry: Registry, facts: Any) -> str:
    plugins = {name: registry.load(name) for name in registry.names()}
    counts = Counter(_key(p) for plugin in plugins.values() for p in describe(plugin))
    shared = {key for key, count in counts.items() if count >= SHARED}
    introduction = "Parameters that several of them have:\n\n" + "\n".join(
        f"- `{name}` ({_kind(kind)}): {text}" for name, kind, text in sorted(shared)
    )
    sections = [_section(registry, name, facts(plugin), shared) for name, plugin in plugins.items()]
    return "\n\n".join([*([introduction] if shared else []), *sections]) + "\n"


def _protocol_table() -> str:
    rows = [f"| `{name}` | {PROTOCOLS.entries[name].summary} | {time} |" for name, time in demo_times().items()]
    return "\n".join(["| protocol | what it does | processor time at scale demo |", "|---|---|---|", *rows]) + "\n"


def _key(p: Parameter) -> tuple[str, str, str]:
    return p.name, p.type, p.help


def _section(registry: Registry, name: str, facts: Iterator[str], shared: set[tuple[str, str, str]]) -> str:
    plugin = registry.load(name)
    sheet = FOLDER / "sheets" / f"{name}.png"
    picture = f"![Contact sheet of {name}](sheets/{name}.png)" if registry is GENERATORS and sheet.exists() else ""
    text = re.sub(r"\n+(Ties|Undefined|Errata):", r"\n\n**\1:**", inspect.cleandoc(plugin.__doc__ or ""))
    own = [p for p in describe(plugin) if _key(p) not in shared]
    others = [f"`{p.name}={_plain(p.default)}`" for p in describe(plugin) if _key(p) in shared]
    lines = [f"- `{p.name}={_plain(p.default)}` ({_kind(p.type)}): {p.help}" for p in own]
    lines += [f"- also (see above): {', '.join(others)}"] if others else []
    facts_text = "; ".join(fact for fact in facts if fact)
    level = "###" if registry in (GENERATORS, IMPORTERS) else "##"
    parts = [f"{level} `{name}`", text, picture, facts_text[:1].upper() + facts_text[1:] + ".", "\n".join(lines)]
    return "\n\n".join(part for part in parts if part)


def _kind(text: str) -> str:
    return text.replace("|", " / ")


def _plain(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _values(values: dict[str, Any]) -> str:
    return ", ".join(f"{key}={_plain(value)}" for key, value in values.items())


def _paper(reference: str) -> str:
    """The reference, with each DOI as a link."""
    return re.sub(r"doi:(10\.[^\s,;]+)", r"[doi:\1](https://doi.org/\1)", reference)


def _data_facts(plugin: Any) -> Iterator[str]:
    yield f"version {plugin.version}"
    yield f"scored region: {region}" if (region := plugin().valid_region) else ""
    for scale, defaults in plugin.scales.items():
        splits = ", ".join(f"{split} {count:,}" for split, count in defaults.splits.items()) or "all images"
        yield f"`{scale}`: {splits}" + (f" ({_values(defaults.parameters)})" if defaults.parameters else "")


def _method_facts(plugin: Any) -> Iterator[str]:
    yield _paper(plugin.reference)
    yield "signed" if plugin.signed else "non-negative"
    yield "" if plugin.class_dependent else "does not depend on the class"
    yield f"reduction `{plugin.reduction}`"
    yield f"for {plugin.defined_for}; {plugin.resolution} resolution" if "model" in plugin.needs else ""
    for scale, values in plugin.scales.items():
        yield f"`{scale}`: {_values(values)}"


def _metric_table() -> str:
    better = {True: "higher", False: "lower", None: "none"}
    rows = [
        f"| [`{name}`](#{name}) | {plugin.family} | {better[plugin.higher_is_better]} | {low:g} to {high:g} |"
        for name, plugin in ((name, METRICS.load(name)) for name in METRICS.names())
        for low, high in [plugin.bounds]
    ]
    return "\n".join(["| metric | family | better | range |", "| --- | --- | --- | --- |", *rows])


def _metric_facts(plugin: Any) -> Iterator[str]:
    yield _paper(plugin.reference)
    yield BETTER[plugin.higher_is_better]
    yield "range {:g} to {:g}".format(*plugin.bounds)
    yield "" if plugin.regional else "looks at the whole image"
    yield "needs " + ", ".join(sorted(plugin.needs - {"negatives"})) if plugin.needs - {"negatives"} else ""
    for key, values in plugin.sweep.items():
        yield f"a run takes `{key}` = " + ", ".join(map(_plain, values))
    for scale, values in plugin.scales.items():
        yield f"`{scale}`: {_values(values)}"
    yield "also called " + ", ".join(plugin.aliases) if plugin.aliases else ""


def _model_facts(plugin: Any) -> Iterator[str]:
    yield _paper(plugin.reference)
    for scale, values in plugin.scales.items():
        yield f"`{scale}`: {_values({**values, **plugin.training.get(scale, {})}) or 'as below'}"
