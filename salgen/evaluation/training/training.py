"""Training: epochs until the stopping rule holds, each one resumable, the best by validation kept."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from importlib.metadata import version
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any
import torch
from salgen.datasets.execution.executors import processors
from salgen.datasets.format.output_folder import sole_writer
from salgen.datasets.reading.reader import Dataset, open_dataset
from salgen.errors import SalgenError
from salgen.evaluation.models.inspection.random_state import random_state
from salgen.evaluation.training import checkpoints, training_state
from salgen.evaluation.training.reliance_penalty import RedrawLoader, Redraws, check_redrawable
from salgen.evaluation.training.trainer import Trainer, batching
from salgen.evaluation.training.training_config import SPLITS, setup_of
from salgen.evaluation.training.training_data import DeviceSplit, load_split
from salgen.evaluation.training.training_settings import SEEDS, TrainingSettings, choose_settings
from salgen.files import remove_temporaries, sha256_of
from salgen.parameters import at_least, to_json
from salgen.progress import Advance, progress
from salgen.registry import MODELS
from salgen.seeding import Stream

if TYPE_CHECKING:
    from lightning_fabric import Fabric

LIBRARIES = ("salgen", "numpy", "torch", "lightning-fabric", "safetensors")


def train(
    dataset: str | Path | Dataset,
    out: str | Path,
    *,
    model: str = "lesion-cnn",
    scale: str = "small",
    settings: Mapping[str, Any] | None = None,
    seed: int = 0,
    task: str | None = None,
    images: Path | None = None,
    source: str | None = None,
) -> checkpoints.LoadedCheckpoint:
    """Train a model, or return what the same call has trained before.

    Parameters
    ----------
    dataset
        The folder or archive of a data set, or a :class:`~salgen.datasets.reading.reader.Dataset`, with the splits
        ``train``, ``val`` and ``test``.
    out
        The checkpoint's folder. An interrupted training resumes there at the epoch it was in, and ends
        with the same weights as an uninterrupted one.
    model, scale, settings
        The model and its settings, see :func:`~salgen.evaluation.training.training_settings.choose_settings`.
    seed
        Seed of the initial weights and of the order of the images.
    task
        Name of the task to learn; the data set's default task if None.
    images
        A folder with ``<split>.npy`` of each split, which stand in for the data set's images; for reliance also with
        the pixels that differ, see :class:`~salgen.evaluation.training.reliance_penalty.Redraws`.
    source
        The outside material, where the data set holds recipes only and was made from the user's own.

    Returns
    -------
    The weights of the epoch with the best validation accuracy, among equals the one with the lowest
    validation loss. The test split is measured once, on these.

    Raises
    ------
    SalgenError
        If a name or setting is wrong, `out` holds another training, or the loss is not finite.
    """
    data, out = open_dataset(dataset, None, source), Path(out)
    plugin, chosen = choose_settings(model, scale, settings)
    of_training = to_json(chosen)
    del of_training["max_memory_gb"]  # nothing depends on it
    for name in ("reliance", "missing"):
        if not of_training[name]:
            del of_training[name]  # plain trainings are called as they were before there were other kinds
    if images is not None:
        of_training["images"] = [sha256_of(images / f"{split}.npy") for split in SPLITS]
    setup = setup_of(data, task, model, to_json(plugin), seed, of_training)
    checkpoints.build_classifier(setup)  # fails early where the images are too small for the model
    if not (out / checkpoints.CARD).exists():
        if chosen.reliance:
            if setup.task != (first_task := next(iter(data.tasks))):
                raise SalgenError(f"training with reliance is about the task {first_task!r} of {data.path}")
            check_redrawable(data)
        with sole_writer(out, in_a_run=True):
            out.mkdir(parents=True, exist_ok=True)
            remove_temporaries(out)
            work = partial(_run, data=data, out=out, setup=setup, settings=chosen, images=images)
            done = (out / checkpoints.CARD).exists()  # another process may have trained meanwhile
            failure = None if done else _fabric(chosen).launch(work)
            if failure is not None:
                with suppress(OSError):
                    out.rmdir()  # only if nothing is in it
                raise failure
    checkpoints.check_same(out, checkpoints.read_card(out), setup)
    training_state.remove_state(out)
    return checkpoints.load_checkpoint(out)


def train_seeds(
    dataset: str | Path | Dataset,
    out: str | Path,
    *,
    model: str = "lesion-cnn",
    scale: str = "small",
    n_trainings: int | None = None,
    **options: Any,
) -> list[checkpoints.LoadedCheckpoint]:
    """Train with seeds 0 to `n_trainings` - 1, each into ``<out>/<model>-seed<k>``, with options of :func:`train`.

    By default one training at scale demo, three at small and five at full.
    """
    # a wrong scale is reported by `train`
    count = at_least(1, SEEDS.get(scale, 1) if n_trainings is None else n_trainings, "n_trainings")
    options |= {"model": model, "scale": scale}
    return [train(dataset, Path(out) / f"{model}-seed{seed}", seed=seed, **options) for seed in range(count)]


def _fabric(settings: TrainingSettings) -> Fabric:
    """A Fabric in this process for one device, or with a process for each of several devices."""
    from lightning_fabric import Fabric  # takes a second, and a finished training needs none
    from lightning_fabric.utilities.exceptions import MisconfigurationException

    strategy = "auto" if settings.devices == 1 else "ddp_spawn"
    try:
        return Fabric(devices=settings.devices, strategy=strategy, precision=settings.precision)  # type: ignore[arg-type]
    except (MisconfigurationException, ValueError) as error:
        reason = str(error).strip().partition("\n")[0]
        raise SalgenError(f"cannot train with devices = {settings.devices}: {reason}") from None


def _run(
    fabric: Fabric,
    data: Dataset,
    out: Path,
    setup: checkpoints.TrainingConfig,
    settings: TrainingSettings,
    images: Path | None,
) -> SalgenError | None:
    """Train and write the checkpoint; an error is returned, since a spawned process cannot raise it here."""
    try:
        classifier = checkpoints.build_classifier(setup)
        if not (out / training_state.STATE).exists():  # else the state has the weights
            MODELS.create(setup.model, setup.parameters).load_weights(classifier.network)
        split_options = setup.task, fabric.device, settings.max_memory_gb, images
        train, val = (
            load_split(data.of_split(split), *split_options, settings.label_order(setup.seed, split))
            for split in ("train", "val")
        )
        redraws = None
        if settings.reliance:
            _, steps = batching(len(train), settings.batch_size)
            workers = min(max(1, processors() // settings.devices), steps)
            redraws = RedrawLoader(Redraws.of(data, images), workers)
        learner = Trainer.prepare(fabric, classifier, settings, len(train))
        state = training_state.TrainingState()
        if (stored := training_state.read_state(out)) is not None:
            config, state, learned = stored
            checkpoints.check_same(out / training_state.STATE, config, setup)
            learner.load_state_dict(learned)
        _fit(learner, state, setup, settings, out, train, val, redraws)
        learner.classifier.load_state_dict(state.best)
        card = _card(learner, setup, state, load_split(data.of_split("test"), *split_options))
        if fabric.is_global_zero:
            checkpoints.save_checkpoint(out, state.best, card)
            training_state.remove_state(out)
    except torch.cuda.OutOfMemoryError:
        return SalgenError(f"training needs more memory than {fabric.device} has: make batch_size smaller")
    except ValueError as error:  # torch's, of a batch norm that has one value for each channel
        return SalgenError(f"training {setup.model} with batch_size = {settings.batch_size}: {error}")
    except SalgenError as error:
        return error
    finally:
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            torch.distributed.destroy_process_group()  # its threads may abort the process at exit
    return None


def _fit(
    learner: Trainer,
    state: training_state.TrainingState,
    setup: checkpoints.TrainingConfig,
    settings: TrainingSettings,
    out: Path,
    train: DeviceSplit,
    val: DeviceSplit,
    redraws: RedrawLoader | None,
) -> None:
    """Add epochs to `state` until the stopping rule holds; each leaves the state on disk."""
    images, first = learner.size * learner.steps, learner.fabric.is_global_zero
    label = f"train {setup.model} seed {setup.seed}"
    with progress(label, settings.epochs * images, "images", done=len(state.history) * images) as advance:
        told: Advance = advance if first else lambda *_: None
        while not training_state.is_over(state.history, settings):
            number, started = len(state.history), time.perf_counter()
            order = torch.from_numpy(Stream("training", setup.seed, "order", index=number).permutation(len(train)))
            shown = partial(redraws.epoch, number) if redraws else None
            weight = settings.reliance_weight(number)
            with random_state("training", setup.seed, "epoch", number, learner.fabric.global_rank):
                train_loss = learner.epoch(train, order.to(learner.fabric.device), told, shown, weight)
            trained = time.perf_counter()
            val_loss, correct = learner.measure(val)
            state.training_seconds += trained - started
            state.seconds += time.perf_counter() - started
            if not (isfinite(train_loss) and isfinite(val_loss)):
                if first:
                    training_state.remove_state(out)
                raise SalgenError(f"the loss is not finite in epoch {number + 1}: lower the learning_rate")
            state.add(training_state.Epoch(train_loss, val_loss, correct / len(val)), learner.classifier)
            if first:
                training_state.write_state(out, setup, state, learner.state_dict())


def _card(
    learner: Trainer, setup: checkpoints.TrainingConfig, state: training_state.TrainingState, test: DeviceSplit
) -> checkpoints.CheckpointMetadata:
    _, correct = learner.measure(test)
    images = learner.size * learner.steps * len(state.history)
    device = learner.fabric.device
    return checkpoints.CheckpointMetadata(
        **asdict(setup),
        history=[asdict(epoch) for epoch in state.history],
        best_epoch=training_state.best_epoch(state.history) + 1,
        test_accuracy=correct / len(test),
        test_correct=correct,
        n_test=len(test),
        chance=test.chance,
        seconds=round(state.seconds, 3),
        images_per_second=round(images / max(state.training_seconds, 1e-9), 1),
        device=torch.cuda.get_device_name(device) if device.type == "cuda" else device.type,
        versions={"python": platform.python_version(), **{name: version(name) for name in LIBRARIES}},
    )
