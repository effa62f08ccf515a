"""Copies of the split's data and of the models, kept beside a run's maps so that these can be scored elsewhere."""

from collections.abc import Sequence
from pathlib import Path

from salgen.datasets.format import manifest as manifests
from salgen.datasets.format.shards import shards_of
from salgen.datasets.reading.reader import Dataset
from salgen.errors import warn
from salgen.evaluation.runs.artifacts.saved_maps import folder_name
from salgen.evaluation.runs.evaluated_models import EvaluatedModel
from salgen.evaluation.training.checkpoints import CARD, WEIGHTS
from salgen.files import copy_file, sha256_of

DATA = "dataset"
CHECKPOINTS = "checkpoints"


def keep_for_scoring(data: Dataset, models: Sequence[EvaluatedModel], run: Path) -> None:
    """Copy the split that was evaluated, and models that lie outside the run folder, into it."""
    names = [manifests.FILE, *(shard.path for shard in shards_of(data.manifest, data.split))]
    for name in names:
        copy_file(data.path / name, run / DATA / name)
    for model in models:
        kept = checkpoint_of(run, model.name, model.seed, model.digest)
        if kept is None and (model.folder / WEIGHTS).is_file():
            copy_checkpoint(model.folder, run / CHECKPOINTS / f"{folder_name(model.name)}-seed{model.seed}")
        elif kept is None:
            message = (
                f"the weights of {model.name} are not kept: metrics that query the model cannot be scored from maps"
            )
            warn(message)


def checkpoint_of(run: Path, model: str, seed: int, digest: str) -> Path | None:
    """The folder within a run that holds a model's checkpoint with these weights, or None."""
    name = f"{folder_name(model)}-seed{seed}"
    for folder in (run / name, run / CHECKPOINTS / name):
        if (folder / CARD).is_file() and (folder / WEIGHTS).is_file() and sha256_of(folder / WEIGHTS) == digest:
            return folder
    return None


def checkpoint_files(folder: Path) -> list[Path]:
    """The files of a checkpoint: its card, its weights, and the patterns that were fitted to it."""
    return [folder / CARD, folder / WEIGHTS, *sorted(folder.glob("patterns-*.safetensors"))]


def copy_checkpoint(folder: Path, target: Path) -> None:
    """Copy the files of a checkpoint to another folder, which is made."""
    for path in checkpoint_files(folder):
        copy_file(path, target / path.name)
