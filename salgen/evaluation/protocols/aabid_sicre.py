"""Aabid and Sicre: maps of a classifier of pets against the outline of the pet, by twelve metrics."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.evaluation.protocols.paper_table import PaperTable, Row
from salgen.evaluation.protocols.protocol import ADAM, Experiment, Networks, Protocol, stand_in_of
from salgen.parameters import param

PETS, RUN = "pet-xai", "pets"
EXPLAINED = "grad-cam"
METHODS = (EXPLAINED, "cam", "grad-cam++", "layer-cam", "eigen-cam", "all-ones")
FINE_TUNING: Mapping[str, Any] = {**ADAM, "learning_rate": 1e-4, "epochs": 10, "batch_size": 32}
TABLE_1 = PaperTable(
    "Table 1",
    "As the paper's code computes it: LE and MLE are 1 - recall, since its intersection over union leaves out what is "
    "marked wrongly, and F1 and MF1 are of the scaled map, without a threshold. A second number is the paper's.",
    RUN,
    METHODS,
    (
        Row("LE", "localization-error:compat=aabid", (".45",)),
        Row("MLE", "mask-localization-error:compat=aabid", (".25",)),
        Row("EPG", "energy-pointing-game", (".93",)),
        Row("MEPG", "energy-pointing-game:within=mask", (".76",)),
        Row("F1", "soft-f1:within=box", (".43",)),
        Row("MF1", "soft-f1", (".51",)),
    ),
)
TWELVE = PaperTable(
    "The twelve metrics",
    "As they are meant: the pixels that a map marks are those at its mean and above. EPG and MEPG are above.",
    RUN,
    METHODS,
    (
        Row("LE", "localization-error"),
        Row("LE, wrong where the class is (official)", "official-localization-error"),
        Row("MLE", "mask-localization-error"),
        Row("IoU at half of the range", "iou"),
        Row("F1", "f1-box"),
        Row("MF1", "f1-mask"),
        Row("SP, the pointing game", "pointing-game"),
        Row("BA", "box-accuracy"),
        Row("BA, of masks", "box-accuracy:within=mask"),
        Row("SM", "saliency-metric"),
        Row("MAE", "mae"),
        Row("WE", "warping-error"),
        Row("AD", "average-drop"),
        Row("AI", "average-increase"),
        Row("dAUC", "deletion-auc"),
    ),
)


@dataclass(frozen=True)
class AabidSicre(Protocol):
    """Class activation maps of a classifier of pets, scored on the pet by twelve metrics (Aabid and Sicre).

    The pets are your own copy of Oxford-IIIT Pet where its path is given, else what salgen draws in its place. The
    predicted class is explained, as in the paper's notebook.
    """

    name: ClassVar[str] = "aabid-sicre"
    reference: ClassVar[str] = "Aabid & Sicre, Foreground segmentation to measure deep neural networks interpretability"
    methods: ClassVar[tuple[str, ...]] = METHODS[:-1]
    networks: ClassVar[Networks] = {"demo": ("resnet18",), "small": ("resnet18",), "full": ("resnet50",)}
    limits: ClassVar[Mapping[str, int | None]] = {"demo": 48, "small": 200, "full": None}
    papers: ClassVar[tuple[str, ...]] = (PETS,)
    title: ClassVar[str] = "The paper's table and metrics"
    tables: ClassVar[tuple[PaperTable, ...]] = (TABLE_1, TWELVE)
    notes: ClassVar[tuple[str, ...]] = (
        "The paper explains networks for the 1,000 classes of ImageNet, without training; here a network is trained on "
        "the breeds, at scale full from ImageNet's weights, so that it is known how often it is right.",
        "Its numbers stand beside grad-cam, whose layers its code names; it does not print which method Table 1 is of. "
        "They are probably means over the 78 images of four breeds that come with the code.",
        "As printed Table 1 is not possible: a mean Dice is never below the mean intersection over union of the same "
        "marks, yet its F1 is .43 and 1 - LE .55, its MF1 .51 and 1 - MLE .75. It becomes so by what the code does.",
    )

    limit: int | None = param(None, "first test images, of which those with masks count; by default the scale's", low=1)
    models: tuple[str, ...] = param((), "networks to train; by default the scale's")
    weights: str = param("imagenet", "what networks start from at scale full", choices=("imagenet", "scratch"))
    pets: str | None = param(None, "folder of Oxford-IIIT Pet, as pet-xai takes it")

    def datasets(self) -> dict[str, dict[str, Any]]:
        """The pets."""
        return {PETS if self.pets else stand_in_of(PETS): {"source": self.pets}}

    def settings(self, dataset: str, model: str, scale: str) -> dict[str, Any] | None:
        """At scale full a short training from ImageNet's weights; the model's own elsewhere."""
        return {"weights": self.weights, **FINE_TUNING} if scale == "full" else None

    def experiments(self, scale: str) -> list[Experiment]:
        """One run."""
        limit = self.limits[scale] if self.limit is None else self.limit
        return [Experiment(RUN, list(self.datasets()), self.methods, {"limit": limit, "target": "pred"})]
