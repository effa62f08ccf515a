"""`salgen score`: maps and masks of any tool, scored without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
import click
from salgen.cli.options import split_calls

if TYPE_CHECKING:
    from salgen.evaluation.scoring.file_scores import FileScores


@click.command("score", epilog="Example: salgen score maps masks --metrics roc-auc,iou:threshold=0.3")
@click.argument("maps", type=click.Path())
@click.argument("masks", type=click.Path())
@click.option(
    "--metrics",
    metavar="A,B",
    help="Metrics as name or name:key=value; families; all that take a map and a mask; or "
    "[NAME=]PACKAGE.MODULE:FUNCTION of your own.  [default: those that rank pixels]",
)
@click.option("--split", help="Split, if MASKS is a data set.  [default: test]")
@click.option("--out", metavar="FILE", type=click.Path(), help="Write each sample's scores to FILE, .csv or .parquet.")
def command(maps: str, masks: str, metrics: str | None, split: str | None, out: str | None) -> None:
    """Score any tool's saliency maps against masks.

    No model is needed. MAPS is a folder with a .npy, .npz, .safetensors or .png file for each sample. Or it is one
    .npy, .npz or .safetensors file with all of them. MASKS is the same, where pixels other than 0 are the object.
    Files are matched by their paths below MAPS and MASKS without the suffix. Or MASKS is a salgen data set, whose maps
    are named by the samples' ids, or as the images that were imported.
    """
    from salgen.evaluation.scoring.file_scores import check_suffix, score_files
    from salgen.evaluation.scoring.metric_selection import DEFAULT

    if out is not None:
        check_suffix(Path(out))
    result = score_files(maps, masks, split_calls(metrics) or DEFAULT, split)
    click.echo("\n".join(_lines(result, maps)))
    if out is not None:
        result.write(Path(out))
        click.echo(f"scores: {out}")


def _lines(result: FileScores, maps: str) -> Iterator[str]:
    """The means with their 95 % intervals over clusters, the number of values, and why others are undefined."""
    import numpy as np
    from salgen.evaluation.statistics.mean_intervals import NOTE, mean_intervals

    values = np.stack(list(result.scores.values()), axis=1)
    low, high = (np.array([metric.bounds[end] for metric in result.metrics.values()], dtype=float) for end in (0, 1))
    clusters = np.unique(result.clusters, return_inverse=True)[1]
    ends = mean_intervals(values[np.newaxis], clusters, low, high)
    count, groups = len(result.ids), len(np.unique(clusters))
    clustered = f" in {groups} clusters" if groups < count else ""
    within = f", within {result.region}" if result.region else ""
    yield f"{maps}: {count} maps{clustered}{within}; no model, hence no accuracy and no certificates of reliance"
    width = max(len("metric"), *map(len, result.metrics))
    yield f"{'metric':<{width}}   better    mean  95 % interval      n"
    for column, (name, metric) in enumerate(result.metrics.items()):
        defined = values[np.isfinite(values[:, column]), column]
        mean = f"{defined.mean():7.3f}" if len(defined) else f"{'-':>7}"
        interval = f"{ends[0][column]:.3f} to {ends[1][column]:.3f}" if np.isfinite(ends[0][column]) else "-"
        better = {True: "higher", False: "lower", None: "-"}[metric.higher_is_better]
        yield f"{name:<{width}}   {better:<6} {mean}  {interval:<16} {len(defined):>4}"
    yield NOTE
    for name in result.metrics:
        undefined = np.isnan(result.scores[name])
        reasons = Counter(why for why, absent in zip(result.scores.reasons[name], undefined, strict=True) if absent)
        for why, times in reasons.items():
            yield f"undefined, {name}: {times} ({why.replace('_', ' ')})"
