"""`salgen train`: models for a data set."""

from pathlib import Path
from typing import Any
import click
from salgen.cli.options import DEFAULT_MODEL, help_with, n_trainings, out, scale, settings, training_tables
from salgen.parameters import parse_pairs


@click.command(
    "train", add_help_option=False, epilog="Example: salgen train lesions --model lesion-cnn --set epochs=20"
)
@click.argument("dataset", type=click.Path())
@click.option("--model", default=DEFAULT_MODEL, is_eager=True, show_default=True, help="A registered model.")
@scale
@settings
@n_trainings
@out
@click.option("--source", metavar="PATH", help="Your own material, if DATASET holds recipes only.")
@help_with(training_tables)
def command(
    dataset: str,
    model: str,
    scale: str,
    pairs: tuple[str, ...],
    n_trainings: int | None,
    out: str | None,
    source: str | None,
) -> None:
    """Train a model on the data set DATASET.

    An interrupted training resumes where it stopped.
    """
    from salgen.evaluation.runs.pipeline import default_run
    from salgen.evaluation.training.training import train_seeds

    stated: dict[str, Any] = parse_pairs(pairs)
    run = Path(out) if out else default_run(dataset, model, {"scale": scale, "n_trainings": n_trainings, **stated})
    options: dict[str, Any] = {"model": model, "scale": scale, "settings": stated, "n_trainings": n_trainings}
    for trained in train_seeds(dataset, run, source=source, **options):
        click.echo(f"{trained.path}: test accuracy {trained.card.test_accuracy:.1%}")
