"""`salgen metrics`: can the metrics themselves be believed?"""

from __future__ import annotations

import click


@click.group("metrics")
def command() -> None:
    """Check the metrics themselves, and how far they agree."""


@command.command("check")
@click.argument("calls", nargs=-1, metavar="[METRIC]...")
def check(calls: tuple[str, ...]) -> None:
    """Score maps of known quality: the truth, made worse step by step.

    For each METRIC (all by default) and each way of being wrong it says whether the score falls, with
    the mean at the truth and at the last step.
    """
    from salgen.evaluation.metric_check import DEGRADATIONS, checkable, table, trends
    from salgen.evaluation.metric_selection import choose_metrics
    from salgen.evaluation.scoring import HOW_TO_GIVE

    chosen = choose_metrics(list(calls) or "all", HOW_TO_GIVE)
    click.echo(table(trends({name: metric for name, metric in chosen.items() if checkable(metric)})))
    for name, degradation in DEGRADATIONS.items():
        click.echo(f"{name}: {', '.join(f'{level:g}' for level in degradation.levels)} ({degradation.unit})")
    left_out = [name for name, metric in chosen.items() if not checkable(metric)]
    if left_out:
        click.echo(f"no function of given maps, or without a direction: {', '.join(left_out)}")


@command.command("correlation")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False), metavar="RUN...")
def correlation(runs: tuple[str, ...]) -> None:
    """Pearson correlation of each two metrics over the data sets' means (Saliency-Bench, Table 3).

    Takes three run folders or more, one for each data set. With few data sets a correlation says little.
    """
    from salgen.evaluation.metric_correlation import correlation_table, run_correlations

    click.echo(correlation_table(run_correlations(runs)))
