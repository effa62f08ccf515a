"""The laws that every importer keeps."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
import numpy as np
from salgen.datasets.format.manifest import read_manifest
from salgen.datasets.making import make
from salgen.errors import SalgenError
from salgen.evaluation.verification.verifying import verify
from salgen.generators.factory import generator, plugin_class
from salgen.generators.generator import Generator
from salgen.sources import OWN_COPY
from salgen.testing.generators import SEED, check_declarations, check_equal
from salgen.types import Sample


def check_importer(name: str, source: str, **parameters: Any) -> None:
    """Check a registered importer of images without twins against the laws, on a small copy of its data.

    - The copy is named and hashed alike whenever it is opened, and it says its license.
    - Each sample of each split is there once, and another seed gives the same images and labels in each split.
    - Labels, regions, image size and depth are what the importer declares; masks are boolean and as large as the image.
    - A sample alone equals itself in a batch, and one of the copy opened again. Its recipe and its factors are JSON.
    - There are no twins, and edits are refused.
    - A data set of the copy has the same bytes when it is made again. It states the license and notes, but no path.
      Verifying it with the copy finds no problem.

    Parameters
    ----------
    name
        A registered importer.
    source
        The path of the copy, as a user gives it.
    parameters
        The importer's parameters, beside its `quick` ones.

    Raises
    ------
    AssertionError
        If a law is broken; the message names it.
    """
    chosen = {**plugin_class(name).quick, **parameters}
    made, again = (generator(name, source, **chosen) for _ in range(2))
    assert made.source.name == OWN_COPY, f"{name}: its source is called {made.source.name!r}"
    assert made.source.digest == again.source.digest, f"{name}: the copy has another digest when it is opened again"
    assert made.source.license, f"{name}: its source states no license"
    assert sum((made.available or {}).values()), f"{name}: the copy has no samples"
    for split, count in (made.available or {}).items():
        samples = []
        for index, (sample, twin) in enumerate(made.pairs(SEED, split, range(count))):
            _check_sample(made, sample, twin)
            for other in (made, again):
                alone = other.sample(SEED, split, index)
                check_equal(sample, alone, f"{name}: {sample.id} alone differs from itself in a batch")
            samples.append(sample)
        recipes = {json.dumps(sample.recipe.parameters, sort_keys=True) for sample in samples}
        assert len(recipes) == count, f"{name}: a sample of {split} is there twice"
        others = [made.sample(SEED + 1, split, index) for index in range(count)]
        assert _contents(others) == _contents(samples), f"{name}: another seed gives other images of {split}"
    _check_data_set(made, source, chosen)


def _check_sample(made: Generator, sample: Sample, twin: Any) -> None:
    name, parameters = made.plugin.name, sample.recipe.parameters
    check_declarations(made, sample)
    for mask in sample.alternatives:
        assert mask.dtype == bool, f"{name}: mask of {mask.dtype}"
        assert mask.shape == sample.image.shape[:2], f"{name}: mask of shape {mask.shape}"
    assert twin is None, f"{name}: {sample.id} has a twin in a batch"
    assert made.twin(sample.recipe) is None, f"{name}: {sample.id} has a twin"
    assert json.loads(json.dumps(parameters)) == parameters, f"{name}: the recipe of {sample.id} is no JSON"
    json.dumps(made.plugin.factors(parameters))
    try:
        made.render(sample.recipe, omit=tuple(sample.regions)[:1])
    except SalgenError:
        return
    raise AssertionError(f"{name}: an edit is not refused")


def _contents(samples: list[Sample]) -> list[tuple[bytes, str]]:
    """Images and labels, in an order of their own."""
    return sorted((np.ascontiguousarray(sample.image).tobytes(), str(sample.labels)) for sample in samples)


def _check_data_set(made: Generator, source: str, parameters: dict[str, Any]) -> None:
    name = made.plugin.name
    with TemporaryDirectory() as folder:
        folders = [Path(folder) / part for part in ("one", "other")]
        one, other = (make(name, out, source=source, parameters=parameters, workers=1) for out in folders)
        sums = [(out / "SHA256SUMS").read_bytes() for out in (one, other)]
        assert sums[0] == sums[1], f"{name}: a data set has other bytes when it is made again"
        manifest = read_manifest(one)
        assert manifest.spec.source == OWN_COPY, f"{name}: the data set does not name its source"
        assert manifest.license == made.source.license, f"{name}: the data set states another license than the source"
        assert manifest.notes == made.source.notes, f"{name}: the data set states other notes than the source"
        assert source not in (one / "README.md").read_text(encoding="utf-8"), f"{name}: the card shows a path"
        problems = verify(one, source=source)
        assert not problems, f"{name}: {problems}"
