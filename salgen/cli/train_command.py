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
@click.option("--model", default=DEFAULT_MODEL, is_eager=True, help="A registered model.")
@scale
@settings
@n_trainings
@out
@click.option("--source", metavar="PATH", help="Your own material, if DATASET holds recipes only.")
@help_with(training_tables)
def command(dataset: str, model: str, pairs: tuple[str, ...], out: str | None, **options: Any) -> None:
    """Train a model on the data set DATASET.

    An interrupted training resumes where it stopped.
    """
    from salgen.evaluation.runs.pipeline import default_run
    from salgen.evaluation.training.training import train_seeds

    stated: dict[str, Any] = parse_pairs(pairs)
    scaled = {name: options[name] for name in ("scale", "n_trainings")}
    run = Path(out) if out else default_run(dataset, model, {**scaled, **stated})
    for trained in train_seeds(dataset, run, model=model, settings=stated, **options):
        click.echo(f"{trained.path}: test accuracy {trained.card.test_accuracy:.1%}")
