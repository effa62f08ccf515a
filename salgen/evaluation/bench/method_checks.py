"""What a method's page shows beside its places: the faintest cause that it finds, sanity checks, and its cost.

``checks.csv`` has `subject`, a method or the network; `measure`, a metric, ``threshold``, or ``passes``, the cost of a
map in forward passes; the `outcome` of a threshold; and `value` with its 95 % interval.
"""

from pathlib import Path
import pandas as pd
from salgen.evaluation.bench.versions import BenchSpec
from salgen.files import read_csv

CHECKS = "checks.csv"
THRESHOLD, PASSES = "threshold", "passes"
COLUMNS = ["subject", "measure", "outcome", "value", "low", "high"]


def read_checks(spec: BenchSpec, results: Path) -> pd.DataFrame:
    """The checks in a folder of results; no rows where they are not there."""
    path = results / spec.checks.entry / CHECKS
    if not path.is_file():
        return pd.DataFrame(columns=COLUMNS)
    return read_csv(path, keep_default_na=False, na_values={"value": "", "low": "", "high": ""})
