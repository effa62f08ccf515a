"""Which exact laws saliency methods of five libraries keep: ``python -m benchmarks.conformance`` fills conformance.md.

Each library is called as its documentation shows, by one function for all of its methods. Quantus is in no extra of
salgen: ``pip install --no-deps quantus==0.6.0`` first.
"""

import re
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
import captum.attr
import pytorch_grad_cam
import torch
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget
from torch import Tensor, nn
import salgen
from benchmarks.filled_pages import filled
from salgen.evaluation.diagnostics.markdown import markdown_table
from salgen.testing.method_laws import LAWS, Explain, check_laws

PAGE = Path(__file__).parents[1] / "docs" / "conformance.md"
OF_CAPTUM: dict[str, dict[str, Any]] = {
    "Saliency": {"abs": False},
    "InputXGradient": {},
    "IntegratedGradients": {},
    "GuidedBackprop": {},
    "Deconvolution": {},
    "DeepLift": {},
    "LRP": {},
    "GuidedGradCam": {},
    "Occlusion": {"sliding_window_shapes": (1, 3, 3)},
    "FeatureAblation": {},
    "ShapleyValueSampling": {"n_samples": 3},
    "KernelShap": {"n_samples": 50},
    "Lime": {"n_samples": 50},
}
OF_GRAD_CAM = (
    "GradCAM", "GradCAMPlusPlus", "XGradCAM", "HiResCAM", "LayerCAM", "EigenCAM", "EigenGradCAM", "AblationCAM",
    "ScoreCAM", "FullGrad",
)  # fmt: skip
OF_ZENNIT = ("EpsilonPlus", "EpsilonAlpha2Beta1", "EpsilonPlusFlat", "GuidedBackprop", "ExcitationBackprop")
OF_QUANTUS = (
    "Gradient", "Saliency", "InputXGradient", "IntegratedGradients", "DeepLift", "Deconvolution", "Occlusion",
    "FeatureAblation", "KernelShap", "Lime", "LRP",
)  # fmt: skip
OF_SALGEN = (
    "gradient", "input-x-gradient", "integrated-gradients", "guided-backprop", "deconvnet", "deep-lift", "lrp-z",
    "guided-grad-cam", "occlusion:window=3,3,stride=1", "kernel-shap:n=50", "lime:n=50", "grad-cam", "grad-cam++",
    "layer-cam", "eigen-cam", "ablation-cam", "score-cam", "full-grad", "excitation-backprop",
)  # fmt: skip
PROMISE = {"IntegratedGradients", "DeepLift", "ShapleyValueSampling", "integrated-gradients", "deep-lift"}
ON_A_LAYER = {"GuidedGradCam"}


def by_captum(name: str, network: nn.Module, inputs: Tensor, targets: Tensor) -> Any:
    """Maps of captum."""
    layer = [network.features[-2]] if name in ON_A_LAYER else []  # type: ignore[index]
    return getattr(captum.attr, name)(network, *layer).attribute(inputs, target=targets, **OF_CAPTUM[name])


def by_grad_cam(name: str, network: nn.Module, inputs: Tensor, targets: Tensor) -> Any:
    """Maps of pytorch-grad-cam, of the last convolution."""
    with getattr(pytorch_grad_cam, name)(network, [network.features[-2]]) as cam:  # type: ignore[index]
        return cam(inputs, [ClassifierOutputTarget(int(target)) for target in targets])


def by_zennit(name: str, network: nn.Module, inputs: Tensor, targets: Tensor) -> Any:
    """Maps of a composite of zennit."""
    from zennit import composites
    from zennit.attribution import Gradient

    with Gradient(network, getattr(composites, name)()) as attributor:
        return attributor(inputs, torch.eye(3, dtype=inputs.dtype)[targets])[1]


def by_quantus(name: str, network: nn.Module, inputs: Tensor, targets: Tensor) -> Any:
    """Maps of Quantus's adapter of captum, with its own defaults; channels are not added up."""
    import quantus

    values = quantus.explain(network, inputs.detach().numpy(), targets.numpy(), method=name, reduce_axes=())
    return torch.from_numpy(values)


def by_salgen(name: str, network: nn.Module, inputs: Tensor, targets: Tensor) -> Any:
    """Maps of salgen."""
    return salgen.explain(network, inputs, targets, method=name, reduce=None).values


def methods() -> Iterator[tuple[str, str, Explain]]:
    """Library, method, and the function."""
    for library, names, function in (
        ("captum", OF_CAPTUM, by_captum),
        ("grad-cam", OF_GRAD_CAM, by_grad_cam),
        ("zennit", OF_ZENNIT, by_zennit),
        ("quantus", OF_QUANTUS, by_quantus),
        ("salgen", OF_SALGEN, by_salgen),
    ):
        yield from ((library, name, partial(function, name)) for name in names)


class Tables:
    """The tables of the page."""

    def laws(self) -> str:
        """The laws, numbered."""
        return markdown_table(["law", ""], [[str(number), law] for number, law in enumerate(LAWS, 1)])

    def libraries(self) -> str:
        """For each method the laws that do not hold, with what was found."""
        numbers = {law: number for number, law in enumerate(LAWS, 1)}
        rows = []
        for library, name, explain in methods():
            found = check_laws(explain, complete=name in PROMISE)
            broken = {numbers[row.law]: row.found for row in found.itertuples() if not row.holds}
            kept = f"{found['holds'].sum()} of {len(found)}"
            rows.append([f"{library} {version(library)}", f"`{name}`", kept, in_short(broken)])
        return markdown_table(["library", "method", "laws kept", "not kept"], rows)


def in_short(broken: Mapping[int, str]) -> str:
    """The numbers of laws, each with its share or its error; what fails on everything is said once."""
    errors = {found for found in broken.values() if re.match(r"\w+(Error|Exception): ", found)}
    if broken.get(1) in errors:
        return f"all: {broken[1][:70]}"
    said = []
    for number, found in broken.items():
        share = re.search(r"([\d.]+)%", found)
        what = f"{float(share[1]):.0f} %" if share else found.partition(":")[0] if found in errors else ""
        said.append(f"{number} ({what})" if what else str(number))
    return ", ".join(said)


def main() -> None:
    """Fill the page."""
    warnings.simplefilter("ignore")
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), Tables()), encoding="utf-8")


if __name__ == "__main__":
    main()
