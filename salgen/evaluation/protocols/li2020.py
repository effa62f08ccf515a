"""Li et al. 2020: localisation, faithfulness, class sensitivity and stability of maps, and false positives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from salgen.datasets.making import make
from salgen.errors import SalgenError
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.diagnostics.clever_hans import clever_hans
from salgen.evaluation.protocols import Reproduction
from salgen.evaluation.protocols.li2020_findings import findings
from salgen.evaluation.protocols.li2020_tables import (
    CLASSES,
    G_OBJECT,
    G_SCENE,
    IDR,
    IIR,
    INSERTION,
    IOSR,
    MCR,
    MCS,
    POINTING,
    STABILITY,
    Localised,
    table_1,
    table_2,
)
from salgen.evaluation.report import report
from salgen.evaluation.report.study import Plate, Study
from salgen.evaluation.report.suspects import save_gallery_of
from salgen.evaluation.runs.running import evaluate
from salgen.generators.factory import generator
from salgen.parameters import param
from salgen.registry import MODELS

NAMES = ("li2020",)

STAND_IN = "multi-objects"
COMPOSITES, SCENE = "ebam", "scene"
BOXES = "boxes"
POSITIVE = "sum_pos"  # of the channels, as the code that MCS is from adds them up
SUSPECTED_BY = "grad-cam"
FULL_TRAINING: Mapping[str, Any] = {
    "optimiser": "sgd",
    "learning_rate": 0.01,
    "momentum": 0.9,
    "weight_decay": 1e-4,
    "schedule": "cosine",
    "epochs": 10,
    "batch_size": 128,
}
SHORT_TRAINING: Mapping[str, Mapping[str, Any]] = {
    "demo": {"widths": (16, 32, 64, 64), "epochs": 24, "learning_rate": 0.005},
    "small": {"epochs": 20},
}


@dataclass(frozen=True)
class Counts:
    """How many samples are scored at a scale; None for all.

    Attributes
    ----------
    localised, contrasted
        Of the images of several objects, and of composites.
    stability, curve
        Of SENS, and of its curve over radii.
    """

    localised: int | None
    contrasted: int | None
    stability: int
    curve: int


@dataclass(frozen=True)
class Li2020:
    """Where maps point, what they depend on, and when they are false positives (Li et al. 2020).

    Networks of several labels learn VOC 2012 and COCO 2017 (your own copies, or a drawn stand-in), and each
    image is explained for each class that it shows. On eBAM one run trains a model that tells objects and one that
    tells scenes, explains the same images under both, and pairs each image with its twin without the object.
    """

    name: ClassVar[str] = "li2020"
    reference: ClassVar[str] = (
        "Li et al. 2020, Quantitative evaluations on saliency methods: an experimental study, arXiv:2012.15616"
    )
    contrasted: ClassVar[tuple[str, ...]] = (
        "gradient",
        "guided-backprop",
        "integrated-gradients",
        "grad-cam",
        "contrastive-excitation-backprop",
    )
    methods: ClassVar[tuple[str, ...]] = (*contrasted, "occlusion", "rise")
    networks: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "demo": ("scnn",),
        "small": ("scnn",),
        "full": ("vgg16", "resnet50"),
    }
    counts: ClassVar[Mapping[str, Counts]] = {
        "demo": Counts(48, 100, 6, 3),
        "small": Counts(200, 300, 20, 5),
        "full": Counts(None, None, 50, 5),
    }

    seed: int = param(0, "seed of the data sets and of the methods' randomness", low=0)
    limit: int | None = param(None, "first samples of each test split that count; by default the scale's", low=1)
    models: tuple[str, ...] = param((), "networks to train; by default the scale's")
    weights: str = param(
        "imagenet", "what networks other than scnn start from at scale full", choices=("imagenet", "scratch")
    )
    radii: tuple[float, ...] = param((0.05, 0.1, 0.2, 0.4), "radii of the curve of stability", low=0.0)
    voc: str | None = param(None, "folder of VOC 2012: VOCdevkit or VOC2012")
    coco: str | None = param(None, "folder of COCO 2017: annotations and images")
    ebam: str | None = param(None, "folder of eBAM's sources: coco, miniplaces and detector")

    def __post_init__(self) -> None:
        if len(set(self.models)) < len(self.models):
            raise SalgenError(f"{self.name}: models = {','.join(self.models)}: name each once")
        if 0.2 not in self.radii:
            raise SalgenError(f"{self.name}: radii = {self.radii}: 0.2, the paper's own, must be among them")

    def run(
        self,
        out: Path,
        scale: str,
        extra_methods: Sequence[str] = (),
        max_memory: float | None = None,
        command: Sequence[str] | None = None,
    ) -> Reproduction:
        """Make the data sets, train, explain and score, and write one report; what is there already is kept."""
        self._check(scale, extra_methods)
        how = {"scale": scale, "seed": self.seed, "max_memory": max_memory, "command": command}
        models = self.models or self.networks[scale]
        localised = [
            self._localised(data, source, model, out, scale, [*self.methods, *extra_methods], how)
            for data, source in self._made(out, scale)
            for model in models
        ]
        curve = self._curve(localised[0], out, scale, how)
        contrasts = self._contrasts(models, out, scale, extra_methods, how)
        study = self._study(localised, contrasts, scale, out)
        runs = [one.run for one in localised] + [one.stability for one in localised] + [curve, *contrasts.values()]
        return Reproduction(runs, report(runs, out / "report.html", study=study), study.tables)

    @property
    def _sources(self) -> dict[str, str | None]:
        """The data sets of several objects, and what each is read from."""
        own = {"voc-2012": self.voc, "coco-2017": self.coco}
        return {name: path for name, path in own.items() if path is not None} or {STAND_IN: None}

    def _check(self, scale: str, extra_methods: Sequence[str]) -> None:
        """Raise a SalgenError for what would else be found wrong after hours of work."""
        select_methods([*self.methods, *extra_methods], scale)
        for model in self.models or self.networks[scale]:
            MODELS.load(model)
        for name, source in {**self._sources, COMPOSITES: self.ebam}.items():
            if source is not None:
                generator(name, source, scale)

    # Several objects --------------------------------------------------------------------------------

    def _made(self, out: Path, scale: str) -> list[tuple[Path, str | None]]:
        return [
            (make(name, out / name, scale=scale, seed=self.seed, source=source), source)
            for name, source in self._sources.items()
        ]

    def _localised(
        self, data: Path, source: str | None, model: str, out: Path, scale: str, calls: list[str], how: dict[str, Any]
    ) -> Localised:
        """One network on one data set: trained, then scored; SENS on a few images, as it explains each many times."""
        counts, run = self.counts[scale], out / "runs" / f"{data.name}-{model}"
        evaluate(
            data,
            model=model,
            methods=calls,
            metrics=[POINTING, IOSR, INSERTION, CLASSES],
            settings=self._settings(model, scale),
            mask=BOXES,
            limit=self.limit or counts.localised,
            out=run,
            **how,
        )
        few = min(self.limit or counts.stability, counts.stability)
        stability = self._again(data, run, model, out, "stability", calls, STABILITY, few, how)
        return Localised(model, run, stability, data, source)

    def _curve(self, first: Localised, out: Path, scale: str, how: dict[str, Any]) -> Path:
        radii = "|".join(f"{radius:g}" for radius in self.radii)
        metric, few = f"{STABILITY},radius={radii}", self.counts[scale].curve
        calls = list(self.methods)
        return self._again(first.data, first.run, first.model, out, "radii", calls, metric, few, how)

    def _again(
        self,
        data: Path,
        run: Path,
        model: str,
        out: Path,
        what: str,
        calls: list[str],
        metric: str,
        limit: int,
        how: dict[str, Any],
    ) -> Path:
        """The network of a run under another metric, on fewer samples."""
        folder = out / "runs" / f"{data.name}-{model}-{what}"
        trained = run / f"{model}-seed0"
        return evaluate(
            data, model=trained, methods=calls, metrics=[metric], mask=BOXES, limit=limit, out=folder, **how
        )

    # Composites -------------------------------------------------------------------------------------

    def _contrasts(
        self, models: Sequence[str], out: Path, scale: str, extra_methods: Sequence[str], how: dict[str, Any]
    ) -> dict[str, Path]:
        """The run of each network on eBAM, with a model of objects and one of scenes."""
        data = make(COMPOSITES, out / COMPOSITES, scale=scale, seed=self.seed, source=self.ebam)
        return {
            model: evaluate(
                data,
                model=model,
                paired_task=SCENE,
                methods=[*self.contrasted, *extra_methods],
                metrics=[G_SCENE, G_OBJECT, MCS, MCR, IDR, IIR],
                settings=self._settings(model, scale),
                reduce=POSITIVE,
                limit=self.limit or self.counts[scale].contrasted,
                out=out / "runs" / f"{COMPOSITES}-{model}",
                **how,
            )
            for model in models
        }

    def _settings(self, model: str, scale: str) -> dict[str, Any]:
        if scale != "full":
            return dict(SHORT_TRAINING[scale]) if model == "scnn" else {}
        return {**FULL_TRAINING, **({} if model == "scnn" else {"weights": self.weights})}

    # What the report shows ----------------------------------------------------------------------------

    def _study(self, localised: Sequence[Localised], contrasts: Mapping[str, Path], scale: str, out: Path) -> Study:
        metrics = (G_SCENE, G_OBJECT, MCS, MCR, IDR, IIR)
        tables = (
            table_1(contrasts, tuple(select_methods(self.contrasted, scale).named), metrics),
            table_2(localised, tuple(select_methods(self.methods, scale).named)),
        )
        return Study(
            title="The paper's tables",
            reference=self.reference,
            metric="",
            methods=tuple(select_methods(self.methods, scale).named),
            tables=tables,
            plates=tuple(plate for one in localised for plate in self._suspects(one, scale, out)),
            findings=findings(*tables),
            notes=self._notes(),
        )

    def _suspects(self, one: Localised, scale: str, out: Path) -> list[Plate]:
        """The gallery of Clever Hans candidates of a network, if there are any."""
        (call,) = select_methods([SUSPECTED_BY], scale).named
        found = clever_hans(one.run, call)
        if not found:
            return []
        name = f"{one.data.name}, {one.model}"
        file = save_gallery_of(found, one.run, one.data, call, out / f"clever-hans-{one.data.name}-{one.model}.png")
        caption = (
            f"{len(found)} images that the network gets right and is sure of, while a faithful map by {call} points "
            "elsewhere than at the object, the most suspicious first."
        )
        return [Plate(f"Clever Hans candidates: {name}", caption, file)]

    def _notes(self) -> tuple[str, ...]:
        """What a reader of the tables must know."""
        stand_ins = [name for name, source in {**self._sources, COMPOSITES: self.ebam}.items() if source is None]
        return (
            *([f"Drawn stand-ins, not the paper's images: {', '.join(stand_ins)}."] if stand_ins else []),
            "MCR is the share-based reading of eq. 18, and IDR counts the bad event, so less is better. The paper "
            "names neither the norm of SENS nor the scale of its maps; here it is the root mean square of the change "
            "of maps that are divided by their largest value.",
            "Networks take composites at the size at which they are made, where the paper enlarges them to 224x224. "
            "IIR is Yang and Kim's; the paper does not measure it.",
        )
