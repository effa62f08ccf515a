"""Scores of maps against masks and models, all ranking metrics from one sort per map."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
import numpy as np
from salgen.errors import SalgenError
from salgen.evaluation.metrics.inputs.metric_inputs import COUNTERPARTS, Counterpart, Explain, MetricInputs
from salgen.evaluation.metrics.inputs.ranking import Values
from salgen.evaluation.scoring import score_arrays as arrays
from salgen.evaluation.scoring.metric_computation import aggregate_scores, compute_metrics
from salgen.evaluation.scoring.metric_selection import Metrics, check_needs, choose_metrics
from salgen.parameters import at_least, parse_call
from salgen.registry import METHODS
from salgen.types import Mask, SaliencyMap, Scores

# arguments that are checked against the maps' shape, and against their number
LIKE_MAPS: Mapping[str, Callable[..., Any]] = {
    "masks": arrays.as_masks,
    "valid": arrays.as_valid,
    "images": arrays.as_images,
    "attributions": arrays.as_attributions,
}
ONE_EACH: Mapping[str, Callable[..., Any]] = {"targets": arrays.as_targets, "correct": arrays.as_correct}


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
        nothing is made absolute.
    masks
        bool (or 0 and 1) (N, H, W), or (N, K, H, W) for K acceptable masks, of which the best counts;
        an empty one of the K is passed over. None for metrics that need no mask.
    metrics
        One or several: names, calls such as ``"prec99:compat=authors_exact"``, families, or ``"all"``, every registered
        metric that the given arguments suffice for. Also metrics of your own: an instance of a metric class; a function
        of map, float (H, W), and mask, bool (H, W), that returns a number; or ``"package.module:name"`` of either. Of a
        function, higher is better unless its attribute `higher_is_better` is False. A dict gives names.
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
        Metric name as given (of an instance its call, of a function its name) to float64 (N,). A full mask is scored
        with the reason ``trivial_full_mask``. NaN where undefined, with a reason, and in `worst_case`

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
    inputs = {name: value for name, value in locals().items() if name != "metrics"}
    data = metric_inputs_of(**inputs)
    chosen = choose_metrics(metrics, data.given)
    check_needs(chosen, data.given)
    count = 1 if data.masks is None else data.masks.shape[1]
    for name, metric in chosen.items():
        if count > 1 and metric.kind == "pair" and "mask" in metric.needs:
            raise SalgenError(f"metric {name!r} takes one mask per map: masks hold {count}; give their union, or one")
    return aggregate_scores(chosen, compute_metrics(data, chosen))


def metric_inputs_of(maps: Any, **given: Any) -> MetricInputs:
    """The inputs of metrics from arguments of :func:`salgen.score`; what is None or left out is not known."""
    given = {name: value for name, value in given.items() if value is not None}
    values = arrays.as_maps(maps)
    count, shape = len(values), values.shape
    known: dict[str, Any] = {name: check(given[name], shape) for name, check in LIKE_MAPS.items() if name in given}
    known |= {name: check(given[name], count) for name, check in ONE_EACH.items() if name in given}
    if "twins" in given:
        known["twins"] = arrays.as_twins(given["twins"], known.get("images"), count)
    if "model" in given:
        from salgen.evaluation.models.inspection.model_view import ModelView

        known["view"] = ModelView.of(given["model"])
    made = maps if isinstance(maps, SaliencyMap) else None
    method = given.get("method", made.method if made else None)
    if method is not None and not isinstance(method, str) and not callable(method) and not hasattr(method, "attribute"):
        raise SalgenError(f"method = {method!r}: give a call such as 'grad-cam', an instance, or a function")
    seed = at_least(0, given["seed"], "seed") if "seed" in given else made.seed if made else 0
    fitted, explain = _is_fitted(method), None
    explainable = method is not None and known.keys() >= {"view", "images", "targets"}
    if explainable and ("patterns" in given or not fitted):
        if callable(method):
            explain = _by_function(method, given["model"])
        else:
            how = {name: given.get(name) for name in ("max_memory", "patterns")}
            how |= {"reduce": made.reduction, "score": made.score} if made else {}
            explain = _explain_again(known["view"], method, {**how, "seed": seed})
    right, there = known.get("correct", np.ones(count, dtype=bool)), np.ones(count, dtype=bool)
    counterparts: dict[str, Counterpart] = {}
    for name in (kind for kind in COUNTERPARTS if kind in given):
        others = arrays.as_maps(given[name], name)
        if others.shape != shape:
            raise SalgenError(f"{name} have shape {others.shape} and maps {shape}: they must be alike")
        counterparts[name] = Counterpart(others, right, there)
    return MetricInputs(
        maps=values,
        counterparts=counterparts,
        max_memory=given.get("max_memory"),
        explain=explain,
        fitted=fitted,
        ids=_names(given.get("ids", made.ids if made else None), count),
        seed=seed,
        **known,
    )


def _is_fitted(method: Any) -> bool:
    """True if a method, or a call of one, is fitted to a model or compares with other images."""
    if isinstance(method, str):
        name = parse_call(method)[0]
        method = METHODS.load(name) if name in METHODS.entries else None
    return not {"patterns", "references"}.isdisjoint(getattr(method, "needs", ()))


def _names(ids: Any, count: int) -> list[str]:
    """The samples' names; "0", "1", ... by default, for which torch is not imported."""
    if ids is None:
        return [str(number) for number in range(count)]
    from salgen.evaluation.attribution.arguments import check_ids

    return check_ids(ids, count)


def _explain_again(own: Any, method: Any, how: Mapping[str, Any]) -> Explain:
    """A function that explains other images, targets or models by a method, always with the same randomness."""
    from salgen.evaluation.attribution.explaining import explain as explain_images

    def explain(pixels: Any, targets: Any, *, ids: Sequence[str], masks: Mask | None, view: Any = None) -> Values:
        view = own if view is None else view
        saliency = explain_images(view, pixels, targets, method=method, masks=masks, ids=ids, **how)
        return np.asarray(saliency.values.cpu().numpy())

    return explain


def _by_function(method: Callable[..., Any], model: Any) -> Explain:
    """A user's own function as a method; another model comes as a module from images to logits."""

    def explain(pixels: Any, targets: Any, *, ids: Sequence[str], masks: Mask | None, view: Any = None) -> Values:
        import torch

        explained_model = model if view is None else torch.nn.Sequential(view.normalise, view.network)
        given = method(explained_model, torch.as_tensor(pixels), torch.as_tensor(targets))
        maps, expected = arrays.as_maps(given, "the method's maps"), (len(pixels), *pixels.shape[2:])
        if maps.shape != expected:
            raise SalgenError(f"method gave maps of shape {maps.shape}: must be {expected}, one for each image")
        return maps

    return explain
