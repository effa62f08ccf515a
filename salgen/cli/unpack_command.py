"""`salgen unpack`: the data set folder within an archive."""

import click
from salgen.datasets.archives.archive_formats import MOST_BYTES, MOST_MEMBERS


@click.command("unpack", epilog="Example: salgen unpack lesions.tar lesions")
@click.argument("archive", type=click.Path())
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path())
@click.option("--max-members", type=click.IntRange(1), default=MOST_MEMBERS, help="Files and folders at most.")
@click.option("--max-bytes", type=click.IntRange(1), default=MOST_BYTES, help="Bytes of all files at most.")
def command(archive: str, folder: str | None, max_members: int, max_bytes: int) -> None:
    """Unpack an ARCHIVE that 'salgen publish' wrote.

    DIR is by default called after the data set. It must not exist yet or be empty. Nothing is written outside DIR, and
    nothing is left if the archive is not safe, whole and unaltered.
    """
    from salgen.datasets.archives.unpacking import unpack
    from salgen.datasets.format.manifest import RUN

    unpacked = unpack(archive, folder, max_members=max_members, max_bytes=max_bytes)
    look = "report" if (unpacked / RUN).is_file() else "show"
    click.echo(f"{unpacked}: look at it with  salgen {look} {unpacked}")
