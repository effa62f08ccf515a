"""`salgen metrics`: checks of the metrics themselves."""

import click
from salgen.cli.groups import CommandGroup


@click.group("metrics", cls=CommandGroup)
def command() -> None:
    """Check the metrics themselves, and how far they agree."""


@command.command("check", epilog="Example: salgen metrics check roc-auc iou:threshold=0.3")
@click.argument("calls", nargs=-1, metavar="[METRIC]...")
def check(calls: tuple[str, ...]) -> None:
    """Score maps of known quality: the truth, made worse step by step.

    For each METRIC (all by default) and each kind of degradation, show whether the score falls. Its
    mean at the truth and at the last step stands beside.
    """
    from salgen.errors import SalgenError
    from salgen.evaluation.diagnostics.metric_check import DEGRADATIONS, obstacle, table, trends
    from salgen.evaluation.scoring.metric_selection import HOW_TO_GIVE, choose_metrics

    chosen = choose_metrics(list(calls) or "all", {*HOW_TO_GIVE, "training"})
    left_out = {name: obstacle(metric) for name, metric in chosen.items() if obstacle(metric)}
    if len(left_out) == len(chosen):
        raise SalgenError("; ".join(f"{name} {why}" for name, why in left_out.items()))
    click.echo(table(trends(chosen)))
    for name, degradation in DEGRADATIONS.items():
        click.echo(f"{name}: {', '.join(f'{level:g}' for level in degradation.levels)} ({degradation.unit})")
    if left_out:
        click.echo(f"left out, because they explain again, train, or have no direction: {', '.join(left_out)}")


@command.command("correlation", epilog="Example: salgen metrics correlation runs/a runs/b")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False), metavar="RUN...")
def correlation(runs: tuple[str, ...]) -> None:
    """Pearson correlation of each pair of metrics over the data sets' means (Saliency-Bench, Table 3).

    Takes three run folders or more, one for each data set. With few data sets a correlation says little.
    """
    from salgen.evaluation.diagnostics.metric_correlation import correlation_table, run_correlations

    result = run_correlations(runs)
    click.echo(correlation_table(result.correlations))
    click.echo(f"n = {result.data_sets} data sets: the fewer there are, the less a correlation says")
    if result.left_out:
        click.echo(f"left out, because not all runs have them: {', '.join(result.left_out)}")
