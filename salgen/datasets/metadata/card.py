"""`README.md` of a data set: its purpose, its guarantees, and the code to load it and make it again."""

import inspect
import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import quote
from salgen.datasets.format.manifest import Manifest
from salgen.datasets.format.schema import card_features, columns, mask_columns
from salgen.datasets.format.shards import shards_of
from salgen.datasets.metadata.citation import yaml_text
from salgen.datasets.metadata.publication_metadata import PublicationMetadata, hub_license
from salgen.generators.interfaces import Guaranteed
from salgen.parameters import build, describe

KNOWN_CAUSE = """A benchmark of saliency methods: which of them can be believed? The cause of every label is known by
construction, so a saliency map is compared with the pixels that carry the evidence, not with what a
person would have marked."""
DERIVED_CAUSE = """A benchmark of saliency methods: which of them can be believed? The images are those of another data
set; what was done to them, and where, is known by construction, so a saliency map is compared with just these pixels.
What else an image shows is as it was there."""
IMPORTED_CAUSE = """Images that others made, imported so that saliency methods can be scored on them. Their masks
say where people or a segmentation saw the labelled thing. What a model really uses may be something else, and
nothing here can tell."""
IMPORTED_LAW = """## What is exact, and what is not

- `mask` is as good as the annotation or segmentation it comes from. There is **no counterfactual twin** (`twin` is
  null): nothing in a photograph can be taken away and leave the rest as it is. So no sample can be certified.
- Which images belong to which split, their order and their resizing are a pure function of the copy, the parameters
  and the seed; `recipe` names the item, and `salgen verify` with the copy as the source makes samples again and
  compares them bit for bit."""
SIZES = ((10**3, "n<1K"), (10**4, "1K<n<10K"), (10**5, "10K<n<100K"), (10**6, "100K<n<1M"), (10**7, "1M<n<10M"))

# Code between backticks, which is kept, or a mark that is not within a word.
_MARKS = re.compile(r"(?<!`)`(?!`)[^`]+`(?!`)|[<>*`\[\]\\]|&(?=#?\w+;)|(?<![^\W_])_|_(?![^\W_])")


def card_text(manifest: Manifest, plugin: Any, publication: PublicationMetadata | None = None) -> str:
    """The card of a data set; the fields of its generator's class, `plugin`, describe the parameters."""
    guarantee, citing = [], []
    if issubclass(plugin, Guaranteed):
        guarantee = [f"## What accuracy proves\n\n{build(plugin, _values(manifest)).guarantee()}"]
    if publication:
        citing = [f"## Citing it\n\n{published(publication)}. `CITATION.cff` says how to cite it."]
    sections = [
        f"# {manifest.spec.generator}\n\n{inspect.cleandoc(plugin.__doc__ or manifest.summary)}",
        _purpose(manifest),
        *([] if manifest.pixels else [_absence(manifest)]),
        *([_rendering(manifest)] if manifest.recipes_only else []),
        _law(manifest),
        *guarantee,
        _splits(manifest),
        _columns(manifest),
        _parameters(manifest, plugin),
        "## Source and license" if manifest.spec.source_digest or publication else "## Source",
        *([_license(manifest, publication)] if publication else []),
        _material(manifest),
        *citing,
        _loading(manifest),
        _making(manifest, plugin),
    ]
    return front_matter(manifest, publication) + "\n" + "\n\n".join(sections) + "\n"


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


def _purpose(manifest: Manifest) -> str:
    spec = manifest.spec
    height, width = spec.image_size
    kind = "grey" if manifest.channels == 1 else "colour"
    return f"""## What it is for

{IMPORTED_CAUSE if manifest.imported else DERIVED_CAUSE if manifest.derived else KNOWN_CAUSE}
The images are {height} x {width} pixels, {kind}, {spec.bit_depth} bits per channel.
It was made by salgen, generator `{spec.generator}` version {spec.generator_version}, seed {spec.seed};
fingerprint of its description: `{spec.fingerprint}`."""


def _absence(manifest: Manifest) -> str:
    spec = manifest.spec
    return f"""## Pixels are not included

The images are made from {markdown_code(spec.source)}, and its terms are not known to let others pass them on. So
this is published as recipes and masks: `image` and `twin` are null in every row. With a copy of your own whose SHA-256
is the one below, the code at the end of this card makes the data set again, pixels included, and so does

    salgen make {spec.generator} OUT --set source=PATH

with the same splits, seed and parameters. `pixels_sha256` of every sample says whether the pixels are the same, and
`salgen verify --source PATH` compares them with this folder."""


def _rendering(manifest: Manifest) -> str:
    spec = manifest.spec
    foreign = (
        f"They are made from {markdown_code(spec.source)}, with the SHA-256 below. Where that is material of your own, "
        "give its path: `source=PATH`, or `--source PATH`.\n\n"
        if spec.source_digest
        else ""
    )
    return f"""## Pictures are rendered

This folder holds recipes only: ids, labels, recipes and factors. `image`, `twin`, all masks and `pixels_sha256` are
null in every row, and `salgen.load` renders them from the recipes as they are read, with the same values as if they
were stored. That takes a salgen with `{spec.generator}` version {spec.generator_version}.

{foreign}The code at the end of this card, without `recipes_only`, writes them to the files of another folder, and so
does

    salgen make {spec.generator} OUT

with the same splits, seed, parameters and source."""


def _law(manifest: Manifest) -> str:
    if manifest.imported:
        return IMPORTED_LAW
    scored = f"By default maps are scored within the region {markdown_code(str(manifest.valid_region))}."
    whole = "By default maps are scored over the whole image."
    stored = manifest.twins and manifest.stores_pixels
    place = "`twin` holds it." if stored else "Twins were not stored here; they can be rendered from the recipes."
    twins = "`salgen.load` renders it with the image." if manifest.twins and manifest.recipes_only else place
    law = "**Image and twin are equal, bit for bit, everywhere outside `mask`.**"
    flaw = (
        "**Image and twin may differ outside `mask`**: these parameters keep a flaw of the reproduced paper, or the "
        "mask is the scene's and the twin lacks the object."
    )
    return f"""## What is exact

- `mask` holds the whole support of the feature: every pixel that it was painted on, soft edges included.
- The counterfactual twin is the same image without the feature, or with the other class's value of it. {twins}
  A sample whose label does not come from something that can be taken away, or that is left without a mask, has no
  twin (null).
- {law if manifest.exact else flaw}
- Each sample is a pure function of generator, version, parameters, source, seed, split and index; `recipe` holds
  all its random choices, and `salgen verify` renders samples again and compares them bit for bit.

{scored if manifest.valid_region else whole}"""


def _splits(manifest: Manifest) -> str:
    rows = [
        (f"`{split}`", f"{manifest.spec.splits[split]:,}", len(shards_of(manifest, split))) for split in manifest.splits
    ]
    tasks = [
        f"- {markdown_code(task)}: " + ", ".join(f"{number} = {markdown(name)}" for number, name in enumerate(names))
        + f". Ground truth: region {markdown_code(manifest.targets[task])}."
        for task, names in manifest.tasks.items()
    ]  # fmt: skip
    return f"## Splits and labels\n\n{markdown_table(('split', 'samples', 'files'), rows)}\n\n" + "\n".join(tasks)


def _columns(manifest: Manifest) -> str:
    rows = [
        (markdown_code(column.name), column.kind.value, markdown(column.description)) for column in columns(manifest)
    ]
    form = "" if manifest.recipes_only else "Images are lossless PNG.\n\n"
    return f"## Columns\n\n{form}{markdown_table(('column', 'holds', 'meaning'), rows)}"


def _parameters(manifest: Manifest, plugin: Any) -> str:
    values = _values(manifest)
    rows = [
        (f"`{p.name}`", markdown_code(_plain(values[p.name])), p.help) for p in describe(plugin) if p.name in values
    ]
    return f"## Parameters\n\n{markdown_table(('parameter', 'value', 'meaning'), rows)}"


def _license(manifest: Manifest, publication: PublicationMetadata) -> str:
    name, address = publication.license, publication.license_url
    stated = markdown_link(address, None if address == name else name) if address else f"`{name}`"
    passed_on = (
        "\nThe terms of the material are not known to salgen to let pixels be passed on; whoever published this "
        "stated that they do."
    )
    own = f"This data set is published under {stated}, as its publisher states."
    return own + (passed_on if manifest.stores_pixels and not manifest.redistributable else "")


def _material(manifest: Manifest) -> str:
    if not manifest.spec.source_digest:
        return "Everything is computed; there is no outside material."
    digest = markdown_code(manifest.spec.source_digest)
    material = f"""Outside material: {markdown_code(manifest.spec.source)}, SHA-256 {digest}.
Its license: {markdown(manifest.license) or "not stated"}"""
    if manifest.derived:
        license = f"The license of its outside material: {markdown(manifest.license)}" if manifest.license else ""
        material = f"Made from a {markdown(manifest.spec.source)} with the fingerprint {digest}.\n{license}"
    return f"{material}\n\n{markdown(manifest.notes)}".rstrip()


def published(publication: PublicationMetadata) -> str:
    """By whom, when and where something was published."""
    by = f" by {', '.join(map(markdown, publication.creators))}" if publication.creators else ""
    at = f" at {markdown_link(publication.url)}" if publication.url else ""
    return f"Published{by} on {publication.date}{at}"


def _loading(manifest: Manifest) -> str:
    split = "test" if "test" in manifest.splits else manifest.splits[0]
    hugging_face = "import datasets                                    # Hugging Face; nothing of salgen is needed"
    if manifest.recipes_only:
        own = manifest.spec.source_digest and not manifest.redistributable
        source = ', source="PATH TO THE SOURCE"' if own else ""
        code = f"""import salgen                                      # renders pictures as they are read
samples = salgen.load("PATH", split="{split}"{source})
samples[0]["image"], samples[0]["mask"]            # float32 (C, H, W) in [0, 1], bool (H, W)

import datasets                                    # Hugging Face: what is stored
samples = datasets.load_dataset("PATH", split="{split}")
samples[0]["{manifest.default_task}"], samples[0]["recipe"]  # samples[0]["image"] is None"""
    elif not manifest.pixels:
        code = f"""{hugging_face}
samples = datasets.load_dataset("PATH", split="{split}")
samples[0]["mask"], samples[0]["recipe"]           # samples[0]["image"] is None

import salgen
batch = next(salgen.load("PATH", split="{split}").batches(16))
batch.masks, batch.recipes                         # bool (N, H, W), what the samples are rendered from"""
    else:
        code = f"""{hugging_face}
samples = datasets.load_dataset("PATH", split="{split}")
samples[0]["image"], samples[0]["mask"]

import salgen
samples = salgen.load("PATH", split="{split}")
samples[0]["image"], samples[0]["mask"]            # float32 (C, H, W) in [0, 1], bool (H, W)"""
    return f"""## Loading it

```python
{code}
```

`croissant.json` describes the same columns for Croissant readers, and `SHA256SUMS` holds the checksums of all files."""


def _making(manifest: Manifest, plugin: Any) -> str:
    spec = manifest.spec
    splits = {split: spec.splits[split] for split in manifest.splits}
    parameters = ",\n".join(f"        {name!r}: {value!r}" for name, value in sorted(_values(manifest).items()))
    own = spec.source_digest and spec.source != plugin.default_source
    source = '    source="PATH TO THE SOURCE",\n' if own else ""
    twins = "" if manifest.twins else "    twins=False,\n"
    recipes = "    recipes_only=True,\n" if manifest.recipes_only else ""
    regions = ", ".join(map(markdown_code, mask_columns(manifest)))
    return f"""## Making it again

```python
import salgen
salgen.make(
    {spec.generator!r},
    "OUT",
    splits={splits!r},
    seed={spec.seed},
{source}{twins}{recipes}    parameters={{
{parameters},
    }},
)
```

The pixels, masks ({regions}) and recipes are the same on any machine; the bytes of the files are, too, under
the library versions in `salgen.json`."""


def _values(manifest: Manifest) -> dict[str, Any]:
    spec = manifest.spec
    return {"image_size": list(spec.image_size), "bit_depth": spec.bit_depth, **spec.parameters}


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
