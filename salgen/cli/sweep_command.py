"""`salgen sweep`: how weak a cause a model and saliency methods still find."""

from typing import Any
import click
from salgen.cli import options as shared
from salgen.cli.groups import SectionedCommand
from salgen.errors import SalgenError
from salgen.parameters import parse_pairs
from salgen.registry import GENERATORS


def _tables(params: dict[str, Any]) -> dict[str, type]:
    from salgen.generators.factory import plugin_class

    name = params.get("name")
    return {f"Parameters of {name}, the numbers among them as doses": plugin_class(name)} if name else {}


@click.command(
    "sweep",
    cls=SectionedCommand,
    add_help_option=False,
    epilog="Example: salgen sweep perlin-lesions --dose depth=0.02:0.7:8 -m grad-cam",
)
@shared.plugin_name
@click.option(
    "--dose",
    metavar="PARAMETER=LOW:HIGH:COUNT",
    help="A numeric parameter and at least six values: with equal ratios, COUNTlin with even steps, or VALUE,VALUE,...",
)
@click.option("--model", default=shared.DEFAULT_MODEL, help="As for salgen evaluate.")
@shared.methods
@click.option("--methods", "method_names", metavar="A,B", help="As for salgen evaluate.")
@shared.scale
@click.option("--train", type=int, metavar="N", help="Training samples of a dose.  [default: the scale's]")
@click.option("--val", type=int, metavar="N", help="Validation samples of a dose.  [default: the scale's]")
@click.option("--test", type=int, metavar="N", help="Test samples of a dose.  [default: the scale's]")
@click.option("--seed", type=int, default=0, help="Seed of the data, the same at all doses.")
@shared.settings
@click.option(
    "--training",
    "training_pairs",
    metavar="KEY=VALUE",
    multiple=True,
    help="A training setting or parameter of the model.",
)
@shared.n_trainings
@click.option("--reliance/--no-reliance", default=None, help="As for salgen evaluate.")
@click.option("--split", help="Split to evaluate on.  [default: test]")
@click.option("--limit", type=int, metavar="N", help="Consider the first N samples of the split only.")
@click.option(
    "--shape", type=click.Choice(["logistic", "weibull", "normal"]), default="logistic", help="Function that is fitted."
)
@shared.max_memory
@click.option("--out", type=click.Path(), metavar="FOLDER", help="Folder.  [default: sweeps/NAME-PARAMETER]")
@shared.help_with(_tables)
def command(
    name: str | None,
    dose: str | None,
    method_calls: tuple[str, ...],
    method_names: str | None,
    pairs: tuple[str, ...],
    training_pairs: tuple[str, ...],
    **options: Any,
) -> None:
    """Find how weak a cause each method still finds.

    Data of the generator NAME are made and evaluated at several doses, and thresholds are fitted. A parameter of the
    generator is the dose: how strong, large or noisy the cause is. The threshold is the dose at which accuracy, or a
    method's ROC-AUC, is halfway from chance to perfect. A stopped sweep continues when the same command runs again.
    --set takes the generator's other parameters. Show them with: salgen sweep NAME --help

    The dose may be the strength of a spurious correlation (planted-artefacts). Then the sweep says
    how well each method's maps tell models that rely on it from others. Two strengths suffice.
    """
    from salgen.evaluation.sweeps.dose import Dose
    from salgen.evaluation.sweeps.sweep import sweep

    name = shared.required_name(name, GENERATORS)
    if dose is None:
        raise SalgenError("give the --dose, such as --dose depth=0.02:0.7:8; salgen sweep NAME --help lists parameters")
    counts = {split: options.pop(split) for split in ("train", "val", "test")}
    parameters = dict(parse_pairs(pairs))
    folder = sweep(
        name,
        dose,
        methods=[*method_calls, *shared.split_names(method_names, "--methods")] or None,
        splits=None if set(counts.values()) == {None} else counts,  # those not given are the scale's
        source=parameters.pop("source", None),
        parameters=parameters,
        settings=parse_pairs(training_pairs, "--training"),
        **options,
    )
    table = "detection.csv" if Dose.parse(dose, name).spurious else "thresholds.csv"
    click.echo((folder / table).read_text(encoding="utf-8"), nl=False)
    click.echo(f"report: {folder / 'report.html'}")
