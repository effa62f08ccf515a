"""What a map costs by each method: ``python -m benchmarks.costs`` writes results/costs.csv.

Operations of one map are counted in those of a forward pass, and the median of three times in seconds is on one thread.
The networks are a ResNet, and for methods that take no other a ViT, of the first worlds that keep such weights.
"""

import statistics
import time
import warnings
from pathlib import Path
import pandas as pd
import torch
from torch.utils.flop_counter import FlopCounterMode
from salgen.errors import SalgenWarning
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.attribution.method_selection import select_methods
from salgen.evaluation.bench.judge_metrics import FrozenWorld, frozen_worlds
from salgen.evaluation.bench.standing import COSTS
from salgen.evaluation.bench.worlds import world_spec

RESULTS = Path(__file__).parents[1] / "results"
KINDS = ("resnet18", "vit-b-16")
TIMES = 3


def operations(work: object) -> int:
    """Floating-point operations of a call."""
    with FlopCounterMode(display=False) as counter:
        work()
    return counter.get_total_flops()


def costs(world: FrozenWorld, scale: str) -> pd.DataFrame:
    """A row for each method that the network takes."""
    view, image, target = world.view, world.images[:1], world.targets[:1]
    chosen = select_methods(list(world_spec().methods), scale)
    methods, _ = chosen.defined_for(
        view, image, dict.fromkeys(("patterns", "references"), "is fitted to training images")
    )
    with torch.no_grad():
        forward = operations(lambda: view.logits(view.normalise(view.like(image))))
    rows = {}
    for call, method in methods.items():
        if not method.control:
            one = lambda method=method: explain(view, image, target, method=method)  # noqa: E731
            passes = operations(one) / forward
            seconds = []
            for _ in range(TIMES):
                started = time.perf_counter()
                one()
                seconds.append(time.perf_counter() - started)
            rows[call] = {"network": world.kind, "passes": passes, "seconds": statistics.median(seconds)}
    return pd.DataFrame.from_dict(rows, orient="index")


def main() -> None:
    """Write the table."""
    warnings.simplefilter("ignore", SalgenWarning)
    torch.set_num_threads(1)
    spec, found = world_spec(), pd.DataFrame()
    worlds = {world.kind: world for world in reversed(list(frozen_worlds(spec, RESULTS)))}
    for kind in KINDS:
        if kind in worlds:
            found = found.combine_first(costs(worlds[kind], spec.scale))
    found.rename_axis("method").to_csv(RESULTS / COSTS, float_format="%.4g", lineterminator="\n")


if __name__ == "__main__":
    main()
