"""Results of salgen-bench, computed again from their frozen weights."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from salgen.errors import SalgenError
from salgen.evaluation.bench.bench_results import open_results
from salgen.evaluation.bench.bench_run import DATA, RESULTS, make_data, run_name
from salgen.evaluation.bench.bench_spec import BenchSpec, Entry
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.verification.verify_run import run_problems
from salgen.parameters import parse_call
from salgen.seeding import Stream

TOLERANCE = 1e-4
SAME = ["sample_id", "method", "metric", "variant"]


def result_problems(
    spec: BenchSpec, folder: Path, *, images: int = 8, methods: int = 3, seed: int = 0
) -> Iterator[str]:
    """Check all results in a folder of the benchmark.

    Each is checked as `salgen verify` checks a run. Then the scores of some methods on the first images are computed
    again from the weights of one training, on data made anew, and must agree to 1e-4.

    Parameters
    ----------
    folder
        The folder that holds ``results``. Data sets are made in its ``data``, where they are missing.
    images, methods
        Numbers of what is computed again.
    seed
        Chooses methods and training.

    Yields
    ------
    A line for each problem, which begins with the name of the result; none for sound results.
    """
    for entry in spec.entries:
        for split in entry.data.tests:
            name = run_name(entry, split)
            if (folder / RESULTS / name).is_dir():
                try:
                    problems = [*run_problems(folder / RESULTS / name, samples=0)]
                    problems += _differences(spec, entry, split, folder, images, methods, seed)
                except SalgenError as error:
                    problems = [str(error)]
                yield from (f"{name}: {problem}" for problem in dict.fromkeys(problems))


def _differences(
    spec: BenchSpec, entry: Entry, split: str, folder: Path, images: int, methods: int, seed: int
) -> Iterator[str]:
    """Differences of the scores of some methods from those that the frozen weights give."""
    results = folder / RESULTS / run_name(entry, split)
    run, stream = open_results(spec, results), Stream("salgen-bench", seed, "verify", results.name)
    calls = [method.call for method in run.record.methods if not method.control]
    chosen = [calls[index] for index in stream.permutation(len(calls))[:methods]]
    model, _ = parse_call(entry.network)
    training = 0 if entry.data.designed else int(stream.integers(spec.trainings, 1)[0])
    dataset = make_data(spec, entry.data, folder / DATA / entry.data.name)
    with TemporaryDirectory() as place:
        again = evaluate(
            dataset,
            model=model if entry.data.designed else results / f"{model}-seed{training}",
            methods=chosen,
            metrics=spec.metrics_on(entry.data),
            scale=spec.scale,
            split=split,
            limit=images,
            seed=spec.seed,
            out=Path(place) / "run",
        )
        computed = Run(again).scores
    stated = run.scores[run.scores["training_seed"] == training]
    both = computed.merge(stated, on=SAME, how="left", suffixes=("", "_stated"))
    values, claimed = both["value"].to_numpy(), both["value_stated"].to_numpy()
    for row in np.flatnonzero(~np.isclose(values, claimed, rtol=0, atol=TOLERANCE, equal_nan=True)):
        sample, method, metric, variant = both.loc[row, SAME]
        what = f"{metric} of {method} on {sample} ({variant})"
        yield f"{what} is said to be {claimed[row]:.6f}; the weights give {values[row]:.6f}"
