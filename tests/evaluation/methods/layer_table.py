"""Blocks of architectures as layers of Grad-CAM, beside pytorch-grad-cam: the table in docs/layers.md.

``python tests/evaluation/methods/layer_table.py`` measures and writes the table; the test measures again.
The library is told by hand, block by block, which axes are which, as its `reshape_transform` asks.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
import pytorch_grad_cam
import torch
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
from torch import Tensor, nn
from torch.nn import functional
import salgen
from salgen.errors import SalgenError
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.registry import MODELS

PAGE = Path(__file__).parents[3] / "docs" / "layers.md"
START = "| network | Grad-CAM |"
TARGETS = [2, 0]
ROUNDING = 1e-4  # of a map's largest value


def channels_first(output: Tensor) -> Tensor:
    return output


def channels_last(output: Tensor) -> Tensor:
    return output.permute(0, 3, 1, 2)


def tokens(output: Tensor) -> Tensor:
    """A class token, then a square of patches."""
    side = int((output.shape[1] - 1) ** 0.5)
    return output[:, 1:].transpose(1, 2).reshape(len(output), -1, side, side)


def windows(output: Tensor) -> Tensor:
    """(n, windows, positions, K): a square of square windows."""
    count, inside = int(output.shape[1] ** 0.5), int(output.shape[2] ** 0.5)
    places = output.unflatten(2, (inside, inside)).unflatten(1, (count, count))
    return places.permute(0, 5, 1, 3, 2, 4).reshape(len(output), -1, count * inside, count * inside)


SWIN = {
    "features.0": channels_last,
    "features.0.0": channels_first,
    **{f"features.{stage}": channels_last for stage in range(1, 8)},
    **{f"features.{stage}.1": channels_last for stage in (1, 3, 5, 7)},
    "features.1.0.norm1": channels_last,
    "features.1.0.attn": channels_last,
    "features.1.0.mlp": channels_last,
    "features.2.norm": channels_last,
    "norm": channels_last,
    "permute": channels_first,
    "avgpool": channels_first,
    "flatten": None,
    "head": None,
}
CONVNEXT = {
    **{f"features.{stage}": channels_first for stage in range(8)},
    **{f"features.{stage}.1": channels_first for stage in (1, 3, 5, 7)},
    "features": channels_first,
    "features.1.0.block.0": channels_first,
    "features.1.0.block.2": channels_last,
    "features.1.0.block.4": channels_last,
    "features.1.0.block.5": channels_last,
    "features.1.0.block.6": channels_first,
    "classifier.1": None,
}
MAXVIT = {
    "stem": channels_first,
    **{f"blocks.{stage}": channels_first for stage in range(4)},
    **{f"blocks.{stage}.layers.1": channels_first for stage in range(4)},
    "blocks.0.layers.0.layers.MBconv": channels_first,
    "blocks.0.layers.0.layers.window_attention": channels_first,
    "blocks.0.layers.0.layers.window_attention.partition_op": windows,
    "blocks.0.layers.0.layers.window_attention.attn_layer": windows,
    "blocks.0.layers.0.layers.window_attention.mlp_layer": windows,
    "blocks.0.layers.0.layers.grid_attention": channels_first,
    "classifier.2": None,
    "classifier": None,
}


def vit(blocks: int, prefix: str) -> dict[str, Callable[[Tensor], Tensor] | None]:
    """The blocks of a transformer whose class token alone is read: of the last one, only what attention takes."""
    layers = f"{prefix}encoder.layers.encoder_layer_"
    return {
        f"{prefix}conv_proj": channels_first,
        f"{prefix}encoder.dropout": tokens,
        **{f"{layers}{block}": tokens for block in range(blocks - 1)},
        f"{layers}0.ln_1": tokens,
        f"{layers}0.self_attention": None,
        f"{layers}0.mlp": tokens,
        f"{layers}{blocks - 1}.ln_1": tokens,
        f"{layers}{blocks - 1}": None,
        f"{prefix}encoder.ln": None,
        f"{prefix}encoder": None,
        f"{prefix}heads": None,
    }


BLOCKS = {
    "swin_t": SWIN,
    "swin_v2_t": {**SWIN, "features.1.0.attn.cpb_mlp": None},
    "convnext_tiny": CONVNEXT,
    "maxvit_t": MAXVIT,
    "vit_b_16": vit(12, ""),
    "salgen's vit-b-16": vit(2, "vit."),
}
OPTIONS = {"vit_b_16": {"image_size": 64}}


def build(network: str) -> tuple[nn.Module, Tensor]:
    """The network with random weights, and two images, oblong where it takes them."""
    from torchvision.models import MaxVit, get_model

    torch.manual_seed(0)
    images = torch.rand(2, 3, 64, 64 if network in ("maxvit_t", "vit_b_16") else 96)
    if network.startswith("salgen"):
        plugin = MODELS.load("vit-b-16")
        return MODELS.create("vit-b-16", plugin.quick).build(3, 3, (64, 96)).eval(), images
    if network == "maxvit_t":  # torchvision's takes 224 x 224 alone, since its windows have 7 x 7 pixels
        channels = {"stem_channels": 64, "block_channels": [64, 128, 256, 512], "head_dim": 32}
        model = MaxVit((64, 64), **channels, block_layers=[2, 2, 5, 2], partition_size=2, stochastic_depth_prob=0.2)
        model.classifier[-1] = nn.Linear(512, 3)
        return model.eval(), images
    model = get_model(network, weights=None, num_classes=3, **OPTIONS.get(network, {}))
    if network == "vit_b_16":
        model.heads.head.reset_parameters()  # torchvision starts it at zero
    return model.eval(), images


@dataclass(frozen=True)
class Row:
    block: str
    arranged: str  # how its output is; empty if refused
    difference: float | None  # of Grad-CAM from the library's, by its largest value; None if refused
    instead: str | None = None  # the layer that the refusal names
    peak: float = 0.0

    @property
    def verdict(self) -> str:
        if self.difference is None:
            return f"refused: `{self.instead}` works"
        right = "right" if self.difference <= ROUNDING else f"wrong by {self.difference:.1g}"
        return f"{right}, {self.arranged}"


@cache
def rows(network: str) -> tuple[Row, ...]:
    """Every block of a network, explained or refused."""
    model, images = build(network)
    blocks, view = BLOCKS[network], ModelView.of(model)
    known = {block: arrange for block, arrange in blocks.items() if arrange is not None}
    expected = {block: library_map(model, images, block, arrange) for block, arrange in known.items()}
    found = found_maps(view, images, list(known))
    made = []
    for block, arrange in blocks.items():
        if arrange is None:
            made.append(Row(block, "", None, suggestion(view, images, block)))
        else:
            peak = float(expected[block].abs().max())
            difference = float((found[block] - expected[block]).abs().max()) / (peak or 1)
            made.append(Row(block, arrange.__name__.replace("_", " "), difference, None, peak))
    return tuple(made)


def lines(network: str) -> list[str]:
    """The table's rows of a network: its blocks with the same verdict stand in one."""
    verdicts: dict[str, list[str]] = {}
    for row in rows(network):
        verdicts.setdefault(row.verdict, []).append(f"`{row.block}`")
    return [f"| {network} | {verdict} | {', '.join(blocks)} |" for verdict, blocks in verdicts.items()]


def found_maps(model: nn.Module | ModelView, images: Tensor, blocks: list[str]) -> dict[str, Tensor]:
    """salgen's Grad-CAM at every block, of the images' size."""
    methods = {block: f"grad-cam:layer={block}" for block in blocks}
    maps = explain(model, images, TARGETS, method=list(methods.values()), reduce=None)
    return {block: maps[method].values for block, method in methods.items()}


def suggestion(view: ModelView, images: Tensor, block: str) -> str | None:
    """The layer that the refusal of a block names; None if the block is not refused in one line."""
    try:
        salgen.explain(view, images, TARGETS, method="grad-cam", layer=block)
    except SalgenError as error:
        named = re.fullmatch(r"layer '[^\n]*: choose another, such as '([^\n']*)' \(layer=[^\n]*", str(error))
        return named and named[1]
    return None


def library_map(model: nn.Module, images: Tensor, block: str, arrange: Callable[[Tensor], Tensor]) -> Tensor:
    """Grad-CAM of pytorch-grad-cam at a block, neither scaled nor shifted, of the images' size."""
    with pytorch_grad_cam.GradCAM(model, [model.get_submodule(block)], reshape_transform=arrange) as peer:
        outputs = peer.activations_and_grads(images)
        sum(ClassifierOutputTarget(target)(out) for target, out in zip(TARGETS, outputs, strict=True)).backward()
        (activations,), (gradients,) = peer.activations_and_grads.activations, peer.activations_and_grads.gradients
        cam = torch.from_numpy(peer.get_cam_image(images, None, None, activations.numpy(), gradients.numpy(), False))
    return functional.interpolate(cam[:, None].clamp(min=0), images.shape[2:], mode="bilinear")


def stated() -> list[str]:
    """The table's rows as the page has them."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(START))
    return [line for line in lines[start + 2 :] if line.startswith("| ")]


def main() -> None:
    text = PAGE.read_text(encoding="utf-8").partition(START)[0]
    table = [f"{START} blocks |", "| - | - | - |", *(line for network in BLOCKS for line in lines(network))]
    PAGE.write_text(text + "\n".join(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
