"""The tables of docs/thresholds.md, from the sweeps in results: ``python -m benchmarks.threshold_tables``.

A sweep's ``thresholds.csv`` lies there as thresholds/GENERATOR-DOSE.csv, and ``detection.csv`` of planted artefacts as
detection.csv.
"""

from functools import cached_property
from pathlib import Path
import numpy as np
import pandas as pd
from benchmarks.filled_pages import filled
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.evaluation.sweeps.thresholds import EVERYWHERE, FOUND, NOT_REACHED

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results", ROOT / "docs" / "thresholds.md"
ROLES = ("model", "method", "floor")
MODEL = "model (accuracy)"
SHORT = {EVERYWHERE: "every dose", NOT_REACHED: "no dose"}
FAR = 0.1  # a dose's mean is at least so far from the curve: no outcome in sweeps without the doses' own means


class Tables:
    """The results of all sweeps in a folder of results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def sweeps(self) -> dict[str, pd.DataFrame]:
        """The rows of each sweep by subject; the model's name is `MODEL`."""
        read = {path.stem: pd.read_csv(path) for path in sorted((self.folder / "thresholds").glob("*.csv"))}
        named = {name: rows["subject"].where(rows["role"] != "model", MODEL) for name, rows in read.items()}
        return {name: rows.set_index(named[name]) for name, rows in read.items()}

    def thresholds(self) -> str:
        """Model, methods and floors: first those that are found in most sweeps, then those closest to the model."""
        every = pd.concat(self.sweeps.values())
        roles = every["role"].groupby(level=0, sort=False).first()
        subjects = sorted(
            roles[roles.isin(ROLES)].index, key=lambda one: (ROLES.index(roles[one]), *self._standing(one))
        )
        rows = [
            [_name(subject, roles[subject]), *(_cell(rows, subject) for rows in self.sweeps.values())]
            for subject in subjects
        ]
        return markdown_table(["", *(name.replace("-", " ").replace("_", " ") for name in self.sweeps)], rows)

    def _standing(self, subject: str) -> tuple[int, float]:
        """Less the number of sweeps in which it is found, and the mean distance of its threshold from the model's."""
        reached, away = 0, [0.0]
        for rows in self.sweeps.values():
            if subject in rows.index:
                threshold, of_model = rows.loc[subject, "threshold"], rows.loc[MODEL, "threshold"]
                reached += rows.loc[subject, "outcome"] in (FOUND, EVERYWHERE)
                away += [] if np.isnan(threshold) or np.isnan(of_model) else [abs(np.log(threshold / of_model))]
        return -reached, float(np.mean(away))

    def detection(self) -> str:
        """Methods, then floors, each from the largest AUROC on."""
        read = pd.read_csv(self.folder / "detection.csv")
        rows = read[read["role"].isin(ROLES)].sort_values(["role", "auroc"], ascending=False, kind="stable")
        heads = ["", "AUROC", "95 % interval", "trainings for ±0.1", "false alarms at strength 0"]
        cells = [
            [
                _name(row.method, row.role),
                f"{row.auroc:.2f}",
                f"{row.low:.2f} to {row.high:.2f}",
                f"{row.trainings:.0f}",
                f"{row.false_alarms * row.at_zero:.0f} of {row.at_zero}",
            ]
            for row in rows.itertuples()
        ]
        return markdown_table(heads, cells)


def _name(subject: str, role: str) -> str:
    return f"`{subject}`" if role == "method" else f"{subject}, floor" if role == "floor" else subject


def _cell(rows: pd.DataFrame, subject: str) -> str:
    if subject not in rows.index:
        return "-"
    row = rows.loc[subject]
    misfit = "lack_of_fit" not in rows and row["misfit"] >= FAR
    if row["outcome"] != FOUND:
        return "unclear †" if misfit else SHORT.get(row["outcome"], row["outcome"])
    ends = ["open" if np.isinf(row[end]) else f"{row[end]:.2g}" for end in ("low", "high")]
    return f"{row['threshold']:.2g} ({ends[0]} to {ends[1]})" + " †" * bool(misfit)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), Tables(RESULTS)), encoding="utf-8")
