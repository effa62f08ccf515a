"""A classifier with its optimiser: one epoch over a split, one measurement of a split."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, LRScheduler, OneCycleLR
from salgen.evaluation.models.inspection.memory import keep_freed_memory
from salgen.evaluation.training.reliance_penalty import Redrawn, RenderBatches, reliance_penalty, twin_targets
from salgen.evaluation.training.training_data import DeviceSplit
from salgen.evaluation.training.training_settings import TrainingSettings
from salgen.progress import Advance

if TYPE_CHECKING:
    from lightning_fabric import Fabric

LEARNING = ("classifier", "optimiser", "schedule")  # the parts of a trainer that change
GRADIENT_NORM = 1.0  # the most in training for reliance; else some networks die at the highest learning rate


def batching(images: int, batch_size: int) -> tuple[int, int]:
    """Images per step over all devices, and steps per epoch; images left over wait for the next epoch's order."""
    size = min(images, batch_size)
    return size, images // size


@dataclass(frozen=True)
class Trainer:
    """A classifier under training."""

    fabric: Fabric
    classifier: nn.Module  # the classifier itself, whose weights are trained in place
    network: nn.Module  # the same, as Fabric runs it: on its device, in its precision, with gradients shared
    optimiser: Any
    schedule: LRScheduler
    size: int  # images per step over all devices
    steps: int  # steps per epoch
    augment: Callable[[Tensor], Tensor] | None  # turns and mirrors one image at random, and takes pixels away

    @classmethod
    def prepare(cls, fabric: Fabric, classifier: nn.Module, settings: TrainingSettings, images: int) -> Trainer:
        """Set a classifier up to be trained on a split of that many images."""
        keep_freed_memory()
        if fabric.device.type == "cpu":
            classifier.to(memory_format=torch.channels_last)  # two thirds of the time
        size, steps = batching(images, settings.batch_size)
        optimiser = _optimiser(classifier, settings)
        schedule = _schedule(optimiser, settings, steps)
        network, wrapped = fabric.setup(classifier, optimiser)
        return cls(fabric, classifier, network, wrapped, schedule, size, steps, augmentation(settings))

    def epoch(
        self,
        split: DeviceSplit,
        order: Tensor,
        advance: Advance,
        redraws: RenderBatches | None = None,
        weight: float = 0.0,
    ) -> float:
        """Train on the images in the given order; `redraws` and `weight` are for reliance. Returns the mean loss."""
        self.network.train()
        total = torch.zeros((), device=self.fabric.device)
        starts = range(0, self.size * self.steps, self.size)
        batches = [self._share(order[start : start + self.size]) for start in starts]
        redrawn: Iterable[Redrawn | None] = [None] * len(batches)
        if redraws is not None:
            redrawn = redraws([batch.tolist() for batch in batches])
        for batch, shown in zip(batches, redrawn, strict=True):
            if shown is not None:
                loss = self._reliance_loss(split.labels[batch], split.classes[batch], shown, weight)
            else:
                images, labels = split.batch(batch)
                if self.augment is not None:
                    images = torch.stack([self.augment(image) for image in images])
                loss = _loss(self.network(images), labels)
            self.optimiser.zero_grad()
            self.fabric.backward(loss)
            if shown is not None:
                self.fabric.clip_gradients(self.network, self.optimiser, max_norm=GRADIENT_NORM)
            self.optimiser.step()
            self.schedule.step()
            total += loss.detach()
            advance(self.size)
        return float(self._sum(total)) / self.fabric.world_size / self.steps

    def _reliance_loss(self, labels: Tensor, classes: Tensor, shown: Redrawn, weight: float) -> Tensor:
        """The loss of images and twins alike, and the penalty; all in one forward pass."""
        images, twins, has_twin = (part.to(self.fabric.device) for part in shown)
        logits = self.network(torch.cat([images, twins.flatten(0, 1)]))
        own, of_twins = logits[: len(images)], logits[len(images) :]
        taken, number = classes[has_twin], logits.shape[1]
        expected = twin_targets(labels[has_twin], taken, number).repeat_interleave(twins.shape[1], dim=0)
        loss = _loss(own, labels, "sum") + _loss(of_twins, expected, "sum", single=labels.ndim == 1)
        score = own[has_twin].gather(1, taken[:, None])[:, 0]
        twin_scores = of_twins.gather(1, taken.repeat_interleave(twins.shape[1])[:, None]).view(*twins.shape[:2])
        share = 1 if labels.ndim == 1 else 1 / number  # as the loss is the mean over the classes
        return loss / len(logits) + weight * share * reliance_penalty(score, twin_scores)

    def measure(self, split: DeviceSplit) -> tuple[float, int]:
        """Mean loss over a split, and the number of images that show their most likely class."""
        self.network.eval()
        order = torch.arange(len(split), device=self.fabric.device)
        sums = torch.zeros(2, dtype=torch.float64)
        with torch.no_grad():
            for start in range(0, len(split), self.size):
                images, labels = split.batch(self._share(order[start : start + self.size]))
                logits = self.network(images).float()
                sums += torch.stack([_loss(logits, labels, "sum"), _hits(logits, labels).sum()]).cpu()
        loss_sum, correct = self._sum(sums).tolist()
        return loss_sum / len(split), int(correct)

    def state_dict(self) -> dict[str, Any]:
        """The state that training resumes from."""
        return {part: getattr(self, part).state_dict() for part in LEARNING}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Restore what :meth:`state_dict` gave."""
        for part in LEARNING:
            getattr(self, part).load_state_dict(state[part])

    def _share(self, indices: Tensor) -> Tensor:
        """The part of a batch that this process works on."""
        return indices[self.fabric.global_rank :: self.fabric.world_size]

    def _sum(self, values: Tensor) -> Tensor:
        """The sum over all processes."""
        if self.fabric.world_size == 1:
            return values
        return cast(Tensor, self.fabric.all_reduce(values.to(self.fabric.device), reduce_op="sum"))


def _loss(logits: Tensor, labels: Tensor, reduction: str = "mean", single: bool = False) -> Tensor:
    """Cross-entropy; of several labels the mean over classes. If `single`, labels (n, K) are probabilities."""
    if labels.ndim == 1 or single:
        return cross_entropy(logits, labels, reduction=reduction)
    loss = binary_cross_entropy_with_logits(logits, labels, reduction=reduction)
    return loss / labels.shape[1] if reduction == "sum" else loss


def augmentation(settings: TrainingSettings) -> Callable[[Tensor], Tensor] | None:
    """Random changes of an image (C, H, W), or None.

    These are a turn by up to `rotation` degrees, bilinear on black, mirrorings along each axis, and missing pixels.
    """
    if not settings.rotation and not settings.flips and not settings.missing:
        return None
    from torchvision.transforms import InterpolationMode, v2

    def lacking(image: Tensor) -> Tensor:
        gone = torch.rand(image.shape[1:], device=image.device) < settings.missing
        return torch.where(gone, image.mean(dim=(1, 2), keepdim=True), image)

    changes = [
        *([v2.RandomRotation(settings.rotation, InterpolationMode.BILINEAR)] if settings.rotation else []),
        *([v2.RandomHorizontalFlip(), v2.RandomVerticalFlip()] if settings.flips else []),
        *([v2.Lambda(lacking)] if settings.missing else []),
    ]
    return cast(Callable[[Tensor], Tensor], v2.Compose(changes))


def _hits(logits: Tensor, labels: Tensor) -> Tensor:
    """True for each image that shows its most likely class, bool (n,)."""
    best = logits.argmax(dim=1)
    return best == labels if labels.ndim == 1 else labels.gather(1, best[:, None])[:, 0] > 0


def _optimiser(classifier: nn.Module, settings: TrainingSettings) -> torch.optim.Optimizer:
    weights, rate, decay = classifier.parameters(), settings.learning_rate, settings.weight_decay
    if settings.optimiser == "sgd":
        return torch.optim.SGD(weights, lr=rate, momentum=settings.momentum, weight_decay=decay)
    return torch.optim.AdamW(weights, lr=rate, weight_decay=decay)


def _schedule(optimiser: torch.optim.Optimizer, settings: TrainingSettings, steps: int) -> LRScheduler:
    if settings.schedule == "constant":
        return LambdaLR(optimiser, lambda step: 1.0)
    if settings.schedule == "cosine":
        return CosineAnnealingLR(optimiser, T_max=settings.epochs * steps)
    return OneCycleLR(optimiser, max_lr=settings.learning_rate, total_steps=settings.epochs * steps)
