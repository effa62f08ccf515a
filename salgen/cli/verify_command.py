"""`salgen verify`: a check that a data set or a run is what it claims to be."""

import sys
from collections.abc import Sequence
import click
from salgen.errors import SalgenError


def _count(ctx: click.Context, param: click.Parameter, value: str) -> int:
    if value != "all" and not value.isdecimal():
        raise click.BadParameter(f"{value!r} is neither a number of samples nor 'all'")
    return sys.maxsize if value == "all" else int(value)


@click.command("verify", epilog="Example: salgen verify lesions --samples all")
@click.argument("path", type=click.Path())
@click.option("--source", metavar="PATH", help="Your own material or copy, where the data set was made from it.")
@click.option("--samples", metavar="COUNT", callback=_count, default="32", help="Samples to check again, or all.")
def command(path: str, source: str | None, samples: int) -> None:
    """Check a data set or a run, or an archive of one.

    For a data set: checksums, schema, the exactness law, and samples rendered again from their recipes. For a run:
    checksums, and that its tables and models can be read. If it kept its maps, these must give the same scores again.
    For an archive also the digest beside it.
    """
    from salgen.evaluation.verification.verifying import verdict

    problems, unchecked = verdict(path, source=source, samples=samples)
    raise_problems(path, problems)
    click.echo(f"{path}: verified" + (f", in part: {unchecked}" if unchecked else ""))


def raise_problems(path: str, problems: Sequence[str]) -> None:
    """List problems on standard error, and raise a SalgenError if there are any."""
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        raise SalgenError(f"{path}: {len(problems)} problem{'s' if len(problems) > 1 else ''}, listed above")
