"""Passes without gradient, with `torch.compile` and without, as metrics and perturbing methods run them."""

from functools import partial
import torch
from benchmarks.timing import Row, medians_us, table
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.registry import MODELS

NETWORKS = {"lesion-cnn": ((1, 64, 64), 32), "scnn": ((3, 64, 64), 32), "resnet18": ((3, 224, 224), 8)}


def rows() -> list[Row]:
    """A forward pass without gradient, in microseconds per image; ours is compiled."""
    return [_row(name, *shape, batch) for name, (shape, batch) in NETWORKS.items()]


def main() -> None:
    """Print the table."""
    torch.set_num_threads(1)
    print(table(rows()))


def _row(name: str, channels: int, height: int, width: int, batch: int) -> Row:
    torch.manual_seed(0)
    network = MODELS.load(name)().build(channels, 2, (height, width))
    network = network.eval().to(memory_format=torch.channels_last)
    inputs = torch.rand(batch, channels, height, width)
    work = {
        "plain": partial(ModelView.of(network).forward, inputs),
        "compiled": partial(ModelView.of(network, compile=True).forward, inputs),
    }
    with torch.no_grad():
        for run in work.values():
            run()  # compiles
        times = medians_us(work, 9)
    step = f"{name} at {height}x{width}, compiled, a pass without gradient"
    return Row(step, "not compiled", times["plain"] / batch, times["compiled"] / batch, "")


if __name__ == "__main__":
    main()
