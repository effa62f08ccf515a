"""`salgen rate`: a page on which people rate explanations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
import click

if TYPE_CHECKING:
    from salgen.evaluation.rating.ratings import Ratings


@click.command("rate", epilog="Example: salgen rate runs/mine --dataset lesions -m grad-cam")
@click.argument("run", type=click.Path(exists=True, file_okay=False))
@click.argument("out", required=False, type=click.Path())
@click.option("--dataset", metavar="PATH", required=True, type=click.Path(), help="The run's data set, for its images.")
@click.option(
    "-m",
    "--method",
    "methods",
    multiple=True,
    help="A method as the run names it; repeatable.  [default: the run's first five that are no controls]",
)
@click.option("--images", type=click.IntRange(1), default=20, help="Images to rate, at most.")
@click.option("--seed", type=click.IntRange(0), default=0, help="Draws the images and the orders.")
@click.option("--model", help="The model's name, where the run has several.")
@click.option("--port", type=click.IntRange(0, 65535), default=7865, help="0 takes a free one.")
@click.option("--finish", is_flag=True, help="Write the tables of what is answered, print the means, and end.")
def command(run: str, out: str | None, dataset: str, port: int, finish: bool, **options: Any) -> None:
    """Rate a run's maps in a browser, not knowing the methods.

    RUN must have kept its maps (--keep-maps). Each image is shown with its maps in a random order and without the
    methods' names. Answers are kept in RUN-ratings or the folder OUT. See docs/annotation.md.
    """
    from salgen.datasets.annotation.loopback import serve
    from salgen.datasets.format.output_folder import sole_writer
    from salgen.evaluation.rating.rating_page import rating_page
    from salgen.evaluation.rating.ratings import Ratings
    from salgen.evaluation.rating.trials import RatingTrials

    folder = Path(run) if Path(run).name else Path(run).resolve()
    target = folder.with_name(f"{folder.name}-ratings") if out is None else Path(out)

    def ratings() -> Ratings:
        return Ratings(RatingTrials.of(run, dataset, **options), target)

    if finish:
        with sole_writer(target):
            click.echo("\n".join(_lines(ratings())))
    else:
        serve(target, lambda: rating_page(ratings()), port, "rate", target / "raters")


def _lines(ratings: Ratings) -> list[str]:
    """The mean answers of each method, and the agreement."""
    from salgen.evaluation.rating.ratings import QUESTIONS, means

    agreement, rows = ratings.finish(), ratings.rows()
    found = means(rows)
    width = max(map(len, ("alpha", *found)))
    lines = [f"{'method':<{width}}  " + "  ".join(f"{question:>8}" for question in QUESTIONS)]
    for method, of in found.items():
        lines.append(f"{method:<{width}}  " + "  ".join(f"{of[q]:8.2f}" if q in of else f"{'-':>8}" for q in QUESTIONS))
    alphas = [f"{one['alpha']:8.3f}" if one["alpha"] is not None else f"{'-':>8}" for one in agreement]
    lines.append(f"{'alpha':<{width}}  " + "  ".join(alphas))
    return [*lines, f"mean answers from 1 to 5 of {', '.join(ratings.raters)}: {ratings.folder}"]
