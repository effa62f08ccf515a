"""`salgen train`: models for a data set."""

from __future__ import annotations

from pathlib import Path

import click

from salgen.cli.options import out, scale, seeds, settings
from salgen.parameters import parse_pairs


@click.command("train")
@click.argument("path", type=click.Path())
@click.option("--model", default="lesion-cnn", show_default=True, help="A registered model.")
@scale
@settings
@seeds
@out
def command(path: str, model: str, scale: str, pairs: tuple[str, ...], seeds: int, out: str | None) -> None:
    """Train MODEL on the data set PATH; a stopped training goes on where it was."""
    from salgen.evaluation.running import default_run
    from salgen.evaluation.training import train_seeds

    run = Path(out) if out else default_run(path, model)
    for trained in train_seeds(path, run, model=model, scale=scale, settings=parse_pairs(pairs), seeds=seeds):
        click.echo(f"{trained.path}: test accuracy {trained.card.test_accuracy:.1%}")
