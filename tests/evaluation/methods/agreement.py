"""Methods beside other libraries' on the same networks: the table in docs/agreement.md.

``python tests/evaluation/methods/agreement.py`` measures and writes it. The tests
measure again and hold every difference to what that page states.
"""

import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
import torch
from torch import Tensor, nn
from torch.nn import functional
import salgen

PAGE = Path(__file__).parents[3] / "docs" / "agreement.md"
START = "<!-- agreement -->\n\n"
SIZE, CLASSES = (16, 20), 3
TARGETS = torch.tensor([0, 1, 2, 0])
NETWORKS = {"plain, 1 channel": 1, "plain, 3 channels": 3, "residual, 1 channel": 1, "residual, 3 channels": 3}
UNDEFINED = "-"


class Plain(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1, self.relu1, self.pool1 = nn.Conv2d(channels, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        self.conv2, self.layer, self.pool2 = nn.Conv2d(6, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        self.dense1, self.relu3 = nn.Linear(8 * 4 * 5, 10), nn.ReLU()
        self.dense2 = nn.Linear(10, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        x = self.pool1(self.relu1(self.conv1(x)))
        x = self.pool2(self.layer(self.conv2(x)))
        return self.dense2(self.relu3(self.dense1(x.flatten(1))))


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        from zennit.layer import Sum

        super().__init__()
        self.conv1, self.norm1, self.relu1 = nn.Conv2d(channels, 6, 3, 2, 1), nn.BatchNorm2d(6), nn.ReLU()
        self.conv2, self.norm2, self.relu2 = nn.Conv2d(6, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU()
        self.conv3, self.norm3 = nn.Conv2d(6, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6)
        self.sum, self.layer = Sum(), nn.ReLU()
        self.pool, self.dense = nn.AdaptiveAvgPool2d(1), nn.Linear(6, CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        x = self.relu1(self.norm1(self.conv1(x)))
        y = self.norm3(self.conv3(self.relu2(self.norm2(self.conv2(x)))))
        x = self.layer(self.sum(torch.stack([x, y], dim=-1)))
        return self.dense(self.pool(x).flatten(1))


@cache
def network_of(name: str) -> nn.Module:
    """The network, with running statistics and biases that do something."""
    torch.manual_seed(7)
    network = (Plain if name.startswith("plain") else Residual)(NETWORKS[name]).double().eval()
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.normal_(std=0.2)
            module.running_var.uniform_(0.5, 2)
            nn.init.normal_(module.bias, std=0.2)
    return network.requires_grad_(False)


@cache
def images_of(name: str) -> Tensor:
    return torch.randn(4, NETWORKS[name], *SIZE, generator=torch.Generator().manual_seed(3)).double()


Peer = Callable[[nn.Module, Tensor], Tensor]


@dataclass(frozen=True)
class Row:
    call: str  # how ours is called so that both mean the same
    library: str
    peer: Peer  # the library's raw maps (N, C, h, w)
    note: str = ""  # the intended difference that the call or the comparison takes out
    only: str = ""  # the kind of network on which both mean the same, if not on both
    rectified: bool = False  # whether ours sums over channels and rectifies, and the library's maps do not
    either_sign: bool = False  # whether a map's sign is arbitrary in the library

    @property
    def name(self) -> str:
        return f"{self.call} beside {self.library}"


def difference(row: Row, name: str) -> float | None:
    """The largest difference of raw maps, as a share of the library's largest value."""
    if not name.startswith(row.only):
        return None
    network, images = network_of(name), images_of(name)
    ours = salgen.explain(network, images, TARGETS, method=row.call, reduce=None).values.double()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = row.peer(network, images).detach().double()
    peers = [found, -found] if row.either_sign else [found]
    differences, scales = zip(*[_compare(ours, peer, row.rectified) for peer in peers], strict=True)
    return float(torch.stack(differences).amin(dim=0).max() / torch.stack(scales).max())


def _compare(ours: Tensor, theirs: Tensor, rectified: bool) -> tuple[Tensor, Tensor]:
    """Per image: the largest difference, and the library's largest value."""
    if rectified:
        theirs = theirs.sum(dim=1, keepdim=True).clamp(min=0)
    theirs = functional.interpolate(theirs, size=SIZE, mode="bilinear", align_corners=False)
    return (ours - theirs).abs().flatten(1).amax(dim=1), theirs.abs().flatten(1).amax(dim=1)


def captum(name: str, **options: Any) -> Peer:
    def peer(network: nn.Module, images: Tensor) -> Tensor:
        import captum.attr

        layer = [network.layer] if "GradCam" in name else []
        method = getattr(captum.attr, name)(network, *layer)
        return method.attribute(images.clone().requires_grad_(), target=TARGETS, **options)

    return peer


def captum_occlusion(network: nn.Module, images: Tensor) -> Tensor:
    window, stride = (images.shape[1], 4, 5), (images.shape[1], 2, 2)
    return captum("Occlusion", sliding_window_shapes=window, strides=stride)(network, images)


def captum_lrp(network: nn.Module, images: Tensor) -> Tensor:
    """captum's LRP, on a copy since it hooks the network."""
    import copy
    import captum.attr

    return captum.attr.LRP(copy.deepcopy(network)).attribute(images.clone(), target=TARGETS)


def grad_cam(name: str, *, times_score: bool = False) -> Peer:
    """pytorch-grad-cam's weighted sum, before it rectifies, scales and resizes it, perhaps times the score."""

    def peer(network: nn.Module, images: Tensor) -> Tensor:
        import pytorch_grad_cam
        from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

        maps = []
        for image, target in zip(images, TARGETS.tolist(), strict=True):
            targets = [ClassifierOutputTarget(target)]
            with getattr(pytorch_grad_cam, name)(network, [network.layer]) as cam:
                cam.batch_size = 4
                leaf = image[None].clone().requires_grad_()
                logits = cam.activations_and_grads(leaf)
                if cam.uses_gradients:
                    torch.autograd.grad(logits[0, target], leaf, retain_graph=True)
                activations = cam.activations_and_grads.activations[0].detach().numpy()
                gradients = cam.activations_and_grads.gradients[0].detach().numpy() if cam.uses_gradients else None
                image_map = cam.get_cam_image(leaf, network.layer, targets, activations, gradients, False)
            scale = float(logits[0, target]) if times_score else 1.0
            maps.append(scale * torch.as_tensor(image_map).reshape(1, *image_map.shape[-2:]))
        return torch.stack(maps)

    return peer


def zennit(kind: str, last: str | None = None, layer: str | None = None) -> Peer:
    """A composite of zennit's rules, one of its own for the last linear map, batch norm merged; read at a layer."""

    def peer(network: nn.Module, images: Tensor) -> Tensor:
        from zennit.canonizers import SequentialMergeBatchNorm
        from zennit.composites import LayerMapComposite, MixedComposite, NameMapComposite
        from zennit.layer import Sum
        from zennit.rules import AlphaBeta, Epsilon, Norm, Pass, ReLUDeconvNet, ReLUGuidedBackprop, WSquare, ZPlus
        from zennit.types import Activation, AvgPool, BatchNorm, Linear

        base = [(Activation, Pass()), (BatchNorm, Pass()), (Sum, Norm()), (AvgPool, Norm())]
        linear = {
            "epsilon": Epsilon(1e-6),
            "alpha-beta": AlphaBeta(2, 1, zero_params=["bias"]),
            "z-plus": ZPlus(zero_params=["bias"]),
            "w-square": WSquare(zero_params=["bias"]),
        }
        maps = {
            "guided": [(Activation, ReLUGuidedBackprop())],
            "deconvnet": [(Activation, ReLUDeconvNet())],
            "gradient": [],
        }
        rules = maps[kind] if kind in maps else [*base, (Linear, linear[kind])]
        canonizers = [] if kind in maps else [SequentialMergeBatchNorm()]
        composite = LayerMapComposite(rules, canonizers=canonizers)
        if last is not None:
            composite = MixedComposite([NameMapComposite([(["dense", "dense2"], linear[last])]), composite])
        with composite.context(network) as hooked:
            leaf = images.clone().requires_grad_()
            start = functional.one_hot(TARGETS, CLASSES).double()
            places = {None: leaf}
            if layer is not None:
                note = lambda _module, _inputs, output: places.update({layer: output})  # noqa: E731
                handle = hooked.get_submodule(layer).register_forward_hook(note)
            logits = hooked(leaf)
            if layer is not None:
                handle.remove()
            return torch.autograd.grad(logits, places[layer], start)[0]

    return peer


def cam_row(call: str, name: str, note: str = "", **options: Any) -> Row:
    return Row(f"{call}:layer=layer", "pytorch-grad-cam", grad_cam(name), note, rectified=True, **options)


ROWS = (
    Row("gradient", "captum", captum("Saliency", abs=False), "captum's default takes absolute values"),
    Row("gradient", "zennit", zennit("gradient")),
    Row("input-x-gradient", "captum", captum("InputXGradient")),
    Row("guided-backprop", "captum", captum("GuidedBackprop")),
    Row("guided-backprop", "zennit", zennit("guided")),
    Row("deconvnet", "captum", captum("Deconvolution")),
    Row("deconvnet", "zennit", zennit("deconvnet")),
    Row("integrated-gradients", "captum", captum("IntegratedGradients", n_steps=50), "ours begins at black pixels"),
    Row(
        "deep-lift",
        "captum",
        captum("DeepLift"),
        "ours begins at black pixels; captum loses its rule for a max pool that takes a ReLU's output",
        only="residual",
    ),
    Row(
        "occlusion:window=4,5,stride=2,output=score",
        "captum",
        captum_occlusion,
        "ours explains probabilities unless output=score; images whose windows fit",
    ),
    Row("grad-cam:layer=layer", "captum", captum("LayerGradCam", relu_attributions=True)),
    Row(
        "guided-grad-cam:layer=layer",
        "captum",
        captum("GuidedGradCam", interpolate_mode="bilinear"),
        "captum's default upsampling is nearest",
    ),
    cam_row("grad-cam", "GradCAM", "pytorch-grad-cam scales each map to [0, 1] afterwards"),
    cam_row("grad-cam++", "GradCAMPlusPlus"),
    cam_row("layer-cam", "LayerCAM"),
    cam_row("eigen-cam", "EigenCAM", "the sign of its singular vector is arbitrary", either_sign=True),
    cam_row("eigen-grad-cam", "EigenGradCAM", "the sign of its singular vector is arbitrary", either_sign=True),
    cam_row("xgrad-cam", "XGradCAM"),
    cam_row("hires-cam", "HiResCAM"),
    cam_row("score-cam", "ScoreCAM"),
    Row(
        "ablation-cam:layer=layer",
        "pytorch-grad-cam",
        grad_cam("AblationCAM", times_score=True),
        "pytorch-grad-cam divides by the score, which is undone here",
        rectified=True,
    ),
    Row(
        "lrp-z:start=logit,stabiliser=1e-9",
        "captum",
        captum_lrp,
        "captum starts from the logit, and has no rule for residual sums",
        only="plain",
    ),
    Row(
        "lrp-z",
        "zennit",
        zennit("epsilon"),
        "zennit leaves sums and batch norm to the caller, and divides by a merged batch norm's sqrt(1 + eps)",
    ),
    Row("lrp-alpha-beta", "zennit", zennit("alpha-beta"), "zennit keeps biases unless told otherwise"),
    Row(
        "deep-taylor:first=alpha1beta0",
        "zennit",
        zennit("z-plus", last="w-square"),
        "the last linear map by squared weights",
    ),
    Row(
        "excitation-backprop:layer=relu1",
        "zennit",
        zennit("z-plus", layer="relu1"),
        "zennit keeps biases unless told otherwise, and lets negative inputs excite by negative weights",
        rectified=True,
    ),
)


def table() -> str:
    """The table in Markdown, every difference rounded up to a power of ten."""
    heads = ["method", "library", *NETWORKS, "taken out of the comparison"]
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for row in ROWS:
        found = [difference(row, name) for name in NETWORKS]
        cells = [UNDEFINED if value is None else _bound(value) for value in found]
        lines.append("| " + " | ".join([f"`{row.call}`", row.library, *cells, row.note]) + " |")
    return "\n".join(lines) + "\n"


def stated() -> dict[tuple[str, str, str], float]:
    """The bounds on the page, by method's call, library and network."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").partition(START)[2].splitlines()[2:]:
        call, library, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name, cell in zip(NETWORKS, cells, strict=False):
            if cell != UNDEFINED:
                found[call.strip("`"), library, name] = float(re.sub("[^0-9e.-]", "", cell))
    return found


def _bound(value: float) -> str:
    return f"1e{max(-6, math.ceil(math.log10(max(value, 1e-9)) + 0.3)):+03d}"


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text(encoding="utf-8").partition(START)[0] + START + table(), encoding="utf-8")
