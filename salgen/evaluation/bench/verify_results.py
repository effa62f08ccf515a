"""The published results of salgen-bench, computed again from their frozen weights."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
import numpy as np
from numpy.typing import NDArray
from salgen.errors import SalgenError
from salgen.evaluation.bench import published
from salgen.evaluation.bench.published import OF_SAMPLE, SAMPLE, SCORED
from salgen.evaluation.bench.run_entry import make_data, run_name
from salgen.evaluation.bench.versions import BenchEntry, BenchSpec
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.runs.running import evaluate
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.evaluation.statistics.summary import SUMMARY
from salgen.evaluation.training.checkpoints import WEIGHTS
from salgen.files import sha256_of
from salgen.parameters import parse_call
from salgen.seeding import Stream
from salgen.types import Float64

TOLERANCE = 1e-4
CHANGED = ("kernel-shap",)  # methods with other maps than when the results were made: fitted in double precision now


def result_problems(spec: BenchSpec, results: Path, *, images: int = 8, methods: int = 3, seed: int) -> Iterator[str]:
    """A line for each problem of the results in a folder, which begins with the name of the result.

    The weights must be those of the record, and ``summary.csv`` must follow from ``scores.parquet``. The scores of
    some methods on the first images are computed again from the weights of one training, on data made anew. They must
    agree to 1e-4; those of `CHANGED` are not drawn. So must whether the network is right there, and certified.
    """
    if not any((results / entry.name).is_dir() for entry in spec.entries):
        raise SalgenError(f"{results} holds no results of salgen-bench {spec.version}")
    for entry, split in spec.tests:
        name = run_name(entry, split)
        if (results / name).is_dir():
            try:
                problems = [*weight_problems(spec, results / name)] if name == entry.name else []
                problems += summary_problems(spec, results / name)
                problems += _wrong_scores(spec, entry, split, results, images, methods, seed)
            except SalgenError as error:
                problems = [str(error)]
            yield from (f"{name}: {problem}" for problem in problems)


def weight_problems(spec: BenchSpec, results: Path) -> Iterator[str]:
    """Weights of an entry's results that are not those of its record; none where weights are in closed form."""
    for model in published.open_results(spec, results).models:
        weights = results / f"{model.name}-seed{model.seed}" / WEIGHTS
        if model.trained_on is not None and not (weights.is_file() and sha256_of(weights) == model.weights_sha256):
            yield f"{weights} is not what was scored"


def summary_problems(spec: BenchSpec, results: Path) -> Iterator[str]:
    """What in ``summary.csv``, and of the certified shares in ``run.json``, does not follow from ``scores.parquet``."""
    key, numbers = ["samples", "method", "metric"], ["n_clusters", "n_samples", "mean", "ci_low", "ci_high"]
    rows, record = published.read_rows(spec, results), published.open_results(spec, results)
    summary = published.read_summary(results).reindex(columns=[*key, *numbers, "training_seeds"])
    both = published.summarised(rows).merge(summary, on=key, how="outer", suffixes=("", "_stated"))
    values, stated = (both[[name + side for name in numbers]].to_numpy(float) for side in ("", "_stated"))
    seeds = (both["training_seeds"] == both["training_seeds_stated"].astype(str)) | both["mean"].isna()
    same = _close(stated, values).all(axis=1) & seeds.to_numpy()
    for row in np.flatnonzero(~same):
        samples, method, metric = both.loc[row, key]
        yield f"{SUMMARY}: {metric} of {method} on {samples} samples is not what {SCORES} gives"
    of_sample = rows.assign(certified=published.is_certified(rows))[[*SAMPLE, "certified"]].drop_duplicates()
    shares = of_sample.groupby("training_seed")["certified"].mean()
    for model in record.certificates.models:
        if model.coverage is not None and not np.isclose(model.coverage, shares[model.seed]):
            yield f"{RECORD}: {model.coverage:.3f} certified under training {model.seed} is not what {SCORES} gives"


def _close(stated: Float64, values: Float64) -> NDArray[np.bool_]:
    return np.isclose(stated, values, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def _wrong_scores(
    spec: BenchSpec, entry: BenchEntry, split: str, results: Path, images: int, methods: int, seed: int
) -> list[str]:
    """Differences of the scores of some methods from those that the frozen weights give."""
    name = run_name(entry, split)
    stream = Stream("salgen-bench", seed, "verify", name)
    stated = published.read_rows(spec, results / name)
    calls = [one.call for one in published.open_results(spec, results / name).methods if one.name not in CHANGED]
    chosen = [calls[index] for index in stream.permutation(len(calls))[:methods]]
    training = 0 if entry.data.designed else int(stream.integers(spec.trainings, 1)[0])
    model, _ = parse_call(entry.network)
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        run = evaluate(
            make_data(spec, entry.data, folder / "data", recipes_only=True),
            model=model if entry.data.designed else results / entry.name / f"{model}-seed{training}",
            methods=chosen,
            metrics=spec.metrics_on(entry.data),
            scale=spec.scale,
            seed=spec.seed,
            split=split,
            limit=images,
            out=folder / "run",
        )
        computed = published.published_rows(Run(run))
    of_sample = computed[[*SAMPLE, *OF_SAMPLE]].drop_duplicates()
    unlike = of_sample.merge(stated[of_sample.columns].drop_duplicates(), how="left", indicator=True)
    unlike = unlike[unlike["_merge"] != "both"]
    lines = [
        f"{sample} (training {training}) is said to be otherwise right, certified or clustered than the weights give"
        for training, sample in zip(unlike["training_seed"], unlike["sample_id"], strict=True)
    ]
    both = computed[computed["method"].isin(chosen)].merge(stated, on=SCORED, how="left", suffixes=("", "_stated"))
    values, scored = both["value"].to_numpy(float), both["value_stated"].to_numpy(float)
    for row in np.flatnonzero(~_close(scored, values)):
        method, metric, _, sample = both.loc[row, SCORED]
        what = f"{metric} of {method} on {sample} (training {training})"
        lines.append(f"{what} is said to be {scored[row]:.6f}; the weights give {values[row]:.6f}")
    return lines
