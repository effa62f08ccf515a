"""Coverage of the interval of AUROC over models, simulated: ``python -m benchmarks.reliant_models [STUDIES]``.

Prints the table of docs/thresholds.md. A sweep has S seeds at each of five strengths; the models of three are
reliant. Masses are normal; a reliant model's mean is larger. Half of the variance may be a seed's, the same at all
strengths, or its reliant and its clean models may have it each for themselves.
"""

import sys
import numpy as np
from scipy.stats import norm
from salgen.evaluation.statistics.discrimination import Discrimination

STUDIES = 2000
DOSES, RELIANT = 5, 3
SEEDS = (3, 5, 10, 20)
AUROCS = (0.5, 0.6, 0.8, 0.95)
SHARED = {
    "independent": (0.0, 0.0),
    "half of a seed": (0.5, 0.0),
    "half of a seed's reliant, or clean, models": (0.0, 0.5),
}


def covered(seeds: int, auroc: float, shares: tuple[float, float], studies: int) -> tuple[float, float, float]:
    """Coverage, mean half width, and the coverage were all models taken to be independent."""
    of_seed, of_group = shares
    reliant = np.arange(DOSES) >= DOSES - RELIANT
    members = np.tile(np.arange(seeds), (DOSES, 1))
    rng = np.random.default_rng([seeds, int(100 * auroc), int(10 * of_seed), int(10 * of_group)])
    found = np.zeros((studies, 3))
    for study in range(studies):
        own, common, groups = (rng.normal(size=shape) for shape in ((DOSES, seeds), seeds, (2, seeds)))
        masses = np.sqrt(1 - of_seed - of_group) * own + np.sqrt(of_seed) * common
        masses += np.sqrt(of_group) * groups[reliant.astype(int)]
        masses += np.sqrt(2) * norm.ppf(auroc) * reliant[:, np.newaxis]
        positive = np.broadcast_to(reliant[:, np.newaxis], masses.shape)
        one = Discrimination.of(masses.ravel(), positive.ravel(), members.ravel())
        alone = Discrimination(one.auroc, one.positives, one.negatives, one.seeds, 1.0)
        (low, high), (start, end) = one.interval(), alone.interval()
        found[study] = low <= auroc <= high, (high - low) / 2, start <= auroc <= end
    coverage, half, naive = found.mean(axis=0)
    return float(coverage), float(half), float(naive)


def main(studies: int) -> None:
    """Print the table."""
    print("| variance between models | trainings of a dose | " + " | ".join(f"AUROC {a:g}" for a in AUROCS) + " |")
    print("|---|--:|" + "--:|" * len(AUROCS), flush=True)
    for name, shares in SHARED.items():
        for seeds in SEEDS:
            cells = [covered(seeds, auroc, shares, studies) for auroc in AUROCS]
            text = " | ".join(f"{one:.3f} (±{half:.2f}; {naive:.3f})" for one, half, naive in cells)
            print(f"| {name} | {seeds} | {text} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
