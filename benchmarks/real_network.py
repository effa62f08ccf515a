"""A real network on photographs: ``python -m benchmarks.real_network RUN`` fills the tables of docs/real_network.md.

RUN is made as the page says. Networks of salgen-bench 1 are those that were trained for reliance. Their scores are
means over images and trainings.
"""

import sys
from pathlib import Path
import pandas as pd
from scipy.stats import spearmanr
import salgen
from benchmarks.filled_pages import filled
from benchmarks.regret import HEADLINE, RESULTS
from salgen.evaluation.bench.standing import is_floor
from salgen.evaluation.diagnostics.markdown import markdown_table

PAGE = Path(__file__).parents[1] / "docs" / "real_network.md"
SHOWN = (HEADLINE, "pointing-game", "relevance-mass")


class Tables:
    """The tables of the page."""

    def __init__(self, run: Path) -> None:
        record = salgen.load(run)
        rows = record.summary
        self.rows = rows[(rows["samples"] == "all") & (rows["variant"] == record.record.headline_variant)]
        means = self.rows[self.rows["metric"] == HEADLINE].groupby("method")["mean"].first()
        self.means = means.sort_values(ascending=False)

    def methods(self) -> str:
        """Means with intervals over photographs, methods and floors by average precision."""
        cells = {(row.method, row.metric): f"{row.mean:.2f} ({row.ci_low:.2f} to {row.ci_high:.2f})"
                 for row in self.rows.itertuples()}  # fmt: skip
        names = [name for name in self.means.index if not is_floor(name) or name in ("center", "sobel", "random")]
        lines = [[f"`{name}`", *(cells[name, metric] for metric in SHOWN)] for name in names]
        return markdown_table(["method", *SHOWN], lines)

    def networks(self) -> str:
        """Each network of salgen-bench: does its order hold here, and what does its best method cost here?"""
        lines = []
        own = self.means[[name for name in self.means.index if not is_floor(name)]]
        for folder in sorted(RESULTS.glob("*-reliance")):
            rows = pd.read_parquet(folder / "scores.parquet", columns=["metric", "correct", "method", "value"])
            rows = rows[(rows["metric"] == HEADLINE) & rows["correct"]]
            theirs = rows.groupby("method")["value"].mean()
            shared = [name for name in own.index if name in theirs]
            best = theirs[shared].idxmax()
            tau = spearmanr(own[shared], theirs[shared]).statistic
            name = folder.name.removesuffix("-reliance")
            lines.append([name, f"{tau:.2f}", f"`{best}`", f"{own.max() - own[best]:.3f}"])
        return markdown_table(["network", "rank correlation", "its best method", "regret here"], lines)


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), Tables(Path(sys.argv[1]))), encoding="utf-8")
