"""Budding et al. 2021: lesions on Perlin noise and on MRI."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.evaluation.protocols.claims import Claim, among_the_best, highest, lowest, mean_of, on_each, rows_by, spread
from salgen.evaluation.protocols.paper_table import PaperTable, Row
from salgen.evaluation.protocols.protocol import Experiment, Networks, Protocol
from salgen.parameters import param

PERLIN, MRI = "perlin-lesions", "mri-lesions"
ROC_AUC, MAP, PREC99 = "ROC-AUC", "mAP", "PREC99"
METRICS = {ROC_AUC: "roc-auc", MAP: "average-precision", PREC99: "prec99"}
METHODS = (
    *("gradient", "deconvnet", "guided-backprop", "deep-taylor:bias=true", "pattern-net", "pattern-attribution"),
    *("lrp-z", "lrp-alpha-beta:bias=true"),
)


def _row(metric: str, dataset: str) -> str:
    return f"{metric}, {dataset}"


FIGURE_2 = PaperTable(
    "Figure 2: ROC-AUC, mAP and PREC99",
    "Means over images with lesions and over trainings, of the pixels in the brain. The paper prints no numbers.",
    PERLIN,
    METHODS,
    tuple(
        Row(_row(metric, dataset), call, experiment=dataset)
        for metric, call in METRICS.items()
        for dataset in (PERLIN, MRI)
    ),
)
# of these two, as ROC-AUC hardly tells methods apart
BY_METRIC = {metric: {dataset: _row(metric, dataset) for dataset in (PERLIN, MRI)} for metric in (MAP, PREC99)}
BY_DATASET = {dataset: {metric: _row(metric, dataset) for metric in METRICS} for dataset in (PERLIN, MRI)}
CLAIMS = (
    Claim("{} is among the best three by mAP and by PREC99, on both backgrounds",
          on_each(*(row for rows in BY_METRIC.values() for row in rows.values())), among_the_best(3), ("gradient",)),
    *(
        Claim(f"{method} is better on {{}} than on {other}, by mAP and by PREC99",
              rows_by(mean_of(method), BY_METRIC), highest, (better,))
        for method, better, other in (
            ("lrp-z", MRI, PERLIN),
            *((method, PERLIN, MRI) for method in ("guided-backprop", "pattern-net", "pattern-attribution")),
        )
    ),
    Claim("{} tells methods apart least: their means are closest together, on both backgrounds",
          rows_by(spread, BY_DATASET), lowest, (ROC_AUC,)),
)  # fmt: skip


@dataclass(frozen=True)
class Budding2021(Protocol):
    """Evaluate saliency methods on lesions in Perlin noise and in MRI (Budding et al. 2021).

    Both data sets share slices, brain masks and lesions. As in the authors' code, the predicted class is explained,
    and maps are made absolute before scoring. Biases take their share of relevance. The first 200 test images count.
    """

    name: ClassVar[str] = "budding2021"
    reference: ClassVar[str] = (
        "Budding et al. 2021, Evaluating saliency methods on artificial data with different background types"
    )
    methods: ClassVar[tuple[str, ...]] = METHODS
    networks: ClassVar[Networks] = dict.fromkeys(("demo", "small", "full"), ("lesion-cnn",))
    training_seeds: ClassVar[Mapping[str, int]] = {"demo": 1, "small": 3, "full": 3}
    title: ClassVar[str] = "The paper's figure and findings"
    tables: ClassVar[tuple[PaperTable, ...]] = (FIGURE_2,)
    claims: ClassVar[tuple[Claim, ...]] = CLAIMS
    notes: ClassVar[tuple[str, ...]] = (
        "Numbers are means over all trainings of a data set, where the paper takes the best of three.",
        "Of the test images that count about half show lesions, and only these are scored. The authors' code does the "
        "same (104 of the first 200), where the paper speaks of 200 images with lesions.",
        "All slices are cuts through one head, the MNI152 average, where the paper has many subjects: a network may "
        "know the anatomy of the test images by heart.",
    )

    limit: int = param(200, "test images that count", low=1)

    def datasets(self) -> dict[str, dict[str, Any]]:
        """Lesions in noise and in MRI."""
        return {PERLIN: {}, MRI: {}}

    def experiments(self, scale: str) -> list[Experiment]:
        """One run for each data set, under every metric that ranks pixels."""
        how = {"limit": self.limit, "n_trainings": self.training_seeds[scale], "target": "pred", "reduce": "abs"}
        return [
            Experiment(name, [name], self.methods, {**how, "metrics": None}, folder="{data}-run")
            for name in self.datasets()
        ]
