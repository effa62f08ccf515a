"""`salgen publish`: an archive of a data set that others can cite, check and load."""

from __future__ import annotations

from typing import Any

import click


@click.command("publish")
@click.argument("path", type=click.Path())
@click.argument("out", type=click.Path())
@click.option("--license", "licence", metavar="SPDX", help="Your licence: CC-BY-4.0, a URL, ...  [required]")
@click.option("--date", metavar="YYYY-MM-DD", help="The day of publication.  [required]")
@click.option("--creator", "creators", multiple=True, metavar="NAME", help="Who made the data; may be repeated.")
@click.option("--url", metavar="URL", help="Where the data will be found.")
@click.option(
    "--i-may-redistribute",
    "may_redistribute",
    is_flag=True,
    help="Publish pixels whose source is not known to allow it; without this, recipes and masks only.",
)
def command(path: str, out: str, **stated: Any) -> None:
    """Write the data set at PATH into the archive OUT (.tar, .tar.gz or .zip).

    The same data set gives the same bytes. Its SHA-256 is written beside it, as OUT.sha256.
    """
    from salgen.datasets.archives.writing import publish

    archive = publish(path, out, **stated)
    click.echo(f"{archive}: check it with  salgen verify {archive}")
