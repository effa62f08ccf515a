"""`salgen verify`: is a data set what it says it is?"""

from __future__ import annotations

import click

from salgen.errors import SalgenError


@click.command("verify")
@click.argument("path", type=click.Path())
@click.option("--source", metavar="PATH", help="Your own material or copy, where the data set was made from it.")
@click.option("--samples", type=click.IntRange(0), default=32, show_default=True, help="Samples to render again.")
def command(path: str, source: str | None, samples: int) -> None:
    """Check that PATH, a data set's folder or archive, is what it says it is.

    Checksums, schema, the exactness law, and samples rendered again from their recipes; of an archive
    every byte of its headers and padding as well.
    """
    from salgen.evaluation.verifying import verify

    problems = verify(path, source=source, samples=samples)
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        raise SalgenError(f"{path}: {len(problems)} problem{'s' if len(problems) > 1 else ''}, listed above")
    click.echo(f"{path}: verified")
