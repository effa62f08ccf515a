"""What is published: the statements of its publisher, and the release that archives, Zenodo and the hub take."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from datetime import date as calendar
from pathlib import Path
from salgen.errors import SalgenError, readable

# SPDX identifier to the name that the Hugging Face hub has for it.
LICENSES = {
    "CC0-1.0": "cc0-1.0",
    "CC-BY-4.0": "cc-by-4.0",
    "CC-BY-SA-4.0": "cc-by-sa-4.0",
    "CC-BY-NC-4.0": "cc-by-nc-4.0",
    "CC-BY-NC-SA-4.0": "cc-by-nc-sa-4.0",
    "CC-BY-ND-4.0": "cc-by-nd-4.0",
    "CC-BY-NC-ND-4.0": "cc-by-nc-nd-4.0",
    "ODbL-1.0": "odbl",
    "ODC-By-1.0": "odc-by",
    "PDDL-1.0": "pddl",
    "MIT": "mit",
    "Apache-2.0": "apache-2.0",
    "BSD-2-Clause": "bsd-2-clause",
    "BSD-3-Clause": "bsd-3-clause",
}
_OF_ANY_CASE = {name.lower(): name for name in LICENSES}
_OWN_LICENSE = re.compile(r"LicenseRef-[A-Za-z0-9.-]+")
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]+)?(?:[/?#][!-~]*)?")
Files = Mapping[str, Path | bytes]


@dataclass(frozen=True)
class PublicationMetadata:
    """The statements of a publisher."""

    license: str  # an SPDX identifier of `LICENSES`, a URL, or `LicenseRef-...`
    date: str  # YYYY-MM-DD
    creators: tuple[str, ...] = ()  # people or organisations; if there are none, salgen is named as the creator
    url: str | None = None  # where the data set is to be found

    def __post_init__(self) -> None:
        if self.license not in LICENSES and not _OWN_LICENSE.fullmatch(self.license) and not _is_url(self.license):
            raise SalgenError(f"license {self.license!r} is unknown: give {_choices()}")
        try:
            known = calendar.fromisoformat(self.date).isoformat() == self.date
        except ValueError:
            known = False
        if not known:
            raise SalgenError(f"date {self.date!r}: write it as YYYY-MM-DD, such as 2025-03-31")
        if not all(name.strip() and name.isprintable() for name in self.creators):
            raise SalgenError(f"creators {', '.join(map(repr, self.creators))}: give names in one line each")
        if self.url is not None and not _is_url(self.url):
            raise SalgenError(f"url {self.url!r}: give the address of the data set, https://...")

    @property
    def license_url(self) -> str | None:
        """The address of the license's text, or None for a ``LicenseRef-...``."""
        if self.license in LICENSES:
            return f"https://spdx.org/licenses/{self.license}"
        return self.license if _is_url(self.license) else None


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


def stated(
    license: str | None, date: str | None, creators: Sequence[str] = (), url: str | None = None
) -> PublicationMetadata:
    """Check the statements of a publisher; the license must be among them, in upper or lower case.

    The date is by default today in UTC, or the day of the second that the environment variable SOURCE_DATE_EPOCH names
    (https://reproducible-builds.org/specs/source-date-epoch/).
    """
    if not license:
        raise SalgenError(f"no license is stated: give {_choices()}; salgen does not choose one for you")
    if date is None:
        second = os.environ.get("SOURCE_DATE_EPOCH")
        with readable(f"SOURCE_DATE_EPOCH = {second!r}", ": give seconds since 1970, such as 1795305600, or a date"):
            now = datetime.fromtimestamp(int(second), UTC) if second else datetime.now(UTC)
        date = now.date().isoformat()
    return PublicationMetadata(_OF_ANY_CASE.get(license.lower(), license), date, tuple(creators), url)


def hub_license(license: str) -> str:
    """The hub's name of a license; ``other`` where it has none."""
    return LICENSES.get(_OF_ANY_CASE.get(license.lower(), ""), "other")


def _choices() -> str:
    return f"one of {', '.join(LICENSES)}, the URL of another license (https://...), or LicenseRef-NAME"


def _is_url(text: str) -> bool:
    return _URL.fullmatch(text) is not None
