"""`README.md` of a data set: its purpose, its guarantees, and the code to load it and make it again."""

import inspect
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import card_features, columns, mask_columns
from salgen.datasets.format.shards import shards_of
from salgen.datasets.metadata.citation import yaml_text
from salgen.datasets.metadata.publication_metadata import PublicationMetadata, hub_license
from salgen.generators.interfaces import Guaranteed
from salgen.parameters import build, describe

if TYPE_CHECKING:
    from jinja2 import Template

SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))

# Code between backticks, which is kept, or a mark that is not within a word.
_MARKS = re.compile(r"(?<!`)`(?!`)[^`]+`(?!`)|[<>*`\[\]\\]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")


def card_text(manifest: Manifest, plugin: Any, publication: PublicationMetadata | None = None) -> str:
    """The card of a data set; the fields of its generator's class, `plugin`, describe the parameters."""
    spec = manifest.spec
    values = {"image_size": list(spec.image_size), "bit_depth": spec.bit_depth, **spec.parameters}
    counts = {split: spec.splits[split] for split in manifest.splits}
    splits = [(f"`{split}`", f"{count:,}", len(shards_of(manifest, split))) for split, count in counts.items()]
    labels = [
        f"- {markdown_code(task)}: " + ", ".join(f"{number} = {markdown(name)}" for number, name in enumerate(names))
        + f". Ground truth: region {markdown_code(manifest.targets[task])}."
        for task, names in manifest.tasks.items()
    ]  # fmt: skip
    held = [(markdown_code(one.name), one.kind, markdown(one.description)) for one in columns(manifest)]
    described = [p for p in describe(plugin) if p.name in values]
    set_to = [(f"`{p.name}`", markdown_code(_plain(values[p.name])), p.help) for p in described]
    name, address = (publication.license, publication.license_url) if publication else ("", None)
    return _template().render(
        head=front_matter(manifest, publication),
        manifest=manifest,
        spec=spec,
        plugin=plugin,
        publication=publication,
        description=inspect.cleandoc(plugin.__doc__ or manifest.summary),
        guarantee=build(plugin, values).guarantee() if issubclass(plugin, Guaranteed) else "",
        splits=markdown_table(("split", "samples", "files"), splits),
        labels="\n".join(labels),
        columns=markdown_table(("column", "holds", "meaning"), held),
        parameters=markdown_table(("parameter", "value", "meaning"), set_to),
        license=markdown_link(address, None if address == name else name) if address else f"`{name}`",
        published=published(publication) if publication else "",
        split="test" if "test" in counts else manifest.splits[0],
        counts=counts,
        values=sorted(values.items()),
        masks=mask_columns(manifest),
    )


@cache
def _template() -> "Template":
    """The card's text; it is Markdown, so values are escaped by the filters `markdown` and `code`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    kept: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), undefined=StrictUndefined, **kept)
    environment.filters |= {"markdown": markdown, "code": markdown_code, "repr": repr}
    return environment.get_template("card.md.j2")


def front_matter(manifest: Manifest, publication: PublicationMetadata | None = None) -> str:
    """The head with its two ``---`` lines: license, configuration and features."""
    total = sum(manifest.spec.splits.values())
    license = license_keys(publication) if publication else {"license": hub_license(manifest.license)}
    files = [{"split": split, "path": f"data/{split}-*.parquet"} for split in manifest.splits]
    values = {
        "pretty_name": manifest.spec.generator,
        **license,
        "task_categories": ["image-classification", "image-segmentation"],
        "annotations_creators": ["found" if manifest.imported else "machine-generated"],
        "size_categories": [next((name for limit, name in SIZES if total < limit), "n>10M")],
        "tags": tags(manifest),
        "configs": [{"config_name": "default", "data_files": files}],
        "dataset_info": {"features": card_features(manifest)},
    }
    return f"---\n{yaml_text(values)}---\n"


def tags(manifest: Manifest) -> list[str]:
    """Keywords of a data set for the hub's search."""
    return ["saliency", "explainability", *([] if manifest.imported else ["counterfactual", "synthetic"]), "salgen"]


def license_keys(publication: PublicationMetadata) -> dict[str, str]:
    """The hub's keys for the license that a publisher states."""
    name = hub_license(publication.license)
    if name != "other":
        return {"license": name}
    if publication.license_url is None:
        return {"license": name, "license_name": publication.license.lower()}
    return {"license": name, "license_link": publication.license_url}


def published(publication: PublicationMetadata) -> str:
    """By whom, when and where something was published."""
    by = f" by {', '.join(map(markdown, publication.creators))}" if publication.creators else ""
    at = f" at {markdown_link(publication.url)}" if publication.url else ""
    return f"Published{by} on {publication.date}{at}"


def _plain(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    return (", " if any(isinstance(item, str) for item in value) else " x ").join(map(str, value))


def markdown(text: str) -> str:
    """A line of Markdown that shows a text as it is, without markup, HTML or links; what is between backticks is code.

    >>> markdown("snow_leopard <b>&amp; [a](b)")
    'snow_leopard &#60;b&#62;&#38;amp; &#91;a&#93;(b)'
    """
    return _MARKS.sub(lambda mark: mark[0] if mark[0][1:] else f"&#{ord(mark[0])};", " ".join(text.split()))


def markdown_code(text: str) -> str:
    """A text as code in a line of Markdown, whatever backticks it has."""
    line = " ".join(text.split())
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}" if "`" in line else f"{fence}{line}{fence}"


def markdown_link(address: str, text: str | None = None) -> str:
    """A link to an address, under itself or a text; what could end it is percent-encoded."""
    place = quote(address, safe=":/?#@!$&'*+,;=%")
    return f"<{place}>" if text is None else f"[{markdown(text)}]({place})"


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; a ``|`` within a cell is escaped."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)
