"""Composite evidence beside certificates: ``python -m benchmarks.composites FOLDER`` fills the table of reliance.md.

Where images can be drawn again, each has a certificate, and composite evidence too. This compares the two, image by
image, on those that a network classifies rightly: Cohen's kappa, sensitivity (the share of certified images with
evidence) and specificity (the share of the others without). Intervals are of 1,000 draws of clusters. Networks are
those of two families of salgen-bench, for pets one trained here at scale demo. FOLDER keeps what was made.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
import numpy as np
import pandas as pd
import salgen
from benchmarks.filled_pages import filled
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.evaluation.bench.worlds import kept_worlds, make_world_data, world_spec
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.evaluation.reliance.composites import FILLINGS
from salgen.evaluation.runs.certify import certify
from salgen.evaluation.runs.composing import compose, not_filled
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.evaluated_models import load_model
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan

RESULTS = Path(__file__).parents[1] / "results"
PAGE = Path(__file__).parents[1] / "docs" / "reliance.md"
FAMILIES = ("object-on-scene", "several-objects")
IMAGES, DRAWS = 100, 1000
MAJORITY, ALIKE = "two of three", "where all agree"


def networks(folder: Path) -> Iterator[tuple[Dataset, Path]]:
    """Data sets, each with a trained network."""
    for world in kept_worlds(world_spec(), RESULTS):
        if world.family in FAMILIES:
            yield open_dataset(make_world_data(world.recipe, folder / world.name), "test"), world.network
    pets = salgen.make("drawn-pets", folder / "drawn-pets", scale="demo")
    checkpoint = folder / "drawn-pets-scnn-plain" / "scnn-seed0"
    salgen.train(pets, checkpoint, model="scnn", scale="demo", settings={"reliance": 0.0})
    yield open_dataset(pets, "test"), checkpoint


def verdicts(dataset: Dataset, checkpoint: Path, run: Path) -> pd.DataFrame:
    """A row for each image that the network classifies rightly: its certificate, and the evidence of each filling."""
    run.mkdir(parents=True, exist_ok=True)
    kept = run / "verdicts.parquet"
    if kept.is_file():
        return pd.read_parquet(kept)
    plan = Plan.of(dataset, Conventions(limit=IMAGES), [load_model(dataset, checkpoint, run)], {}, {})
    runner = ModelRunner(plan, plan.models[0], run)
    certify([runner])
    certificates = pd.read_parquet(run / "certificates.parquet", partitioning=None).set_index("sample_id")
    evidence = compose(runner, not_filled(plan)).pivot(
        index="sample_id", columns="filling", values="composite_evidence"
    )
    rows = certificates[["cluster", "correct", "certified"]].join(evidence)
    rows = rows[rows["correct"] & rows["certified"].notna()].astype({"certified": bool})
    rows.to_parquet(kept)
    return rows


def agreement(found: Any, true: Any, weights: Any) -> list[float]:
    """Cohen's kappa, sensitivity and specificity of verdicts (N,) that count `weights` times."""
    share = weights / weights.sum()
    said, is_true, both = share @ found, share @ true, share @ (found & true)
    chance = said * is_true + (1 - said) * (1 - is_true)
    observed = 1 - said - is_true + 2 * both
    return [(observed - chance) / (1 - chance), both / is_true, (1 - said - is_true + both) / (1 - is_true)]


def line(name: str, rows: pd.DataFrame, column: str) -> list[str]:
    """A row of the table, with intervals of drawn clusters."""
    found, true = rows[column].to_numpy(bool), rows["certified"].to_numpy(bool)
    cluster, names = pd.factorize(rows["cluster"])
    draws = np.random.default_rng(0).multinomial(len(names), np.full(len(names), 1 / len(names)), size=DRAWS)
    with np.errstate(invalid="ignore", divide="ignore"):
        drawn = [agreement(found, true, counts[cluster]) for counts in draws]
        value = agreement(found, true, np.ones(len(rows)))
    low, high = np.nanpercentile(np.array(drawn), [2.5, 97.5], axis=0)
    cells = [f"{mean:.2f} ({least:.2f} to {most:.2f})" for mean, least, most in zip(value, low, high, strict=True)]
    return [name, column, str(len(rows)), f"{true.mean():.2f}", *cells]


def main(folder: Path) -> None:
    """Print the table and write it into the page."""
    found: dict[str, list[pd.DataFrame]] = {}
    for dataset, checkpoint in networks(folder):
        rows = verdicts(dataset, checkpoint, folder / "runs" / f"{checkpoint.parent.name}-{checkpoint.name}")
        found.setdefault(dataset.name, []).append(rows)
        print(dataset.name, checkpoint, f"{rows['certified'].mean():.2f}", file=sys.stderr, flush=True)
    tables = {name: pd.concat(parts, ignore_index=True) for name, parts in found.items()}
    of_all = [rows.assign(cluster=name + rows["cluster"]) for name, rows in tables.items()]
    tables["all"] = pd.concat(of_all, ignore_index=True)
    lines = []
    for name, rows in tables.items():
        votes = rows[[*FILLINGS]].sum(axis=1)
        rows = rows.assign(**{MAJORITY: votes >= 2})
        lines += [line(name, rows, column) for column in (*FILLINGS, MAJORITY)]
        alike = rows[votes.isin([0, len(FILLINGS)])].assign(**{ALIKE: votes == len(FILLINGS)})
        lines.append(line(name, alike, ALIKE))
    heads = ["data", "filling", "images", "certified", "kappa", "sensitivity", "specificity"]
    table = markdown_table(heads, lines)
    print(table)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), SimpleNamespace(composites=lambda: table)), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
