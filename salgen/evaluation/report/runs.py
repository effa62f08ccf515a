"""Run folders, read into memory as the report and the pages after it need them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from operator import attrgetter
from pathlib import Path
import numpy as np
from numpy.typing import NDArray
from salgen.datasets.archives.archive_formats import is_archive
from salgen.errors import SalgenError
from salgen.evaluation.runs.artifacts.run_record import RECORD, MethodRecord, ModelRecord, RunRecord
from salgen.evaluation.scoring.metric_selection import canonical, create_metric, higher_is_better, ranking_metrics
from salgen.evaluation.statistics.comparison_groups import Key, families, is_ceiling
from salgen.evaluation.statistics.comparisons import Comparison, compare_families
from salgen.evaluation.statistics.score_cube import ALL, ScoreCube, read_scores
from salgen.evaluation.statistics.summary import ALL_SEEDS, SummaryRow, summarise
from salgen.parameters import parse_call
from salgen.types import Float64

METHOD, CEILING, FLOOR = "method", "ceiling", "floor"
ACCURACY = ("accuracy", "n_images", "chance")


def accuracy_of(trained: Sequence[ModelRecord]) -> float:
    """The share of images that trainings classify correctly."""
    return sum(model.accuracy * model.n_images for model in trained) / sum(model.n_images for model in trained)


@dataclass(frozen=True)
class LoadedRun:
    """A run folder with its record and all of its scores."""

    path: Path
    label: str  # the data set's name, with the folder's where two runs share it
    record: RunRecord
    cube: ScoreCube
    higher_is_better: Mapping[str, bool | None]  # by metric; None for a diagnostic

    @property
    def models(self) -> list[ModelRecord]:
        """The trained models, one for each training seed."""
        return self.record.models

    @property
    def second_models(self) -> list[ModelRecord]:
        """The second models that metrics contrast the first ones with, if their accuracy is known."""
        known = (vars(model) for model in self.record.paired_model or () if model.accuracy is not None)
        return [
            ModelRecord(name=f"{m['name']}, {m['task']}", **{key: m[key] for key in ("seed", *ACCURACY)}) for m in known
        ]

    @property
    def reliant(self) -> bool:
        """True if its models were trained for reliance on the feature."""
        return any((model.settings or {}).get("reliance") for model in self.record.models)

    @property
    def split(self) -> str:
        """The split that was evaluated."""
        return self.record.dataset.split

    @cached_property
    def model_names(self) -> list[str]:
        """The architectures that have scores."""
        return list(dict.fromkeys(model for model, _, _ in self.cube.series))

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics that have scores, in the run's order."""
        return [name for name in self.record.metrics if name in self.cube.metrics]

    @cached_property
    def headline(self) -> str | None:
        """The metric of the headline: the first that ranks maps, by its own definition if one is."""
        return next(iter(ranking_metrics([*canonical(self.metrics), *self.metrics])), None)

    @cached_property
    def variants(self) -> list[str]:
        """The variants that have scores, the headline first."""
        headline = self.record.headline_variant
        return sorted(self.cube.variants, key=lambda variant: variant != headline)

    def has(self, metric: str, variant: str) -> bool:
        """True if a metric is scored in a variant."""
        return bool(self.cube.scored[:, self.cube.metrics.index(metric), self.cube.variants.index(variant)].any())

    def variant_of(self, metric: str) -> str:
        """The headline variant, or the first one that a metric is scored in."""
        return next(variant for variant in self.variants if self.has(metric, variant))

    @cached_property
    def methods(self) -> dict[str, MethodRecord]:
        """The methods by their calls."""
        return {method.call: method for method in self.record.methods}

    def trained(self, model: str) -> list[ModelRecord]:
        """The trainings of one architecture."""
        return [trained for trained in self.models if trained.name == model]

    def unlearnt(self, model: str) -> bool:
        """True if no training of a model is known to have learnt the task, so that no method can be judged by it."""
        return all(training.unlearnt or training.too_few for training in self.trained(model))

    def undecided(self, model: str) -> bool:
        """True if a model is `unlearnt` because there are too few images to tell."""
        return self.unlearnt(model) and any(training.too_few for training in self.trained(model))

    def role(self, call: str) -> str:
        """The role of a method: under test, a floor or a ceiling."""
        if not self.methods[call].control:
            return METHOD
        return CEILING if is_ceiling(call) else FLOOR

    def keys(self, model: str) -> list[Key]:
        """The methods that have scores for a model."""
        return [(call, reduction) for name, call, reduction in self.cube.series if name == model]

    def under_test(self, model: str) -> list[Key]:
        """The methods with scores for a model that are not controls."""
        return [key for key in self.keys(model) if self.role(key[0]) == METHOD]

    def scores(self, series: int, metric: str) -> tuple[Float64, Float64]:
        """One of the cube's series in the headline variant and, with failed maps as worst: (seeds, samples) each."""
        index = series, self.cube.metrics.index(metric), self.cube.variants.index(self.variant_of(metric))
        return self.cube.value[index], self.cube.worst[index]

    def row(
        self, model: str, key: Key, metric: str, variant: str, seed: str = ALL_SEEDS, samples: str = ALL
    ) -> SummaryRow | None:
        """The summary of one method's scores on all, the correctly classified or the certified samples, if any."""
        return self._rows(samples).get((model, *key, metric, variant, seed))

    @cached_property
    def _rows(self) -> Callable[[str], dict[tuple[str, ...], SummaryRow]]:
        """A choice of samples to its rows, computed once."""
        place = attrgetter("model", "method", "reduction", "metric", "variant", "training_seed")
        return cache(lambda samples: {place(row): row for row in summarise(self.cube.restricted(samples))})

    def comparisons(self, model: str, metric: str, variant: str, samples: str = ALL) -> list[Comparison]:
        """The tests of all pairs of methods and floors; empty where there is nothing to compare."""
        place = model, metric, variant
        return [row for row in self._comparisons(samples) if (row.model, row.metric, row.variant) == place]

    @cached_property
    def _comparisons(self) -> Callable[[str], list[Comparison]]:
        """A choice of samples to the tests of all families, computed once."""
        return cache(lambda samples: compare_families(families(self.cube.restricted(samples))))

    # The images behind the headline metric's means: those with a mask, or all for accuracies of new trainings.

    @property
    def _counted(self) -> str:
        """The headline metric, or the first one where all are diagnostics."""
        return self.headline or self.metrics[0]

    def samples_counted(self, model: str) -> NDArray[np.bool_]:
        """The headline metric's samples: bool (seeds, samples)."""
        return self.cube.samples_of(model, self._counted, self.variant_of(self._counted))

    def clusters_counted(self, model: str) -> int:
        """The number of clusters that the headline metric's samples form."""
        return len(np.unique(self.cube.clusters[self.samples_counted(model).any(axis=0)]))

    def wrong(self, model: str) -> float:
        """The share of the headline metric's images that a model misclassifies."""
        return self.cube.wrong(model, self._counted, self.variant_of(self._counted))

    def images_counted(self, metrics: Sequence[str] = ()) -> tuple[str, str]:
        """Words such as ``("8 images with a mask", "roar, kar: all 16 images")``, of the headline and other metrics."""
        samples, of_all = self.record.samples, of_all_images(metrics)
        with_mask, others = f"{samples['with_mask']} images with a mask", of_all
        counted, uncounted = with_mask, f"all {samples['considered']} images"
        if of_all_images([self._counted]):
            counted, uncounted = f"{samples['considered']} images, with a mask or without", f"the {with_mask}"
            others = [metric for metric in metrics if metric not in of_all]
        names = dict.fromkeys(parse_call(metric)[0] for metric in others)
        return counted, f"{', '.join(names)}: {uncounted}" if names else ""


def of_all_images(metrics: Sequence[str]) -> list[str]:
    """The metrics that count every considered image, with or without a mask."""
    return [metric for metric in metrics if "training" in create_metric(metric).needs]


def read_runs(paths: Sequence[Path | str]) -> list[LoadedRun]:
    """Read run folders, each with a label of its own."""
    check_run_folders(paths)
    runs = [_read_run(Path(path)) for path in paths]
    plain = {run.label for run in runs if not run.reliant}
    labels = [f"{run.label}, trained for reliance" if run.reliant and run.label in plain else run.label for run in runs]
    shared = Counter(labels)
    alike = Counter((label, run.path.name) for label, run in zip(labels, runs, strict=True))
    for number, (label, run) in enumerate(zip(labels, runs, strict=True)):
        folder = run.path.name if alike[label, run.path.name] == 1 else run.path
        labels[number] = f"{label} ({folder})" if shared[label] > 1 else label
    return [replace(run, label=label) for label, run in zip(labels, runs, strict=True)]


def check_run_folders(paths: Sequence[Path | str]) -> None:
    """Refuse an empty or repeating list of run folders before any is read."""
    if not paths:
        raise SalgenError("no run folder was given: name at least one that `salgen evaluate` wrote")
    for path, count in Counter(Path(path).resolve() for path in paths).items():
        if count > 1:
            raise SalgenError(f"run folder {path} was given {count} times: name each folder once")


def _read_run(path: Path) -> LoadedRun:
    if is_archive(path):
        raise SalgenError(f"{path} is an archive: unpack it first with `salgen unpack {path} DIR`")
    record = RunRecord.read(path / RECORD)
    better = {metric: higher_is_better(metric) for metric in record.metrics}
    return LoadedRun(path, record.dataset.name, record, read_scores(path), better)
