"""Saliency maps of any classifier: ``salgen.explain``."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, overload
import torch
from torch import nn
from salgen.errors import SalgenError, unknown_name
from salgen.evaluation.attribution import arguments
from salgen.evaluation.attribution.attribution_context import GIVEN, Method
from salgen.evaluation.attribution.batch_explainer import BATCH_SIZE, BatchExplainer
from salgen.evaluation.attribution.foreign_methods import ForeignMethod
from salgen.evaluation.attribution.method_selection import Renamed, call_and_method, check_methods_given, create_method
from salgen.evaluation.attribution.patterns import Patterns
from salgen.evaluation.attribution.reductions import NATIVE, check_reduction
from salgen.evaluation.models.inspection.model_view import SCORES, ModelView
from salgen.parameters import at_least, parse_call
from salgen.registry import METHODS
from salgen.types import Explained, SaliencyMap


@overload
def explain(
    model: nn.Module | ModelView | None,
    images: Any,
    targets: Any = None,
    *,
    method: list[Any] | tuple[Any, ...] | Mapping[str, Any],
    **options: Any,
) -> Explained: ...


@overload
def explain(
    model: nn.Module | ModelView | None,
    images: Any,
    targets: Any = None,
    *,
    method: Any,
    preprocess: Any = None,
    baselines: Any = None,
    reduce: str | None = NATIVE,
    layer: str | Sequence[str] | None = None,
    score: str = "logit",
    masks: Any = None,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    max_memory: float | None = None,
    patterns: Patterns | None = None,
    references: Any = None,
    **parameters: Any,
) -> SaliencyMap: ...


def explain(
    model: nn.Module | ModelView | None,
    images: Any,
    targets: Any = None,
    *,
    method: Any,
    preprocess: Any = None,
    baselines: Any = None,
    reduce: str | None = NATIVE,
    layer: str | Sequence[str] | None = None,
    score: str = "logit",
    masks: Any = None,
    ids: Sequence[str] | None = None,
    seed: int = 0,
    batch_size: int | None = None,
    max_memory: float | None = None,
    patterns: Patterns | None = None,
    references: Any = None,
    **parameters: Any,
) -> SaliencyMap | Explained:
    """Saliency maps of a batch of images, by one method or several.

    The model is never changed: methods work on a private copy in evaluation mode that shares its
    weights. A map depends on its own image, id and seed, and on no other image of the call.
    Several methods share what they have in common, such as activations, gradients and modified passes.

    Parameters
    ----------
    model
        Images to logits (N, K), on any device, perhaps within what Hugging Face's classifiers return. A softmax or
        sigmoid at its end is left out, and one logit becomes two, of class 0 and class 1, with a warning. A
        :class:`~salgen.evaluation.models.classifier.Classifier`, and an ``nn.Sequential`` that begins with a
        ``Normalize`` of pixels in [0, 1], is explained at its normalised images, any other module at the images
        themselves. Controls that need no model take None; a :class:`ModelView` saves the copy where a model is
        explained many times.
    images
        Floating-point array or tensor (N, C, H, W); in [0, 1] for a network behind a normalisation.
    targets
        The class of each map: integers (N,), one integer for all, or ``"pred"`` (also None) for the
        predicted class.
    method
        A name, a call such as ``"lrp-alpha-beta:alpha=1,beta=0"``, or an instance; a function of (network, normalised
        inputs, targets) that returns maps (N, C, h, w) or (N, h, w); a class or an object of captum, pytorch-grad-cam
        or zennit; or ``"package.module:name"`` of one of these. See docs/own_methods.md. Or a list of these, or a dict
        that names those that are not salgen's.
    preprocess
        How images in [0, 1] become the network's inputs, as :func:`salgen.evaluate` takes it: (mean, std), a
        pipeline, timm's data config, an image processor or a module. It replaces the model's own normalisation.
    baselines
        What methods that have the parameter `baselines` compare an image with: ``"black"``, ``"zero"`` after
        normalisation, a pixel value, or images (C, H, W) or (N, C, H, W) like `images`. A method of captum takes it in
        the network's input space.
    reduce
        ``"native"``, another channel reduction, or None for raw attributions (N, C, H, W).
    layer
        Dotted name of the module that the CAM family uses, or several, whose maps are summed; by
        default the model's own choice.
    score
        ``"logit"`` of the target, or its ``"margin"`` over the best other class.
    masks
        Ground truth, bool (N, H, W), for the oracles.
    ids
        The samples' names, which key the randomness of stochastic methods; ``"0"``, ``"1"``, ... by
        default.
    seed
        Any non-negative integer.
    batch_size
        Images per pass, at most; 32 by default.
    max_memory
        GB that may be used on the model's device; half of what is free by default.
    patterns
        The result of ``salgen.fit_patterns``, for PatternNet and PatternAttribution.
    references
        Other images (M, C, H, W) like `images`, for ``expected-gradients``: a sample of the training images.
    **parameters
        The method's parameters; of several methods, those that have them take them.

    Returns
    -------
    SaliencyMap or Explained
        Of one method, its maps, whose `values` are a float32 tensor on the model's device. Of a list or a dict, a
        mapping of each method's call to its maps.

    Raises
    ------
    SalgenError
        If an argument is wrong, the method is not defined for the network, or the model's output is
        not finite logits.

    Examples
    --------
    >>> explain(None, torch.zeros(2, 1, 8, 8), method="center").values.shape
    torch.Size([2, 8, 8])
    >>> sorted(explain(None, torch.zeros(2, 1, 8, 8), method=["center", "sobel"]))
    ['center', 'sobel']
    """
    if layer is not None:
        parameters["layer"] = arguments.check_layers(layer)
    if baselines is not None:
        parameters["baselines"] = baselines
    several = isinstance(method, (list, tuple, Mapping))
    given = check_methods_given(method if several else [method], parameters)
    array = None if isinstance(baselines, (str, int, float)) else baselines
    if array is not None:
        parameters["baselines"] = GIVEN
    taken = [_taken(item, parameters) if several else parameters for item in given]
    if missed := sorted(parameters.keys() - {name for values in taken for name in values}):
        raise SalgenError(f"no method of the list has the parameter {missed[0]}")
    chosen = dict(call_and_method(create_method(item, values)) for item, values in zip(given, taken, strict=True))
    if reduce not in (NATIVE, None):
        check_reduction(str(reduce))
    if score not in SCORES:
        raise unknown_name("score", str(score), SCORES)
    with torch.inference_mode(False):
        pixels = arguments.check_images(images)
        count = len(pixels)
        view = _view(model, chosen).prepared(preprocess, pixels.shape[1])
        # metrics explain images that they changed, of any range, by a view
        if isinstance(model, nn.Module) and any("model" in instance.needs for instance in chosen.values()):
            arguments.check_range(pixels, view.unit_pixels)
        # other libraries check the array themselves
        own = array is not None and not all(isinstance(instance, ForeignMethod) for instance in chosen.values())
        explainer = BatchExplainer(
            view,
            methods=chosen,
            reduce=reduce,
            score=score,
            seed=at_least(0, seed, "seed"),
            pixels=pixels,
            targets=arguments.check_targets(targets, count),
            ids=arguments.check_ids(ids, count),
            masks=None if masks is None else arguments.check_masks(masks, pixels),
            patterns=patterns,
            baselines=arguments.check_baselines(array, pixels) if own else None,
            references=None if references is None else arguments.check_references(references, pixels),
        )
        most = at_least(1, BATCH_SIZE if batch_size is None else batch_size, "batch_size")
        explained = explainer.explain(max_memory, most)
    for call, maps in explained.items():
        explained[call] = dataclasses.replace(maps, images=pixels)
    return explained if several else next(iter(explained.values()))


def _taken(method: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Those of the parameters that a method of a list has."""
    if isinstance(method, ForeignMethod):
        return parameters
    given = method.given if isinstance(method, Renamed) else method
    plugin = METHODS.load(parse_call(given)[0]) if isinstance(given, str) else given
    names = {field.name for field in dataclasses.fields(plugin)} if dataclasses.is_dataclass(plugin) else set()
    return {name: value for name, value in parameters.items() if name in names}


def _view(model: Any, methods: Mapping[str, Method]) -> ModelView:
    explains = [method.name for method in methods.values() if "model" in method.needs]
    if model is None and explains:
        raise SalgenError(f"method {explains[0]!r} explains a model: give one")
    unused = model is None or (isinstance(model, nn.Module) and not explains)
    return ModelView.of(nn.Identity() if unused else model)
