"""A new method on the frozen checkpoints of salgen-bench, and its place among those that have results."""

import dataclasses
from pathlib import Path
from typing import Any
import pandas as pd
from salgen.errors import SalgenError, UndefinedMethodError, warn
from salgen.evaluation.attribution.method_selection import check_methods_given, select_methods
from salgen.evaluation.bench.published import SAMPLE, read_scores
from salgen.evaluation.bench.rankings import main_entries, method_scores, standing_by
from salgen.evaluation.bench.run_entry import run_entry
from salgen.evaluation.bench.standing import Standing
from salgen.evaluation.bench.versions import BenchSpec
from salgen.evaluation.runs.artifacts.saved_maps import folder_name
from salgen.evaluation.statistics.score_cube import SCORES

QUICK_IMAGES = 16


def rank_method(
    spec: BenchSpec, method: str, results: Path, out: Path, *, quick: bool = False, **options: Any
) -> Standing:
    """Explain and score by one method what the benchmark's methods have explained, and rank it among them.

    `out` has a folder for each method, which goes on where it was stopped. See :func:`salgen.bench.rank`.
    """
    call = ranked_call(method, spec.scale)
    asked = dataclasses.replace(spec, images=QUICK_IMAGES, trainings=1) if quick else spec
    stated = method_scores(spec, results, main_entries(spec))
    combined, works = {}, False
    for entry in main_entries(spec):
        if entry.name not in stated:
            continue
        plain_test = dataclasses.replace(entry, data=dataclasses.replace(entry.data, tests=("test",)))
        how: dict[str, Any] = {"methods": [method], "recipes_only": True, "checkpoints": results / entry.name}
        try:
            (own,) = run_entry(asked, plain_test, out / folder_name(call), **how, **options)
        except UndefinedMethodError as error:
            warn(f"{entry.name} is left out: {error}")
            others = stated[entry.name]
            combined[entry.name] = others[(others["method"] != call) & (others["training_seed"] < asked.trainings)]
            continue
        rows = read_scores(spec, own)
        rows = rows[(rows["method"] == call) & rows["metric"].isin(spec.headlines.values())]
        explained = pd.read_parquet(own / SCORES, columns=SAMPLE).drop_duplicates()
        alike = stated[entry.name].merge(explained, on=SAMPLE)
        combined[entry.name] = pd.concat([alike[alike["method"] != call], rows])
        works = works or len(rows) > 0
    if not works:
        raise SalgenError(f"{method} could explain none of the networks: the warnings say why")
    return standing_by(asked, combined)


def ranked_call(given: str, scale: str) -> str:
    """The call of a method as it was given."""
    calls = select_methods(check_methods_given([given]), scale).named
    if len(calls) != 1:
        raise SalgenError(f"{given} is a group of methods: rank one at a time")
    ((call, method),) = calls.items()
    if method.control:
        raise SalgenError(f"{given} is a control, which has no rank: name a method")
    return call
