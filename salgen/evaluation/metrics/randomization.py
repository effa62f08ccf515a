"""The dependence of a map on the model's weights, and on the meaning of the labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.map_similarity import SIMILARITIES, mean_similarity
from salgen.evaluation.metrics.inputs.metric import (
    CONSTANT_MAP,
    FITTED_METHOD,
    NON_FINITE_MAP,
    MaskMetric,
    Measured,
    ModelMetric,
)
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Ranking, Values
from salgen.parameters import param

if TYPE_CHECKING:
    from salgen.evaluation.models.inspection.model_view import ModelView

ORDERS = ("cascading", "independent")


@dataclass(frozen=True)
class ParameterRandomization(ModelMetric):
    """Similarity of the map with those of models whose layers are drawn anew: low for a method that reads the weights.

    A stage is a model with fresh weights in the k top layers (``order=cascading``, from the logits down), or in the
    k-th alone (``order=independent``). The method explains the same class under each, with the same randomness. The
    value is the mean similarity, over all stages, with the map of the unchanged model; ``layers=k`` takes stage k.
    Similarities, over the whole image, are

    - ``spearman`` and ``spearman-abs`` (of absolute values), rank correlation;
    - ``ssim`` of both maps scaled to [0, 1];
    - ``hog``, Pearson's correlation of histograms of oriented gradients.

    With ``smooth=N`` each map is the mean over N noisy images instead (smooth MPRT, Hedström et al. 2024). Their noise
    is normal, of `noise` times the image's range, before normalisation, and the same under every model.

    A layer is a module with a weight of two axes or more. Modules of vectors that follow it, such as its batch norm,
    belong to it. It starts anew by its own initialisation, as in `untrained`, and its batch norms at statistics 0 and
    1. Other layers keep theirs. A layer draws the same weights in every stage and both orders, by its name and the
    seed.

    Ties: tied pixels share their mean rank.
    Undefined: ``constant_map`` where the map is constant. Where only a stage's map is, its similarity is 0, and the
    value has that reason. ``ssim`` takes a constant map as 0. ``non_finite_map`` where a value of a map is not finite,
    also outside the scored region. ``fitted_method`` where training images fitted the method to the model (PatternNet),
    as its patterns would not see another.
    """

    name = "parameter-randomization"
    family = "sanity"
    needs = frozenset({"model", "method", "image", "target"})
    higher_is_better = False
    bounds = (-1.0, 1.0)
    sweep: ClassVar = {"order": ORDERS, "similarity": SIMILARITIES}
    reference = (
        "Adebayo et al. 2018, Sanity checks for saliency maps, model parameter randomization test, "
        "doi:10.48550/arXiv.1810.03292; Hedström et al. 2024, Sanity checks revisited, doi:10.48550/arXiv.2401.06465"
    )

    order: str = param("cascading", "the top layers together, or one layer at a time", choices=ORDERS)
    similarity: str = param("spearman", "how two maps are compared", choices=SIMILARITIES)
    layers: int | None = param(None, "the stage that counts, from 1; all of them by default", low=1)
    smooth: int = param(0, "noisy images that each map is averaged over; 0 for the image itself", low=0)
    noise: float = param(0.2, "standard deviation of their noise, as a share of the image's range", low=0.0)

    def measure(self, data: MetricInputs) -> Measured:
        """In [-1, 1]."""
        if data.fitted:
            return np.full(len(data), np.nan), [FITTED_METHOD] * len(data)
        smoothed = (self.smooth, self.noise) if self.smooth else None
        key = (self.name, self.order, self.layers, smoothed)
        stages = data.cached(key, lambda: self._stages(data))
        maps = data.cached((self.name, smoothed), lambda: self._explained(data, None)) if self.smooth else data.maps
        results = [
            mean_similarity(self.similarity, own, of_stages)
            if all(np.isfinite(stage_map).all() for stage_map in of_stages)
            else (math.nan, NON_FINITE_MAP)
            for own, *of_stages in zip(maps, *stages, strict=True)
        ]
        return np.array([value for value, _ in results], dtype=np.float64), [reason for _, reason in results]

    def _stages(self, data: MetricInputs) -> list[Values]:
        """Maps (N, H, W) under each stage that counts."""
        from salgen.evaluation.models.inspection.fresh_weights import layers_of, randomised

        assert data.view is not None  # the metric's `needs` names it
        layers = layers_of(data.view, data.predictor.inputs[:1])
        if self.layers is not None and self.layers > len(layers):
            raise SalgenError(
                f"{self.name}: layers = {self.layers}: the model has {len(layers)} layers with weights; take 1 to "
                f"{len(layers)}, or none for all stages"
            )
        stages = range(len(layers)) if self.layers is None else [self.layers - 1]
        models = randomised(data.view, layers, self.order == "cascading", stages, data.seed)
        return [self._explained(data, model) for model in models]

    def _explained(self, data: MetricInputs, view: ModelView | None) -> Values:
        """Maps (N, H, W) under a model, None for the evaluated one; means over noisy images if they are smoothed."""
        images = data.images
        assert images is not None  # the metric's `needs` names it
        if not self.smooth:
            return data.explained(images, data.targets, view=view)
        spread = self.noise * np.array([image.max() - image.min() for image in images]).reshape(-1, 1, 1, 1)
        streams, total = data.streams(f"{self.name} smooth"), np.zeros(data.maps.shape)
        for _ in range(self.smooth):
            drawn = np.stack([stream.normal(images[0].size) for stream in streams]).reshape(images.shape)
            total += data.explained((images + spread * drawn).astype(np.float32), data.targets, view=view)
        return total / self.smooth


@dataclass(frozen=True)
class EfficientMprt(ModelMetric):
    """Relative rise of the map's entropy when all layers are drawn anew: high for a method that reads the weights.

    It is (H' - H) / H. H is the entropy of the histogram of the map's values over the whole image, and H' that under
    the randomised model. A histogram has `bins` equal bins from the map's smallest to its largest value. All layers are
    fresh as in the last cascading stage of `parameter-randomization`. The method explains once more.

    Ties: equal values fall into one bin.
    Undefined: ``constant_map`` where the map is constant. Where only the randomised model's map is, the value is -1,
    and has that reason. ``non_finite_map`` where a value of a map is not finite. ``fitted_method`` as there.
    """

    name = "efficient-mprt"
    family = "sanity"
    needs = frozenset({"model", "method", "image", "target"})
    bounds = (-1.0, math.inf)
    in_all = False
    reference = "Hedström et al. 2024, Sanity checks revisited, eMPRT, doi:10.48550/arXiv.2401.06465"

    bins: int = param(100, "bins of the histogram of a map's values", low=2)

    def measure(self, data: MetricInputs) -> Measured:
        """At least -1."""
        from salgen.evaluation.models.inspection.fresh_weights import layers_of, randomised

        if data.fitted:
            return np.full(len(data), np.nan), [FITTED_METHOD] * len(data)
        images, view = data.images, data.view
        assert images is not None  # the metric's `needs` names both
        assert view is not None

        def fresh_maps() -> Values:
            layers = layers_of(view, data.predictor.inputs[:1])
            (model,) = randomised(view, layers, True, [len(layers) - 1], data.seed)
            return data.explained(images, data.targets, view=model)

        fresh = data.cached((self.name,), fresh_maps)
        results = [self._rise(own, other) for own, other in zip(data.maps, fresh, strict=True)]
        return np.array([value for value, _ in results], dtype=np.float64), [reason for _, reason in results]

    def _rise(self, own: Values, fresh: Values) -> tuple[float, str]:
        if not (np.isfinite(own).all() and np.isfinite(fresh).all()):
            return math.nan, NON_FINITE_MAP
        before, after = self._entropy(own), self._entropy(fresh)
        if not before:
            return math.nan, CONSTANT_MAP
        return after / before - 1, "" if after else CONSTANT_MAP

    def _entropy(self, values: Values) -> float:
        """Zero of a constant map alone."""
        low, high = float(values.min()), float(values.max())
        if low == high:
            return 0.0
        scaled = (values.astype(np.float64) / 2 - low / 2) / (high / 2 - low / 2)  # halves, whose range is finite
        counts = np.histogram(scaled, self.bins, (0.0, 1.0))[0]
        shares = counts[counts > 0] / values.size
        return float(-(shares * np.log(shares)).sum())


@dataclass(frozen=True)
class LabelRandomization(MaskMetric):
    """Similarity of the map with that of a model trained on permuted labels: low for a method that needs the labels.

    The second model has the same architecture and learnt the same images under labels in random order. Both maps
    explain the same class. Similarities are those of `parameter-randomization`, over the whole image.

    Ties: tied pixels share their mean rank.
    Undefined: ``constant_map`` and ``non_finite_map`` as in `parameter-randomization`, with the second model as the
    stage.
    """

    name = "label-randomization"
    kind = "pair"
    family = "sanity"
    needs = frozenset({"shuffled_maps"})
    regional = False
    higher_is_better = False
    bounds = (-1.0, 1.0)
    sweep: ClassVar = {"similarity": SIMILARITIES}
    ignores_position = False
    reference = (
        "Adebayo et al. 2018, Sanity checks for saliency maps, data randomization test, doi:10.48550/arXiv.1810.03292"
    )

    similarity: str = param("spearman", "how the two maps are compared", choices=SIMILARITIES)

    def __call__(self, ranking: Ranking, shuffled_map: Values, **_: Any) -> tuple[float, str]:
        """In [-1, 1]."""
        if not (np.isfinite(ranking.saliency).all() and np.isfinite(shuffled_map).all()):
            return math.nan, NON_FINITE_MAP
        return mean_similarity(self.similarity, ranking.saliency, [shuffled_map])
