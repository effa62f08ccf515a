"""`CITATION.cff`: how to cite a published data set, in the Citation File Format 1.2.0 (Druskat et al. 2021)."""

import inspect
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.metadata.publication_metadata import LICENSES, PublicationMetadata

FILE = "CITATION.cff"
SALGEN = "salgen"  # what made the data, where no person or organisation is named

# "Budding et al. 2021, *Evaluating saliency methods ...*" in a docstring's section of references, where it begins or
# after the full stop or semicolon that ends another.
_SECTION = re.compile(r"^References\n-+\n(.+?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
_PAPER = re.compile(r"(?:^|[.;] )(?P<authors>[A-Z][^,*();0-9]*) (?P<year>[0-9]{4}), \*(?P<title>[^*]+)\*")


def citation_text(manifest: Manifest, plugin: Any, publication: PublicationMetadata) -> str:
    """The contents of `CITATION.cff`; the documentation of the generator's class names the papers behind it."""
    spec = manifest.spec
    return cff_text(
        title=title(manifest),
        kind="data set",
        abstract=manifest.summary,
        version=f"{spec.generator_version}.0.0",
        identifier=(spec.fingerprint, "SHA-256 of the data set's description"),
        publication=publication,
        references=papers(plugin),
    )


def cff_text(
    *,
    title: str,
    kind: str,
    abstract: str,
    version: str,
    identifier: tuple[str, str],
    publication: PublicationMetadata,
    references: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The contents of a `CITATION.cff`: of a `kind` of thing, in words, with an identifier and what that is."""
    value, description = identifier
    license = {"license": publication.license} if publication.license in LICENSES else {}
    if not license and publication.license_url:
        license = {"license-url": publication.license_url}
    values = {
        "cff-version": "1.2.0",
        "type": "dataset",
        "message": f"If you use this {kind}, please cite it as below.",
        "title": title,
        "abstract": abstract,
        "version": version,
        "authors": [{"name": name} for name in publication.creators or (SALGEN,)],
        **license,
        "date-released": publication.date,
        **({"url": publication.url} if publication.url else {}),
        "identifiers": [{"type": "other", "value": value, "description": description}],
    }
    return yaml_text({**values, "references": list(references)} if references else values)


def title(manifest: Manifest) -> str:
    """The title under which a data set is cited."""
    return f"{manifest.spec.generator} (a data set made by salgen)"


def papers(plugin: Any) -> list[dict[str, Any]]:
    """The papers that the documentation of a generator's class, and of its module, names as its references."""
    places = [part for cls in plugin.__mro__ for part in (cls, sys.modules.get(cls.__module__))]
    sections = [match[1] for place in places for match in _SECTION.finditer(inspect.getdoc(place) or "")]
    return papers_in(sections)


def papers_in(texts: Iterable[str]) -> list[dict[str, Any]]:
    """The papers that texts name, as ``Budding et al. 2021, *Title*``."""
    matches = [match for text in texts for match in _PAPER.finditer(" ".join(text.split()))]
    by_title = {
        match["title"]: {
            "type": "generic",
            "title": match["title"],
            "authors": [{"name": match["authors"]}],
            "year": int(match["year"]),
        }
        for match in reversed(matches)
    }
    return [by_title[name] for name in sorted(by_title)]


def yaml_text(values: dict[str, Any]) -> str:
    """Lines of YAML in ASCII for nested mappings and lists; texts are quoted as in JSON."""
    return "".join(line + "\n" for line in _lines(values))


def _lines(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [line for key, item in value.items() for line in _entry(key, item)]
    if isinstance(value, list):
        return [f"{'  ' if number else '- '}{line}" for item in value for number, line in enumerate(_lines(item))]
    return [_quoted(value) if isinstance(value, str) else json.dumps(value)]


def _entry(key: str, item: Any) -> list[str]:
    lines, start = _lines(item), key if key.replace("-", "_").isidentifier() else _quoted(key)
    if isinstance(item, dict | list) and item:
        return [f"{start}:", *(f"  {line}" for line in lines)]
    return [f"{start}: {lines[0]}"]


def _quoted(text: str) -> str:
    # JSON writes a character beyond U+FFFF as two surrogates, which YAML takes for two characters.
    marks = (json.dumps(mark)[1:-1] if mark <= "\uffff" else f"\\U{ord(mark):08x}" for mark in text)
    return f'"{"".join(marks)}"'
