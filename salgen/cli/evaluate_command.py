"""`salgen evaluate`: which methods find the cause?"""

from __future__ import annotations

from typing import Any

import click

from salgen.cli.options import (
    DEFAULT_MODEL,
    command_line,
    from_fields,
    help_with,
    max_memory,
    methods,
    out,
    scale,
    seeds,
    settings,
    training_tables,
)
from salgen.errors import SalgenError
from salgen.evaluation.conventions import Conventions
from salgen.parameters import parse_pairs


@click.command("evaluate", add_help_option=False)
@click.argument("path", type=click.Path())
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    is_eager=True,
    show_default=True,
    help="A registered model, a checkpoint's folder, or PACKAGE.MODULE:FUNCTION that returns a trained torch module.",
)
@methods
@click.option(
    "--methods",
    "method_names",
    metavar="A,B",
    help="Names and groups: all that are defined for the model, or a protocol's.  [default: all, if there is no -m]",
)
@click.option(
    "--metrics",
    metavar="A,B",
    help="Metrics as name or name:key=value; families (ranking, localization, faithfulness, contrast, sensitivity, "
    "sanity, diagnostic); or all. A value 0.3|0.5 stands for both.  [default: those that rank pixels]",
)
@click.option(
    "--paired-model",
    metavar="MODEL",
    help="A second trained model, as a checkpoint or PACKAGE.MODULE:FUNCTION, for metrics that contrast two.",
)
@max_memory
@click.option(
    "--source",
    metavar="PATH",
    help="What PATH was made from, if not the generator's own.",
)
@click.option("--split", help="Split to evaluate on.  [default: test]")
@scale
@settings
@seeds
@out
@from_fields(Conventions)
@help_with(training_tables)
def command(
    path: str,
    method_calls: tuple[str, ...],
    method_names: str | None,
    metrics: str | None,
    pairs: tuple[str, ...],
    **options: Any,
) -> None:
    """Explain, score and report on the data set PATH.

    Without a checkpoint a model is trained first; a stopped run goes on where it was.

    Controls (random, sobel, oracle and others) are always added: no table without floors and
    ceilings. --set takes training settings and parameters of the model.
    """
    from salgen.evaluation.report import console_summary, report
    from salgen.evaluation.running import evaluate

    chosen = [*method_calls, *_names(method_names, "--methods")]
    run = evaluate(
        path,
        methods=chosen or None,
        metrics=_calls(metrics) or None,
        settings=parse_pairs(pairs),
        command=command_line(),
        **options,
    )
    page = report([run])
    click.echo(console_summary([run]))
    click.echo(f"report: {page}")


def _names(text: str | None, option: str) -> list[str]:
    """Names separated by commas."""
    if text is None:
        return []
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise SalgenError(f"{option} {text!r}: give names separated by commas")
    return names


def _calls(text: str | None) -> list[str]:
    """Metrics separated by commas; what has a ``=`` and no name before it belongs to the one before."""
    calls: list[str] = []
    for piece in _names(text, "--metrics"):
        if calls and "=" in piece and ":" not in piece.partition("=")[0]:
            calls[-1] += f",{piece}"
        else:
            calls.append(piece)
    return calls
