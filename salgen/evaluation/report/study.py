"""The part of a report that a protocol adds: the grid that a paper evaluated, and the paper's claims."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap
from typing import Final, Literal
from salgen.evaluation.report.formatting import number
from salgen.evaluation.statistics.jackknife import Estimate

WIDTH = 100  # characters of a line of prose in the terminal

Outcome = Literal["held", "not held", "undecided", "not testable here"]
HELD: Final = "held"
NOT_HELD: Final = "not held"
UNDECIDED: Final = "undecided"  # the samples are too few to tell
NOT_TESTABLE: Final = "not testable here"


@dataclass(frozen=True)
class StudyCell:
    """A data set under one model."""

    dataset: str
    model: str
    runs: tuple[Path, ...]  # run folders whose samples are pooled


@dataclass(frozen=True)
class Variants:
    """One model on the variants of one data set."""

    model: str
    # name of a variant, such as `"original"` or `"moved"`, to its run folder, in the order to show. A sample has the
    # same number, the end of its id, in each
    runs: Mapping[str, Path]
    # names of the variants whose scores rank methods, as the feature is where the scored mask is; by default all. In
    # the others a score is how much of the mask's place a method still marks
    marked: frozenset[str] | None = None

    def ranks(self, variant: str) -> bool:
        """True if scores in a variant rank methods."""
        return self.marked is None or variant in self.marked


@dataclass(frozen=True)
class Finding:
    """A claim of a paper, and its verdict in this study."""

    claim: str
    verdict: Outcome
    numbers: str  # the numbers behind the verdict, in words
    size: str = ""  # the numbers of clusters, samples and trained models, in words; empty where there are none


@dataclass(frozen=True)
class TableRow:
    """A row of a paper's table: numbers of this study and those that the paper prints."""

    label: str  # such as `"MCS"`
    estimates: Mapping[str, Estimate]  # each of the table's methods to a mean; NaN where there is none
    # method to the paper's number, as it prints it, or to several with a stroke between; absent where it has none
    printed: Mapping[str, str]
    higher_is_better: bool | None  # none where neither is
    network: str = ""  # the network that the means are of; empty where they are over several

    @property
    def means(self) -> dict[str, float]:
        """The means without their uncertainty."""
        return {method: estimate.value for method, estimate in self.estimates.items()}

    @property
    def title(self) -> str:
        """The row's head."""
        return f"{self.label}, {self.network}" if self.network else self.label


@dataclass(frozen=True)
class StudyTable:
    """A table of a paper, filled in again."""

    title: str  # such as `"Table 1"`
    caption: str  # what its cells hold
    methods: tuple[str, ...]  # the columns, as calls
    rows: tuple[TableRow, ...]


@dataclass(frozen=True)
class Study:
    """A paper's experiments, evaluated again."""

    title: str
    reference: str
    metric: str  # the metric of the grid, such as `"m-gt"`; empty where there is no grid
    methods: tuple[str, ...]  # the paper's, as calls, in its order
    cells: tuple[StudyCell, ...] = ()  # the grid's
    variants: tuple[Variants, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    tables: tuple[StudyTable, ...] = ()  # means beside the paper's numbers


def tables_text(tables: Sequence[StudyTable]) -> str:
    """Tables as plain text, with a line for each metric and each number followed by the paper's in brackets."""
    blocks = []
    for table in tables:
        rows = [["", *table.methods]]
        for row in table.rows:
            printed = {method: f" ({text})" for method, text in row.printed.items()}
            cells = [number(row.means[method]) + printed.get(method, "") for method in table.methods]
            rows.append([row.title, *cells])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in rows]
        blocks.append("\n".join([*wrap(f"{table.title}. {table.caption}", WIDTH), "", *lines]))
    return "\n\n".join(blocks)


def findings_text(findings: Sequence[Finding]) -> str:
    """Plain text: for each claim its verdict, the numbers behind it, and the number of clusters, samples and models."""
    lines = []
    for finding in findings:
        said = f"{finding.numbers}; {finding.size}" if finding.size else finding.numbers
        lines += wrap(f"{finding.verdict}: {finding.claim}. {said}", WIDTH, subsequent_indent="  ")
    return "\n".join(lines)
