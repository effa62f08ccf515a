"""The certificate tried on planted shortcuts: ``python -m benchmarks.shortcuts [REDRAWS]``, a few minutes on one core.

Prints the table of docs/reliance.md. Each model is trained plainly on :mod:`benchmarks.marked_lesions`. What it uses is
found by an intervention that knows nothing of certificates: the mark is toggled in a sample and in its twin, while all
else stays as it is.
"""

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
import numpy as np
import pyarrow.parquet as pq
import torch
from scipy.stats import binomtest
from torch import nn
import salgen
from benchmarks.marked_lesions import KINDS, registered
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.runs.artifacts.certificate_table import CERTIFICATES
from salgen.evaluation.runs.certify import certify
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan
from salgen.evaluation.training.training import train
from salgen.generators.factory import generator_of
from salgen.generators.generator import Generator
from salgen.types import Float64, Recipe, Sample

STRENGTHS = (0.0, 0.5, 0.75, 0.9, 1.0)
SPLITS = {"train": 400, "val": 100, "test": 200}
PARAMETERS = {"image_size": (32, 32), "diameter": 6, "slices": 64, "depth": 0.4}
SETTINGS = {"widths": "8,16,16", "hidden": 16, "epochs": 10}
REDRAWS = 8
MOST = 0.25  # of the feature's effect, the mark may move the twin's logit
COLUMNS = (
    *("mark", "strength", "accuracy", "certified", "use the mark", "found", "of these right, and flip", "by redraws"),
    *("elsewhere", "others certified", "own logit"),
)


@dataclass(frozen=True)
class Toggled:
    """What toggling the mark does to a sample with lesions.

    Attributes
    ----------
    another_class
        Whether the predicted class of the sample or of its twin changes.
    moves_sample, moves_twin
        How far the logit of the explained class moves, as a share of the lesions' effect on it.
    """

    another_class: bool
    moves_sample: float
    moves_twin: float

    @property
    def uses_mark(self) -> bool:
        """Whether a class changes, or the twin's logit by more than a quarter of the lesions' effect."""
        return self.another_class or self.moves_twin > MOST


@dataclass(frozen=True)
class Tried:
    """A sample's row of ``certificates.parquet``, beside what toggling its mark does."""

    toggled: Toggled
    certificate: Mapping[str, Any]

    @property
    def certified(self) -> bool:
        """The certificate's verdict."""
        return bool(self.certificate["certified"])

    @property
    def missed(self) -> bool:
        """Whether the sample uses the mark and is certified."""
        return self.toggled.uses_mark and self.certified


def tried(folder: Path, kind: str, strength: float, redraws: int = REDRAWS) -> tuple[float, list[Tried]]:
    """The test accuracy of a model that is trained on a mark, and what is known of each test sample with lesions."""
    parameters = {**PARAMETERS, "kind": kind, "strength": strength}
    data = salgen.make("marked-lesions", folder / "data", splits=SPLITS, parameters=parameters, workers=1)
    trained = train(data, folder / "trained", settings=SETTINGS)
    dataset, model = open_dataset(data), EvaluatedModel.of(trained)
    certify([ModelRunner(Plan.of(dataset, Conventions(redraws=redraws), [model], {}, {}), model, folder)])
    generator, found = generator_of(dataset.spec), []
    for certificate in pq.read_table(folder / CERTIFICATES).to_pylist():
        recipe = generator.recipe(dataset.spec.seed, "test", int(certificate["sample_id"].rpartition("-")[2]))
        found.append(Tried(toggle(generator, recipe, trained.classifier), certificate))
    return trained.card.test_accuracy, found


def toggle(generator: Generator, recipe: Recipe, network: nn.Module) -> Toggled:
    """Toggle the mark in a sample with lesions and in its twin, and change nothing else."""
    other = {**recipe.parameters, "mark": 1 - recipe.parameters["mark"]}
    pairs = [(generator.render(one), generator.twin(one)) for one in (recipe, replace(recipe, parameters=other))]
    said = np.array([_logits(pair, network) for pair in pairs])  # as drawn and toggled; sample and twin; class
    classes, explained = said.argmax(axis=2), said[:, :, recipe.parameters["label"]]
    sample, twin = np.abs(explained[0] - explained[1]) / abs(explained[0, 0] - explained[0, 1])
    return Toggled(bool((classes[0] != classes[1]).any()), float(sample), float(twin))


def _logits(samples: Sequence[Sample | None], network: nn.Module) -> Float64:
    images = np.stack([sample.image for sample in samples if sample is not None]).astype(np.float64) / 255
    with torch.no_grad():
        return np.asarray(network(torch.from_numpy(images).permute(0, 3, 1, 2).float()).double().numpy())


def row(mark: str, strength: str, accuracy: float, samples: Sequence[Tried]) -> str:
    """A line of the table."""
    using, others = [s for s in samples if s.toggled.uses_mark], [s for s in samples if not s.toggled.uses_mark]
    flipping, certified = [s for s in using if s.certificate["uses_feature"]], [s for s in samples if s.certified]
    missed = sum(s.missed for s in samples)
    cells = [
        *(mark, strength, f"{accuracy:.3f}", share(len(certified), len(samples))),
        *(str(len(using)), with_interval(len(using) - missed, len(using))),
        *(str(len(flipping)), with_interval(len(flipping) - missed, len(flipping))),
        " / ".join(
            share(sum(s.certificate["holds_elsewhere"] < 1 for s in part), len(part)) for part in (using, others)
        ),
        share(sum(s.certified for s in others), len(others)),
        share(sum(s.toggled.moves_sample > MOST for s in certified), len(certified)),
    ]
    return f"| {' | '.join(cells)} |"


def share(count: int, total: int) -> str:
    """A share to two digits, or a dash where it is of nothing."""
    return f"{count / total:.2f}" if total else "-"


def with_interval(count: int, total: int) -> str:
    """A share with Clopper and Pearson's 95 % interval."""
    if not total:
        return "-"
    low, high = binomtest(count, total).proportion_ci()
    return f"{count / total:.3f} ({low:.2f} to {high:.2f})"


def missed_line(mark: str, strength: str, sample: Tried) -> str:
    """What is known of a sample that uses its mark and is certified."""
    toggled, certificate = sample.toggled, sample.certificate
    change = "another class" if toggled.another_class else "no other class"
    moved = f"moves the twin by {toggled.moves_twin:.3f} and the sample by {toggled.moves_sample:.3f}"
    return f"{mark} {strength}, {certificate['sample_id']}: {moved}, {change}; tolerance {certificate['tolerance']:.3f}"


def lines(redraws: int) -> Iterator[str]:
    """The page's table, line by line; its last row pools the marks that redraws vary, and what they miss follows."""
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"|---|{'--:|' * (len(COLUMNS) - 1)}"
    accuracies, pooled, missed = [], [], []
    for kind in KINDS:
        for strength in STRENGTHS:
            with tempfile.TemporaryDirectory() as folder:
                accuracy, samples = tried(Path(folder), kind, strength, redraws)
            yield row(kind, f"{strength:g}", accuracy, samples)
            if kind != "slice":
                accuracies.append(accuracy)
                pooled += samples
                missed += [missed_line(kind, f"{strength:g}", sample) for sample in samples if sample.missed]
    yield row("all but slice", "", float(np.mean(accuracies)), pooled)
    yield from ("", "Missed:", *missed)


def main(arguments: Sequence[str]) -> None:
    """Print the table; an argument gives the number of redraws."""
    started = time.perf_counter()
    with registered():
        for line in lines(int(arguments[0]) if arguments else REDRAWS):
            print(line, flush=True)
    print(f"\n{time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
