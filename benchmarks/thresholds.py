"""Coverage of thresholds and of their intervals, simulated: ``python -m benchmarks.thresholds [STUDIES]``.

Prints the table of docs/thresholds.md. Each simulated sweep goes through the functions that write ``thresholds.csv``.
The observer is known: its mean performance is ψ at each dose, and a training moves its threshold.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from salgen.evaluation.sweeps.psychometric import Axis
from salgen.evaluation.sweeps.thresholds import EVERYWHERE, NOT_REACHED, Trials, thresholds
from salgen.types import Float64

STUDIES, DRAWS = 200, 250
DOSES = np.geomspace(0.02, 0.7, 8)
CENTRE = 0.15
MODEL = 1.2  # the method's threshold in units of the model's


@dataclass(frozen=True)
class Design:
    """What is sampled.

    Attributes
    ----------
    steepness
        Of a log-logistic function.
    lapse
        λ.
    between, common
        Standard deviation of a training's threshold, in natural logarithms of the dose: of each training, and of what
        the trainings with one seed share at all doses.
    clusters, size, shared
        Number of clusters and of images in each, and the standard deviation of a cluster's threshold.
    failing
        Share of the trainings that learn nothing.
    doses
        Number of doses, from 0.02 to 0.7.
    """

    name: str
    trainings: int = 3
    steepness: float = 4.0
    lapse: float = 0.05
    between: float = 0.0
    common: float = 0.0
    clusters: int = 100
    size: int = 2
    shared: float = 0.0
    failing: float = 0.0
    doses: int = 8

    @property
    def levels(self) -> Float64:
        """The doses."""
        return np.geomspace(DOSES[0], DOSES[-1], self.doses)

    def performance(self, doses: Float64, moved: Float64, centre: float) -> Float64:
        """ψ where a training and a cluster move the threshold together by so much."""
        return 0.5 + (0.5 - self.lapse) * expit(self.steepness * (np.log(doses / centre) - moved))

    def mean(self, dose: float, centre: float) -> float:
        """The mean over trainings and clusters."""
        moved = np.sqrt(self.between**2 + self.common**2 + self.shared**2) * np.sqrt(2) * NODES
        learnt = float(self.performance(np.array(dose), moved, centre) @ WEIGHTS)
        return self.failing * 0.5 + (1 - self.failing) * learnt

    def threshold(self, centre: float) -> float:
        """The dose at which the mean is 0.75; infinite if the ceiling is below."""
        if self.mean(1e4, centre) < 0.75:
            return np.inf
        return float(np.exp(brentq(lambda place: self.mean(float(np.exp(place)), centre) - 0.75, -9.0, 9.0)))

    def moved(self, rng: np.random.Generator) -> Float64:
        """What trainings and clusters add to the logarithm of the threshold, float64 (D, S, G)."""
        of_trainings = self.between * rng.normal(size=(self.doses, self.trainings, 1))
        of_trainings += self.common * rng.normal(size=(1, self.trainings, 1))
        of_trainings[rng.random(of_trainings.shape) < self.failing] = 1e3
        return of_trainings + self.shared * rng.normal(size=(1, 1, self.clusters))

    def trials(self, rng: np.random.Generator, moved: Float64, centre: float, graded: bool) -> Trials:
        """A sweep: values that are right or wrong, or beta distributed, as a metric's are between 0 and 1."""
        mean = self.performance(self.levels[:, None, None], moved, centre)[..., None]
        shape = (*moved.shape, self.size)
        values = rng.beta(4 * mean, 4 * (1 - mean), shape) if graded else rng.random(shape) < mean
        return Trials(values.sum(axis=3, dtype=np.float64), np.full(moved.shape, float(self.size)))


NODES, WEIGHTS = np.polynomial.hermite.hermgauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
DESIGNS = (
    Design("one training", trainings=1),
    Design("one training, a step", trainings=1, steepness=20.0),
    Design("three that do not differ"),
    Design("three, 0.3 between them", between=0.3),
    Design("three, 0.6 between them", between=0.6),
    Design("three, 0.3 between seeds", common=0.3),
    Design("five, 0.3 between them", trainings=5, between=0.3),
    Design("five, 0.3 between seeds", trainings=5, common=0.3),
    Design("ten, 0.3 between them", trainings=10, between=0.3),
    Design("ten, 0.3 between seeds", trainings=10, common=0.3),
    Design("three, 0.3 between them, 20 clusters of 10", between=0.3, clusters=20, size=10, shared=0.3),
    Design("three, 0.3 between them, six doses", between=0.3, doses=6),
    Design("three, 0.3 between them, twelve doses", between=0.3, doses=12),
    Design("three, of which a fifth learns nothing", failing=0.2),
    Design("three, 0.3 between them, a step", between=0.3, steepness=20.0),
    Design("three, 0.3 between them, ceiling 0.85", between=0.3, lapse=0.15),
    Design("three, 0.3 between them, ceiling 0.7", between=0.3, lapse=0.3),
)


def row(design: Design, studies: int) -> str:
    """A line of the table: coverage and width of the model's threshold, the method's, and of their difference."""
    truth = [design.threshold(CENTRE), design.threshold(MODEL * CENTRE)]
    truth.append(truth[1] - truth[0])
    covered, widths, missed = np.zeros((studies, 3)), np.zeros((studies, 2)), np.zeros(studies)
    for study in range(studies):
        rng = np.random.default_rng([study, *design.name.encode()])
        moved = design.moved(rng)
        model = design.trials(rng, moved, CENTRE, False)
        method = design.trials(rng, moved, MODEL * CENTRE, True)
        (_, first), rows = thresholds(design.levels, model, {"m": method}, Axis(), draws=DRAWS, seed=study)
        (_, second) = rows["m"]
        intervals = [(first.low, first.high), (second.low, second.high), (second.minus_low, second.minus_high)]
        with np.errstate(invalid="ignore"):
            covered[study] = [low <= true <= high for (low, high), true in zip(intervals, truth, strict=True)]
            widths[study] = [np.log2(high / low) if low > 0 else np.inf for low, high in intervals[:2]]
        missed[study] = second.outcome in (NOT_REACHED, EVERYWHERE)
    shares = [f"{share:.3f}" for share in covered.mean(axis=0)]
    if np.isinf(truth[0]):
        shares[2] = "-"
    middle = [f"{width:.2f}" if np.isfinite(width) else "open" for width in np.median(widths, axis=0)]
    return f"| {design.name} | {' | '.join([*shares, *middle, f'{missed.mean():.3f}'])} |"


def main(studies: int) -> None:
    """Print the table."""
    print("| trainings | accuracy | ROC-AUC | difference | octaves, accuracy | octaves, ROC-AUC | ROC-AUC not found |")
    print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
    for design in DESIGNS:
        print(row(design, studies), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
