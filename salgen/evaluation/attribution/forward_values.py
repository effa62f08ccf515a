"""The network's outputs for changed images: the values that perturbation methods compare."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from salgen.evaluation.attribution.attribution_context import AttributionContext
from salgen.evaluation.models.inspection.model_view import score_gradient
from salgen.parameters import param


def output_param() -> Any:
    """The field ``output`` of a perturbation method."""
    return param(
        "probability", "what is compared: the target's probability or its score", choices=("probability", "score")
    )


def values_of(context: AttributionContext, output: str, owners: Tensor, inputs: Callable[[slice], Tensor]) -> Tensor:
    """The target's value of many changed images, made and run a part at a time.

    Parameters
    ----------
    output
        ``"probability"``, or ``"score"`` for what the context explains (a logit, or a margin).
    owners
        int64 (m,): the sample of the context that each changed image was made from.
    inputs
        Makes the normalised inputs of a part of ``range(m)``.

    Returns
    -------
    Tensor
        float64 (m,). Logits are kept for one part at a time.
    """
    values = context.inputs.new_zeros(len(owners), dtype=torch.float64)
    size = context.batches.size
    for start in range(0, len(owners), size):
        block = slice(start, start + size)
        targets = context.targets[owners[block]]
        logits = context.logits_of(len(targets), _shifted(inputs, start))
        values[block] = value_of(context, logits, targets, output)
    return values


def _shifted(inputs: Callable[[slice], Tensor], start: int) -> Callable[[slice], Tensor]:
    """The function `inputs` with its parts counted from `start`."""
    return lambda part: inputs(slice(start + part.start, start + part.stop))


def value_of(context: AttributionContext, logits: Tensor, targets: Tensor, output: str) -> Tensor:
    """The target's probability or score, float64 (m,), from logits (m, K).

    A probability is not rounded to float32, in which those of a confident network would hardly differ.
    """
    logits = logits.detach().double()
    if output == "score":
        return (logits * score_gradient(logits, targets, context.score)).sum(dim=1)
    return (context.model.probabilities(logits) * score_gradient(logits, targets, "logit")).sum(dim=1)
