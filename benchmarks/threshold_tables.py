"""The tables of docs/thresholds.md, from the results of sweeps in results/thresholds: ``python -m benchmarks.threshold_tables``.

A sweep's ``thresholds.csv`` or ``detection.csv`` lies there as GENERATOR-DOSE.csv. A test asks whether the page is up to
date.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.filled_pages import filled
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.evaluation.sweeps.thresholds import FOUND

ROOT = Path(__file__).parents[1]
RESULTS, PAGE = ROOT / "results" / "thresholds", ROOT / "docs" / "thresholds.md"
SWEEPS = (
    *("perlin-lesions-depth", "perlin-lesions-diameter", "mri-lesions-depth", "mri-lesions-diameter"),
    *("mri-lesions-noise", "drawn-signs-square_side", "drawn-signs-noise"),
)
SPURIOUS = "planted-artefacts-strength"


class Tables:
    """The results of sweeps in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @cached_property
    def sweeps(self) -> dict[str, pd.DataFrame]:
        """The rows of each sweep by subject; the model is called so."""
        read = {name: pd.read_csv(self.folder / f"{name}.csv") for name in SWEEPS}
        model = "model (accuracy)"
        return {
            name: rows.assign(subject=rows["subject"].where(rows["role"] != "model", model)).set_index("subject")
            for name, rows in read.items()
        }

    def thresholds(self) -> str:
        """The threshold of the model and of each method and floor: those found most often, and closest to the model, first."""
        every = pd.concat(self.sweeps.values())
        shown = every[every["role"].isin(["model", "method", "floor"])]
        roles = shown["role"].groupby(level=0, sort=False).first()
        rows = [[_name(subject, role), *(_cell(rows, subject) for rows in self.sweeps.values())] for subject, role in roles.items()]
        order = np.lexsort([[self._place(subject) for subject in roles.index], roles.map(["model", "method", "floor"].index)])
        return markdown_table(["", *(name.replace("-", " ").replace("_", " ") for name in self.sweeps)], [rows[i] for i in order])

    def _place(self, subject: str) -> float:
        """The mean place of a subject among all of a sweep; the last one where there is no threshold."""
        places = []
        for rows in self.sweeps.values():
            found = rows[rows["role"] == "method"]
            away = (np.log(found["threshold"]) - np.log(rows.loc["model (accuracy)", "threshold"])).abs()
            places.append(away.fillna(np.inf).rank().get(subject, len(found)))
        return float(np.mean(places))

    def detection(self) -> str:
        """How well each method's mass tells reliant models from clean ones, and how often it accuses clean ones."""
        rows = pd.read_csv(self.folder / f"{SPURIOUS}.csv")
        return markdown_table(list(rows.columns), rows.astype(str).to_numpy().tolist())


def _name(subject: str, role: str) -> str:
    return f"`{subject}`" if role == "method" else f"{subject}, floor" if role == "floor" else subject


def _cell(rows: pd.DataFrame, subject: str) -> str:
    if subject not in rows.index:
        return "-"
    row = rows.loc[subject]
    if row["outcome"] != FOUND:
        return str(row["outcome"])
    ends = ["open" if np.isinf(row[end]) else f"{row[end]:.3g}" for end in ("low", "high")]
    return f"{row['threshold']:.3g} ({ends[0]} to {ends[1]})"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), Tables(RESULTS)), encoding="utf-8")
