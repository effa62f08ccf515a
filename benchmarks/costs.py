"""What a map costs by each method: ``python -m benchmarks.costs`` writes results/costs.csv.

Operations of one map are counted in those of a forward pass, and the median of three times in seconds is on one thread.
The network is a ResNet as the worlds of salgen-bench have it, on 64 x 64 pixels; for methods that it does not allow a
ViT. Weights are random, on which costs do not depend.
"""

import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
import pandas as pd
import torch
from torch.utils.flop_counter import FlopCounterMode
import salgen
from salgen.errors import SalgenWarning
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.bench.standing import COSTS
from salgen.evaluation.bench.worlds import world_spec
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.registry import MODELS

RESULTS = Path(__file__).parents[1] / "results"
KINDS = ("resnet18", "vit-b-16")
SIDE, CLASSES, TIMES = 64, 2, 3


def operations(work: Callable[[], object]) -> int:
    """Floating-point operations of a call."""
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


def costs(kind: str) -> pd.DataFrame:
    """A row for each method that a network of this kind allows."""
    spec = world_spec()
    settings = next(recipe.settings for world in spec.worlds for recipe in world.recipes if recipe.model == kind)
    known = {field.name for field in fields(MODELS.load(kind))}
    plugin = MODELS.create(kind, {name: settings[name] for name in settings if name in known})
    network = plugin.build(3, CLASSES, (SIDE, SIDE))
    network = Classifier(network, plugin.normalise(3), plugin.cam_layer(network)).eval()
    image = torch.rand(1, 3, SIDE, SIDE)
    view = ModelView.of(network)  # what is learnt of a network is no cost of a map
    methods, _ = select_methods(list(spec.methods), spec.scale).defined_for(view, image)
    forward = operations(lambda: network(image))
    given = {"references": torch.rand(8, 3, SIDE, SIDE)}
    if kind == KINDS[0]:
        given["patterns"] = salgen.fit_patterns(network, image)
    rows = {}
    for call, method in methods.items():
        if not method.control:
            one = lambda method=method: salgen.explain(view, image, 0, method=method, **given)  # noqa: E731
            one()
            passes = operations(one) / forward
            seconds = []
            for _ in range(TIMES):
                started = time.perf_counter()
                one()
                seconds.append(time.perf_counter() - started)
            rows[call] = {"network": kind, "passes": passes, "seconds": statistics.median(seconds)}
    return pd.DataFrame.from_dict(rows, orient="index")


def main() -> None:
    """Write the table."""
    warnings.simplefilter("ignore", SalgenWarning)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    first, second = map(costs, KINDS)
    found = first.combine_first(second)[first.columns]
    found.rename_axis("method").to_csv(RESULTS / COSTS, float_format="%.4g", lineterminator="\n")


if __name__ == "__main__":
    main()
