"""A release: files and their description for a catalogue. Archives, Zenodo and the hub take nothing else."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from salgen.datasets.metadata.publication_metadata import PublicationMetadata

Files = Mapping[str, Path | bytes]


@dataclass(frozen=True)
class Release:
    """A data set or a run as it is published."""

    files: Files  # relative name, with `/`, to a file on disk or the bytes of a text, in the order of the names
    root: str  # its name, and the folder within an archive that holds everything
    title: str  # the title under which it is cited
    card: str  # `README.md`: a YAML head and Markdown
    keywords: Sequence[str]  # words for a search
    version: str  # `MAJOR.MINOR.PATCH`
    note: str  # a unique fingerprint, and a description of it
    publication: PublicationMetadata  # the statements of its publisher
