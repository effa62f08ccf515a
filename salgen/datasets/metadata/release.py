"""A release: files and their description for a catalogue. Archives, Zenodo and the hub take nothing else."""

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
        Its name, and the folder within an archive that holds everything.
    title
        The title under which it is cited.
    card
        ``README.md``: a YAML head and Markdown.
    keywords
        Words for a search.
    version
        ``MAJOR.MINOR.PATCH``.
    note
        A unique fingerprint, and a description of it.
    publication
        The statements of its publisher.
    """

    files: Files
    root: str
    title: str
    card: str
    keywords: Sequence[str]
    version: str
    note: str
    publication: PublicationMetadata
