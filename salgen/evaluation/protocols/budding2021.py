"""Budding et al. 2021: lesions on Perlin noise and on MRI."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from salgen.evaluation.protocols.protocol import Experiment, Protocol
from salgen.parameters import param

NAMES = ("budding2021",)


@dataclass(frozen=True)
class Budding2021(Protocol):
    """Evaluate saliency methods on lesions in Perlin noise and in MRI (Budding et al. 2021).

    Both data sets share slices, brain masks and lesions. The predicted class is explained, maps are
    made absolute before scoring, biases take their share of relevance, and the first 200 test images
    count, as in the authors' code.
    """

    name: ClassVar[str] = "budding2021"
    reference: ClassVar[str] = (
        "Budding et al. 2021, Evaluating saliency methods on artificial data with different background types"
    )
    methods: ClassVar[tuple[str, ...]] = (
        *("gradient", "deconvnet", "guided-backprop", "deep-taylor:bias=true", "pattern-net", "pattern-attribution"),
        *("lrp-z", "lrp-alpha-beta:bias=true"),
    )
    networks: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(("demo", "small", "full"), ("lesion-cnn",))
    training_seeds: ClassVar[Mapping[str, int]] = {"demo": 1, "small": 3, "full": 3}

    limit: int = param(200, "test images that count", low=1)

    def datasets(self) -> dict[str, dict[str, Any]]:
        """Lesions in noise and in MRI."""
        return {"perlin-lesions": {}, "mri-lesions": {}}

    def experiments(self, scale: str) -> list[Experiment]:
        """One run for each data set."""
        how = {"limit": self.limit, "seeds": self.training_seeds[scale], "target": "pred", "reduce": "abs"}
        return [Experiment("lesions", tuple(self.datasets()), self.methods, how, folder="{data}-run")]
