"""Li et al. 2020: localisation, faithfulness, class sensitivity and stability of maps, and false positives."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, ClassVar
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.protocols.claims import Claim, between, highest, lowest, on, on_each
from salgen.evaluation.protocols.paper_table import PaperTable, Row, RunFolders
from salgen.evaluation.protocols.protocol import Experiment, Networks, Protocol
from salgen.evaluation.report.study import StudyTable, TableRow
from salgen.evaluation.statistics.jackknife import Estimate, averaged, combined
from salgen.parameters import param, parse_call
from salgen.types import Float64

STAND_IN, COMPOSITES = "multi-objects", "ebam"
POSITIVE = "sum_pos"  # channel reduction of the code in which MCS was published
STABILITY = "max-sensitivity:norm=rms"
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
CONTRASTED = ("gradient", "guided-backprop", "integrated-gradients", "grad-cam", "contrastive-excitation-backprop")
METHODS = (*CONTRASTED, "occlusion", "rise")
TABLE_1 = PaperTable(
    "Table 1: false positives",
    "On composites of objects and scenes: maps of a model that tells objects and of one that tells scenes, scored "
    "on the object. A second number is the paper's; where the network is none of its two, both of its numbers, of "
    "ResNet-50 and of VGG-16.",
    "contrast",
    CONTRASTED,
    (
        Row("G_cf of the scene model", "g-cf:of=paired", (".019 .027 .029 .261 .025", ".018 .009 .031 .114 .030")),
        Row("G_cf of the object model", "g-cf", (".090 .050 .076 .754 .293", ".105 .060 .079 .436 .261")),
        Row("MCS", "mcs", (".071 .024 .046 .492 .268", ".088 .051 .048 .320 .231")),
        Row("MCR", "mcr", (".310 .301 .285 .205 .653", ".666 .630 .633 .693 .774")),
        Row("IDR of the scene model", "idr:of=paired", (".005 .201 .112 .090 .203", ".006 .027 .124 .196 .283")),
        Row("IIR of the scene model (Yang & Kim)", "iir:of=paired"),
    ),
    networks=("resnet50", "vgg16"),
)
BACKWARD = CONTRASTED[:3]  # whose maps have several channels and both signs
SIGNED, ABSOLUTE = "sum", "max_abs"  # channel reductions
DISTANCE = "distance from Table 2"


def _absolute(label: str) -> str:
    return f"{label}, absolute maps"


def _both(label: str, metric: str, printed: str, likeliest_class: bool = False, stability: bool = False) -> list[Row]:
    """A row of Table 2 of signed maps, and one of absolute maps of the backward methods."""
    signed, absolute = ("stability", "absolute-stability") if stability else ("localisation", "absolute")
    row = Row(label, metric, (printed,), signed, likeliest_class)
    return [row, row._replace(label=_absolute(label), experiment=absolute, otherwise=signed)]


TABLE_2 = PaperTable(
    "Table 2: localisation, faithfulness, class sensitivity, stability",
    "Means over data sets and networks, of samples that are an image with a class that it shows; iAUC and CS take "
    "of each image the class that the model finds likeliest. Maps of gradient, guided-backprop and "
    "integrated-gradients are summed over channels with their signs, or are the largest absolute value; the other "
    "methods' maps have one channel and are the same in both rows. A second number is the paper's, over VOC 2012 and "
    "COCO 2017 with VGG-16 and ResNet-50.",
    "localisation",
    METHODS,
    (
        *_both("PG", "pointing-game", ".536 .551 .557 .754 .709 .512 .750"),
        *_both("IoSR", "iosr", ".435 .470 .458 .577 .582 .389 .217"),
        *_both("iAUC", "insertion-auc:variant=li2020", ".282 .384 .286 .430 .397 .308 .434", likeliest_class=True),
        *_both("CS", "class-sensitivity", ".461 .990 .516 .013 .226 -.099 -.239", likeliest_class=True),
        *_both("SENS, r = 0.2", STABILITY, ".168 .041 .116 .013 .021 .014 .002", stability=True),
    ),
)
CLAIMS = (
    Claim("{} has the highest MCS", on("MCS"), highest, ("grad-cam",)),
    Claim("{} has the highest MCR", on("MCR"), highest, ("contrastive-excitation-backprop",)),
    Claim("{} has the lowest IDR", on("IDR of the scene model"), lowest, ("gradient",)),
    Claim("{} have the highest PG", on_each("PG", _absolute("PG")), highest, ("grad-cam", "rise")),
    Claim("guided-backprop hardly depends on the class (CS above 0.8), and grad-cam does (between -0.2 and 0.2)",
          on_each("CS", _absolute("CS")), between((0.8, inf), (-0.2, 0.2)), ("guided-backprop", "grad-cam")),
    Claim("{} is the most stable", on_each("SENS, r = 0.2", _absolute("SENS, r = 0.2")), lowest, ("rise",)),
    Claim("Table 2 is nearer to {} maps of gradient, guided-backprop and integrated-gradients than to signed ones, as "
          "its class sensitivities suggest", on(DISTANCE), lowest, ("absolute",)),
)  # fmt: skip


def distances(table: StudyTable) -> StudyTable:
    """The distances of signed and of absolute maps from the paper's numbers, from a filled Table 2; see its caption."""
    rows = {row.label: row for row in table.rows}
    found = []
    for label in (row.label for row in TABLE_2.rows if not row.otherwise):
        estimates = {"signed": _distance(rows[label]), "absolute": _distance(rows[_absolute(label)])}
        found.append(TableRow(f"{label}, distance", estimates, printed={}, higher_is_better=False))
    total = {way: averaged([row.estimates[way] for row in found[:-1]]) for way in ("signed", "absolute")}
    found.append(TableRow(DISTANCE, total, printed={}, higher_is_better=False))
    return StudyTable(
        "Table 2: signed or absolute maps",
        "How far gradient, guided-backprop and integrated-gradients are from the paper's numbers on average, here and "
        "there relative to the mean of the other four methods, as data sets and networks move all methods. The last "
        "row is the mean of the first four: the paper does not name the norm of SENS.",
        ("signed", "absolute"),
        tuple(found),
    )


def _distance(row: TableRow) -> Estimate:
    printed = np.array([float(text.replace("\N{MINUS SIGN}", "-")) for text in row.printed.values()])
    backward = np.array([parse_call(call)[0] in BACKWARD for call in row.printed])

    def distance(means: Float64) -> Float64:
        ours, theirs = (of[:, backward] - of[:, ~backward].mean(axis=1)[:, None] for of in (means, printed[None]))
        return np.asarray(np.abs(ours - theirs).mean(axis=1))

    return combined(distance, [row.estimates[call] for call in row.printed])


@dataclass(frozen=True)
class Li2020(Protocol):
    """Localisation, faithfulness, class sensitivity, stability and false positives of maps (Li et al. 2020).

    Multi-label networks learn VOC 2012 and COCO 2017: your own copies, or a drawn stand-in. Each image is explained
    for each class that it shows. On eBAM one run trains a model of objects and one of scenes. It explains the same
    images under both, and pairs each image with its twin without the object.
    """

    name: ClassVar[str] = "li2020"
    reference: ClassVar[str] = (
        "Li et al. 2020, Quantitative evaluations on saliency methods: an experimental study, arXiv:2012.15616"
    )
    methods: ClassVar[tuple[str, ...]] = METHODS
    networks: ClassVar[Networks] = {"demo": ("scnn",), "small": ("scnn",), "full": ("vgg16", "resnet50")}
    counts: ClassVar[Mapping[str, tuple[int | None, int | None, int, int]]] = {
        "demo": (48, 100, 6, 3),  # numbers of samples: several objects, composites, SENS, and its curve
        "small": (200, 300, 20, 5),
        "full": (None, None, 50, 5),
    }
    title: ClassVar[str] = "The paper's tables"
    tables: ClassVar[tuple[PaperTable, ...]] = (TABLE_1, TABLE_2)
    claims: ClassVar[tuple[Claim, ...]] = CLAIMS
    notes: ClassVar[tuple[str, ...]] = (
        "The paper says that maps keep their signs for iAUC, and its class sensitivities suggest absolute maps. So in "
        "Table 2 gradient, guided-backprop and integrated-gradients are scored both ways, all three alike, and a table "
        "below it says which is nearer to the paper's numbers.",
        "MCR is the share-based reading of eq. 18, and IDR counts the bad event, so less is better. The paper "
        "names neither the norm of SENS nor the scale of its maps; here it is the root mean square of the change "
        "of maps that are divided by their largest value.",
        "Networks take composites at the size at which they are made, where the paper enlarges them to 224x224. "
        "IIR is Yang and Kim's; the paper does not measure it.",
    )

    limit: int | None = param(None, "first samples of each test split that count; by default the scale's", low=1)
    models: tuple[str, ...] = param((), "networks to train; by default the scale's")
    weights: str = param("imagenet", "what networks but scnn start from at scale full", choices=("imagenet", "scratch"))
    radii: tuple[float, ...] = param((0.05, 0.1, 0.2, 0.4), "radii of the curve of stability", low=0.0)
    voc: str | None = param(None, "folder of VOC 2012: VOCdevkit or VOC2012")
    coco: str | None = param(None, "folder of COCO 2017: annotations and images")
    ebam: str | None = param(None, "folder of eBAM's sources: coco, miniplaces and detector")

    def __post_init__(self) -> None:
        super().__post_init__()
        if 0.2 not in self.radii:
            raise SalgenError(f"{self.name}: radii = {self.radii}: 0.2, the paper's own, must be among them")

    def datasets(self) -> dict[str, dict[str, Any]]:
        """The data sets of several objects, and the composites."""
        copies = {"voc-2012": {"source": self.voc}, "coco-2017": {"source": self.coco}}
        available = {name: how for name, how in copies.items() if how["source"] is not None}
        return {**(available or {STAND_IN: {"source": None}}), COMPOSITES: {"source": self.ebam}}

    def experiments(self, scale: str) -> list[Experiment]:
        """Experiments on several objects, with SENS on few images as it is slow, and on composites of two tasks."""
        several = [name for name in self.datasets() if name != COMPOSITES]
        localised, contrasted, stable, curve = self.counts[scale]
        radii = "|".join(f"{radius:g}" for radius in self.radii)
        boxes = {"mask": "boxes", "reduce": SIGNED, "limit": self.limit or localised}
        few = {**boxes, "limit": min(self.limit or stable, stable)}
        fewest = {**boxes, "limit": curve, "metrics": [f"{STABILITY},radius={radii}"]}
        scenes = {"paired_task": "scene", "reduce": POSITIVE, "limit": self.limit or contrasted}
        return [
            Experiment("localisation", several, METHODS, boxes),
            self._again("stability", several, few),
            self._again("radii", several, fewest, first_only=True, extra_methods=False),
            *(
                self._again(name, several, {**how, "reduce": ABSOLUTE}, methods=BACKWARD, extra_methods=False)
                for name, how in (("absolute", boxes), ("absolute-stability", few))
            ),
            Experiment("contrast", [COMPOSITES], CONTRASTED, scenes),
        ]

    def _again(self, name: str, datasets: list[str], arguments: dict[str, Any], **how: Any) -> Experiment:
        """The networks of several objects under another metric, or with other maps."""
        of_all = {"methods": METHODS, "trained_in": "localisation", "folder": f"runs/{{data}}-{{model}}-{name}"}
        return Experiment(name, datasets, arguments=arguments, **{**of_all, **how})

    def methods_for(self, model: str, experiment: Experiment, scale: str) -> Sequence[str]:
        """The methods of an experiment; at scale full RISE takes the paper's 8,000 masks for ResNet-50."""
        more = scale == "full" and model == "resnet50"
        return ["rise:n=8000" if more and call == "rise" else call for call in experiment.methods]

    def filled_tables(self, runs: RunFolders, scale: str) -> tuple[StudyTable, ...]:
        """The paper's two tables, and the distances of signed and of absolute maps from the second."""
        first, second = super().filled_tables(runs, scale)
        return first, second, distances(second)

    def settings(self, dataset: str, model: str, scale: str) -> dict[str, Any]:
        """The paper's training at scale full, a short one otherwise."""
        if scale != "full":
            return dict(SHORT_TRAINING[scale]) if model == "scnn" else {}
        return {**FULL_TRAINING, **({} if model == "scnn" else {"weights": self.weights})}
