"""Szczepankiewicz et al. 2023: an artifact on traffic signs, cartoon figures, traffic lights and ImageNet-S50."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.errors import unknown_name
from salgen.evaluation.imagenet_s50 import IMAGE_SIZE, pretrained
from salgen.evaluation.protocols.claims import (
    Claim,
    among_the_best,
    averaged,
    higher_median,
    lowest,
    networks_on,
    on,
    share_left,
)
from salgen.evaluation.protocols.protocol import ADAM, Experiment, Networks, Protocol, stand_in_of
from salgen.parameters import param

SQUARE, ZINGS, LIGHTS, IMAGENET = DATASETS = ("gtsrb-square", "zings", "lisa-lights", "imagenet-s50")
VARIANTS = ("original", "absent", "moved", "resized", "noisy_square", "noisy_background")
IN_PLACE = ("original", "noisy_square", "noisy_background")  # the square is where training had it
TURNED = {"rotation": 5.0, "flips": True}
ACCURATE = 0.995
DEMO_WIDTHS = (16, 32, 64, 64)
FULL_TRAINING: Mapping[str, Any] = {**ADAM, "epochs": 30, "batch_size": 64, "stop_accuracy": ACCURATE}
FULL_RATE = {"scnn": 1e-3}
PRETRAINED_RATE = 1e-4
ON_IMAGENET = ("vgg16", "resnet50", "resnext50")
GRADIENTS = ("gradient", "smoothgrad", "guided-backprop")
CLAIMS = (
    Claim("(a) gtsrb-square: {} have the lowest means on resnet50 and vgg16",
          on(SQUARE, "resnet50", "vgg16"), lowest, ("fast-cam", "fast-cam++")),
    Claim("(a) gtsrb-square: {} are among the best three, averaged over the networks run",
          averaged(SQUARE), among_the_best(3), ("eigen-grad-cam", "guided-grad-cam")),
    Claim("(b) mean m_GT over the methods is lower on scnn than on every other network run",
          networks_on(DATASETS, "scnn"), lowest, ("scnn",), "no data set has scores on scnn and on another network"),
    Claim("(c) zings: {} are among the best three, averaged over the networks run",
          averaged(ZINGS), among_the_best(3), ("gradient", "guided-grad-cam", "guided-backprop")),
    Claim("(d) lisa-lights: {} are among the best three, averaged over the networks run",
          averaged(LIGHTS), among_the_best(3), ("guided-grad-cam", "eigen-grad-cam")),
    Claim("(e) imagenet-s50: {} has the highest mean on vgg16",
          on(IMAGENET, "vgg16"), among_the_best(1), ("grad-cam",)),
    Claim("(e) imagenet-s50: {} has the highest mean on resnet50 and resnext50",
          on(IMAGENET, "resnet50", "resnext50"), among_the_best(1), ("layer-cam",)),
    Claim("(e) imagenet-s50: {} have the lowest means on every network run",
          on(IMAGENET), lowest, (*GRADIENTS, "eigen-cam", "eigen-grad-cam")),
    Claim("(f) an enlarged square: {} keep to the old area more than the others do (share of m_GT that is left, the "
          "median of each group)",
          share_left("resized", "original"), higher_median,
          (*GRADIENTS, "guided-grad-cam", "layer-cam", "eigen-grad-cam"),
          "gtsrb-square was not run on its variants", all_named=False),
)  # fmt: skip


@dataclass(frozen=True)
class Szczepankiewicz2023(Protocol):
    """Thirteen methods under m_GT on four data sets and several networks (Szczepankiewicz et al. 2023).

    The data are the user's own copies where their paths are given, and otherwise what salgen draws in their place:
    `drawn-signs`, `drawn-figures`, `drawn-lights` and `textured-shapes`; the report says which. All images with a mask
    count, right or wrong. Both signs of Eigen-CAM are computed: the paper's tables take the one that the decomposition
    gives.
    """

    name: ClassVar[str] = "szczepankiewicz2023"
    reference: ClassVar[str] = (
        "Szczepankiewicz et al. 2023, Ground truth based comparison of saliency maps algorithms, "
        "Scientific Reports 13:16887"
    )
    methods: ClassVar[tuple[str, ...]] = (
        *("gradient", "guided-backprop", "smoothgrad", "grad-cam", "grad-cam++", "smooth-grad-cam++"),
        *("guided-grad-cam", "fast-cam", "fast-cam++", "eigen-cam", "eigen-grad-cam", "layer-cam", "poly-cam-pm"),
    )
    networks: ClassVar[Networks] = {"demo": ("scnn",), "small": ("scnn",), "full": ("resnet50", "vgg16", "scnn")}
    limits: ClassVar[Mapping[str, int | None]] = {"demo": 24, "small": 100, "full": None}
    papers: ClassVar[tuple[str, ...]] = DATASETS
    title: ClassVar[str] = "The paper's tables and figures"
    metric: ClassVar[str] = "m-gt"
    cells: ClassVar[str] = "grid"
    variants: ClassVar[str] = "variants"
    marked: ClassVar[frozenset[str]] = frozenset(IN_PLACE)
    claims: ClassVar[tuple[Claim, ...]] = CLAIMS
    notes: ClassVar[tuple[str, ...]] = (
        "scnn is salgen's own network: the paper names an SCNN without its layers.",
        "The paper's VGG50 is VGG16. Its Table 2 is not available to us, so no number of it stands here.",
        "poly-cam-pm is the paper's Poly-CAM, of which it does not say which. Eigen-CAM and Eigen Grad-CAM take "
        "the sign that the decomposition gives; with the sign aligned they stand among the scores below.",
    )

    limit: int | None = param(None, "first images of a split; those with a mask count; by default the scale's", low=1)
    only: tuple[str, ...] = param((), "data sets to run, by the paper's names; by default all four", choices=DATASETS)
    models: tuple[str, ...] = param((), "networks to train; by default the scale's")
    weights: str = param("imagenet", "what networks but scnn start from at scale full", choices=("imagenet", "scratch"))
    gtsrb: str | None = param(None, "folder of GTSRB as torchvision lays it out, or download")
    zings: str | None = param(None, "folder of heroes, villains and masks")
    lisa: str | None = param(None, "folder of LISA traffic lights")
    imagenet_s: str | None = param(None, "folder of ImageNetS50")

    def datasets(self) -> dict[str, dict[str, Any]]:
        """The four data sets, or those of `only`; ImageNet-S50 itself at the size of pretrained networks."""
        own = dict(zip(DATASETS, (self.gtsrb, self.zings, self.lisa, self.imagenet_s), strict=True))
        how: dict[str, dict[str, Any]] = {name: {"source": path} for name, path in own.items() if path is not None}
        if IMAGENET in how:
            how[IMAGENET] |= {"parameters": {"image_size": IMAGE_SIZE}, "splits": {"test": None}}
        wanted = self.only or DATASETS
        return {name if name in how else stand_in_of(name): how.get(name, {"source": None}) for name in wanted}

    def experiments(self, scale: str) -> list[Experiment]:
        """The grid of data sets, with all splits of Zings as in the paper, and the variants of the square."""
        methods = (*self.methods, "eigen-cam:sign=align", "eigen-grad-cam:sign=align")
        how = {"metrics": [self.metric], "limit": self.limits[scale] if self.limit is None else self.limit}
        whole = ("test", "val", "train") if scale == "full" else ("test",)
        in_training = {**how, "target": "square", "mask": "training_square"}  # scored where training had the square
        variants = [f"test_{variant}" for variant in VARIANTS]
        return [
            Experiment("grid", _either(SQUARE, LIGHTS, IMAGENET), methods, how),
            Experiment("grid", _either(ZINGS), methods, how, splits=whole),
            Experiment("variants", _either(SQUARE), methods, in_training, splits=variants, trained_in="grid"),
        ]

    def networks_on(self, dataset: str, scale: str) -> Sequence[str]:
        """The networks of a data set; on ImageNet-S50 itself pretrained ones, which are not trained."""
        if dataset != IMAGENET:
            return super().networks_on(dataset, scale)
        for model in self.models:
            if model not in ON_IMAGENET:
                raise unknown_name("pretrained network for ImageNet-S50", model, ON_IMAGENET)
        return self.models or ON_IMAGENET

    def trained_network(self, dataset: str, model: str) -> str | None:
        """The pretrained network on ImageNet-S50 itself; None elsewhere."""
        return f"salgen.evaluation.imagenet_s50:{model}" if dataset == IMAGENET else None

    def check(self, scale: str, extra_methods: Sequence[str]) -> None:
        """Raise a SalgenError as for any protocol, or if pretrained weights are not available."""
        super().check(scale, extra_methods)
        for model in self.networks_on(IMAGENET, scale) if IMAGENET in self.datasets() else ():
            pretrained(model)

    def settings(self, dataset: str, model: str, scale: str) -> dict[str, Any]:
        """The paper's training at scale full, a short one otherwise."""
        turned = TURNED if self.in_place_of(dataset) == ZINGS else {}
        if scale != "full":
            narrow = {"widths": DEMO_WIDTHS} if scale == "demo" and model == "scnn" else {}
            return {"stop_accuracy": ACCURATE, **narrow, **turned}
        start = {} if model == "scnn" else {"weights": self.weights}
        return {**FULL_TRAINING, "learning_rate": FULL_RATE.get(model, PRETRAINED_RATE), **start, **turned}


def _either(*names: str) -> tuple[str, ...]:
    """Data sets and their stand-ins."""
    return *names, *map(stand_in_of, names)
