"""Zhang et al. 2025, Saliency-Bench: eight data sets of real images, six methods, and attention."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar
import numpy as np
from salgen.evaluation.protocols.claims import Claim, highest, on_each
from salgen.evaluation.protocols.paper_table import PaperTable, Row, RunFolders
from salgen.evaluation.protocols.protocol import ADAM, Experiment, Networks, Protocol, stand_in_of
from salgen.evaluation.report.study import StudyTable, TableRow
from salgen.evaluation.statistics.jackknife import combined
from salgen.parameters import param
from salgen.types import Float64

GENDER, ENVIRONMENT, DISEASE, CANCER, SECURITY, PET, ACTION, OBJECT = DATASETS = (
    *("gender-xai", "environment-xai", "disease-xai", "cancer-xai"),
    *("security-xai", "pet-xai", "action-xai", "object-xai"),
)
VOC = (
    *("airplane", "backpack", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "couch", "cow"),
    *("dining table", "dog", "horse", "motorcycle", "potted plant", "sheep", "train", "tv"),
)  # its twenty classes, with a backpack in place of people
STAND_INS: Mapping[str, Mapping[str, Any]] = {  # parameters of what is drawn in place of a data set
    DISEASE: {"lesions": 1},
    CANCER: {"lesions": 1},
    OBJECT: {"objects": VOC, "objects_per_image": (1, 1), "area": (0.4, 0.8)},
}
CNNS, VIT = ("resnet18", "vgg19"), "vit-b-16"
METHODS = ("grad-cam", "grad-cam++", "integrated-gradients", "input-x-gradient", "occlusion", "rise")
ABSOLUTE = "integrated-gradients"  # its maps are made absolute, the others keep their signs
ATTENTION, BASELINE = "raw-attention", "all-ones"
MIOU, PG, IAUC = MEASURES = ("mIoU", "PG", "iAUC")
# The first of each is as the paper defines it, the others are other definitions of the same name.
DEFINITIONS: Mapping[str, Mapping[str, str]] = {
    MIOU: {
        MIOU: "iou",
        "mIoU at 0 (code)": "iou:compat=xaibenchmark",
        "mIoU, as many pixels as the mask": "iou:select=area",
    },
    PG: {PG: "pointing-game"},
    IAUC: {
        IAUC: "insertion-auc:variant=saliency-bench",
        "iAUC from the blurred image": "insertion-auc",
        "iAUC by Li et al.": "insertion-auc:variant=li2020",
    },
}
CAPTIONS: Mapping[str, str] = {
    MIOU: "Of pixels above half of each map's range; of those above 0, as the benchmark's package has it; and of as "
    "many pixels as the mask has, the largest. A map that marks all has no range, so the first is 0, and the second "
    "the mask's share of the image.",
    PG: "The pointing game: the share of the maps whose largest value lies in the mask.",
    IAUC: "Insertion into a black image, into a blurred one, and with the blurred one's probability subtracted.",
}
# Tables 2 and 4: for each data set and method mIoU, PG and iAUC.
TABLES_2_AND_4: Mapping[str, str] = {
    "resnet18": """
gender .1304 .3077 .6880 .1417 .2906 .6625 .3441 .2138 .3628 .3403 .2911 .4011 .1301 .2618 .6787 .3416 .3307 .8454
environment .3656 .4777 .6911 .3632 .4224 .7009 .5356 .2810 .5114 .4566 .3010 .5722 .3812 .4596 .6778 .5428 .3624 .9230
disease .0967 .2354 .6017 .1028 .2501 .6154 .1254 .1714 .5297 .1389 .2802 .4365 .1497 .2901 .6401 .1260 .2705 .6334
cancer .0620 .2105 .5523 .0654 .2207 .5645 .0913 .1385 .4732 .1049 .2325 .4806 .1107 .2394 .5892 .1153 .2451 .5901
security .1243 .6984 .6136 .1292 .6120 .6258 .1420 .6225 .5322 .1552 .6305 .4350 .1667 .6420 .6424 .1503 .6301 .6398
pet .1564 .3215 .7596 .1631 .3352 .7694 .1752 .2465 .5799 .1790 .3583 .5451 .1820 .3675 .7894 .1855 .3738 .7924
action .4009 .3982 .6341 .4136 .3989 .6462 .4214 .3068 .6578 .4300 .4143 .6702 .4351 .4202 .6750 .4406 .4295 .6853
object .4960 .2156 .6620 .5084 .2224 .6722 .5153 .3303 .7210 .5265 .2406 .6894 .5350 .2502 .6985 .5430 .2551 .7070
""",
    "vgg19": """
gender .1194 .2823 .6102 .1311 .2859 .5823 .2920 .1986 .3776 .1814 .2607 .3890 .1235 .2450 .5323 .2961 .3031 .8089
environment .3295 .4174 .6305 .3160 .3871 .6412 .4683 .2629 .4810 .4025 .2897 .5604 .3322 .4219 .6215 .4792 .3497 .8852
disease .0789 .2150 .5801 .0870 .2255 .5452 .1105 .1493 .3570 .1350 .2595 .3678 .1223 .2656 .6279 .1289 .2662 .6120
cancer .0513 .1855 .4701 .0560 .1937 .4851 .0803 .2079 .3340 .0901 .2253 .4524 .1280 .2242 .5600 .1023 .2721 .5807
security .1139 .6765 .5720 .1190 .6876 .5850 .1313 .6470 .4955 .1410 .5058 .4632 .1505 .6153 .6120 .1448 .6184 .6284
pet .1509 .2767 .7302 .1486 .2853 .6920 .1675 .2642 .5010 .1615 .3050 .5298 .1670 .3193 .6450 .1720 .3242 .7110
action .3548 .3642 .5947 .3561 .3755 .5896 .3674 .2742 .5924 .3739 .3802 .6604 .3793 .3850 .7189 .3855 .3951 .6591
object .4319 .2030 .5892 .4812 .2113 .5985 .4526 .4110 .7081 .4631 .2302 .6436 .4730 .2294 .7258 .4831 .2192 .6553
""",
    VIT: """
gender .3698 .3802 .6713
environment .5263 .3857 .7632
disease .1568 .3052 .6874
cancer .1330 .2851 .6605
security .2044 .7657 .6826
pet .3056 .2729 .8012
action .3351 .3424 .6798
object .5116 .3158 .7197
""",
}
PRINTED: Mapping[str, Mapping[str, list[str]]] = {
    network: {f"{name}-xai": numbers for name, *numbers in map(str.split, text.strip().split("\n"))}
    for network, text in TABLES_2_AND_4.items()
}
PAIRS = ((MIOU, PG), (MIOU, IAUC), (PG, IAUC))
TABLE_3: Mapping[str, Mapping[tuple[str, str], str]] = {
    "resnet18": {
        (MIOU, PG): ".3718 .3285 .8462 .0924 .3435 .2994",
        (MIOU, IAUC): ".2822 .3328 .3630 .7246 .2592 .5932",
        (PG, IAUC): ".4623 .4919 .7024 .2366 .3402 .4566",
    },
    "vgg19": {
        (MIOU, PG): ".4325 .3290 .6663 .2119 .3200 .1464",
        (MIOU, IAUC): ".2416 .3692 .6722 .8287 .8177 .5840",
        (PG, IAUC): ".4409 .5489 .9312 .4323 .3025 .3743",
    },
}
LEAST_DATASETS = 3  # two lie on a line
FULL_TRAINING: Mapping[str, Any] = {**ADAM, "epochs": 30, "batch_size": 32}
RATE, RATES = 1e-3, {"vgg19": 1e-4}
# Rows are called "definition, data set".
CLAIMS = (
    Claim("{} has the highest iAUC on gender-xai and environment-xai",
          on_each(f"{IAUC}, {GENDER}", f"{IAUC}, {ENVIRONMENT}"), highest, ("rise",)),
    Claim("{} has the highest mIoU on pet-xai, action-xai and object-xai",
          on_each(*(f"{MIOU}, {dataset}" for dataset in (PET, ACTION, OBJECT))), highest, ("rise",)),
    Claim("{} has the highest PG on environment-xai", on_each(f"{PG}, {ENVIRONMENT}"), highest, ("grad-cam",)),
)  # fmt: skip


def printed(network: str, dataset: str, measure: str) -> list[str]:
    """The paper's numbers of one measure, one for each method."""
    return PRINTED[network][dataset][MEASURES.index(measure) :: len(MEASURES)]


def correlations(tables: Mapping[str, StudyTable]) -> StudyTable:
    """Table 3: the correlation of two measures over data sets, from the tables of the measures."""
    by_label = {(row.label, row.network): row for table in tables.values() for row in table.rows}
    networks = dict.fromkeys(network for _, network in by_label)
    methods = next(iter(tables.values())).methods
    rows = []
    for network in networks:
        names = [name for name in DATASETS if (f"{PG}, {name}", network) in by_label]
        for pair in PAIRS:
            columns = [by_label[f"{measure}, {name}", network] for measure in pair for name in names]
            estimates = {call: combined(_correlation, [row.estimates[call] for row in columns]) for call in methods}
            beside = _printed_correlations(methods, network, pair)
            rows.append(TableRow(" with ".join(pair), estimates, beside, higher_is_better=None, network=network))
    return StudyTable(
        "Table 3: do the measures agree?",
        "Pearson's correlation of two measures over the means of the data sets, which are "
        f"{len(DATASETS)} at most: the data sets are what was sampled, so one number says little. A second number is "
        "the paper's, a third the one that follows from its Table 2.",
        tuple(methods),
        tuple(rows),
    )


def _printed_correlations(methods: tuple[str, ...], network: str, pair: tuple[str, str]) -> dict[str, str]:
    if network not in TABLE_3:
        return {}
    numbers = [[printed(network, dataset, measure) for dataset in DATASETS] for measure in pair]
    values = np.array(numbers, np.float64)  # (2, data sets, methods)
    follows = [np.corrcoef(values[0, :, method], values[1, :, method])[0, 1] for method in range(len(METHODS))]
    texts = TABLE_3[network][pair].split()
    both = [f"{text} / {value:.4f}" for text, value in zip(texts, follows, strict=True)]
    return {call: text.replace("-", "\N{MINUS SIGN}") for call, text in zip(methods, both, strict=False)}


def _correlation(values: Float64) -> Float64:
    """Pearson's correlation of the first half of the columns with the second, for each row; NaN where one is even."""
    first, second = (half - half.mean(axis=1, keepdims=True) for half in np.split(values, 2, axis=1))
    scale = np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    products = (first * second).sum(axis=1)
    return np.asarray(np.divide(products, scale, out=np.full(len(values), np.nan), where=scale > 0))


@dataclass(frozen=True)
class SaliencyBench(Protocol):
    """Six methods and attention on the eight data sets of Saliency-Bench (Zhang et al. 2025).

    The data are the user's own copies where their paths are given, and otherwise what salgen draws in their place; the
    report says which. Networks are trained on all images, and of the test split those with a mask are scored, explained
    for their own class. Every table has the map that marks all pixels beside the methods.
    """

    name: ClassVar[str] = "saliency-bench"
    reference: ClassVar[str] = (
        "Zhang et al. 2025, Saliency-Bench: a comprehensive benchmark for evaluating visual explanations (KDD)"
    )
    methods: ClassVar[tuple[str, ...]] = METHODS
    networks: ClassVar[Networks] = {"demo": ("resnet18", VIT), "small": ("resnet18", VIT), "full": (*CNNS, VIT)}
    limits: ClassVar[Mapping[str, int | None]] = {"demo": 24, "small": 200, "full": None}
    papers: ClassVar[tuple[str, ...]] = DATASETS
    title: ClassVar[str] = "The paper's tables"
    claims: ClassVar[tuple[Claim, ...]] = CLAIMS
    notes: ClassVar[tuple[str, ...]] = (
        "The paper does not say at which value maps are cut for mIoU; half of a map's range is the first row, and what "
        "its package does the second. There a map of positive values, as RISE and absolute integrated gradients give "
        "them, has the mask's share of the image, whatever the network has learnt, and so has the map that marks all.",
        "The paper's Table 3 does not follow from its Table 2 where PG is one of the two: with other numbers for "
        "security-xai it does, so take its PG there with care.",
        "Claims are read off the paper's tables, as its text contradicts them in places.",
        "At scale full VGG-19 is trained with a learning rate of 1e-4, where the paper has 1e-3 for all networks.",
    )

    limit: int | None = param(None, "first test images, of which those with masks count; by default the scale's", low=1)
    only: tuple[str, ...] = param((), "data sets to run; by default all eight", choices=DATASETS)
    models: tuple[str, ...] = param((), "networks to train; by default the scale's", choices=(*CNNS, VIT))
    weights: str = param("imagenet", "what networks start from at scale full", choices=("imagenet", "scratch"))
    gender: str | None = param(None, "folder of COCO, as gender-xai takes it")
    environment: str | None = param(None, "folder of Places365, as environment-xai takes it")
    disease: str | None = param(None, "folder of LIDC-IDRI, as disease-xai takes it")
    cancer: str | None = param(None, "folder of the pancreas volumes, as cancer-xai takes it")
    security: str | None = param(None, "folder of SIXray, as security-xai takes it")
    pet: str | None = param(None, "folder of Oxford-IIIT Pet, as pet-xai takes it")
    action: str | None = param(None, "folder of ACT-X and MPII, as action-xai takes it")
    object: str | None = param(None, "folder of VOC 2012, as object-xai takes it")

    def datasets(self) -> dict[str, dict[str, Any]]:
        """The eight data sets, or those of `only`."""
        how: dict[str, dict[str, Any]] = {}
        for name in self.only or DATASETS:
            if source := getattr(self, name.removesuffix("-xai")):
                how[name] = {"source": source}
            else:
                how[stand_in_of(name)] = {"source": None, "parameters": STAND_INS.get(name, {})}
        return how

    def settings(self, dataset: str, model: str, scale: str) -> dict[str, Any]:
        """The paper's training at scale full, a short one otherwise."""
        if scale != "full":
            return {}
        return {**FULL_TRAINING, "learning_rate": RATES.get(model, RATE), "weights": self.weights}

    def experiments(self, scale: str) -> list[Experiment]:
        """Of each data set the methods on convolutional networks, and attention on the transformer."""
        how = {"limit": self.limits[scale] if self.limit is None else self.limit}
        measured = {**how, "metrics": [call for calls in DEFINITIONS.values() for call in calls.values()]}
        signed = tuple(method for method in METHODS if method != ABSOLUTE)
        absolute, again = {**measured, "reduce": "abs"}, f"runs/{{data}}-{{model}}-{ABSOLUTE}"
        found = []
        for data in self.datasets():
            once_more = {"trained_in": data, "folder": again, "networks": CNNS, "extra_methods": False}
            found += [
                Experiment(data, [data], signed, measured, networks=CNNS),
                Experiment(f"{data}, absolute", [data], (ABSOLUTE,), absolute, **once_more),  # type: ignore[arg-type]
                Experiment(f"{data}, attention", [data], (ATTENTION,), measured, networks=(VIT,)),
            ]
        return found

    def filled_tables(self, runs: RunFolders, scale: str) -> tuple[StudyTable, ...]:
        """Table 2 by measure, Table 3, and Table 4."""
        named = {dataset: self.in_place_of(dataset) for dataset in self.datasets()}
        first = next(iter(named))
        tables = {}
        for measure in MEASURES:
            rows = []
            for (dataset, name), (definition, call) in product(named.items(), DEFINITIONS[measure].items()):
                texts, absolute = _texts(CNNS, name, measure, definition), f"{dataset}, absolute"
                rows.append(Row(f"{definition}, {name}", call, texts, dataset, otherwise=absolute))
            columns = (*METHODS, BASELINE)
            table = PaperTable(f"Table 2, {measure}", CAPTIONS[measure], first, columns, rows, networks=CNNS)
            tables[measure] = table.filled(runs, scale)
        several = [table for table in tables.values() if table.rows]
        if several and len(named) >= LEAST_DATASETS:
            several.append(correlations(tables))
        rows = [
            Row(f"{name}, {definition}", call, _texts([VIT], name, measure, definition), f"{dataset}, attention")
            for dataset, name in named.items()
            for measure, definitions in DEFINITIONS.items()
            for definition, call in definitions.items()
        ]
        caption = "Attention of the class token in the last block, mean over heads."
        experiment, shown = f"{first}, attention", (ATTENTION, BASELINE)
        attention = PaperTable("Table 4: ViT-B/16", caption, experiment, shown, rows, (VIT,)).filled(runs, scale)
        return (*several, *([attention] if attention.rows else []))


def _texts(networks: Sequence[str], name: str, measure: str, definition: str) -> list[str]:
    """The paper's numbers of each network, for the definition that it names."""
    return [" ".join(printed(network, name, measure)) for network in networks if definition == measure]
