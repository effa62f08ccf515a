"""Maps from the statistics of a layer's activations: principal components, and channels far above their means."""

from dataclasses import dataclass, replace
from typing import ClassVar
import numpy as np
import torch
from scipy.linalg import eigh
from torch import Tensor
from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.attribution.class_activation import ClassActivation, weighted
from salgen.parameters import param

_SPREAD = 1e-6  # a standard deviation below this share of the values, or of their mean, is rounding in float32
_TIE = 1e-6


@dataclass(frozen=True)
class Principal(ClassActivation):
    """The rectified projection of a layer's pixels on the first principal component of their channels.

    A component has no sign of its own, and a wrong one shows the background. With ``sign="raw"`` the channel with the
    largest weight has a positive one, which equals another library's map up to sign. With ``sign="align"`` the map
    correlates non-negatively with the sum over channels of what is decomposed.
    """

    sign: str = param(
        "raw", "sign of the component: by its largest weight, or by the channels' sum", choices=("raw", "align")
    )

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w); zero where the layer is constant in space."""
        values = context.activations(layer)
        if self.reads_gradients:
            values = values * context.gradients(layer)
        component = context.cache.get((replace(self, sign="raw"), layer), lambda: self._component(values))
        return (aligned(component, values) if self.sign == "align" else component).clamp(min=0)

    def _component(self, values: Tensor) -> Tensor:
        return principal_component(values)


@dataclass(frozen=True)
class EigenCam(Principal):
    """The rectified projection of a layer's activations on their first principal component."""

    name = "eigen-cam"
    reference = (
        "Muhammad and Yeasin 2020, Eigen-CAM: class activation map using principal components, "
        "doi:10.1109/IJCNN48605.2020.9206626"
    )
    class_dependent = False
    reads_gradients = False


@dataclass(frozen=True)
class EigenGradCam(Principal):
    """The rectified projection of a layer's activations times gradients on their first principal component."""

    name = "eigen-grad-cam"
    reference = (
        "Gildenblat et al. 2021, pytorch-grad-cam: EigenGradCAM, after Muhammad and Yeasin 2020, "
        "doi:10.1109/IJCNN48605.2020.9206626"
    )


@dataclass(frozen=True)
class KpcaCam(Principal):
    """The rectified projection of a layer's pixels on the first kernel principal component of their channels.

    The kernel of two pixels' channels x and y, each less its mean, is tanh(gamma x·y + 1) or exp(-gamma |x - y|²). With
    ``sign="raw"`` the pixel with the largest absolute value is positive. It costs one forward pass, and memory for
    every pair of pixels.
    """

    name = "kpca-cam"
    reference = (
        "Karmani et al. 2024, KPCA-CAM: visual explainability of deep computer vision models using kernel PCA, "
        "doi:10.48550/arXiv.2410.00267"
    )
    class_dependent = False
    reads_gradients = False
    in_all = False

    kernel: str = param("sigmoid", "the kernel: tanh, or the radial basis function", choices=("sigmoid", "rbf"))
    gamma: float | None = param(None, "scale of the kernel; default: one over the number of channels", low=0.0)

    def _component(self, values: Tensor) -> Tensor:
        return kernel_component(values, self.kernel, self.gamma)


def kernel_component(values: Tensor, kernel: str, gamma: float | None) -> Tensor:
    """Pixels projected on the first kernel principal component of their channels, (n, K, h, w) to (n, 1, h, w).

    The projection is the first eigenvector of the centred kernel matrix times the root of its eigenvalue. Its entry
    with the largest absolute value is positive.
    """
    columns = values.double().flatten(2)
    size = columns.square().sum(dim=(1, 2))
    columns = columns - columns.mean(dim=2, keepdim=True)
    flat = columns.square().sum(dim=(1, 2)) <= _SPREAD**2 * size
    products, scale = columns.mT @ columns, 1 / columns.shape[1] if gamma is None else gamma
    if kernel == "sigmoid":
        grams = (scale * products + 1).tanh()
    else:
        squares = products.diagonal(dim1=1, dim2=2)
        grams = (-scale * (squares[:, :, None] + squares[:, None] - 2 * products).clamp(min=0)).exp()
    grams = grams - grams.mean(dim=1, keepdim=True) - grams.mean(dim=2, keepdim=True) + grams.mean((1, 2), True)
    first = _largest_positive(_first_eigenvector(grams))
    eigenvalue = (first.mT @ grams @ first).clamp(min=0)
    return (first * eigenvalue.sqrt()).masked_fill(flat[:, None, None], 0).view_as(values[:, :1]).to(values)


def principal_component(values: Tensor) -> Tensor:
    """Pixels projected on the first principal component of their channels, (n, K, h, w) to (n, 1, h, w).

    The first eigenvector of the smaller Gram matrix, of pixels or of channels, replaces the full
    singular value decomposition. The matrix squares singular values, which makes the gap after the
    first one wider, so that in the same precision the first vector loses nothing.
    """
    largest = values.abs().amax(dim=(1, 2, 3), keepdim=True)
    columns = (values / torch.where(largest > 0, largest, 1)).flatten(2)  # squares must neither vanish nor overflow
    size = columns.square().sum(dim=(1, 2))
    columns = columns - columns.mean(dim=2, keepdim=True)
    projection = columns.mT @ _largest_positive(_channel_weights(columns))
    flat = projection.square().sum(dim=(1, 2)) <= _SPREAD**2 * size
    return projection.masked_fill(flat[:, None, None], 0).view_as(values[:, :1]) * largest


def aligned(component: Tensor, values: Tensor) -> Tensor:
    """The component (n, 1, h, w) with the sign that correlates with the sum over channels of values (n, K, h, w).

    Without correlation the sign stays.
    """
    total = values.double().sum(dim=1, keepdim=True)
    total = total - total.mean(dim=(2, 3), keepdim=True)
    space = (1, 2, 3)
    product = (component * total).sum(dim=space)
    size = component.square().sum(dim=space).sqrt() * values.double().square().sum(dim=space).sqrt()
    return torch.where((product < -_TIE * size).view(-1, 1, 1, 1), -component, component)


def _channel_weights(columns: Tensor) -> Tensor:
    """The first right singular vector (n, K, 1) of centred pixels by channels, its sign open."""
    if columns.shape[1] < columns.shape[2]:
        return _first_eigenvector(columns @ columns.mT)
    weights = columns @ _first_eigenvector(columns.mT @ columns)
    return torch.nn.functional.normalize(weights, dim=1)


def _first_eigenvector(grams: Tensor) -> Tensor:
    """The eigenvector of the largest eigenvalue, (n, m, 1)."""
    if grams.device.type != "cpu":
        vectors: Tensor = torch.linalg.eigh(grams).eigenvectors
        return vectors[..., -1:].clone()
    last = grams.shape[-1] - 1
    first_vectors = [eigh(gram, subset_by_index=(last, last))[1] for gram in grams.numpy()]  # torch computes all
    return torch.from_numpy(np.stack(first_vectors))


def _largest_positive(weights: Tensor) -> Tensor:
    """The vectors (n, K, 1) with the sign that makes the largest entry positive; of equal ones, the first."""
    sizes = weights.abs()
    first = (sizes >= (1 - _TIE) * sizes.amax(dim=1, keepdim=True)).int().argmax(dim=1, keepdim=True)
    return weights * weights.gather(1, first).sign()


@dataclass(frozen=True)
class Fem(ClassActivation):
    """For each pixel, the sum of the means of those channels that exceed their mean by `k` deviations there.

    The sum is rectified, which matters where means are negative. That is the paper's map. pytorch-grad-cam's sums the
    activations instead, each channel weighted by its share of such pixels. Of N pixels none is more than
    sqrt(N - 1) deviations above the mean: by default the map of a layer of 2 x 2 is zero. It costs one forward pass,
    which all share.
    """

    name = "fem"
    reference = (
        "Fuad et al. 2020, Features understanding in 3D CNNs for actions recognition in video, "
        "doi:10.1109/IPTA50016.2020.9286629"
    )
    class_dependent = False
    reads_gradients = False
    in_all = False
    quick: ClassVar = {"k": 0.5}

    k: float = param(2.0, "standard deviations above the mean from which a pixel counts")

    def map_at(self, layer: str, context: AttributionContext) -> Tensor:
        """Non-negative (n, 1, h, w); zero where the layer is constant in space."""
        activations = context.activations(layer)
        means = activations.mean(dim=(2, 3), keepdim=True)
        deviations = activations.std(dim=(2, 3), correction=0, keepdim=True)
        above = (activations > means + self.k * deviations) & (deviations > _SPREAD * means.abs())
        return weighted(means, above).clamp(min=0)
