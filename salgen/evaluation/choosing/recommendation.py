"""The recommended method: from the scores of methods on some images to a sentence with its risk."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self
import numpy as np
import pandas as pd
from salgen.evaluation.choosing.regret import Regret, chances_of_best, regret_of
from salgen.types import Float64

SURE = 0.95
FEW = {  # by the number of clusters; docs/which_method.md has the regrets
    1: "One independent image is too few to be sure: with five the regret is about a quarter of it.",
    2: "Two independent images are too few to be sure: with five the regret is about half of it.",
}
MASKS_MARK_OBJECTS = (
    "A mask marks the object, and nobody knows whether the network uses that: a method may be right where it misses "
    "the mask."
)


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The method for a network, how sure that is, and what it is compared with.

    Attributes
    ----------
    method
        The call of the recommended method.
    regret
        How far its mean score may lie below that of the best method on such images: `expected`, and `bound`, which 95 %
        of choices stay within.
    table
        A row for each method, the best first: ``mean``, ``low`` and ``high`` (95 %), ``chance`` of being the best,
        ``images``, ``seconds`` of a map, and ``floor`` for maps that ignore the network.
    left_out
        By method, why it has no row.
    notes
        What to know before the method is believed.
    metric
        That of the scores; higher is better.
    """

    method: str
    regret: Regret
    table: pd.DataFrame
    left_out: dict[str, str]
    notes: tuple[str, ...]
    metric: str

    @classmethod
    def of(
        cls,
        scores: Mapping[str, Sequence[float]],
        draws: Float64,
        floors: Collection[str],
        *,
        images: Mapping[str, int],
        seconds: Mapping[str, float],
        bounds: tuple[float, float] = (0.0, 1.0),
        notes: Sequence[str] = (),
        **more: Any,
    ) -> Self:
        """The method with the largest mean of those with a score of every cluster.

        `scores` are the means of the first clusters by method, and `draws` (D, M) true means of these methods. `floors`
        are those that ignore the network. `images` has the number of each method's images, `seconds` those of a map.
        `bounds` are the least and the largest score.
        """
        every = list(scores)
        known = [call for call in every if call not in floors]
        clusters = max(map(len, scores.values()))
        means = {call: float(np.mean(values)) for call, values in scores.items()}
        best = max((call for call in known if len(scores[call]) == clusters), key=means.__getitem__)
        of_known = draws[:, [every.index(call) for call in known]]
        chances = dict(zip(known, chances_of_best(of_known), strict=True))
        low, high = np.clip(np.quantile(draws, [(1 - SURE) / 2, (1 + SURE) / 2], axis=0), *bounds)
        columns = {
            "mean": means.values(),
            "low": low,
            "high": high,
            "chance": [chances.get(call, np.nan) for call in every],
            "beats_floor": np.nan,
            "images": [images[call] for call in every],
            "seconds": [seconds[call] for call in every],
            "floor": [call in floors for call in every],
        }
        table = pd.DataFrame(columns, index=pd.Index(every, name="method"))
        doubts = []
        if floors:
            strongest = max(floors, key=means.__getitem__)
            table["beats_floor"] = (draws > draws[:, [every.index(strongest)]]).mean(axis=0)
            if table["beats_floor"][best] < SURE:
                doubts.append(
                    f"{best} is not surely better than {strongest}, a map that ignores the network: give more images, "
                    "or believe none of these methods."
                )
        if clusters in FEW:
            doubts.append(FEW[clusters])
        return cls(
            method=best,
            regret=regret_of(of_known, known.index(best)),
            table=table.sort_values("mean", ascending=False),
            notes=(*doubts, *notes),
            **more,
        )

    @property
    def probability(self) -> dict[str, float]:
        """The chance of each method to be the best on such images."""
        return dict(self.table.loc[~self.table["floor"], "chance"])

    @cached_property
    def avoid(self) -> list[str]:
        """Methods that are surely no better than a map that ignores the network."""
        rows = self.table[~self.table["floor"]]
        return list(rows.index[rows["beats_floor"] < 1 - SURE])

    def __str__(self) -> str:
        """The answer, in two sentences, and the notes."""
        count, mean = int(self.table["images"][self.method]), float(self.table["mean"][self.method])
        answer = (
            f"For this network take {self.method}: {self.metric} {mean:.2f} on your {count} image{'s' * (count > 1)}; "
            f"about {self.regret.expected:.2f} below the best of {len(self.probability)} methods, at most "
            f"{self.regret.bound:.2f} with 95 %."
        )
        if self.avoid:
            answer += f" Surely no better than a map that ignores the network: {', '.join(self.avoid)}."
        return "\n".join([answer, *self.notes])


def wrong_class(wrong: int, count: int) -> list[str]:
    """The note on images for which the network predicts another class than the explained one."""
    said = f"The network predicts another class on {wrong} of {count} images. Maps explain the class that was given"
    return [f"{said}, so its reason may lie outside the mask there."] if wrong else []
