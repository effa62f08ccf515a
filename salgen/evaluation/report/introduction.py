"""The page's first sentences: the methods, the classes, and the source of the ground truth."""

from collections.abc import Sequence
from dataclasses import dataclass

from salgen.evaluation.report.runs import Run
from salgen.evaluation.report.study import Study
from salgen.sources import OWN_COPY

NAMED = 4  # most classes that a sentence lists


@dataclass(frozen=True)
class Introduction:
    """The parts of the first sentences."""

    methods: int  # number of methods under test
    classes: tuple[str, ...]  # the names of the classes that all runs share; empty where they differ
    # made, imported: the data sets whose images salgen made, so that the place of the cause is known exactly, and those
    # whose masks people or a segmentation drew
    made: list[str]
    imported: list[str]
    alone: bool  # true if all data sets are of one of these two kinds, so that none needs to be named

    @property
    def listed(self) -> bool:
        """True if the classes are few enough to be named one by one."""
        return 1 < len(self.classes) <= NAMED


def introduction(runs: Sequence[Run], methods: int, study: Study | None = None) -> Introduction:
    """The introduction of a page on which `methods` are under test unless a study names its own."""
    imported = [run for run in runs if _imported(run)]
    made = [run for run in runs if run.record.dataset.generator and not _imported(run)]
    classes = {tuple(run.record.dataset.class_names) for run in runs}
    return Introduction(
        methods=len(study.methods) if study is not None else methods,
        classes=classes.pop() if len(classes) == 1 else (),
        made=_names(made, imported),
        imported=_names(imported, made),
        alone=len(runs) in (len(made), len(imported)),
    )


def _imported(run: Run) -> bool:
    """True if the images were read from a copy of published data."""
    return run.record.dataset.source == OWN_COPY


def _names(runs: Sequence[Run], other_runs: Sequence[Run]) -> list[str]:
    """Each data set once; by the runs' labels where one of the other runs has the same name."""
    ambiguous = {_name(run) for run in other_runs}
    return list(dict.fromkeys(run.label if _name(run) in ambiguous else _name(run) for run in runs))


def _name(run: Run) -> str:
    return run.record.dataset.name
