"""Whether results of worlds are what their frozen weights give."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.bench.published import OF_SAMPLE, SAMPLE, SCORED, published_rows
from salgen.evaluation.bench.standing import is_floor
from salgen.evaluation.bench.worlds import ScoredWorld, WorldSpec, kept_worlds, make_world_data, score_methods
from salgen.seeding import Stream

TOLERANCE = 1e-3
ALLOWED = 0.5  # the share of a method's scores that may differ: on another processor rounding moves some by more


def result_problems(
    spec: WorldSpec, results: Path, *, worlds: int = 3, images: int = 8, methods: int = 3, seed: int
) -> Iterator[str]:
    """A line for each problem of the results in a folder.

    Some of the worlds whose weights are kept are drawn, and some methods in each. Their data are made anew, and their
    scores on the first images computed again. Of each method and metric half of the scores must agree to
    .001. For all images it must hold whether the network is right there, and certified.
    """
    stream = Stream("salgen-bench", seed, "verify")
    kept = kept_worlds(spec, results)
    for index in stream.permutation(len(kept))[:worlds]:
        calls = sorted(call for call in kept[index].rows["method"].unique() if not is_floor(call))
        chosen = [calls[number] for number in stream.permutation(len(calls))[:methods]]
        try:
            yield from (f"{kept[index].name}: {line}" for line in _wrong_scores(spec, kept[index], chosen, images))
        except SalgenError as error:
            yield f"{kept[index].name}: {error}"


def _wrong_scores(spec: WorldSpec, world: ScoredWorld, methods: list[str], images: int) -> Iterator[str]:
    """Differences of the scores of some methods from those that the frozen weights give."""
    with TemporaryDirectory() as temporary:
        data = make_world_data(world.recipe, Path(temporary) / "data")
        out = Path(temporary) / "run"
        computed = published_rows(score_methods(spec, world.recipe, data, world.network, methods, out, limit=images))
    of_sample = computed[[*SAMPLE, *OF_SAMPLE]].drop_duplicates()
    unlike = of_sample.merge(world.rows[of_sample.columns].drop_duplicates(), how="left", indicator=True)
    for sample in unlike.loc[unlike["_merge"] != "both", "sample_id"]:
        yield f"{sample} is said to be otherwise right, certified or clustered than the weights give"
    both = computed[computed["method"].isin(methods)].merge(world.rows, on=SCORED, how="left", suffixes=("", "_stated"))
    same = np.isclose(both["value_stated"], both["value"], rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    for (method, metric), wrong in both.assign(wrong=~same).groupby(["method", "metric"])["wrong"]:
        if wrong.mean() > ALLOWED:
            first = both.loc[wrong.idxmax()]
            yield (
                f"{metric} of {method}: the weights do not give {wrong.sum()} of {len(wrong)} scores; on "
                f"{first['sample_id']} {first['value_stated']:.4f} is said, they give {first['value']:.4f}"
            )
