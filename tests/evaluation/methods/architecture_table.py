"""Which methods explain which of torchvision's architectures: the tables in docs/architectures.md.

``python tests/evaluation/methods/architecture_table.py`` measures and writes them; the test measures again. A table
leaves out the methods that run on all of its networks, and a reason is the first clause of the refusal.
"""

import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
import torch
from torch import Tensor, nn
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.batch_explainer import check_methods
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.registry import METHODS

PAGE = Path(__file__).parents[3] / "docs" / "architectures.md"
START = "| method |"
RUNS = "yes"
GROUPS = (
    ("resnet18", "vgg11_bn", "mobilenet_v2", "densenet121", "squeezenet1_1", "googlenet"),
    ("mobilenet_v3_small", "efficientnet_b0", "convnext_tiny", "vit_b_16", "swin_t", "swin_v2_t"),
)
NETWORKS = tuple(name for group in GROUPS for name in group)
OPTIONS = {
    "vit_b_16": {"image_size": 64},
    "efficientnet_b0": {"stochastic_depth_prob": 0.0},  # else the statistics of its batch norms are of other depths
    "googlenet": {"aux_logits": False, "init_weights": False, "transform_input": True},  # as with trained weights
}
METHOD_NAMES = [name for name in METHODS.names() if "model" in METHODS.load(name).needs]


def build(network: str) -> tuple[nn.Module, Tensor]:
    """The network with random weights and three classes behind its normalisation, and four images of 64 x 64.

    Its batch norms have the statistics of some noise: at first they would let an untrained signal fade away.
    """
    from torchvision.models import get_model

    torch.manual_seed(0)
    model = get_model(network, weights=None, num_classes=3, **OPTIONS.get(network, {}))
    if network == "vit_b_16":
        model.heads.head.reset_parameters()  # torchvision starts it at zero
    if network == "vgg11_bn":  # 64 units instead of 4,096, for memory
        model.classifier[0], model.classifier[3] = nn.Linear(512 * 7 * 7, 64), nn.Linear(64, 64)
        model.classifier[6] = nn.Linear(64, 3)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
    with torch.no_grad():
        model.train()(torch.randn(4, 3, 64, 64))
    return Classifier(model, Normalise()).eval(), torch.rand(4, 3, 64, 64)


class Normalise(nn.Module):
    def forward(self, images: Tensor) -> Tensor:
        return (images - 0.5) / 0.25


@cache
def outcomes(network: str) -> dict[str, str]:
    """By method: that it runs, or why it refuses."""
    model, images = build(network)
    return {name: outcome(model, images, name) for name in METHOD_NAMES}


def outcome(model: nn.Module, images: Tensor, name: str) -> str:
    """What comes of one method, of the first class whose map is not empty: a rectified one may be."""
    method = METHODS.create(name, METHODS.load(name).quick)
    try:
        check_methods(ModelView.of(model), {name: method}, images[:1])
        patterns = salgen.fit_patterns(model, images) if "patterns" in method.needs else None
        for target in range(3):
            masks = images[:1, 0] > 0.5
            found = explain(
                model, images[:1], target, method=method, masks=masks, patterns=patterns, references=images
            ).values
            if not torch.isfinite(found).all():
                return "gives values that are not finite"
            if found.any():
                return RUNS
    except SalgenError as error:
        return str(error).removeprefix(f"{name}: ").removeprefix(f"{name} ")
    return "gives an empty map"


def first_clause(said: str) -> str:
    """What a refusal says first, as the page has it."""
    return re.split("[:;] ", said)[0]


def stated() -> dict[str, dict[str, str]]:
    """The outcomes that the page states, by network and method."""
    text = PAGE.read_text(encoding="utf-8")
    notes = dict(line.split(". ", 1) for line in text.splitlines() if line.partition(". ")[0].isdigit())
    found: dict[str, dict[str, str]] = {}
    for table in text.split(START)[1:]:
        head, _, *rows = (line.strip("| ").split(" | ") for line in table.partition("\n\n")[0].strip().splitlines())
        found |= {network: dict.fromkeys(METHOD_NAMES, RUNS) for network in head}
        for name, *cells in rows:
            for network, cell in zip(head, cells, strict=True):
                found[network][name.strip("`")] = notes.get(cell, cell)
    return found


def main() -> None:
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        write(dict(zip(NETWORKS, pool.map(outcomes, NETWORKS), strict=True)))


def write(found: dict[str, dict[str, str]]) -> None:
    text = PAGE.read_text(encoding="utf-8").partition(START)[0]
    found = {network: {name: first_clause(said) for name, said in of.items()} for network, of in found.items()}
    reasons = sorted({said for of in found.values() for said in of.values()} - {RUNS})
    cells = {RUNS: RUNS, **{reason: str(number) for number, reason in enumerate(reasons, 1)}}
    tables = []
    for group in GROUPS:
        lines = [f"{START} {' | '.join(group)} |", "| - |" + " - |" * len(group)]
        for name in METHOD_NAMES:
            row = [cells[found[network][name]] for network in group]
            if set(row) != {RUNS}:
                lines.append(f"| `{name}` | {' | '.join(row)} |")
        tables.append("\n".join(lines))
    notes = "\n".join(f"{cells[reason]}. {reason}" for reason in reasons)
    PAGE.write_text(text + "\n\n".join([*tables, notes]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
