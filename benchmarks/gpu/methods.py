"""Every method of salgen that a network has, in images per second, beside captum and pytorch-grad-cam.

Single precision with PyTorch's defaults for all: convolutions may run in TF32, products do not. Weights are random;
ours lie in memory as salgen loads checkpoints, the libraries' as torchvision does.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any
import torch
import salgen
from benchmarks.gpu.campaign import Bench, Row, Step
from benchmarks.gpu.measuring import Cost, costs
from benchmarks.gpu.networks import Shown, shown
from benchmarks.gpu.peers import Asked, counterparts
from salgen.evaluation.attribution.method_selection import MethodSelection, method_call
from salgen.evaluation.attribution.patterns import Patterns
from salgen.registry import METHODS

IMAGES, FEW = 32, 4
# Methods that ask for hundreds or thousands of passes an image; they explain few.
MANY_PASSES = (
    *("ablation-cam", "kernel-shap", "lime", "occlusion", "poly-cam-minus", "poly-cam-plus", "poly-cam-pm", "rise"),
    *("score-cam", "recipro-cam", "opti-cam", "guided-ig", "blur-ig", "xrai", "sobol", "hsic"),
)


def methods(model: str, bench: Bench) -> dict[str, Step]:
    """The methods of few passes together, then each method alone, those of many passes last."""
    network = shown(model, 2 if bench.small else IMAGES, bench)
    plugins = [METHODS.load(name) for name in METHODS.names()]
    created = [METHODS.create(plugin.name, plugin.quick if bench.small else {}) for plugin in plugins]
    selection = MethodSelection({}, {method_call(method): method for method in created})
    chosen, left_out = selection.defined_for(network.classifier, network.images[:1])
    together = [method for method in chosen.values() if method.shares == "passes"]
    steps: dict[str, Step] = {"all that share passes, together": partial(_together, network, together, bench)}
    for call, method in sorted(chosen.items(), key=lambda item: item[1].name in MANY_PASSES):
        steps[call] = partial(_alone, network, method, bench)
    return steps | {"not defined for it": lambda: [{"note": ", ".join(left_out)}]}


def _together(network: Shown, together: list[Any], bench: Bench) -> list[Row]:
    patterns = _patterns(network, together)
    count = len(network.images)
    found, failures = costs({"salgen": partial(_explain, network, together, count, patterns)}, bench.device)
    return [_row(count, found, failures, "salgen") | {"note": f"{len(together)} methods"}]


def _alone(network: Shown, method: Any, bench: Bench) -> list[Row]:
    count = min(FEW, len(network.images)) if method.name in MANY_PASSES else len(network.images)
    targets = torch.ones(count, dtype=torch.int64, device=bench.device)
    peers = {} if method.control else counterparts(method, Asked.of(network.view, network.images[:count], targets))
    ours = partial(_explain, network, [method], count, _patterns(network, [method]))
    found, failures = costs({"salgen": ours, **peers}, bench.device)
    return [_row(count, found, failures, peer) for peer in peers or ("salgen",)]


def _patterns(network: Shown, chosen: list[Any]) -> Patterns | None:
    needed = any("patterns" in method.needs for method in chosen)
    return salgen.fit_patterns(network.classifier, network.images) if needed else None


def _explain(network: Shown, chosen: list[Any], count: int, patterns: Patterns | None) -> object:
    return salgen.explain(
        network.view,
        network.images[:count],
        1,
        method=chosen,
        masks=network.masks[:count],
        patterns=patterns,
        references=network.images,
    )


def _row(count: int, found: Mapping[str, Cost], failures: Mapping[str, str], peer: str) -> Row:
    """What salgen takes, and one peer beside it."""
    if "salgen" in failures:
        raise RuntimeError(failures["salgen"])
    ours = found["salgen"]
    row: Row = {"images": count, "images/s": count / ours.seconds, "peak, GB": ours.peak_gb}
    if peer == "salgen":
        return row
    row["peer"] = peer
    if peer in failures:
        return row | {"note": f"{peer} failed: {failures[peer]}"}
    theirs = found[peer]
    return row | {
        "peer, images/s": count / theirs.seconds,
        "peer's peak, GB": theirs.peak_gb,
        "salgen over peer": theirs.seconds / ours.seconds,
    }
