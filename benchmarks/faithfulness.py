"""Insertion, deletion and average drop, beside Quantus and beside nothing but the forward passes.

Quantus has no insertion: its pixel flipping is deletion, a step of all images at a time, without the
images themselves. It flips values, not pixels, in steps that must divide the number of pixels, so of three
channels it asks about three times as many changed images for one curve: the first row compares whole curves,
the second single changed images. The bare passes run as many images through the same network in the same
batches.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
import numpy as np
import quantus
import torch
from torch import Tensor, nn
import salgen
from benchmarks.saliency import LAST, PLAIN, views
from benchmarks.timing import Row, medians_us, table
from salgen.evaluation.metrics.insertion import deletion_curve
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.scoring.scoring import metric_inputs_of
from salgen.evaluation.training.training_settings import choose_settings
from salgen.types import Float64

ROUNDS = 3
NATURAL, SMALL = "ResNet-18 at 224x224", "lesion-cnn at 64x64"
DELETION, INSERTION, DROP = "deletion-auc", "insertion-auc", "average-drop"
LIBRARY = "Quantus, pixel flipping as called"
LIBRARY_PER_IMAGE = "Quantus, per image that it changes"
PASSES = "bare forward passes"
AT_MOST = "≥ 0.83"  # at most 1.2 times the passes
SAME = "ours are hardly more than bare passes"


@dataclass(frozen=True)
class Case:
    """A network with its images; the maps are noise, which costs what other maps do."""

    name: str
    view: ModelView
    images: Tensor
    rows_per_step: int
    repeats: int

    @property
    def step(self) -> int:
        """Pixels per step."""
        return self.rows_per_step * self.images.shape[3]

    @property
    def steps(self) -> int:
        """Steps until all pixels have changed."""
        return self.images.shape[2] // self.rows_per_step

    @property
    def maps(self) -> np.ndarray:
        """float32 (N, H, W)."""
        count, _, height, width = self.images.shape
        return np.random.default_rng(0).normal(size=(count, height, width)).astype(np.float32)

    @property
    def targets(self) -> np.ndarray:
        """int64 (N,)."""
        return np.arange(len(self.images)) % 2


def rows() -> list[Row]:
    """Every comparison, in microseconds per image that salgen changes."""
    return [row for case in cases() for row in _compare(case)]


def agreement() -> float:
    """Largest difference of deletion's probabilities from Quantus, on images of one channel."""
    case = _small(4)
    ours = _curve(case)[:, 1:]
    return float(np.abs(ours - np.array(_quantus(case)())).max())


def cases() -> list[Case]:
    """ResNet-18 with few steps, since its passes are all that counts there, and the lesion network with all."""
    natural = torch.rand(8, 3, 224, 224, generator=torch.Generator().manual_seed(0))
    both = views()
    large = [Case(f"{NATURAL}, {layout}", both[layout], natural, 56, 1) for layout in (PLAIN, LAST)]
    return [*large, _small(16)]


def main() -> None:
    """Print the table, and how far deletion is from Quantus."""
    print(table(rows()))
    print(f"\ndeletion: at most {agreement():.1e} from Quantus")


def _compare(case: Case) -> list[Row]:
    work = {
        "quantus": _quantus(case),
        "passes": lambda: _passes(case.view, case.images, case.steps + 1),
        "once": lambda: _passes(case.view, case.images, 2),
        **{name: _ours(case, name) for name in (DELETION, INSERTION, DROP)},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        times = medians_us(work, ROUNDS * case.repeats, {"once": case.repeats, DROP: case.repeats})
    count, channels = case.images.shape[:2]
    changed = count * (case.steps + 1)
    per_image = times["quantus"] / (count * case.steps * channels)
    return [
        Row(f"{DELETION}, {case.name}", LIBRARY, times["quantus"] / changed, times[DELETION] / changed, "≥ 1.4", SAME),
        Row(f"{DELETION}, {case.name}", LIBRARY_PER_IMAGE, per_image, times[DELETION] / changed, ""),
        Row(f"{DELETION}, {case.name}", PASSES, times["passes"] / changed, times[DELETION] / changed, AT_MOST),
        Row(f"{INSERTION}, {case.name}", PASSES, times["passes"] / changed, times[INSERTION] / changed, AT_MOST),
        Row(f"{DROP}, {case.name}", PASSES, times["once"] / (2 * count), times[DROP] / (2 * count), AT_MOST),
    ]


def _small(count: int) -> Case:
    plugin, _ = choose_settings("lesion-cnn", "full")
    torch.manual_seed(0)
    network = plugin.build(1, 2, (64, 64)).eval()
    images = torch.rand(count, 1, 64, 64, generator=torch.Generator().manual_seed(0))
    return Case(SMALL, ModelView.of(Classifier(network)), images, 2, 1)


def _ours(case: Case, name: str) -> Callable[[], object]:
    call = name if name == DROP else f"{name}:step={case.step}"
    asked: dict[str, Any] = {"model": case.view, "images": case.images, "targets": case.targets}
    return lambda: salgen.score(case.maps, None, call, **asked)


def _curve(case: Case) -> Float64:
    known = metric_inputs_of(case.maps, model=case.view, images=case.images, targets=case.targets)
    return deletion_curve(known, "zero", case.step)


def _passes(view: ModelView, images: Tensor, count: int) -> None:
    """`count` passes of every image, in batches as large as ours."""
    at_once = max(1, 8 * 224 * 224 // (images.shape[2] * images.shape[3]))
    batch = images.repeat(count, 1, 1, 1)
    with torch.no_grad():
        for start in range(0, len(batch), at_once):
            view.network(batch[start : start + at_once])


def _quantus(case: Case) -> Callable[[], object]:
    network: nn.Module = case.view.network
    flip = quantus.PixelFlipping(
        features_in_step=case.step,
        perturb_baseline=0.0,
        normalise=False,
        disable_warnings=True,
        display_progressbar=False,
    )
    images, maps, targets = case.images.numpy(), case.maps[:, None], case.targets
    return lambda: flip(network, images, targets, maps, softmax=True, channel_first=True)


if __name__ == "__main__":
    main()
