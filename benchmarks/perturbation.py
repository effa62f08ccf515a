"""Perturbation methods: occlusion beside captum, RISE beside maps of all classes, on ResNet-18; LIME and KernelSHAP.

Few windows and masks, so that the rows take less than a minute; with more of them the few passes
that salgen makes besides (predictions, memory) count for less. RISE's peer is what TorchRay does:
it adds up a map for each of the 1000 classes, of which one is looked at.
"""

from collections.abc import Callable, Mapping
import captum.attr
import torch
from captum._utils.models.linear_model import SkLearnRidge
from torch import Tensor
from torch.nn import functional
import salgen
from benchmarks.saliency import GOALS, LAST, PLAIN, SAME, compare, views
from benchmarks.timing import Row, medians_us, table
from salgen.evaluation.methods.lime_kernel_shap import grid
from salgen.evaluation.methods.rise import Masks
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.evaluation.training.training_settings import choose_settings
from salgen.seeding import Stream
from salgen.types import SaliencyMap

SIZE = 224
IMAGES = 2
ROUNDS = 3
WINDOWS = 25
MASKS, CELLS, AT_ONCE = 16, 7, 8
SMALL, CHANGED, REGIONS, AT_ONCE_SMALL = 32, 300, 14, 128
SURROGATES = {
    "lime": lambda value: captum.attr.Lime(value, SkLearnRidge(alpha=1.0)),
    "kernel-shap": captum.attr.KernelShap,
}


def rows() -> list[Row]:
    """Every comparison, in microseconds per forward pass of an occluded or masked image."""
    images, small = torch.rand(IMAGES, 3, SIZE, SIZE), torch.rand(IMAGES, 3, 64, 64)
    both = views()
    return [*_occlusion(both, images), *_occlusion(both, small), *_rise(both, images), *_surrogates()]


def agreement() -> float:
    """Largest difference of occlusion from captum, as a share of the largest value."""
    view, images = views()[PLAIN], torch.rand(IMAGES, 3, SIZE, SIZE)
    found, expected = _ours(view, images).values, _captum(view, images, 1)[:, 0]
    return float((found - expected).abs().max() / expected.abs().max())


def main() -> None:
    """Print the table, and how far occlusion is from captum."""
    print(table(rows()))
    print(f"\nocclusion: at most {agreement():.1e} of the largest value from captum")


def _occlusion(both: Mapping[str, ModelView], images: Tensor) -> list[Row]:
    step, count = f"occlusion of {images.shape[2]}x{images.shape[3]}, per window", IMAGES * WINDOWS
    ours = {layout: lambda view=view: _ours(view, images) for layout, view in both.items()}
    rows = []
    for peer, at_once in {"captum, as called": 1, f"captum, {AT_ONCE} windows at once": AT_ONCE}.items():
        work = {"peer": lambda at_once=at_once: _captum(both[PLAIN], images, at_once), **ours}
        rows += compare(step, peer, work, count, GOALS)
    return rows


def _windows(images: Tensor) -> tuple[int, int]:
    """Side and stride of 5x5 windows that fit into the images."""
    stride = 5 * images.shape[2] // 28
    return images.shape[2] - 4 * stride, stride


def _ours(view: ModelView, images: Tensor) -> SaliencyMap:
    window, stride = _windows(images)
    return salgen.explain(view, images, 0, method="occlusion", window=(window, window), stride=stride)


def _captum(view: ModelView, images: Tensor, at_once: int) -> Tensor:
    window, stride = _windows(images)
    with torch.no_grad():
        peer = captum.attr.Occlusion(lambda inputs: view.network(inputs).softmax(dim=1))
        shape, step = (3, window, window), (3, stride, stride)
        found: Tensor = peer.attribute(images, shape, step, target=0, perturbations_per_eval=at_once)
    return found


def _rise(both: Mapping[str, ModelView], images: Tensor) -> list[Row]:
    masks = Masks.draw([Stream(0, "bench")], AT_ONCE, CELLS, 0.5, images)
    numbers = torch.arange(AT_ONCE)
    work = {"peer": lambda: [_rise_of_all_classes(both[PLAIN], image) for image in images]}
    for layout, view in both.items():
        work[layout] = lambda view=view: salgen.explain(view, images, 0, method="rise", n=MASKS)
    goals = {PLAIN: "≥ 1.2", LAST: "≥ 1.2"}
    times = medians_us(
        {"forward": lambda: _forward(both[PLAIN], images), "masks": lambda: masks.make(numbers)}, ROUNDS, {"masks": 20}
    )
    return [
        *compare(
            "RISE, per mask", "maps of all classes", work, IMAGES * MASKS, goals, "the passes through the network"
        ),
        Row(
            "RISE, making a mask (ratio: forward over mask)",
            "forward pass of one image",
            times["forward"] / IMAGES,
            times["masks"] / AT_ONCE,
            "≥ 100",
        ),
    ]


def _surrogates() -> list[Row]:
    plugin, _ = choose_settings("lesion-cnn", "full")
    torch.manual_seed(0)
    view = ModelView.of(plugin.build(1, 2, (SMALL, SMALL)).eval())
    image, regions = torch.rand(1, 1, SMALL, SMALL), grid(SMALL, SMALL, REGIONS)[None, None]
    batch, count = image.repeat(AT_ONCE_SMALL, 1, 1, 1), CHANGED / AT_ONCE_SMALL
    given = {"feature_mask": regions, "n_samples": CHANGED, "perturbations_per_eval": AT_ONCE_SMALL}
    rows = []
    for name, kind in SURROGATES.items():
        peer = kind(lambda inputs: view.network(inputs).detach().softmax(dim=1))
        work: dict[str, Callable[[], object]] = {
            "captum": lambda peer=peer: peer.attribute(image, target=0, **given),
            "passes": lambda: _forward(view, batch),
            "ours": lambda name=name: salgen.explain(view, image, 0, method=name, n=CHANGED, cells=REGIONS),
        }
        times = medians_us(work, 3 * ROUNDS)
        for beside, peer_us in (
            (f"captum, {AT_ONCE_SMALL} at once", times["captum"]),
            ("bare forward passes", times["passes"] * count),
        ):
            goal = "≥ 1.3" if beside.startswith("captum") else ""
            rows.append(
                Row(
                    f"{name}, lesion-cnn at {SMALL}x{SMALL}, per changed image",
                    beside,
                    peer_us / CHANGED,
                    times["ours"] / CHANGED,
                    goal,
                    SAME,
                )
            )
    return rows


def _forward(view: ModelView, images: Tensor) -> Tensor:
    with torch.no_grad():
        return view.logits(images)


def _rise_of_all_classes(view: ModelView, image: Tensor) -> Tensor:
    """One image's maps (classes, h, w), its masks enlarged by torch and cropped one by one."""
    cell = SIZE // CELLS
    total: Tensor = torch.zeros(())
    with torch.no_grad():
        for _ in range(MASKS // AT_ONCE):
            grids = (torch.rand(AT_ONCE, 1, CELLS, CELLS) < 0.5).float()
            large = functional.interpolate(grids, size=(SIZE + cell, SIZE + cell), mode="bilinear")
            shifts = torch.randint(cell, (AT_ONCE, 2)).tolist()
            masks = torch.stack([m[:, y : y + SIZE, x : x + SIZE] for m, (y, x) in zip(large, shifts, strict=True)])
            probabilities = view.network(image * masks).softmax(dim=1)
            total = total + (probabilities.T @ masks.flatten(1)).view(-1, SIZE, SIZE)
    return total / (MASKS * 0.5)


if __name__ == "__main__":
    main()
