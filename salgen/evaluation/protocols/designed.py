"""All methods on networks whose right answer is known exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from salgen.evaluation.protocols.paper_table import PaperTable, Row
from salgen.evaluation.protocols.protocol import Experiment, Protocol
from salgen.parameters import by_parameters, param
from salgen.registry import GENERATORS, METHODS

NAMES = ("designed",)

# Name of the data set: generator, parameters, network.
DATASETS: Mapping[str, tuple[str, Mapping[str, Any], str]] = {
    "coloured-cells": ("coloured-cells", {}, "colour-counter"),
    "coloured-patches": ("coloured-cells", {"cell": 6, "spot": 1}, "colour-counter-vit"),
    **{
        f"{function}-slots": ("logic-slots", {"function": function}, "slot-logic")
        for function in ("and", "or", "xor", "mod", "pairs")
    },
    "cancelling-patches": ("cancelling-patches", {}, "cancellation"),
}
SHOWN = (  # the methods in the tables
    *("gradient", "input-x-gradient", "integrated-gradients", "gradient-shap", "guided-backprop", "occlusion"),
    *("lrp-z", "lrp-alpha-beta", "grad-cam", "random"),
)
METRICS = {
    "cosine": "attribution-cosine",
    "right sign": "attribution-sign-share",
    "completeness error": "completeness-error",
    "false mass": "false-attribution",
}


def _table(dataset: str) -> PaperTable:
    generator, _, network = DATASETS[dataset]
    kind = GENERATORS.load(generator).attribution_kind
    rows = [Row(label, metric) for label, metric in METRICS.items()]
    return PaperTable(f"{network} on {dataset}", f"The exact attribution is the {kind}.", dataset, SHOWN, rows)


@dataclass(frozen=True)
class Designed(Protocol):
    """Score every method against the exact attributions of every designed network.

    Nothing is trained. Channels are summed with their signs. A method that is not defined for a network is
    left out there, with its reason on the page.
    """

    name: ClassVar[str] = "designed"
    reference: ClassVar[str] = "this project; networks with weights in closed form"
    networks: ClassVar[Mapping[str, tuple[str, ...]]] = dict.fromkeys(
        ("demo", "small", "full"), tuple(dict.fromkeys(network for _, _, network in DATASETS.values()))
    )
    title: ClassVar[str] = "Agreement with the exact attributions"

    limit: int = param(16, "test images of each data set that are scored", low=1)

    @by_parameters(SHOWN)
    def methods(self) -> tuple[str, ...]:
        """All methods but the controls; as ``-m designed`` those of the tables."""
        return tuple(name for name in METHODS.names() if not METHODS.load(name).control)

    @property
    def tables(self) -> tuple[PaperTable, ...]:  # type: ignore[override]  # reads the generators' own words
        """A table for each data set, with the kind of its attribution."""
        return tuple(map(_table, DATASETS))

    def datasets(self) -> dict[str, dict[str, Any]]:
        """A data set for each network, and of slots one for each function."""
        return {name: {"name": made, "parameters": values} for name, (made, values, _) in DATASETS.items()}

    def stand_ins(self) -> list[str]:
        """None: the images are made for the networks."""
        return []

    def networks_on(self, dataset: str, scale: str) -> Sequence[str]:
        """The network that a data set is made for."""
        return (DATASETS[dataset][2],)

    def trained_network(self, dataset: str, model: str) -> str:
        """The network itself: it is designed."""
        return model

    def experiments(self, scale: str) -> list[Experiment]:
        """One run for each data set, by all methods."""
        how = {"limit": self.limit, "reduce": "sum", "metrics": ["attribution", "roc-auc"]}
        return [Experiment(name, [name], ["all"], how, folder="{data}-run") for name in DATASETS]
