"""The first table of docs/designed.md: ``python -m benchmarks.designed FOLDER``, of `salgen reproduce designed`."""

import sys
from pathlib import Path
import pandas as pd
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.evaluation.protocols.designed import DATASETS, GRIDS
from salgen.evaluation.results.run import Run
from salgen.registry import METHODS

COSINE, TOTAL, ZEROS = "attribution-cosine", "completeness-error", "false-attribution"
SHOWN_CONTROLS = ("random", "constant")
EXACT = {COSINE: 0.9995, TOTAL: 0.01, ZEROS: 0.001}  # a cosine from this on, errors up to it


def means(run: Path) -> pd.DataFrame:
    """The mean over images of each metric, worst where a map failed: methods by metrics."""
    rows = Run(run).summary
    rows = rows[(rows["samples"] == "all") & (rows["training_seed"] == "all")]
    return rows.pivot_table(index="method", columns="metric", values="mean_worst_case")


def exact_table(folder: Path) -> str:
    """Cosines of all methods with the exact attributions; bold where total and zeros are right as well."""
    found = {name: means(folder / f"{name}-run") for name, (_, _, network) in DATASETS.items() if network not in GRIDS}
    rows = []
    for method in METHODS.names():
        calls = [
            next((call for call in table.index if call.partition(":")[0] == method), None) for table in found.values()
        ]
        if any(calls) and (not METHODS.load(method).control or method in SHOWN_CONTROLS):
            cells = [_cell(table, call) for table, call in zip(found.values(), calls, strict=True)]
            rows.append([f"`{method}`", *cells])
    rows.sort(key=_exactness)
    return markdown_table(["method", *(name.replace("-", " ") for name in found)], rows)


def _exactness(cells: list[str]) -> tuple[int, int, str]:
    """Exact ones first, then those that are so up to a factor, by name."""
    exact = sum("*" in cell for cell in cells)
    return -exact, -sum(cell.strip("*") == "1.00" for cell in cells), cells[0]


def _cell(table: pd.DataFrame, call: str | None) -> str:
    if call is None or pd.isna(table.at[call, COSINE]):
        return "-"
    values = table.loc[call]
    exact = values[COSINE] >= EXACT[COSINE] and values[TOTAL] <= EXACT[TOTAL] and values[ZEROS] <= EXACT[ZEROS]
    return f"**{values[COSINE]:.2f}**" if exact else f"{values[COSINE]:.2f}"


if __name__ == "__main__":
    print(exact_table(Path(sys.argv[1])))
