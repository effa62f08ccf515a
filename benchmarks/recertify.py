"""Certify the published networks of salgen-bench anew: ``python -m benchmarks.recertify RESULTS FOLDER [ENTRY...]``.

Scores stay as they are. The column `certified` of ``scores.parquet``, the certified means of ``summary.csv`` and the
certificates of ``run.json`` are written again in RESULTS. Data sets and ``certificates.parquet`` stay in FOLDER, and a
second call goes on there.
"""

import sys
from dataclasses import replace
from pathlib import Path
import pandas as pd
from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.bench.published import SAMPLE, open_results, read_rows, stated_in_rows, write_rows
from salgen.evaluation.bench.run_entry import make_data, run_name
from salgen.evaluation.bench.versions import BenchEntry, BenchSpec, bench_spec
from salgen.evaluation.runs.artifacts.run_record import CertificatesRecord
from salgen.evaluation.runs.certify import VERSION, certify
from salgen.evaluation.runs.conventions import Conventions
from salgen.evaluation.runs.evaluated_models import load_model
from salgen.evaluation.runs.given_models import GivenModel
from salgen.evaluation.runs.model_runner import ModelRunner
from salgen.evaluation.runs.plan import Plan


def recertify(spec: BenchSpec, entry: BenchEntry, results: Path, folder: Path, split: str) -> str:
    """Certify one entry on one split, and say what share of its samples is certified under each training."""
    name = run_name(entry, split)
    record, run = open_results(spec, results / name), folder / "runs" / name
    dataset = open_dataset(make_data(spec, entry.data, folder / "data" / entry.data.name, recipes_only=True), split)
    models = [
        load_model(
            dataset,
            GivenModel(model.name) if entry.data.designed else results / entry.name / f"{model.name}-seed{model.seed}",
            run,
        )
        for model in record.models
    ]
    conventions = Conventions(**record.conventions)
    plan = Plan.of(dataset, conventions, models, {}, {})
    run.mkdir(parents=True, exist_ok=True)
    found = certify([ModelRunner(plan, model, run) for model in models])
    certificates = CertificatesRecord(
        models=list(found.summary), reason=found.reason, version=VERSION, redraws=conventions.redraws or 8
    )
    verdicts = pd.Series(
        {(seed, sample): holds for (_, seed), samples in found.certified.items() for sample, holds in samples.items()}
    )
    rows = read_rows(spec, results / name).drop(columns=[*stated_in_rows(spec)])
    rows["certified"] = verdicts.reindex(pd.MultiIndex.from_frame(rows[SAMPLE])).to_numpy()
    write_rows(spec, rows, results / name)
    replace(record, certificates=certificates).write(results / name)
    return f"{name}: {', '.join(f'{model.coverage:.2f}' for model in found.summary)}"


def main(results: Path, folder: Path, names: list[str]) -> None:
    """Certify some entries, or all."""
    spec = bench_spec()
    for entry in spec.entries:
        if not names or entry.name in names:
            for split in entry.data.tests:
                print(recertify(spec, entry, results, folder, split), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
