"""Tables 1 and 2 of Li et al. 2020: the numbers that they print, and those of runs in their place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from salgen.datasets.reading.reader import open_dataset
from salgen.evaluation.report.cell_scores import cell_entry, scores, series
from salgen.evaluation.report.runs import Run, read_runs
from salgen.evaluation.report.study import Table, TableRow
from salgen.evaluation.runs.artifacts.predictions import FILE
from salgen.parameters import parse_call

POINTING, IOSR, INSERTION = "pointing-game", "iosr", "insertion-auc:variant=li2020"
CLASSES, STABILITY = "class-sensitivity", "max-sensitivity:norm=rms"
G_SCENE, G_OBJECT, MCS, MCR, IDR = "g-cf:of=paired", "g-cf", "mcs", "mcr", "idr:of=paired"
IIR = "iir:of=paired"
OF_IMAGES = (INSERTION, CLASSES)  # of which an image has one value

NETWORKS = ("resnet50", "vgg16")  # in the order in which Table 1 prints them
PRINTED_1: Mapping[str, Mapping[str, tuple[str, str]]] = {
    G_SCENE: {
        "gradient": (".019", ".018"),
        "guided-backprop": (".027", ".009"),
        "integrated-gradients": (".029", ".031"),
        "grad-cam": (".261", ".114"),
        "contrastive-excitation-backprop": (".025", ".030"),
    },
    G_OBJECT: {
        "gradient": (".090", ".105"),
        "guided-backprop": (".050", ".060"),
        "integrated-gradients": (".076", ".079"),
        "grad-cam": (".754", ".436"),
        "contrastive-excitation-backprop": (".293", ".261"),
    },
    MCS: {
        "gradient": (".071", ".088"),
        "guided-backprop": (".024", ".051"),
        "integrated-gradients": (".046", ".048"),
        "grad-cam": (".492", ".320"),
        "contrastive-excitation-backprop": (".268", ".231"),
    },
    MCR: {
        "gradient": (".310", ".666"),
        "guided-backprop": (".301", ".630"),
        "integrated-gradients": (".285", ".633"),
        "grad-cam": (".205", ".693"),
        "contrastive-excitation-backprop": (".653", ".774"),
    },
    IDR: {
        "gradient": (".005", ".006"),
        "guided-backprop": (".201", ".027"),
        "integrated-gradients": (".112", ".124"),
        "grad-cam": (".090", ".196"),
        "contrastive-excitation-backprop": (".203", ".283"),
    },
}
ORDER_2 = (
    *("gradient", "guided-backprop", "integrated-gradients", "grad-cam", "contrastive-excitation-backprop"),
    *("occlusion", "rise"),
)
PRINTED_2: Mapping[str, tuple[str, ...]] = {
    POINTING: (".536", ".551", ".557", ".754", ".709", ".512", ".750"),
    IOSR: (".435", ".470", ".458", ".577", ".582", ".389", ".217"),
    INSERTION: (".282", ".384", ".286", ".430", ".397", ".308", ".434"),
    CLASSES: (".461", ".990", ".516", ".013", ".226", "−.099", "−.239"),  # noqa: RUF001
    STABILITY: (".168", ".041", ".116", ".013", ".021", ".014", ".002"),
}
LABELS: Mapping[str, tuple[str, bool | None]] = {
    G_SCENE: ("G_cf of the scene model", None),
    G_OBJECT: ("G_cf of the object model", None),
    MCS: ("MCS", True),
    MCR: ("MCR", True),
    IDR: ("IDR of the scene model", False),
    IIR: ("IIR of the scene model (Yang & Kim)", True),
    POINTING: ("PG", True),
    IOSR: ("IoSR", True),
    INSERTION: ("iAUC", True),
    CLASSES: ("CS", False),
    STABILITY: ("SENS, r = 0.2", False),
}


@dataclass(frozen=True)
class Localised:
    """The runs of one network on one data set of several objects.

    Attributes
    ----------
    run, stability
        Folders: of all metrics but SENS, and of SENS on a few images.
    data
        The data set's folder.
    source
        What its samples render from, where it holds recipes of the user's own data.
    """

    model: str
    run: Path
    stability: Path
    data: Path
    source: str | None = None

    @cached_property
    def first(self) -> NDArray[np.bool_]:
        """Of the samples of `run`, in the order of its scores, the one of each image whose class is likeliest."""
        import pyarrow.parquet as pq

        (read,) = read_runs([self.run])
        said = pq.read_table(self.run / FILE).to_pydict()
        dataset = open_dataset(self.data, read.split, self.source)
        number = dict(zip(map(str, dataset.column("id")), dataset.column("image"), strict=True))
        scored = frozenset(read.cube.samples)
        sure: dict[float, tuple[float, str]] = {}
        for name, label, probabilities in zip(said["sample_id"], said["label"], said["probabilities"], strict=True):
            place = float(number[name])
            if name in scored:
                sure[place] = max(sure.get(place, (-1.0, "")), (probabilities[label], name))
        kept = {name for _, name in sure.values()}
        return np.array([name in kept for name in read.cube.samples])


@dataclass(frozen=True)
class Means:
    """Means of runs as the report has them: a map that failed counts as the worst."""

    _known: dict[Path, Run] = field(default_factory=dict)

    def of(self, folder: Path, model: str, call: str, metric: str) -> float:
        """Over all samples for which the metric is defined; NaN where the run has no such method."""
        run = self._run(folder)
        return cell_entry([(run, model)], call, _there(run, metric)).mean

    def over_images(self, one: Localised, call: str, metric: str) -> float:
        """Over images: of each the sample of the present class that the model finds likeliest."""
        run = self._run(one.run)
        place = series(run, one.model, call)
        if place is None:
            return float("nan")
        _, worst = scores(run, place, _there(run, metric))
        counted = worst[one.first & np.isfinite(worst)]
        return float(counted.mean()) if counted.size else float("nan")

    def _run(self, folder: Path) -> Run:
        if folder not in self._known:
            (self._known[folder],) = read_runs([folder])
        return self._known[folder]


def table_1(contrasts: Mapping[str, Path], calls: Sequence[str], metrics: Sequence[str]) -> Table:
    """MCS, MCR and IDR with what they are made of, from the run of each network."""
    means = Means()
    rows = [
        TableRow(
            f"{LABELS[metric][0]}, {model}",
            {call: means.of(folder, model, call, metric) for call in calls},
            {call: text for call in calls if (text := _printed_1(metric, model, parse_call(call)[0]))},
            LABELS[metric][1],
        )
        for model, folder in contrasts.items()
        for metric in metrics
    ]
    caption = (
        "On composites of objects and scenes: maps of a model that tells objects and of one that tells scenes, scored "
        "on the object. A second number is the paper's; where the network is none of its two, both of its numbers, of "
        "ResNet-50 and of VGG-16."
    )
    return Table("Table 1: false positives", caption, tuple(calls), tuple(rows))


def table_2(localised: Sequence[Localised], calls: Sequence[str]) -> Table:
    """Localisation, faithfulness, class sensitivity and stability: means over data sets and networks."""
    means = Means()

    def mean(metric: str, call: str) -> float:
        if metric in OF_IMAGES:
            return fmean(means.over_images(one, call, metric) for one in localised)
        folders = [(one, one.stability if metric == STABILITY else one.run) for one in localised]
        return fmean(means.of(folder, one.model, call, metric) for one, folder in folders)

    rows = [
        TableRow(
            LABELS[metric][0],
            {call: mean(metric, call) for call in calls},
            {call: printed[ORDER_2.index(name)] for call in calls if (name := parse_call(call)[0]) in ORDER_2},
            LABELS[metric][1],
        )
        for metric, printed in PRINTED_2.items()
    ]
    caption = (
        "Means over data sets and networks, of samples that are an image with a class that it shows; iAUC and CS take "
        "of each image the class that the model finds likeliest. A second number is the paper's, over VOC 2012 and "
        "COCO 2017 with VGG-16 and ResNet-50."
    )
    return Table(
        "Table 2: localisation, faithfulness, class sensitivity, stability", caption, tuple(calls), tuple(rows)
    )


def _there(run: Run, metric: str) -> str:
    """The call of a metric as a run has it: as it is, or with the parameters that the scale adds."""
    if metric in run.cube.metrics:  # ``g-cf`` is another one than ``g-cf:of=paired``
        return metric
    name, stated = parse_call(metric)
    known = {call: parse_call(call) for call in run.cube.metrics}
    return next(call for call, (own, given) in known.items() if own == name and stated.items() <= given.items())


def _printed_1(metric: str, model: str, method: str) -> str:
    printed = PRINTED_1.get(metric, {}).get(method)
    if printed is None:
        return ""
    return printed[NETWORKS.index(model)] if model in NETWORKS else " / ".join(printed)
