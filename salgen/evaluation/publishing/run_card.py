"""The texts of a published run: `README.md`, which the hub reads too, and `croissant.json`."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
import pyarrow as pa
from salgen.datasets.metadata.card import license_keys, markdown, markdown_code, markdown_table, published
from salgen.datasets.metadata.citation import SALGEN, yaml_text
from salgen.datasets.metadata.croissant import CONFORMS_TO, CONTEXT, IMPACT, file_object
from salgen.datasets.metadata.publication_metadata import PublicationMetadata
from salgen.evaluation.metrics.inputs.metric_inputs import MapKind
from salgen.evaluation.runs.artifacts import predictions
from salgen.evaluation.runs.artifacts.chunk_files import RESULT_COLUMNS
from salgen.evaluation.runs.artifacts.run_record import RunRecord
from salgen.evaluation.runs.artifacts.saved_maps import FOLDER as MAPS
from salgen.evaluation.runs.artifacts.saved_maps import folder_name, method_folder
from salgen.evaluation.runs.source_run import DATA
from salgen.evaluation.statistics.score_cube import SCORES

TAGS = ("saliency", "explainability", "benchmark", "salgen")
MEANINGS = {
    SCORES: "every score: a row for each sample, model, method, metric and variant",
    "summary.csv": "means with intervals for each method and metric",
    "comparisons.csv": "tests of each pair of methods, corrected for their number",
    predictions.FILE: "what the models say of every image of the split",
    "certificates.parquet": "for which samples it is certain that the model relies on the feature",
    "composites.parquet": "what composites of photographs say of the model's reliance, which is no certificate",
    "run.json": "how it was made: versions, settings, conventions, times",
    "report.html": "all of it as a page to read, with nothing to load from elsewhere",
    "gallery.npz": "some samples with every method's map, as the page shows them",
}
TYPES = {pa.string(): "sc:Text", pa.int64(): "sc:Integer", pa.float64(): "sc:Float", pa.bool_(): "sc:Boolean"}
FIELDS = {
    "dataset": "the data set's name",
    "dataset_fingerprint": "SHA-256 of the data set's description",
    "split": "the split of the sample",
    "sample_id": "the sample's name",
    "cluster": "the samples that share a cause; those of one cluster are not independent",
    "task": "what the model tells apart",
    "target": "the class that is explained, as a number",
    "correct": "whether the model classifies the sample rightly",
    "certified": "whether it is certain that the model relies on the feature; null where that is not known",
    "model": "the model",
    "training_seed": "the seed it was trained with",
    "method": "the saliency method with its parameters",
    "method_parameters": "all of its parameters, as JSON",
    "reduction": "how the channels of a map became one",
    "native_resolution": "height x width at which the method computed the map",
    "metric": "the metric with its parameters",
    "variant": "the region that is scored",
    "value": "the score; NaN where it is undefined",
    "value_worst_case": "the score, where a map that failed has the worst one",
    "reason": "why a score is undefined or trivial",
}

SCORING = """## Scoring the maps under other metrics

    salgen evaluate --from-maps PATH --metrics average-precision,iou

PATH is this folder or the archive. No GPU is needed, and for metrics that look at map and mask alone no model."""


@dataclass(frozen=True)
class Contents:
    """The contents of a published run."""

    record: RunRecord  # its `run.json`
    summary: str  # its results as plain text
    pixels: bool  # whether its pictures and the images of its data are included
    models: bool  # whether all models' weights are included

    @property
    def maps(self) -> list[str]:
        """The methods whose maps are included."""
        folders = set(map(method_folder, self.record.maps))
        return [method.call for method in self.record.methods if folder_name(method.call) in folders]

    @property
    def title(self) -> str:
        """The title for citations."""
        models = " and ".join(sorted({model.name for model in self.record.models}))
        return f"Saliency methods on {self.record.dataset.generator}, {models} (a run of salgen)"

    @property
    def abstract(self) -> str:
        """One sentence on what was measured."""
        record = self.record
        return (
            f"Scores of {len(record.methods)} saliency methods and controls under {len(record.metrics)} metrics, "
            f"on {record.samples['with_mask']} images of {record.dataset.generator}."
        )


def run_card(contents: Contents, files: Mapping[str, Path | bytes], publication: PublicationMetadata) -> str:
    """`README.md`: what was measured, the results, the files, and how to score the maps again."""
    terms = f"{published(publication)} under {markdown(publication.license)}"
    sections = [
        f"# {markdown(contents.title)}",
        _measured(contents),
        f"## Results\n\n```text\n{contents.summary.replace('```', '')}\n```",
        _files(contents, files),
        _loading(contents),
        SCORING if contents.maps else "",
        _not_included(contents),
        f"## License and citing\n\n{terms}, as the publisher states.\n`CITATION.cff` says how to cite it.",
    ]
    return _front_matter(contents, publication) + "\n" + "\n\n".join(filter(None, sections)) + "\n"


def run_croissant(contents: Contents, digests: Mapping[str, str], publication: PublicationMetadata) -> str:
    """`croissant.json`: the files with their checksums, and the fields of `scores.parquet`."""
    described = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": contents.title,
        "description": contents.abstract,
        "version": "1.0.0",
        "license": publication.license_url or publication.license,
        "creator": [{"@type": "sc:Organization", "name": name} for name in publication.creators or (SALGEN,)],
        "citeAs": ", ".join([*publication.creators, contents.title, publication.date]),
        "datePublished": publication.date,
        **({"url": publication.url} if publication.url else {}),
        "keywords": list(TAGS),
        **_responsible(contents),
        "distribution": [file_object(name, digest) for name, digest in sorted(digests.items())],
        "recordSet": [_scores()],
    }
    return json.dumps(described, indent=2, allow_nan=False) + "\n"


def _measured(contents: Contents) -> str:
    record = contents.record
    data, names = record.dataset, sorted({model.name for model in record.models})
    models = "\n".join(
        f"- {markdown(model.name)}, training seed {model.seed}: right on {model.accuracy:.1%} of {model.n_images} "
        f"images (chance {model.chance:.1%})"
        for model in record.models
    )
    return f"""## What was measured

{markdown(contents.abstract)}
The data set is {markdown_code(str(data.generator))}, split {markdown_code(data.split)}, fingerprint
{markdown_code(data.fingerprint)}. Explained: {", ".join(map(markdown_code, names))}.

{models}"""


def _files(contents: Contents, files: Mapping[str, Path | bytes]) -> str:
    rows = [(f"`{name}`", meaning) for name, meaning in MEANINGS.items() if name in files]
    if contents.models:
        rows.append(("`*-seed*/`, `checkpoints/`", "the models: weights as safetensors, and what they are"))
    if contents.maps:
        rows.append(
            (f"`{MAPS}/MODEL/METHOD/*.parquet`", "the maps: float32, bytes shuffled, zstd; every bit as it was scored")
        )
        rows.append((f"`{DATA}/`", "the split's images and masks" if contents.pixels else "the split's masks"))
    return f"## Files\n\n{markdown_table(('file', 'holds'), rows)}"


def _loading(contents: Contents) -> str:
    maps = '\nmaps = datasets.load_dataset("PATH", "maps-METHOD", split="train")' if contents.maps else ""
    return f"""## Loading it

```python
import datasets                                    # Hugging Face; nothing of salgen is needed
scores = datasets.load_dataset("PATH", "scores", split="train"){maps}

import pandas
scores = pandas.read_parquet("PATH/{SCORES}")
```"""


def _not_included(contents: Contents) -> str:
    lines = []
    if not contents.pixels:
        lines.append(
            "- Images and pictures: the terms of the data's source are not known to let others pass them on. Metrics "
            "that look at images take the data set too: `salgen evaluate DATA --from-maps PATH`."
        )
    if not contents.models:
        lines.append(
            "- The weights of a model that salgen has neither trained nor read from a checkpoint: metrics that ask the "
            "model need it."
        )
    if left_out := contents.record.maps_left_out:
        lines.append(f"- Maps by {', '.join(map(markdown_code, left_out))}, since they show the image.")
    if not contents.record.maps:
        lines.append("- Maps: the run did not keep them.")
    return "## What is not included\n\n" + "\n".join(lines) if lines else ""


def _front_matter(contents: Contents, publication: PublicationMetadata) -> str:
    """YAML front matter for the hub: license, and a configuration for each table."""
    configs: list[dict[str, Any]] = [
        {"config_name": "scores", "data_files": SCORES, "default": True},
        {"config_name": "predictions", "data_files": predictions.FILE},
    ]
    if contents.maps:
        split = contents.record.dataset.split
        configs.append({"config_name": "samples", "data_files": f"{DATA}/data/{split}-*.parquet"})
        configs += [
            {
                "config_name": f"maps-{folder_name(call)}",
                "data_files": f"{MAPS}/*/{folder_name(call)}/{MapKind.SAMPLES}-*.parquet",
            }
            for call in contents.maps
        ]
    license = license_keys(publication)
    values = {"pretty_name": contents.title, **license, "tags": list(TAGS), "configs": configs}
    return f"---\n{yaml_text(values)}---\n"


def _responsible(contents: Contents) -> dict[str, Any]:
    """Properties of the ``rai`` namespace that are true of a run."""
    data = contents.record.dataset
    return {
        "rai:dataCollection": f"Computed by salgen {contents.record.salgen}: models were asked about split "
        f"{data.split} of {data.name}, explained by saliency methods, and the maps scored against its masks.",
        "rai:dataUseCases": [
            "Comparing saliency methods and metrics on images whose cause is known.",
            "Not for claims about other models or images: a method that finds the cause here may miss it elsewhere.",
        ],
        "rai:dataLimitations": "Scores hold for these models and images; a map can be held to the mask only where the "
        "model relies on it, which certificates.parquet says where it could be tested.",
        "rai:dataSocialImpact": IMPACT,
        "rai:personalSensitiveInformation": "None beyond what the data set's own description says of its images.",
    }


def _scores() -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "scores",
        "name": "scores",
        "description": "One score: a sample, a model, a method and a metric.",
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"scores/{name}",
                "name": name,
                "description": FIELDS[name],
                "dataType": TYPES[kind],
                "source": {"fileObject": {"@id": SCORES}, "extract": {"column": name}},
            }
            for name, kind in RESULT_COLUMNS.items()
        ],
    }
