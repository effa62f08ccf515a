"""Are the scores of a run those that its record speaks of, each once, and does each row say what it must?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from salgen.evaluation.metrics.inputs.metric import NOT_THE_MAPS_DOING, Metric
from salgen.evaluation.runs.artifacts.run_record import RECORD
from salgen.evaluation.runs.plan import WHOLE_IMAGE
from salgen.evaluation.scoring.metric_computation import worst_of
from salgen.evaluation.statistics.score_cube import SCORES
from salgen.evaluation.verification.run_predictions import CheckedRun
from salgen.types import Float64

# Which scores there are -----------------------------------------------------------------------------


def key_problems(run: CheckedRun) -> Iterator[str]:
    """Scores that the record does not speak of, or that it speaks of and are not there."""
    wrong = [*_record_faults(run)]
    yield from (f"{run.folder / RECORD}: {fault}" for fault in wrong)
    path, cube = run.folder / SCORES, run.cube
    reductions = {method["call"]: method["reduction"] for method in run.record["methods"]}
    models = dict.fromkeys(name for name, _ in run.models)
    expected: dict[str, list[Any]] = {
        "method": [(model, call, reduction) for model in models for call, reduction in reductions.items()],
        "metric": list(run.metrics),
        "training seed": [seed for _, seed in run.models],
    }
    there: dict[str, list[Any]] = {"method": cube.series, "metric": cube.metrics, "training seed": cube.seeds}
    before = len(wrong)
    for what, values in expected.items():
        for one in sorted(set(there[what]) ^ set(values), key=str):
            lacking, having = (RECORD, path.name) if one in there[what] else (path.name, RECORD)
            named = f"{one[1]} [{one[2]}] for {one[0]}" if isinstance(one, tuple) else one
            wrong.append(f"{run.folder / lacking} lacks {what} {named}, of which {having} speaks")
    yield from wrong[before:]
    if not wrong:
        yield from _key_faults(run, path)


def _record_faults(run: CheckedRun) -> Iterator[str]:
    """Counts and variants of the record that do not follow from data, conventions and metrics."""
    record, samples, limit = run.record, run.record["samples"], run.record["conventions"]["limit"]
    total = samples["split_total"]
    if samples["considered"] != (total if limit is None else min(limit, total)):
        yield f"limit = {limit} of {total} samples, and {samples['considered']} considered"
    if samples["with_mask"] + samples["without_mask"] != samples["considered"]:
        yield "samples with and without a mask are not those considered"
    if run.scored is not None and len(run.scored) != samples["with_mask"]:
        yield f"{samples['with_mask']} samples with a mask, and the data have {len(run.scored)}"
    regional = any(metric.regional and "training" not in metric.needs for metric in run.metrics.values())
    valid = record["dataset"].get("valid_region") if regional else None
    if record["variants"] != [*([f"region:{valid}"] if valid else []), WHOLE_IMAGE]:
        yield f"the variants {', '.join(record['variants'])} are not those of its metrics"
    elif record["headline_variant"] != record["variants"][0]:
        yield f"the headline variant is {record['headline_variant']}, not {record['variants'][0]}"


def _key_faults(run: CheckedRun, path: Path) -> Iterator[str]:
    """What is there too much or too little, where models, methods and metrics are those of the record."""
    cube, considered = run.cube, run.ids[: run.record["samples"]["considered"]]
    of_maps = _scored_ids(run)
    if len(of_maps) != run.record["samples"]["with_mask"] and any(
        "training" not in m.needs for m in run.metrics.values()
    ):
        yield f"{path} has scores of {len(of_maps)} samples, and {RECORD} speaks of others"
    cells = {
        (call, variant): considered if "training" in metric.needs else of_maps
        for call, metric in run.metrics.items()
        for variant in run.record["variants"]
        if variant == WHOLE_IMAGE or (metric.regional and "training" not in metric.needs)
    }
    wanted: dict[str, set[str]] = {
        "variant": {variant for _, variant in cells},
        "sample": {name for names in cells.values() for name in names},
    }
    for what, there in (("variant", cube.variants), ("sample", cube.samples)):
        for one in sorted(wanted[what] ^ set(there))[:1]:
            yield f"{path} {'should not hold' if one in there else 'lacks'} scores of {what} {one}"
            return
    yield from _cell_faults(run, path, cells)


def _cell_faults(run: CheckedRun, path: Path, cells: Mapping[tuple[str, str], list[str]]) -> Iterator[str]:
    cube = run.cube
    of_cells = np.zeros((len(cube.metrics), len(cube.variants), len(cube.samples)), dtype=bool)
    for (call, variant), names in cells.items():
        of_cells[cube.metrics.index(call), cube.variants.index(variant), [run.places[name] for name in names]] = True
    trained = np.array([[(name, seed) in run.models for seed in cube.seeds] for name, _, _ in cube.series])
    wrong = cube.scored != (trained[:, None, None, :, None] & of_cells[None, :, :, None, :])
    if wrong.any():
        s, m, v, t, i = np.unravel_index(int(wrong.argmax()), wrong.shape)
        (name, method, _), too_many = cube.series[s], cube.scored[s, m, v, t, i]
        yield (
            f"{path}: {wrong.sum()} scores are {'not of this run' if too_many else 'missing'}, the first that of "
            f"{method} under {cube.metrics[m]} in {cube.variants[v]} on {cube.samples[i]} "
            f"({name}, seed {cube.seeds[t]})"
        )


def _scored_ids(run: CheckedRun) -> list[str]:
    """The samples whose maps are scored: by the data, or where they are not there by the scores themselves."""
    if run.scored is not None:
        return [run.ids[place] for place in run.scored]
    of_maps = [number for number, call in enumerate(run.cube.metrics) if "training" not in run.metrics[call].needs]
    found = np.asarray(run.cube.scored[:, of_maps].any(axis=(0, 1, 2, 3)))
    return [name for name, there in zip(run.cube.samples, found, strict=True) if there]


# What failed maps get -------------------------------------------------------------------------------


def worst_case_problems(run: CheckedRun) -> Iterator[str]:
    """Worst cases that are not the values, or where a map is at fault not the worst value."""
    excused = np.array([name in NOT_THE_MAPS_DOING for name in run.cube.reason_names])
    for number, call in enumerate(run.cube.metrics):
        there = run.cube.scored[:, number]
        value, worst = run.cube.value[:, number], run.cube.worst[:, number]
        failed = there & np.isnan(value) & ~excused[run.cube.reason[:, number]]
        right = _same(worst, np.where(failed, _worst(run.metrics[call], value), value))
        if hasattr(run.metrics[call], "aggregate"):
            right |= failed & np.isnan(worst)
        if not (right | ~there).all():
            yield (
                f"{run.folder / SCORES}: {(there & ~right).sum()} worst cases under {call} do not follow from values "
                "and reasons"
            )


def _worst(metric: Metric, value: Float64) -> Float64:
    """The worst value, in each variant: (1, variants, 1, 1) of values (series, variants, seeds, samples)."""
    worst = np.full((1, value.shape[1], 1, 1), worst_of(metric))
    for variant in range(value.shape[1]) if np.isinf(worst).any() else ():
        known = value[:, variant][np.isfinite(value[:, variant])]
        extreme = np.nan if not known.size else known.min() if metric.higher_is_better else known.max()
        worst[0, variant] = extreme
    return worst


def _same(one: Float64, other: Float64) -> NDArray[np.bool_]:
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))
