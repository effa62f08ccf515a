"""How well metrics that need no mask choose a method: judged in the worlds of salgen-bench whose networks are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.stats import spearmanr
from torch import Tensor, nn
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.bench.questions import student_interval
from salgen.evaluation.bench.standing import method_means
from salgen.evaluation.bench.worlds import ScoredWorld, WorldSpec, kept_worlds, make_world_data
from salgen.evaluation.choosing.race import HABIT
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.runs.given_models import trained_network
from salgen.evaluation.scoring.metric_selection import choose_metrics
from salgen.evaluation.scoring.scoring import score

JUDGES = "judges.parquet"  # in the results: what each judge says of each method on each network
TRUTH = "average-precision"
IMAGES = 10
PHOTOGRAPHS = "photographs"  # the data of a network that is none of salgen-bench's
BY_HABIT, BY_CHANCE = f"nothing: always {HABIT}", "nothing: any method"
BEST = "a perfect choice"  # among the methods of a few passes, which judges choose from

# The higher the better, by method; of a network that it cannot judge, nothing.
Judge = Callable[["FrozenWorld", Mapping[str, Any]], dict[str, float]]


@dataclass(frozen=True, eq=False)
class FrozenWorld:
    """A frozen network with the test images that it classifies rightly, and how good methods are there."""

    name: str
    data: str  # its data set
    kind: str  # its architecture
    view: ModelView
    images: Tensor  # (N, C, H, W)
    masks: NDArray[np.bool_]  # (N, H, W)
    targets: NDArray[np.int64]  # (N,)
    truth: pd.Series  # mean average precision by method, over its certified images
    others: Tensor  # (M, C, H, W): all first test images
    logits: Tensor  # (M, K): theirs

    @classmethod
    def of(
        cls,
        name: str,
        network: nn.Module,
        dataset: Dataset,
        classes: NDArray[np.int64],
        first: int,
        truth: pd.Series,
        *,
        data: str,
        kind: str,
    ) -> FrozenWorld:
        """Of the first images of a data set; `classes` are the network's outputs for its labels."""
        batch = next(dataset.batches(first))
        pixels, masks, labels = torch.from_numpy(batch.images), batch.masks, classes[batch.labels]
        view = ModelView.of(network)
        with torch.no_grad():
            logits = torch.cat([view.logits(view.normalise(view.like(part))) for part in torch.split(pixels, 25)])
        usable = masks.any(axis=(1, 2)) & ~masks.all(axis=(1, 2)) & (logits.argmax(dim=1).cpu().numpy() == labels)
        return cls(name, data, kind, view, pixels[usable], masks[usable], labels[usable], truth, pixels, logits)

    def methods(self) -> dict[str, Any]:
        """The methods of a few passes that the network takes, by their calls."""
        selected, _ = select_methods(["all"]).defined_for(self.view, self.images[:1], {"patterns": "is fitted"})
        return {call: method for call, method in selected.items() if not method.control and method.shares == "passes"}

    def judged(self, judges: Mapping[str, Judge]) -> pd.DataFrame:
        """What judges say of the methods' maps of the first images: a row for each judge and method."""
        maps = explain(self.view, self.images[:IMAGES], self.targets[:IMAGES], method=list(self.methods().values()))
        rows = [(TRUTH, call, value, np.nan) for call, value in self.truth.items()]
        seen: list[int] = []  # numbers of images that the network was asked about
        counting = self.view.network.register_forward_hook(lambda _module, given, _output: seen.append(len(given[0])))
        for name, judge in judges.items():
            seen.clear()
            found = judge(self, maps)
            cost = sum(seen) / max(1, len(found)) / len(self.images[:IMAGES])
            rows += [(name, call, value, cost) for call, value in found.items()]
        counting.remove()
        table = pd.DataFrame(rows, columns=["judge", "method", "value", "passes"])
        return table.assign(world=self.name, data=self.data, kind=self.kind)


def frozen_worlds(worlds: Iterable[ScoredWorld]) -> Iterator[FrozenWorld]:
    """Worlds whose weights are kept, each with the data made anew."""
    for world in worlds:
        with TemporaryDirectory() as folder:
            dataset = open_dataset(make_world_data(world.recipe, Path(folder) / "data"), "test")
            classes = np.arange(len(next(iter(dataset.tasks.values()))))
            network, _ = trained_network(str(world.network))
            of = network, dataset, classes, world.recipe.tests, method_means(world, TRUTH)
            yield FrozenWorld.of(world.name, *of, data=world.family, kind=world.recipe.model)


def by_metric(metric: Any) -> Judge:
    """The mean of a metric that needs no mask, as :func:`salgen.score` takes one."""
    if len(chosen := choose_metrics(metric)) != 1:
        raise SalgenError(f"metric {metric!r} stands for several: judge one at a time")
    ((name, found),) = chosen.items()
    if found.higher_is_better is None:
        raise SalgenError(f"metric {name} is a diagnostic: neither higher nor lower is better")
    sign = 1.0 if found.higher_is_better else -1.0

    def judge(world: FrozenWorld, maps: Mapping[str, Any]) -> dict[str, float]:
        images, targets = world.images[:IMAGES], world.targets[:IMAGES]
        values = {}
        for call, of in maps.items():
            scores = score(of, None, metric, model=world.view, images=images, targets=targets)
            values[call] = sign * float(np.nanmean(scores.worst_case[name]))
        return values

    return judge


class Judgement(NamedTuple):
    """How well a judge's values order methods on one network."""

    regret: float  # how far the method that it chooses lies below the best of all
    rank_correlation: float  # Spearman's
    pairs: float  # share of the pairs of methods that it orders rightly; a tie counts half


def agreement(values: pd.Series, truth: pd.Series) -> Judgement:
    """Of a judge's values of some methods with the true means of all; the higher the better, both by method.

    Of methods with the same value the judge chooses any, so the regret is the mean over them.
    """
    values = values.reindex(truth.index).dropna()
    known = truth[values.index]
    chosen = known[values == values.max()]
    upper = np.triu_indices(len(known), 1)
    judged, true = (np.sign(np.subtract.outer(of.to_numpy(), of.to_numpy()))[upper] for of in (values, known))
    ordered = np.where(judged == 0, 0.5, judged == true)[true != 0]
    correlation = spearmanr(values, known).statistic if values.nunique() > 1 else np.nan
    return Judgement(float(truth.max() - chosen.mean()), float(correlation), float(ordered.mean()))


def agreements(rows: pd.DataFrame) -> pd.DataFrame:
    """From the rows of :meth:`FrozenWorld.judged`: `Judgement` and `passes` by judge and world, and choices by none."""
    found = []
    for world, of_world in rows.groupby("world", sort=False):
        table = of_world.pivot(index="method", columns="judge", values="value")
        truth, costs = table.pop(TRUTH).dropna(), dict(of_world.groupby("judge")["passes"].first())
        judged = truth[table.reindex(truth.index).notna().any(axis=1)]
        where = {"world": world, **of_world.iloc[0][["data", "kind"]]}
        for judge in table:
            if table[judge].notna().any():
                found.append({"judge": judge, **where, **agreement(table[judge], truth)._asdict(),
                              "passes": costs[judge]})  # fmt: skip
        chosen = {BEST: judged.max(), BY_CHANCE: truth.mean(), **({BY_HABIT: truth[HABIT]} if HABIT in truth else {})}
        found += [{"judge": name, **where, "regret": truth.max() - value} for name, value in chosen.items()]
    return pd.DataFrame(found)


def standing_of_judges(found: pd.DataFrame) -> pd.DataFrame:
    """Means by judge over the networks of a family, then over families; the least regret first.

    The 95 % interval of regret is Student's over families. `worst` and `worst_kind` are the family and the kind of
    network with the largest mean regret. `photographs` is the regret on that network, which is in no mean.
    """
    rows = []
    photographs = found["data"] == PHOTOGRAPHS
    for judge, of_judge in found[~photographs].groupby("judge"):
        families = of_judge.groupby("data")[["regret", "rank_correlation", "pairs", "passes"]].mean()
        _, low, high = student_interval(families["regret"].to_numpy())
        row: dict[str, Any] = {"judge": judge, "networks": len(of_judge), **families.mean()}
        row |= {"regret_low": max(0.0, float(low)), "regret_high": float(high)}
        for name, column in (("worst", "data"), ("worst_kind", "kind")):
            means = of_judge.groupby(column)["regret"].mean()
            row |= {name: means.idxmax(), f"{name}_regret": means.max()}
        rows.append(row)
    table = pd.DataFrame(rows).set_index("judge").sort_values("regret")
    return table.assign(photographs=found[photographs].set_index("judge")["regret"])


def judge_metric(spec: WorldSpec, metric: Any, results: Path) -> pd.DataFrame:
    """`Judgement` and `passes` of a metric in each world whose weights are kept."""
    judge = {"metric": by_metric(metric)}
    found = agreements(pd.concat([world.judged(judge) for world in frozen_worlds(kept_worlds(spec, results))]))
    return found[found["judge"] == "metric"].set_index("world").drop(columns="judge")


def stored_agreements(results: Path) -> pd.DataFrame:
    """`Judgement` and `passes` by judge and network, of the judges that the results hold."""
    path = results / JUDGES
    if not path.is_file():
        raise SalgenError(f"{path} is missing: fetch the results again")
    return agreements(pd.read_parquet(path))
