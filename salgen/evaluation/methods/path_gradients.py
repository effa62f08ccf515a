"""Gradients along a path: integrated gradients, GradientSHAP, IDGI, Guided IG, Blur IG and expected gradients."""

from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import torch
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext, PathMethod, baselines_param
from salgen.evaluation.methods.gradient import normal_noise, value_range
from salgen.parameters import param
from salgen.types import Float64

BLUR = 50 / 224  # standard deviation of the strongest blur, as a share of the image's longer side
_CLOSE = 1e-9  # the authors' tolerance of a distance


@dataclass(frozen=True)
class IntegratedGradients(PathMethod):
    """Gradients integrated on the straight line from a baseline (black by default), times the difference from it.

    Black is the image that is zero before normalisation. Attributions sum to the score's difference from that of the
    baseline, up to the quadrature's error.
    """

    name = "integrated-gradients"
    cost = "50"
    shows_image = True
    reference = "Sundararajan et al. 2017, Axiomatic attribution for deep networks, doi:10.48550/arXiv.1703.01365"
    quick: ClassVar = {"steps": 4}

    steps: int = param(50, "points of the quadrature", low=1)
    quadrature: str = param("gauss-legendre", "how the integral is computed", choices=("gauss-legendre", "midpoint"))
    baselines: float | str = baselines_param("black")

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        import captum.attr

        attributions: Tensor = captum.attr.IntegratedGradients(context.scores_of).attribute(
            context.inputs.detach().clone(),
            baselines=context.baselines_of(self.baselines),
            additional_forward_args=(context.targets,),
            n_steps=self.steps,
            method={"gauss-legendre": "gausslegendre", "midpoint": "riemann_middle"}[self.quadrature],
            internal_batch_size=len(context.inputs),
        )
        return attributions.detach()


@dataclass(frozen=True)
class GradientShap(PathMethod):
    """The mean gradient at random points between a noisy black baseline and the image, times their difference.

    Each draw takes a baseline, black plus normal noise, and a uniform point on the straight line. Attributions sum to
    about the score's difference from the mean score of the baselines. captum draws baselines from a given set instead,
    and can add noise to the image.
    """

    name = "gradient-shap"
    cost = "50"
    shows_image = True
    reference = (
        "Lundberg and Lee 2017, A unified approach to interpreting model predictions, doi:10.48550/arXiv.1705.07874"
    )
    quick: ClassVar = {"n": 3}

    n: int = param(50, "draws per image", low=1)
    noise: float = param(0.15, "standard deviation of the baselines, as a share of the image's range", low=0.0)
    baselines: float | str = baselines_param("black")

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        inputs, streams, start = context.inputs, context.streams(self.name), context.baselines_of(self.baselines)
        deviation, total = self.noise * value_range(inputs), torch.zeros_like(inputs)
        for _ in range(self.n):
            positions = torch.from_numpy(np.concatenate([stream.uniform(1) for stream in streams])).to(inputs)
            path = inputs - start - deviation * normal_noise(inputs, streams)
            total += path * context.gradient(inputs - (1 - positions.view(-1, 1, 1, 1)) * path)
        return total / self.n


@dataclass(frozen=True)
class Idgi(PathMethod):
    """The score's rises along a path, each shared in proportion to the squared gradient where it begins.

    Attributions sum to the score's difference from that of the path's start, exactly. The path is the straight line
    from a baseline, or from a blurred image to the image. It costs a forward and a backward pass for each point,
    `steps` + 1 of them.
    """

    in_all = False
    quick: ClassVar = {"steps": 4}
    name = "idgi"
    cost = "51"
    reference = (
        "Yang et al. 2023, IDGI: a framework to eliminate explanation noise from integrated gradients, "
        "doi:10.1109/CVPR52729.2023.02272"
    )

    steps: int = param(50, "steps of the path", low=1)
    path: str = param("straight", "from a baseline, or from a blurred image", choices=("straight", "blur"))
    baselines: float | str = baselines_param("black")

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        total, before, gradient = torch.zeros_like(context.inputs), None, None
        start = context.baselines_of(self.baselines)
        for step in range(self.steps + 1):
            if self.path == "blur":
                point = blurred(context.inputs, _strongest(context.inputs) * (1 - step / self.steps))
            else:
                point = start + (context.inputs - start) * (step / self.steps)
            leaf = point.detach().requires_grad_()
            scores = context.scores_of(leaf, context.targets)
            (next_gradient,), score = torch.autograd.grad(scores.sum(), leaf), scores.detach()
            if before is not None and gradient is not None:
                squares = gradient.square()
                size = squares.sum(dim=(1, 2, 3), keepdim=True)
                rise = (score - before).view(-1, 1, 1, 1)
                total += torch.where(size > 0, squares / size.where(size > 0, 1) * rise, 0)
            before, gradient = score, next_gradient
        return total


@dataclass(frozen=True)
class GuidedIg(PathMethod):
    """Integrated gradients on a path that first moves the pixels with the smallest gradients.

    Each step brings the image nearer by the same L1 distance. No pixel may be farther than `distance` from the straight
    line, as a share of its length: 0 is integrated gradients, 1 is without a limit. The rules and defaults are those of
    the authors' code. It costs a forward and a backward pass for each of `steps`.
    """

    in_all = False
    quick: ClassVar = {"steps": 4}
    name = "guided-ig"
    cost = "200"
    reference = (
        "Kapishnikov et al. 2021, Guided integrated gradients: an adaptive path method for removing noise, "
        "doi:10.48550/arXiv.2106.09788"
    )
    shows_image = True

    steps: int = param(200, "steps of the path", low=1)
    fraction: float = param(0.25, "share of the pixels that move together", low=0.0, high=1.0)
    distance: float = param(0.02, "how far a pixel may be from the straight line", low=0.0, high=1.0)
    baselines: float | str = baselines_param("black")

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        ends = context.inputs.double().cpu().numpy().reshape(len(context.inputs), -1)
        start = context.baselines_of(self.baselines).expand_as(context.inputs)
        starts = start.double().cpu().numpy().reshape(ends.shape)
        points, total = starts.copy(), np.zeros_like(ends)
        for step in range(1, self.steps + 1):
            at = torch.from_numpy(points).to(context.inputs).view_as(context.inputs)
            gradients = context.gradient(at).double().cpu().numpy().reshape(ends.shape)
            for point, line, gradient, sums in zip(
                points, zip(starts, ends, strict=True), gradients, total, strict=True
            ):
                before = point.copy()
                self._move(point, *line, np.abs(gradient), step / self.steps)
                sums += (point - before) * gradient
        return torch.from_numpy(total).to(context.inputs).view_as(context.inputs)

    def _move(self, point: Float64, start: Float64, end: Float64, sizes: Float64, share: float) -> None:
        """Move the point (m,) on, until only 1 - `share` of the L1 distance is left; `sizes` are of the gradient."""
        line, least, most = end - start, max(share - self.distance, 0.0), min(share + self.distance, 1.0)
        low, high = start + line * least, start + line * most
        goal, ratio = np.abs(line).sum() * (1 - share), np.inf
        progress = np.divide(point - start, line, out=np.full_like(line, most), where=line != 0)
        point[progress < least] = low[progress < least]
        while ratio > 1:
            left = np.abs(end - point).sum()
            if np.isclose(left, goal, rtol=_CLOSE, atol=_CLOSE):
                return
            sizes[point == high] = np.inf
            chosen = (sizes <= np.quantile(sizes, self.fraction, method="lower")) & np.isfinite(sizes)
            reach = np.abs(high - point)[chosen].sum()
            if reach == 0 and not np.isfinite(sizes).any():
                return  # rounding alone is left
            ratio = (left - goal) / reach if reach else np.inf
            point[chosen] = high[chosen] if ratio > 1 else (point + ratio * (high - point))[chosen]


@dataclass(frozen=True)
class BlurIg(PathMethod):
    """Gradients integrated over a path of blurred images, from the strongest blur to the image itself.

    The blur is Gaussian, with zeros beyond the normalised image. The image's change with the blur is a difference
    quotient. As in the authors' code the sum has a point at each of `steps` standard deviations, the smallest zero.
    Attributions sum to about the score's difference from that of the strongest blur. It costs a forward and a backward
    pass for each step.
    """

    in_all = False
    name = "blur-ig"
    cost = "100"
    reference = "Xu et al. 2020, Attribution in scale and space, doi:10.48550/arXiv.2004.03383"
    shows_image = True
    quick: ClassVar = {"steps": 20}

    steps: int = param(100, "points of the sum", low=1)
    sigma: float | None = param(
        None, "standard deviation of the strongest blur in pixels; by default 50/224 of the longer side", low=0.0
    )
    quotient: float = param(0.01, "difference of standard deviations in the difference quotient", low=1e-6)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        inputs, total = context.inputs, torch.zeros_like(context.inputs)
        width = (_strongest(inputs) if self.sigma is None else self.sigma) / self.steps
        for step in range(self.steps):
            point = blurred(inputs, step * width)
            change = (blurred(inputs, step * width + self.quotient) - point) / self.quotient
            total -= width * change * context.gradient(point)
        return total


@dataclass(frozen=True)
class ExpectedGradients(PathMethod):
    """The mean gradient at random points between other images and the image, times the difference from them.

    Each draw takes one of the references, with replacement, and a uniform point on the straight line from it. So
    attributions sum to about the score's difference from its mean over the references. captum's GradientShap without
    noise is the same. It costs `n` forward and backward passes.
    """

    in_all = False
    name = "expected-gradients"
    cost = "200"
    shows_image = True
    reference = (
        "Erion et al. 2021, Improving performance of deep learning models with axiomatic attribution priors and "
        "expected gradients, doi:10.1038/s42256-021-00343-w"
    )
    needs = frozenset({"model", "references"})
    quick: ClassVar = {"n": 3}
    scales: ClassVar = {"small": {"n": 50}, "demo": {"n": 20}}

    n: int = param(200, "draws per image", low=1)

    def attribute(self, context: AttributionContext) -> Tensor:
        """Signed (n, C, h, w)."""
        inputs, streams = context.inputs, context.streams(self.name)
        assert context.references is not None, "checked before"
        with torch.no_grad():
            references = context.model.normalise(context.references.clone()).to(inputs)
        total = torch.zeros_like(inputs)
        for _ in range(self.n):
            drawn = [int(stream.integers(len(references), 1)[0]) for stream in streams]
            positions = inputs.new_tensor([float(stream.uniform(1)[0]) for stream in streams]).view(-1, 1, 1, 1)
            path = inputs - references[drawn]
            total += path * context.gradient(inputs - (1 - positions) * path)
        return total / self.n


def blurred(images: Tensor, sigma: float) -> Tensor:
    """Images (n, C, h, w) under a Gaussian of that standard deviation in pixels, cut at four; zeros beyond them."""
    if sigma == 0:
        return images
    down, across = (_toeplitz(side, sigma).to(images) for side in images.shape[2:])
    return down @ images @ across


def _toeplitz(side: int, sigma: float) -> Tensor:
    """Each pixel's weight in each other along an axis, (side, side)."""
    radius = int(4 * sigma + 0.5)
    weights = torch.exp(-0.5 * (torch.arange(max(side, radius + 1)).double() / sigma) ** 2)
    weights[radius + 1 :] = 0
    weights /= 2 * weights[: radius + 1].sum() - weights[0]
    places = torch.arange(side)
    return weights[(places[:, None] - places).abs()]


def _strongest(images: Tensor) -> float:
    return BLUR * max(images.shape[2:])
