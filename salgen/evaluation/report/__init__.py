"""Reports of runs: one HTML page, and a few lines for the terminal."""

from salgen.evaluation.report.console import console_summary
from salgen.evaluation.report.page import report

__all__ = ["console_summary", "report"]
