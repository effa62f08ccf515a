"""Outcomes of sweeps and coverage of thresholds, simulated: ``python -m benchmarks.thresholds [STUDIES]``.

Prints the tables of docs/thresholds.md. Each simulated sweep goes through the functions that write ``thresholds.csv``.
The observer is known: its mean performance is given at each dose, or is ψ, and a training moves it.
"""

import sys
from dataclasses import dataclass
import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from salgen.evaluation.sweeps.psychometric import Axis
from salgen.evaluation.sweeps.thresholds import FOUND, OUTCOMES, Trials, thresholds
from salgen.types import Float64

STUDIES, DRAWS = 100, 250
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
        missed[study] = second.outcome != FOUND
    shares = [f"{share:.3f}" for share in covered.mean(axis=0)]
    if np.isinf(truth[0]):
        shares[2] = "-"
    middle = [f"{width:.2f}" if np.isfinite(width) else "open" for width in np.median(widths, axis=0)]
    return f"| {design.name} | {' | '.join([*shares, *middle, f'{missed.mean():.3f}'])} |"


PERFORMANCES = {  # at the eight doses; halfway is 0.75
    "flat at .5": [0.5] * 8,
    "flat at .7": [0.7] * 8,
    "flat at .75, halfway": [0.75] * 8,
    "flat at .8": [0.8] * 8,
    "falls from .95 to .5": np.linspace(0.95, 0.5, 8),
    "rises to .9 and falls to .5": [0.5, 0.55, 0.7, 0.9, 0.9, 0.7, 0.55, 0.5],
    "rises to .85 and falls to .65": [0.5, 0.55, 0.7, 0.85, 0.85, 0.8, 0.75, 0.65],
    "rises to .95 and falls to .8": [0.5, 0.5, 0.6, 0.95, 0.95, 0.9, 0.85, 0.8],
    "rises in two steps": [0.5, 0.5, 0.7, 0.7, 0.7, 0.7, 0.95, 0.95],
    "falls to .3, then rises to .95": [0.5, 0.4, 0.3, 0.4, 0.7, 0.9, 0.95, 0.95],
    "log-logistic to .95": Design("").performance(DOSES, np.zeros(8), CENTRE),
    "log-logistic to .95, shallow": Design("", steepness=1.5).performance(DOSES, np.zeros(8), CENTRE),
    "log-logistic to .8": Design("", lapse=0.2).performance(DOSES, np.zeros(8), CENTRE),
    "log-logistic to .7": Design("", lapse=0.3).performance(DOSES, np.zeros(8), CENTRE),
}


def outcomes(name: str, trainings: int, between: float, studies: int) -> list[str]:
    """The share of sweeps with each outcome and with lack of fit: 100 clusters of 2 images, right or wrong."""
    rows = []
    for study in range(studies):
        rng = np.random.default_rng([study, trainings, *name.encode()])
        moved = between * rng.normal(size=(8, trainings, 1))
        mean = expit(logit(PERFORMANCES[name])[:, None, None] + moved)
        sums = rng.binomial(2, np.broadcast_to(mean, (8, trainings, 100))).astype(np.float64)
        trials = Trials(sums, np.full(sums.shape, 2.0))
        rows.append(thresholds(DOSES, trials, {}, Axis(), draws=DRAWS, seed=study)[0][1])
    found = [np.mean([row.outcome == outcome for row in rows]) for outcome in OUTCOMES]
    return [f"{share:.3f}" for share in [*found, np.mean([row.lack_of_fit for row in rows])]]


def main(studies: int) -> None:
    """Print the tables."""
    for trainings, between in ((1, 0.0), (5, 0.3)):
        print(f"| {trainings} trainings, {between} between them | {' | '.join(OUTCOMES)} | lack of fit |")
        print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
        for name in PERFORMANCES:
            print(f"| {name} | {' | '.join(outcomes(name, trainings, between, studies))} |", flush=True)
    print("| trainings | accuracy | ROC-AUC | difference | octaves, accuracy | octaves, ROC-AUC | ROC-AUC not found |")
    print("|---|--:|--:|--:|--:|--:|--:|", flush=True)
    for design in DESIGNS:
        print(row(design, studies), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
