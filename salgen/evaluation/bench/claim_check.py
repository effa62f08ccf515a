"""Whether a claim holds: a part of it is computed again, and the method explains images that nobody has seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import mannwhitneyu

from salgen.datasets.making import make
from salgen.errors import SalgenError, UndefinedMethodError
from salgen.evaluation.bench.bench_claims import (
    CLAIMS,
    MAPS,
    Claim,
    claim_scores,
    claimed_method,
    map_digests,
    read_claim,
    write_claim,
)
from salgen.evaluation.bench.bench_spec import BenchSpec, Entry
from salgen.evaluation.bench.bench_verify import computed_again, differences
from salgen.evaluation.bench.published import SAMPLE, direction, published_rows, read_scores
from salgen.evaluation.bench.rankings import main_entries
from salgen.evaluation.results.run import Run
from salgen.evaluation.runs.artifacts.saved_maps import folder_name
from salgen.evaluation.scoring.metric_groups import bounds
from salgen.evaluation.statistics.comparisons import holm
from salgen.seeding import Stream

if TYPE_CHECKING:
    import pandas as pd

REFUSAL_LEVEL = 0.001  # of all comparisons with unseen images together


def submit(spec: BenchSpec, path: Path, results: Path, *, by: str = "", code: str = "") -> Path:
    """Add a claim to the results, as one file.

    Parameters
    ----------
    path
        What `salgen bench rank` wrote.
    by, code
        Who claims it, and where its code is.

    Raises
    ------
    SalgenError
        If the claim is not whole, or the method is among the results, or has a claim there.
    """
    claim = read_claim(path)
    problems = [*statement_problems(spec, claim, results)]
    if problems:
        raise SalgenError(f"{path}: {'; '.join(problems)}")
    target = results / CLAIMS / f"{folder_name(claim.method)}.json"
    if target.exists():
        raise SalgenError(f"{target} is there already: remove it first, or give the method another name")
    target.parent.mkdir(exist_ok=True)
    write_claim(target, dataclasses.replace(claim, by=by or claim.by, code=code or claim.code))
    return target


def claim_problems(spec: BenchSpec, path: Path, results: Path, *, seed: int) -> Iterator[str]:
    """Check a claim.

    For each entry the method explains all images of one training again: the scores must agree to 1e-4, and
    no map may be that of another image. Then it explains as many images that are made with another seed, and lie
    nowhere with their masks: if it was better on the benchmark's own, it knows more of them than a model and an image
    tell. That is a Mann-Whitney test of the means over clusters of samples, which are independent, at a level of 0.1 %
    over all comparisons (Holm). Where the claim leaves a data set out, the method must fail there.

    Parameters
    ----------
    seed
        Chooses trainings and unseen images. Whoever claims must not know it.

    Yields
    ------
    A line for each problem; none for a claim that holds.

    Raises
    ------
    SalgenError
        If `seed` is that of the benchmark's own images.
    """
    if seed == spec.seed:
        raise SalgenError(f"seed {seed} is that of the benchmark's own images: take another")
    claim = read_claim(path)
    problems = [*statement_problems(spec, claim, results)]
    yield from problems
    if problems:
        return
    stream = Stream("salgen-bench", seed, "check", claim.method)
    with_results = [entry for entry in main_entries(spec) if (results / entry.name).is_dir()]
    for entry in with_results:
        if entry.name not in claim.scores and _works(spec, claim, entry, results):
            yield f"{entry.name}: it is left out, and {claim.method} works there"
    able = [entry for entry in with_results if entry.name in claim.scores]
    compared: list[tuple[str, float]] = []
    for entry in able:
        training = 0 if entry.data.designed else int(stream.integers(spec.trainings, 1)[0])
        with TemporaryDirectory() as place:
            try:
                where = Path(place)
                known, problems = recomputed_scores(spec, claim, entry, training, results, where)
                unseen = unseen_scores(spec, claim, entry, training, results, where, seed)
                compared += [(f"{entry.name}: {metric}", p) for metric, p in better_on_known(spec, known, unseen)]
            except SalgenError as error:
                problems = [str(error)]
        yield from (f"{entry.name}: {problem}" for problem in problems)
    for (what, _), p_value in zip(compared, holm(np.array([p for _, p in compared])), strict=True):
        if p_value < REFUSAL_LEVEL:
            yield f"{what} is better on the benchmark's images than on unseen ones (p = {p_value:.1g})"


def statement_problems(spec: BenchSpec, claim: Claim, results: Path) -> Iterator[str]:
    """What is wrong with a claim as it stands: its version, method, images, or a value that its metric cannot have."""
    if {"version": claim.version, "sha256": claim.sha256} != spec.stated:
        yield f"it is of salgen-bench {claim.version} ({claim.sha256[:12]}), not of {spec.version}"
        return
    if claimed_method(claim.given, spec.scale) != (claim.method, claim.source_sha256):
        yield f"{claim.given} is not {claim.method} with the source of the claim"
    if not claim.scores:
        yield "it states no score"
    places = {entry.name: entry for entry in main_entries(spec) if (results / entry.name).is_dir()}
    for name in claim.scores:
        if name not in places:
            yield f"there are no results of {name}"
            continue
        stated = read_scores(spec, results / name)
        if claim.method in set(stated["method"]):
            yield f"{claim.method} has results already"
            return
        metrics = claim.scores[name].keys() - {*SAMPLE, MAPS}
        ranking = set(stated["metric"]) & set(spec.headlines.values())
        if metrics != ranking:
            yield f"{name}: it states {_listed(metrics)}, and methods are ranked by {_listed(ranking)}"
            continue
        rows = claim_scores(claim, name)
        known = stated[stated["metric"].isin(metrics)].groupby([*SAMPLE, "metric"])["value"].count().reset_index()
        both = rows.merge(known, on=[*SAMPLE, "metric"], how="outer", indicator=True, suffixes=("", "_count"))
        if (both["_merge"] != "both").any() or len(both) != len(known):
            yield f"{name}: its images are not those of the results"
        elif (both["value"].isna() != (both["value_count"] == 0)).any():
            yield f"{name}: it has a score where methods have none, or none where they have one"
        for metric, values in rows.groupby("metric")["value"]:
            low, high = bounds(str(metric))
            if not values.dropna().between(low, high).all():
                yield f"{name}: {metric} cannot have these values"


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)) or "no metric"


def recomputed_scores(
    spec: BenchSpec, claim: Claim, entry: Entry, training: int, results: Path, place: Path
) -> tuple[pd.DataFrame, list[str]]:
    """The scores of the claimed images of one training, computed again, and how the claim differs from them."""
    run = Run(
        computed_again(
            spec, entry, results / entry.name, training, [claim.given], place, limit=spec.images, keep_maps=True
        )
    )
    computed, stated = _scores(spec, claim, run), claim_scores(claim, entry.name)
    problems = differences(computed, stated)
    columns = claim.scores[entry.name]
    claimed = {
        name: digest
        for seed, name, digest in zip(*(columns[key] for key in (*SAMPLE, MAPS)), strict=True)
        if seed == training
    }
    digests = map_digests(run.maps(claim.method, seed=training))
    if claimed.keys() != digests.keys():
        problems.append("its images are not those that the benchmark has")
    of_image = {digest: name for name, digest in digests.items()}
    for name, digest in claimed.items():
        if digest != digests.get(name) and digest in of_image:
            problems.append(f"the map of {name} is that of {of_image[digest]}")
    return computed, problems


def unseen_scores(
    spec: BenchSpec, claim: Claim, entry: Entry, training: int, results: Path, place: Path, seed: int
) -> pd.DataFrame:
    """The scores of as many images of another seed."""
    data = entry.data
    other = make(
        data.name,
        place / "unseen",
        splits=data.splits,
        parameters=data.parameters,
        scale=spec.scale,
        seed=seed,
        recipes_only=True,
    )
    run = computed_again(
        spec,
        entry,
        results / entry.name,
        training,
        [claim.given],
        place / "on-unseen",
        dataset=other,
        limit=spec.images,
    )
    return _scores(spec, claim, Run(run))


def _works(spec: BenchSpec, claim: Claim, entry: Entry, results: Path) -> bool:
    """Whether the method can explain an entry's network."""
    with TemporaryDirectory() as place:
        try:
            again = computed_again(spec, entry, results / entry.name, 0, [claim.given], Path(place), limit=spec.images)
        except UndefinedMethodError:
            return False
        run = Run(again)
    return claim.method in {method.call for method in run.record.methods}


def _scores(spec: BenchSpec, claim: Claim, run: Run) -> pd.DataFrame:
    """The method's scores by the metrics that methods are ranked by."""
    rows = published_rows(run)
    rows = rows[(rows["method"] == claim.method) & rows["metric"].isin(spec.headlines.values())]
    if rows.empty:
        raise SalgenError(f"{claim.method} fails")
    return rows


def better_on_known(spec: BenchSpec, known: pd.DataFrame, unseen: pd.DataFrame) -> Iterator[tuple[str, float]]:
    """For each metric the p-value of the hypothesis that unseen images are explained as well.

    Parameters
    ----------
    known, unseen
        The columns `metric`, `cluster` and `value` of published scores.
    """
    import pandas as pd

    for metric in spec.headlines.values():
        sides = []
        for rows in (known, unseen):
            own = rows[rows["metric"] == metric].dropna(subset=["value"])
            sides.append((own["value"] * direction(own["metric"])).groupby(own["cluster"]).mean())
        if all(len(side) for side in sides):
            alike = pd.concat(sides).duplicated().any()  # the exact test is of scores without ties
            test = mannwhitneyu(*sides, alternative="greater", method="asymptotic" if alike else "exact")
            yield metric, float(test.pvalue)
