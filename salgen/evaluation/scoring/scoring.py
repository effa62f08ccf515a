"""Scores of maps against masks and models, all ranking metrics from one sort per map."""

from collections.abc import Mapping
from typing import Any

from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric import Metric
from salgen.evaluation.metrics.inputs.metric_inputs import MetricInputs
from salgen.evaluation.scoring.metric_computation import aggregate_scores, compute_metrics
from salgen.evaluation.scoring.metric_selection import Metrics, check_needs, choose_metrics
from salgen.evaluation.scoring.score_inputs import metric_inputs_of
from salgen.types import Scores


def score(
    maps: Any,
    masks: Any = None,
    metrics: Metrics = "all",
    valid: Any = None,
    twins: Any = None,
    model: Any = None,
    images: Any = None,
    targets: Any = None,
    *,
    method: Any = None,
    twin_maps: Any = None,
    patched_maps: Any = None,
    paired_maps: Any = None,
    shuffled_maps: Any = None,
    correct: Any = None,
    attributions: Any = None,
    patterns: Any = None,
    ids: Any = None,
    seed: int | None = None,
    max_memory: float | None = None,
) -> Scores:
    """Score saliency maps against ground-truth masks, and against the model that they explain.

    Parameters
    ----------
    maps
        The result of `explain`, or (N, H, W): a NumPy array or a tensor on any device, real. float32 and
        float64 are ranked in their own type, so ties are exact; others are converted. Signs count:
        nothing is made absolute. Maps on a CUDA device are scored there, and copied only for metrics that need more of
        them than counts, sums and the order of pixels.
    masks
        bool (or 0 and 1) (N, H, W), or (N, K, H, W) for K acceptable masks, of which the best counts;
        an empty one of the K is passed over. None for metrics that need no mask.
    metrics
        Names, calls such as ``"prec99:compat=authors_exact"``, metric instances, families, or ``"all"``:
        every registered metric that the given arguments suffice for. A mapping gives instances names of its
        own.
    valid
        bool (H, W) or (N, H, W): the scored region. What lies outside it is don't-care: its values,
        NaN included, and its mask pixels do not count. Metrics that ask a model look at the whole map.
    twins
        The images without the feature, one for each map: (N, C, H, W), or a list with None.
    model, images, targets
        A ``torch.nn.Module``, its images (N, C, H, W) as `explain` takes them, and the classes that the
        maps explain, integers (N,).
    method
        The method's call, for metrics that explain again; by default that of a `SaliencyMap`. Or a
        function ``(model, images, targets) -> maps``, given tensors.
    twin_maps, patched_maps, paired_maps, shuffled_maps
        As `maps`: of the twins by the same method, model and targets; of the twins with a patch that the
        model ignores, by the same; of the same images under a second model; under a model that was
        trained on permuted labels.
    correct
        bool (N,): which samples are classified rightly (where two maps are compared: both times), for
        metrics that are defined for those only; all by default.
    attributions
        Exact attributions of the classes that the maps explain, signed float (N, rows, columns); each value is the sum
        over its rectangle of the image.
    patterns
        The result of ``salgen.fit_patterns``, where the method needs it to explain again.
    ids, seed
        Keys of the randomness of metrics that have any, and of a method that explains again: by default
        those of a `SaliencyMap`, or "0", "1", ... and 0.
    max_memory
        GB that asking the model may use; half of what is free by default.

    Returns
    -------
    Scores
        Metric name as given (for an instance: its call) to float64 (N,). A full mask is scored with
        the reason ``trivial_full_mask``. NaN where undefined, with a reason, and in `worst_case`

        - NaN still, where the map is not at fault, which drops the sample for every method alike:
          ``empty_mask``, ``trivial_full_mask`` where the metric needs other pixels, ``misclassified``,
          ``no_twin``, and in runs ``patch_matters`` and ``patch_vanished``;
        - the metric's worst value, or the worst that another map has where it is unbounded, where the map
          is at fault: ``non_finite_map``, ``zero_energy``, ``too_few_negatives`` (a better map has a value
          on the same mask), and reasons of other plug-ins.

    Raises
    ------
    SalgenError
        If shapes do not fit, an array holds what it may not, a metric is unknown, or one needs
        something that is not given.

    Examples
    --------
    >>> import numpy as np
    >>> maps = np.array([[[0.9, 0.2], [0.2, 0.1]]])
    >>> masks = np.array([[[True, True], [False, False]]])
    >>> score(maps, masks, ["roc-auc", "m-gt"])
    {'roc-auc': array([0.875]), 'm-gt': array([0.75])}
    """
    second_maps = {
        "twin_maps": twin_maps,
        "patched_maps": patched_maps,
        "paired_maps": paired_maps,
        "shuffled_maps": shuffled_maps,
    }
    data = metric_inputs_of(
        maps,
        masks=masks,
        valid=valid,
        twins=twins,
        model=model,
        images=images,
        targets=targets,
        method=method,
        second_maps=second_maps,
        correct=correct,
        attributions=attributions,
        patterns=patterns,
        ids=ids,
        seed=seed,
        max_memory=max_memory,
    )
    chosen = choose_metrics(metrics, data.given)
    check_needs(chosen, data.given)
    _check_one_mask(chosen, data)
    return aggregate_scores(chosen, compute_metrics(data, chosen))


def _check_one_mask(metrics: Mapping[str, Metric], data: MetricInputs) -> None:
    count = 1 if data.masks is None else data.masks.shape[1]
    for name, metric in metrics.items():
        if count > 1 and metric.kind == "pair" and "mask" in metric.needs:
            raise SalgenError(f"metric {name!r} takes one mask per map: masks hold {count}; give their union, or one")
