"""Protocols: the experiments of the papers, each as one command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from salgen.evaluation.report.study import Table


class Reproduction(NamedTuple):
    """What a protocol leaves.

    Attributes
    ----------
    runs
        The run folders.
    page
        The report.
    tables
        The paper's tables, filled in again beside its numbers.
    """

    runs: list[Path]
    page: Path
    tables: tuple[Table, ...] = ()
