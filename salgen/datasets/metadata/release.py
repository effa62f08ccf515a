"""A release: files, and what a catalogue says of them. Archives, Zenodo and the hub take nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from salgen.datasets.metadata.publication_metadata import PublicationMetadata

Files = Mapping[str, Path | bytes]


@dataclass(frozen=True)
class Release:
    """A data set or a run as it is published.

    Attributes
    ----------
    files
        Relative name, with ``/``, to a file on disk or the bytes of a text, in the order of the names.
    root
        What it is called, and the folder within an archive that holds everything.
    title
        What it is called when it is cited.
    card
        ``README.md``: a YAML head and Markdown.
    keywords
        What it can be found by.
    version
        ``MAJOR.MINOR.PATCH``.
    note
        What tells it from all others: a fingerprint, and what that is of.
    publication
        What its publisher states.
    """

    files: Files
    root: str
    title: str
    card: str
    keywords: Sequence[str]
    version: str
    note: str
    publication: PublicationMetadata
