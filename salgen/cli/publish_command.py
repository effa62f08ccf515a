"""`salgen publish`: an archive of a data set or a run that others can cite, check and load."""

from typing import Any
import click
from salgen.errors import SalgenError

DRAFT = "uploaded as a draft, not published; look at it and publish it at"
REPOSITORY = "uploaded; a new repository is private: look at it and make it public at"


@click.command("publish", epilog="Example: salgen publish lesions lesions.tar --license CC-BY-4.0")
@click.argument("path", type=click.Path())
@click.argument("out", type=click.Path(), required=False)
@click.option("--license", metavar="SPDX", help="Your license: CC-BY-4.0, a URL, ...  [required]")
@click.option(
    "--date",
    metavar="YYYY-MM-DD",
    help="The day of publication.  [default: today in UTC, or that of SOURCE_DATE_EPOCH]",
)
@click.option("--creators", multiple=True, metavar="NAME", help="Who made it; may be repeated.")
@click.option("--url", metavar="URL", help="Where it will be available.")
@click.option(
    "--may-redistribute",
    is_flag=True,
    help="Publish pixels even if their source is not known to allow it; otherwise recipes and masks only.",
)
@click.option(
    "--to",
    metavar="PLACE",
    help="Also upload it: as a draft to zenodo: (the sandbox) or zenodo:https://zenodo.org, or, without OUT, as a "
    "private repository to hf://ORG/NAME. The token is read from ZENODO_TOKEN or HF_TOKEN. Run the same command "
    "again to retry a failed upload.",
)
@click.option("--token-file", type=click.Path(), help="A file with the token for --to, instead of the variable.")
def command(path: str, out: str | None, to: str | None, token_file: str | None, **stated: Any) -> None:
    """Write a data set or a run into an archive, or upload it.

    OUT is a .tar, .tar.gz or .zip. The same data set and the same options give the same bytes. Its SHA-256 is written
    beside it, as OUT.sha256. A Hugging Face hub (--to hf://ORG/NAME) gets the files themselves, and no OUT.
    """
    if to is not None:
        from salgen.evaluation.publishing.publishing import upload

        page = upload(path, to, out, token_file=token_file, **stated)
        click.echo(f"{out}: {DRAFT}  {page}" if out else f"{path}: {REPOSITORY}  {page}")
        return
    if token_file is not None:
        raise SalgenError("--token-file is for an upload: say where to with --to")
    if out is None:
        raise SalgenError(f"say where to write the archive: salgen publish {path} OUT.tar (.tar.gz, .zip)")
    from salgen.evaluation.publishing.publishing import publish

    archive = publish(path, out, **stated)
    click.echo(f"{archive}: check it with  salgen verify {archive}")
