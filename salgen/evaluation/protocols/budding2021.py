"""Budding et al. 2021: lesions on Perlin noise and on MRI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from salgen.datasets.making import make
from salgen.evaluation.protocols import Reproduction
from salgen.evaluation.report import report
from salgen.evaluation.runs.running import evaluate
from salgen.parameters import param

NAMES = ("budding2021",)


@dataclass(frozen=True)
class Budding2021:
    """Evaluate saliency methods on lesions in Perlin noise and in MRI (Budding et al. 2021).

    Both data sets share slices, brain masks and lesions. The predicted class is explained, maps are
    made absolute before scoring, biases take their share of relevance, and the first 200 test images
    count, as in the authors' code.
    """

    name: ClassVar[str] = "budding2021"
    reference: ClassVar[str] = (
        "Budding et al. 2021, Evaluating saliency methods on artificial data with different background types"
    )
    datasets: ClassVar[tuple[str, ...]] = ("perlin-lesions", "mri-lesions")
    model: ClassVar[str] = "lesion-cnn"
    methods: ClassVar[tuple[str, ...]] = (
        "gradient",
        "deconvnet",
        "guided-backprop",
        "deep-taylor:bias=true",
        "pattern-net",
        "pattern-attribution",
        "lrp-z",
        "lrp-alpha-beta:bias=true",
    )
    training_seeds: ClassVar[dict[str, int]] = {"demo": 1, "small": 3, "full": 3}

    seed: int = param(0, "seed of the data sets and of the methods' randomness", low=0)
    limit: int = param(200, "test images that count", low=1)

    def run(
        self,
        out: Path,
        scale: str,
        extra_methods: Sequence[str] = (),
        max_memory: float | None = None,
        command: Sequence[str] | None = None,
    ) -> Reproduction:
        """Make both data sets, train, explain and score, and write one report; what is there already is kept.

        Returns
        -------
        The run folders, and the report's path ``<out>/report.html``.
        """
        runs = []
        for name in self.datasets:
            data = make(name, out / name, scale=scale, seed=self.seed)
            runs.append(
                evaluate(
                    data,
                    model=self.model,
                    methods=[*self.methods, *extra_methods],
                    limit=self.limit,
                    out=out / f"{name}-run",
                    scale=scale,
                    seeds=self.training_seeds[scale],
                    target="pred",
                    reduce="abs",
                    seed=self.seed,
                    max_memory=max_memory,
                    command=command,
                )
            )
        return Reproduction(runs, report(runs, out / "report.html"))
