"""Models by how they are loaded again, for processes that are to load them for themselves."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from contextlib import chdir, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from salgen.errors import SalgenError
from salgen.evaluation.runs.evaluated_models import EvaluatedModel, load_subject

if TYPE_CHECKING:
    from torch import nn

    from salgen.datasets.reading.reader import Dataset


@dataclass(frozen=True)
class SavedSubject:
    """A model under evaluation without its weights.

    Attributes
    ----------
    given
        The checkpoint's folder, or ``package.module:function``.
    within
        The working directory in which the function is looked up; None for a checkpoint.
    weights
        Digest of modules and weights; unlike a subject's own it does not depend on what computes with them.
    known
        The other fields of the subject.
    """

    given: str
    within: Path | None
    weights: str
    known: Mapping[str, Any]

    @classmethod
    def of(cls, subject: EvaluatedModel) -> SavedSubject:
        """How a subject is loaded again, from any working directory."""
        named = ("name", "seed", "digest", "origin", "task")
        known = {**{name: getattr(subject, name) for name in named}, "folder": subject.folder.absolute()}
        by_function = subject.origin["trained_on"] is None
        given = str(subject.origin["checkpoint"] if by_function else known["folder"])
        return cls(given, Path.cwd() if by_function else None, _weights(subject.classifier), known)

    def load(self, dataset: Dataset) -> EvaluatedModel:
        """The subject, its weights on a CUDA device if this process sees one.

        Raises
        ------
        SalgenError, OSError
            If it cannot be loaded, does not fit the data, or has other weights than it had.
        """
        with nullcontext() if self.within is None else chdir(self.within):
            subject = load_subject(dataset, self.given, self.known["folder"], any_task=True)
        if _weights(subject.classifier) != self.weights:
            raise SalgenError(f"model {self.given}: it has other weights than where the run was started")
        return replace(subject, **self.known)


def _weights(classifier: nn.Module) -> str:
    digest = hashlib.sha256(repr(classifier).encode())
    for name, tensor in classifier.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
