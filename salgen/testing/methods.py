"""The conformance checks of saliency methods."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
import numpy as np
import torch
from torch import Tensor, nn
from salgen.errors import SalgenError
from salgen.evaluation.attribution.batch_explainer import check_methods
from salgen.evaluation.attribution.explaining import explain
from salgen.evaluation.attribution.patterns import fit_patterns
from salgen.evaluation.attribution.reductions import REDUCTIONS
from salgen.evaluation.models.classifier import Classifier
from salgen.evaluation.models.inspection.model_view import ModelView
from salgen.registry import METHODS
from salgen.seeding import Stream
from salgen.types import SaliencyMap

NEEDS = {"model", "mask", "untrained", "patterns", "references"}
Ask = Callable[..., SaliencyMap]
COUNT, SIZE, CLASSES = 3, (16, 12), 3


def check_method(method: Any, channels: Sequence[int] = (1, 3)) -> None:
    """Check a saliency method on a small network, with `quick` parameters where a name is given.

    Parameters
    ----------
    method
        A registered name, or an instance.
    channels
        Numbers of channels of the images.

    Raises
    ------
    AssertionError
        If the method breaks a law; the message names it.
    """
    if isinstance(method, str):
        method = METHODS.create(method, METHODS.load(method).quick)
    _check_declaration(method)
    for count in channels:
        model, images, masks = _make_inputs(method, count)
        patterns = fit_patterns(model, images) if "patterns" in method.needs else None
        ask: Any = partial(explain, method=method, patterns=patterns, references=images)
        _check_maps(ask, method, model, images, masks)
        _check_independence(ask, method, model, images, masks)
        _check_model_untouched(ask, method, model, images, masks)


def state_of(model: nn.Module) -> str:
    """A digest of everything that explaining must not change: weights, gradients, flags, modes and hooks."""
    digest = hashlib.sha256()
    for name, tensor in [*model.named_parameters(), *model.named_buffers()]:
        gradient = None if tensor.grad is None else tensor.grad.cpu().numpy().tobytes()
        digest.update(repr((name, id(tensor), tensor.requires_grad, gradient)).encode())
        digest.update(tensor.detach().cpu().numpy().tobytes())
    for name, module in model.named_modules():
        hooks = {key: len(value) for key, value in vars(module).items() if key.endswith("_hooks") and value}
        digest.update(repr((name, id(module), module.training, getattr(module, "inplace", None), hooks)).encode())
    digest.update(repr(torch.is_grad_enabled()).encode())
    digest.update(torch.get_rng_state().numpy().tobytes())
    return digest.hexdigest()


def _check_declaration(method: Any) -> None:
    for text in ("name", "reference", "version"):
        assert getattr(method, text), f"{text} must be given"
    assert method.reduction in REDUCTIONS, f"reduction {method.reduction!r} is none of {', '.join(REDUCTIONS)}"
    assert method.needs <= NEEDS, f"needs {set(method.needs)} must be within {NEEDS}"
    for flag in ("signed", "class_dependent", "control", "shows_image"):
        assert isinstance(getattr(method, flag), bool), f"{flag} must be a bool"


def _check_maps(ask: Ask, method: Any, model: Classifier, images: Tensor, masks: Tensor) -> None:
    raw = ask(model, images, 1, masks=masks, reduce=None)
    count, _, *size = raw.values.shape
    assert (count, *size) == (COUNT, *SIZE), "raw maps must be (N, C, H, W)"
    assert raw.values.dtype == torch.float32, "maps must be float32"
    assert not raw.values.requires_grad, "maps must not carry a graph"
    assert bool(torch.isfinite(raw.values).all()), "maps of finite images must be finite"
    assert method.signed or bool((raw.values >= 0).all()), "a method that is not signed gave a negative value"
    for reduction in ("native", *REDUCTIONS):
        reduced = ask(model, images, 1, masks=masks, reduce=reduction)
        assert reduced.values.shape == (COUNT, *SIZE), f"reduce={reduction} must give (N, H, W)"
        assert reduced.signed or bool((reduced.values >= 0).all()), f"reduce={reduction} gave a negative value"


def _check_independence(ask: Ask, method: Any, model: Classifier, images: Tensor, masks: Tensor) -> None:
    """Check that a map depends on its own sample alone, and on the target only if the method declares it."""
    ids = [f"sample-{number}" for number in range(COUNT)]
    together = ask(model, images, [0, 1, 2], masks=masks, ids=ids).values
    again = ask(model, images, [0, 1, 2], masks=masks, ids=ids).values
    assert torch.equal(together, again), "the same call must give the same maps"
    scale = float(together.abs().max())
    for k in range(COUNT):
        alone = ask(model, images[k : k + 1], k, masks=masks[k : k + 1], ids=ids[k : k + 1]).values
        assert torch.allclose(alone[0], together[k], atol=1e-5 * scale, rtol=1e-4), "a map depends on its batch"
    if not method.class_dependent:
        of_other_targets = ask(model, images, [1, 2, 0], masks=masks, ids=ids).values
        assert torch.equal(together, of_other_targets), "class_dependent is False, yet the map depends on the target"


def _check_model_untouched(ask: Ask, method: Any, model: Classifier, images: Tensor, masks: Tensor) -> None:
    before, pixels = state_of(model), images.clone()
    ask(model, images, masks=masks)
    assert torch.equal(images, pixels), "the caller's images were changed"
    assert state_of(model) == before, "the caller's model was changed"
    if "model" in method.needs:
        broken = Classifier(nn.Sequential(model.network, nn.Linear(1, 1)))
        before = state_of(broken)
        try:
            ask(broken, images, 0, masks=masks)
        except (RuntimeError, SalgenError):
            assert state_of(broken) == before, "the caller's model was changed by a call that failed"
        else:
            raise AssertionError("an error of the model was swallowed")


def _make_inputs(method: Any, channels: int) -> tuple[Classifier, Tensor, Tensor]:
    """The first small network that the method is defined for, three images and their masks."""
    stream = Stream(0, "check_method", channels)
    images = torch.from_numpy(stream.uniform(COUNT * channels * SIZE[0] * SIZE[1])).float()
    images = images.view(COUNT, channels, *SIZE)
    refusals = []
    for model in small_networks(channels):
        model.train()
        for parameter in model.network.parameters():
            values = stream.normal(parameter.numel()).reshape(parameter.shape) / np.sqrt(max(1, parameter[0].numel()))
            parameter.data = torch.from_numpy(values).float()
        next(model.network.parameters()).requires_grad_(False)
        try:
            check_methods(ModelView.of(model), {"it": method}, images[:1])
        except SalgenError as error:
            refusals.append(str(error))
        else:
            return model, images, images[:, 0] > 0.8
    raise AssertionError(f"the method is defined for none of the small networks: {'; '.join(refusals)}")


def small_networks(channels: int) -> Iterator[Classifier]:
    """Convolutions with awkward flags and a dense head, the same with pooling, and two blocks of attention."""
    from torchvision.models import VisionTransformer

    yield Classifier(nn.Sequential(*_body(channels, 2), nn.Dropout(0.5), nn.Linear(24, CLASSES)), cam_layer="5")
    yield Classifier(nn.Sequential(*_body(channels, 1), nn.Linear(6, CLASSES)), cam_layer="5")
    tokens = VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=CLASSES
    )
    tokens.conv_proj = nn.Conv2d(channels, 16, 8, 8)
    yield Classifier(nn.Sequential(nn.Upsample((32, 32), mode="bilinear"), tokens))


def _body(channels: int, side: int) -> list[nn.Module]:
    return [
        nn.Conv2d(channels, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 6, 3, padding=1),
        nn.ReLU(inplace=True),
        nn.AdaptiveAvgPool2d(side),
        nn.Flatten(),
    ]
