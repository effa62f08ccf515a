"""`summary.csv` and `comparisons.csv` of a run, from its scores."""

from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from salgen.evaluation.statistics.comparison_groups import families
from salgen.evaluation.statistics.comparisons import COMPARISONS, Comparison, compare_families
from salgen.evaluation.statistics.score_cube import SUBSETS, ScoreCube, score_cubes
from salgen.evaluation.statistics.summary import ALL_SEEDS, SUMMARY, SummaryRow, csv_text, summarise
from salgen.files import write_text


def write_tables(run: Path) -> None:
    """Write both tables in a run folder, from its ``scores.parquet``."""
    for name, text in tables_text(score_cubes(run)).items():
        write_text(run / name, text)


def tables_text(cubes: Iterable[ScoreCube]) -> dict[str, str]:
    """The contents of both tables by file name; cubes that differ in their metrics give those of one cube of all."""
    summary: list[SummaryRow] = []
    comparisons: list[Comparison] = []
    for cube in cubes:
        for chosen in map(cube.restricted, cube.subsets):
            summary += summarise(chosen)
            comparisons += compare_families(families(chosen))
        series, seeds = cube.series, [*map(str, cube.seeds), ALL_SEEDS]
    subset = {name: number for number, name in enumerate(SUBSETS)}
    place = {key: number for number, key in enumerate(series)}
    model = {name: number for number, name in enumerate(dict.fromkeys(name for name, _, _ in series))}
    summary.sort(
        key=lambda row: (
            subset[row.samples],
            model[row.model],
            seeds.index(row.training_seed),
            place[row.model, row.method, row.reduction],
        )
    )
    comparisons.sort(key=lambda row: (subset[row.samples], model[row.model]))
    return {
        SUMMARY: csv_text([f.name for f in fields(SummaryRow)], map(vars, summary)),
        COMPARISONS: csv_text([f.name for f in fields(Comparison)][:-1], map(vars, comparisons)),
    }
