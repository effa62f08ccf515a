"""Write the tables of docs/metric_check.md: every metric on maps of known quality."""

from pathlib import Path
from benchmarks.filled_pages import filled
from salgen.evaluation.diagnostics.metric_check import obstacle, table, trends
from salgen.registry import METRICS

PAGE = Path(__file__).parents[1] / "docs" / "metric_check.md"


class Tables:
    """What fills the page."""

    def __init__(self) -> None:
        every = {name: METRICS.create(name) for name in METRICS.names()}
        self._chosen = {name: metric for name, metric in every.items() if not obstacle(metric)}
        self._left_out = [f"`{name}`" for name in every if name not in self._chosen]

    def degradation(self) -> str:
        return table(trends(self._chosen))

    def left_out(self) -> str:
        why = "because they explain again, train, have no direction, or compare several parts of an image"
        return f"Not here, {why}: {', '.join(self._left_out)}."


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), Tables()), encoding="utf-8")
