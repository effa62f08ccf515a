"""Write docs/metric_check.md: every metric on maps of known quality; then run ``python docs/generate.py``."""

from pathlib import Path
from salgen.evaluation.diagnostics.metric_check import obstacle, table, trends
from salgen.evaluation.scoring.metric_selection import HOW_TO_GIVE, choose_metrics

if __name__ == "__main__":
    chosen = {name: metric for name, metric in choose_metrics("all", HOW_TO_GIVE).items() if not obstacle(metric)}
    left_out = ", ".join(
        f"`{name}`" for name in choose_metrics("all", {*HOW_TO_GIVE, "training"}) if name not in chosen
    )
    text = (
        f"{table(trends(chosen))}\n\nNot here, because they explain again, train, or have no direction: {left_out}.\n"
    )
    (Path(__file__).parent / "metric_check.md").write_text(text, encoding="utf-8")
