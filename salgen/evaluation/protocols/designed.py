"""All methods on networks whose right answer is known exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from salgen.evaluation.attribution.method_selection import all_methods
from salgen.evaluation.protocols.paper_table import PaperTable, Row
from salgen.evaluation.protocols.protocol import OUT, Experiment, Networks, Protocol
from salgen.parameters import by_parameters, param
from salgen.registry import GENERATORS, METHODS

# Name of the data set: generator, parameters, network.
DATASETS: Mapping[str, tuple[str, Mapping[str, Any], str]] = {
    "coloured-cells": ("coloured-cells", {}, "colour-counter"),
    "coloured-patches": ("coloured-cells", {"cell": 6, "spot": 1}, "colour-counter-vit"),
    **{
        f"{function}-slots": ("logic-slots", {"function": function}, "slot-logic")
        for function in ("and", "or", "xor", "mod", "pairs")
    },
    "cancelling-patches": ("cancelling-patches", {}, "cancellation"),
    "difull-grids": ("image-grids", {}, "difull"),
    "dipart-grids": ("image-grids", {}, "dipart"),
    "gridpg-grids": ("image-grids", {"setting": "gridpg"}, "gridpg"),
}
CELLS, AROUND = "bam", "scnn"  # the images in the grids, and the network that is trained on them
GRIDS = {  # network to what its table says
    "difull": "The logit depends on the target's cell alone: a map that says so has 1.",
    "dipart": "The logit depends on other cells only near the border of the target's: a map that says so has nearly 1.",
    "gridpg": "The network sees all cells, and how much it uses each is not known, only where the class is.",
}
SHOWN = (  # the methods in the tables
    *("gradient", "input-x-gradient", "integrated-gradients", "gradient-shap", "guided-backprop", "deep-lift"),
    *("occlusion", "kernel-shap", "lrp-z", "lrp-alpha-beta", "grad-cam", "random"),
)
METRICS = {
    "cosine": "attribution-cosine",
    "rank correlation": "attribution-rank-correlation",
    "right sign": "attribution-sign-share",
    "completeness error": "completeness-error",
    "false mass": "false-attribution",
}


def _table(dataset: str) -> PaperTable:
    generator, _, network = DATASETS[dataset]
    if network in GRIDS:
        rows = [Row("share in the cell", "energy-pointing-game")]
        caption = f"The share of a map's positive mass in the target's cell. {GRIDS[network]}"
        return PaperTable(f"{network} on {dataset}", caption, dataset, SHOWN, rows)
    title = f"{network} on {dataset}, beside the {GENERATORS.load(generator).attribution_kind}"
    rows = [Row(label, metric) for label, metric in METRICS.items()]
    return PaperTable(title, "Agreement with the exact attribution.", dataset, SHOWN, rows)


@dataclass(frozen=True)
class Designed(Protocol):
    """Score every method on every designed network.

    Where a network has exact attributions maps are compared with these. The networks for grids wrap one that is
    trained on single images. Their maps are scored by the share in a cell. Channels are summed with their signs. A
    method that is not defined for a network is left out there, with its reason on the page.
    """

    name: ClassVar[str] = "designed"
    reference: ClassVar[str] = "this project; networks with weights in closed form"
    networks: ClassVar[Networks] = dict.fromkeys(
        ("demo", "small", "full"), tuple(dict.fromkeys(network for _, _, network in DATASETS.values()))
    )
    title: ClassVar[str] = "Agreement with what the networks compute"

    limit: int = param(16, "test images of each data set that are scored; half as many grids, at demo a quarter", low=1)

    @by_parameters(SHOWN)
    def methods(self) -> tuple[str, ...]:
        """The methods of ``all`` but the controls; as ``-m designed`` those of the tables."""
        return tuple(name for name in all_methods() if not METHODS.load(name).control)

    @property
    def tables(self) -> tuple[PaperTable, ...]:  # type: ignore[override]  # reads the generators' own words
        """A table for each data set, with the kind of its attribution."""
        return tuple(map(_table, DATASETS))

    def datasets(self) -> dict[str, dict[str, Any]]:
        """The images in the grids, and a data set for each network, of slots one for each function."""
        made = {name: {"name": generator, "parameters": values} for name, (generator, values, _) in DATASETS.items()}
        grids = {name: {**made[name], "source": f"{OUT}/{CELLS}"} for name in made if DATASETS[name][2] in GRIDS}
        return {**({CELLS: {}} if grids else {}), **made, **grids}

    def networks_on(self, dataset: str, scale: str) -> Sequence[str]:
        """The network that a data set is made for."""
        return (AROUND if dataset == CELLS else DATASETS[dataset][2],)

    def trained_network(self, dataset: str, model: str) -> str | None:
        """The network itself, as it is designed; for grids around the one that is trained on their images."""
        if dataset == CELLS:
            return None
        return f"{model}:model={OUT}/{CELLS}-run/{AROUND}-seed0" if model in GRIDS else model

    def experiments(self, scale: str) -> list[Experiment]:
        """One run for each data set, by all methods; of the images in the grids by one, as they are there to train."""
        how = {"limit": self.limit, "reduce": "sum", "metrics": ["attribution", "roc-auc"]}
        share = 4 if scale == "demo" else 2  # a grid takes as long as eight images
        grids = {**how, "limit": -(-self.limit // share), "metrics": ["energy-pointing-game", "roc-auc"]}
        return [
            Experiment(CELLS, [CELLS], ["gradient"], {"limit": self.limit}, folder="{data}-run", extra_methods=False),
            *(
                Experiment(name, [name], ["all"], grids if network in GRIDS else how, folder="{data}-run")
                for name, (_, _, network) in DATASETS.items()
            ),
        ]
