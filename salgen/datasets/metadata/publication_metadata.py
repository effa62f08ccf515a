"""Statements that only the publisher of a data set can make: its licence, date, creators and address."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from datetime import date as calendar

from salgen.errors import SalgenError

# SPDX identifier to the name that the Hugging Face hub has for it.
LICENCES = {
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
_OF_ANY_CASE = {name.lower(): name for name in LICENCES}
_OWN_LICENCE = re.compile(r"LicenseRef-[A-Za-z0-9.-]+")
SOURCE_DATE_EPOCH = "SOURCE_DATE_EPOCH"
_URL = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]+)?(?:[/?#][!-~]*)?")


@dataclass(frozen=True)
class PublicationMetadata:
    """The statements of a publisher."""

    # of the data set: an SPDX identifier of `LICENCES`, a URL, or `LicenseRef-...`
    licence: str
    date: str  # YYYY-MM-DD
    # names of people or organisations; if there are none, salgen is named as the creator
    creators: tuple[str, ...] = ()
    url: str | None = None  # where the data set is to be found, or None

    def __post_init__(self) -> None:
        if self.licence not in LICENCES and not _OWN_LICENCE.fullmatch(self.licence) and not _is_url(self.licence):
            raise SalgenError(f"licence {self.licence!r} is unknown: give {_choices()}")
        if not _is_date(self.date):
            raise SalgenError(f"date {self.date!r}: write it as YYYY-MM-DD, such as 2025-03-31")
        if not all(name.strip() and name.isprintable() for name in self.creators):
            raise SalgenError(f"creators {', '.join(map(repr, self.creators))}: give names in one line each")
        if self.url is not None and not _is_url(self.url):
            raise SalgenError(f"url {self.url!r}: give the address of the data set, https://...")

    @property
    def licence_url(self) -> str | None:
        """The address of the licence's text, or None for a ``LicenseRef-...``."""
        if self.licence in LICENCES:
            return f"https://spdx.org/licenses/{self.licence}"
        return self.licence if _is_url(self.licence) else None


def stated(
    licence: str | None, date: str | None, creators: Sequence[str] = (), url: str | None = None
) -> PublicationMetadata:
    """Check the statements of a publisher; the licence must be among them.

    Identifiers of licences may be in upper or lower case. The date of publication, which Croissant requires, is by
    default :func:`publication_day`.
    """
    if not licence:
        raise SalgenError(f"no licence is stated: give {_choices()}; salgen does not choose one for you")
    day = publication_day() if date is None else date
    return PublicationMetadata(_OF_ANY_CASE.get(licence.lower(), licence), day, tuple(creators), url)


def publication_day() -> str:
    """Today in UTC as YYYY-MM-DD, or the day of the second that the environment variable SOURCE_DATE_EPOCH names.

    References
    ----------
    https://reproducible-builds.org/specs/source-date-epoch/
    """
    stated_second = os.environ.get(SOURCE_DATE_EPOCH)
    if not stated_second:
        return datetime.now(UTC).date().isoformat()
    try:
        return datetime.fromtimestamp(int(stated_second), UTC).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise SalgenError(
            f"{SOURCE_DATE_EPOCH} = {stated_second!r}: must be seconds since 1970, such as 1795305600; or state a date"
        ) from None


def hub_licence(licence: str) -> str:
    """The hub's name of a licence; ``other`` where it has none."""
    return LICENCES.get(_OF_ANY_CASE.get(licence.lower(), ""), "other")


def _choices() -> str:
    return f"one of {', '.join(LICENCES)}, the URL of another licence (https://...), or LicenseRef-NAME"


def _is_url(text: str) -> bool:
    return _URL.fullmatch(text) is not None


def _is_date(text: str) -> bool:
    try:
        return calendar.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
