"""Szczepankiewicz et al. 2023: an artifact on traffic signs, cartoon figures, traffic lights and ImageNet-S50."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from salgen.datasets.making import make
from salgen.datasets.reading.reader import open_dataset
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.imagenet_s50 import IMAGE_SIZE, pretrained
from salgen.evaluation.protocols import Reproduction
from salgen.evaluation.protocols.szczepankiewicz2023_claims import findings
from salgen.evaluation.report import report
from salgen.evaluation.report.study import Cell, Study, Variants
from salgen.evaluation.runs.running import evaluate
from salgen.generators.factory import generator
from salgen.parameters import param
from salgen.registry import MODELS

NAMES = ("szczepankiewicz2023",)

METRIC = "m-gt"
IN_PLACE = ("original", "noisy_square", "noisy_background")  # the square is where training had it
VARIANTS = ("original", "absent", "moved", "resized", "noisy_square", "noisy_background")
TURNED = {"rotation": 5.0, "flips": True}
ACCURATE = 0.995
DEMO_WIDTHS = (16, 32, 64, 64)
FULL_TRAINING: Mapping[str, Any] = {
    "optimiser": "adamw",
    "weight_decay": 0.0,  # which is Adam
    "schedule": "constant",
    "epochs": 30,
    "batch_size": 64,
    "stop_accuracy": ACCURATE,
    "stop_loss": None,
    "patience": None,
}
FULL_RATE = {"scnn": 1e-3}
PRETRAINED_RATE = 1e-4


@dataclass(frozen=True)
class Szczepankiewicz2023:
    """Thirteen methods under m_GT on four data sets and several networks (Szczepankiewicz et al. 2023).

    The data are the user's own copies where their paths are given, and salgen's stand-ins otherwise. All
    images with a mask count, right or wrong. Both signs of Eigen-CAM are computed: the paper's tables take
    the one that the decomposition gives.
    """

    name: ClassVar[str] = "szczepankiewicz2023"
    reference: ClassVar[str] = (
        "Szczepankiewicz et al. 2023, Ground truth based comparison of saliency maps algorithms, "
        "Scientific Reports 13:16887"
    )
    datasets: ClassVar[tuple[str, ...]] = ("gtsrb-square", "zings", "lisa-lights", "imagenet-s50")
    methods: ClassVar[tuple[str, ...]] = (
        "gradient",
        "guided-backprop",
        "smoothgrad",
        "grad-cam",
        "grad-cam++",
        "smooth-grad-cam++",
        "guided-grad-cam",
        "fast-cam",
        "fast-cam++",
        "eigen-cam",
        "eigen-grad-cam",
        "layer-cam",
        "poly-cam-pm",
    )
    beside: ClassVar[tuple[str, ...]] = ("eigen-cam:sign=align", "eigen-grad-cam:sign=align")
    networks: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "demo": ("scnn",),
        "small": ("scnn",),
        "full": ("resnet50", "vgg16", "scnn"),
    }
    on_imagenet: ClassVar[tuple[str, ...]] = ("vgg16", "resnet50", "resnext50")
    limits: ClassVar[Mapping[str, int | None]] = {"demo": 24, "small": 100, "full": None}

    seed: int = param(0, "seed of the data sets and of the methods' randomness", low=0)
    limit: int | None = param(
        None, "first images of a split, of which those with a mask count; by default the scale's", low=1
    )
    only: tuple[str, ...] = param((), "data sets to run; by default all four", choices=datasets)
    models: tuple[str, ...] = param((), "networks to train; by default the scale's")
    weights: str = param(
        "imagenet", "what networks other than scnn start from at scale full", choices=("imagenet", "scratch")
    )
    gtsrb: str | None = param(None, "folder of GTSRB as torchvision lays it out, or download")
    zings: str | None = param(None, "folder of heroes, villains and masks")
    lisa: str | None = param(None, "folder of LISA traffic lights")
    imagenet_s: str | None = param(None, "folder of ImageNetS50")

    def __post_init__(self) -> None:
        for what, names in (("only", self.only), ("models", self.models)):
            if len(set(names)) < len(names):
                raise SalgenError(f"{self.name}: {what} = {','.join(names)}: name each once")

    def run(
        self,
        out: Path,
        scale: str,
        extra_methods: Sequence[str] = (),
        max_memory: float | None = None,
        command: Sequence[str] | None = None,
    ) -> Reproduction:
        """Make the data sets, train, explain and score, and write one report; what is there already is kept.

        Returns
        -------
        The run folders of the grid, and the report's path ``<out>/report.html``. Beside it stands ``grid.csv``.
        """
        self._check(scale, extra_methods)
        how = {
            "methods": [*self.methods, *self.beside, *extra_methods],
            "metrics": [METRIC],
            "limit": self.limits[scale] if self.limit is None else self.limit,
            "scale": scale,
            "seed": self.seed,
            "max_memory": max_memory,
            "command": command,
        }
        cells: list[Cell] = []
        variants: list[Variants] = []
        for name in self.only or self.datasets:
            seen = {"image_size": IMAGE_SIZE} if self._pretrained(name) else None  # what those networks were trained on
            data = make(name, out / name, scale=scale, seed=self.seed, source=self._sources[name], parameters=seen)
            for model in self._models(name, scale):
                cell = self._cell(data, model, out / "runs", how)
                cells.append(cell)
                if name == "gtsrb-square":
                    variants.append(self._variants(cell, data, out / "runs", how))
        study = Study(
            title="The paper's tables and figures",
            reference=self.reference,
            metric=METRIC,
            methods=tuple(select_methods(self.methods, scale).named),
            cells=tuple(cells),
            variants=tuple(variants),
            findings=(),
            notes=self._notes(),
        )
        study = replace(study, findings=findings(study))
        runs = [run for cell in cells for run in cell.runs]
        return Reproduction(runs, report(runs, out / "report.html", study=study))

    @property
    def _sources(self) -> Mapping[str, str | None]:
        return dict(zip(self.datasets, (self.gtsrb, self.zings, self.lisa, self.imagenet_s), strict=True))

    def _pretrained(self, name: str) -> bool:
        """Whether networks are taken as they are: on ImageNet-S50 itself."""
        return name == "imagenet-s50" and self._sources[name] is not None

    def _check(self, scale: str, extra_methods: Sequence[str]) -> None:
        """Raise a SalgenError for what would else be found wrong after hours of work."""
        select_methods([*self.methods, *self.beside, *extra_methods], scale)
        for name in self.only or self.datasets:
            for model in self._models(name, scale):
                MODELS.load(model)
            source = self._sources[name]
            if source is not None:
                generator(name, source, scale)
            if self._pretrained(name):
                for model in self._models(name, scale):
                    pretrained(model)

    def _models(self, name: str, scale: str) -> tuple[str, ...]:
        """The networks of a data set; on ImageNet-S50 itself the pretrained ones, which are not trained."""
        if self._pretrained(name):
            for model in self.models:
                if model not in self.on_imagenet:
                    raise unknown_name("pretrained network for ImageNet-S50", model, self.on_imagenet)
            return self.models or self.on_imagenet
        return self.models or self.networks[scale]

    def _cell(self, data: Path, model: str, runs: Path, how: Mapping[str, Any]) -> Cell:
        """One network on one data set: trained on its train split, then scored on what the paper scored."""
        name = data.name
        first, *others = self._splits(data, how["scale"])
        own = self._pretrained(name)
        subject: str | Path = f"salgen.evaluation.imagenet_s50:{model}" if own else model
        settings = None if own else self._settings(name, model, how["scale"])
        folder = runs / f"{name}-{model}"
        found = [evaluate(data, model=subject, settings=settings, split=first, out=folder, **how)]
        trained = subject if own else folder / f"{model}-seed0"
        for split in others:
            found.append(evaluate(data, model=trained, split=split, out=runs / f"{name}-{split}-{model}", **how))
        return Cell(name, model, tuple(found))

    def _splits(self, data: Path, scale: str) -> list[str]:
        """The splits that are scored: the paper takes all of Zings, and test images of the others."""
        if data.name == "zings" and scale == "full":
            there = open_dataset(data, "test").spec.splits
            return [split for split in ("test", "val", "train") if split in there]
        return ["test"]

    def _settings(self, name: str, model: str, scale: str) -> dict[str, Any]:
        turned = TURNED if name == "zings" else {}
        if scale != "full":
            narrow = {"widths": DEMO_WIDTHS} if scale == "demo" and model == "scnn" else {}
            return {"stop_accuracy": ACCURATE, **narrow, **turned}
        start = {} if model == "scnn" else {"weights": self.weights}
        return {**FULL_TRAINING, "learning_rate": FULL_RATE.get(model, PRETRAINED_RATE), **start, **turned}

    def _variants(self, cell: Cell, data: Path, runs: Path, how: Mapping[str, Any]) -> Variants:
        """The network of a cell on each variant, scored against the place that the square had in training."""
        trained = cell.runs[0] / f"{cell.model}-seed0"
        found = {
            variant: evaluate(
                data,
                model=trained,
                split=f"test_{variant}",
                target="square",
                mask="training_square",
                out=runs / f"{cell.dataset}-{variant}-{cell.model}",
                **how,
            )
            for variant in VARIANTS
        }
        return Variants(cell.model, found, marked=frozenset(IN_PLACE))

    def _notes(self) -> tuple[str, ...]:
        """What a reader of the tables must know."""
        made = [name for name in self.only or self.datasets if self._sources[name] is None]
        stand_ins = [f"Stand-ins, not the paper's images: {', '.join(made)}."] if made else []
        return (
            *stand_ins,
            "scnn is salgen's own network: the paper names an SCNN without its layers.",
            "The paper's VGG50 is VGG16. Its Table 2 is not available to us, so no number of it stands here.",
            "poly-cam-pm is the paper's Poly-CAM, of which it does not say which. Eigen-CAM and Eigen Grad-CAM take "
            "the sign that the decomposition gives; with the sign aligned they stand among the scores below.",
        )
