"""Options that several commands share, and options made from dataclass fields."""

import dataclasses
import typing
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar
import click
from salgen.errors import SalgenError, SalgenWarning
from salgen.parameters import describe
from salgen.registry import Registry

Command = TypeVar("Command", bound=Callable[..., Any])

SCALES = ("demo", "small", "full")
DEFAULT_MODEL = "lesion-cnn"
HYPHEN = "\u2011"  # one after which no line is broken: names are to be copied

scale = click.option(
    "--scale",
    metavar="|".join(SCALES),
    type=click.Choice(SCALES),
    default="small",
    help="Set of defaults: small takes minutes on two cores, demo less, full is the paper's.",
)
settings = click.option("--set", "pairs", metavar="KEY=VALUE", multiple=True, help="Set a parameter; repeatable.")
out = click.option(
    "--out", metavar="RUN", type=click.Path(), help="Run folder.  [default: runs/DATASET-MODEL and other options]"
)
replace = click.option("--replace", is_flag=True, help="Remove a finished run in that folder first, with its models.")
methods = click.option(
    "-m",
    "--method",
    "method_calls",
    metavar="METHOD",
    multiple=True,
    help="[NAME=]METHOD[:KEY=VALUE,...]; repeatable. Also [NAME=]PACKAGE.MODULE:FUNCTION of your own or of another "
    "library, see docs/own_methods.md.",
)
max_memory = click.option(
    "--max-memory", metavar="GB", type=float, help="Memory for explaining.  [default: half of the free]"
)
trained_model = click.option(
    "--model",
    required=True,
    help="A trained model: a checkpoint's folder, PACKAGE.MODULE:FUNCTION that returns a torch module, "
    "torchvision:NAME:weights=FILE, timm:NAME:weights=FILE, huggingface:FOLDER or efficientnet-lite0.",
)
picture_masks = click.option(
    "--masks",
    metavar="PATH",
    multiple=True,
    help="Masks or annotations of a folder of pictures, as for salgen import. They become a data set in the current "
    "folder.",
)
picture_labels = click.option(
    "--labels", metavar="FILE", type=click.Path(), help="A table of the pictures' labels, as for salgen import."
)
n_trainings = click.option(
    "--n-trainings",
    type=click.IntRange(1),
    metavar="N",
    help="Train N models, with seeds 0 to N-1.  [default: 1 at scale demo, 3 at small, 5 at full]",
)


def from_fields(cls: type) -> Callable[[Command], Command]:
    """One option per field of a dataclass, with the field's type, default, choices and description."""

    def add(command: Command) -> Command:
        for field in reversed(dataclasses.fields(cls)):
            command = _option(field, typing.get_type_hints(cls)[field.name])(command)
        return command

    return add


def _option(field: Any, hint: Any) -> Callable[[Command], Command]:
    choices = field.metadata.get("choices")
    plain = next((kind for kind in typing.get_args(hint) if kind is not type(None)), hint)
    kind: Any = click.Choice(choices) if choices else plain
    metavar = "|".join(choices) if choices else {int: "N", bool: "BOOLEAN"}.get(plain, field.name.upper())
    text = field.metadata["help"][:1].upper() + field.metadata["help"][1:] + "."
    name = "--" + field.name.replace("_", "-")
    return click.option(name, field.name, metavar=metavar, type=kind, default=field.default, help=text)


def help_with(tables: Callable[[dict[str, Any]], dict[str, type]]) -> Callable[[Command], Command]:
    """A ``--help`` option that also shows the parameters of ``--set``.

    `tables` gives, for the parameters known so far, titles and the dataclasses whose fields to show.
    """

    def help_(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if not wanted or ctx.resilient_parsing:
            return
        formatter = ctx.make_formatter()
        ctx.command.format_help(ctx, formatter)
        for title, cls in tables(ctx.params).items():
            write_parameters(formatter, f"{title} (--set KEY=VALUE)", cls)
        show(formatter)
        ctx.exit()

    return click.option("-h", "--help", is_flag=True, expose_value=False, callback=help_, help="Show this and exit.")


def training_tables(params: dict[str, Any]) -> dict[str, type]:
    """The tables of training settings, and of the model's parameters."""
    from salgen.evaluation.training.training_settings import TrainingSettings
    from salgen.registry import MODELS

    model = params.get("model") or DEFAULT_MODEL
    models = {f"Parameters of {model}": MODELS.load(model)} if model in MODELS.entries else {}
    return {"Training settings": TrainingSettings, **models}


# Eager, so that ``NAME --help`` can show its parameters; hence not required by click.
plugin_name = click.argument("name", required=False, is_eager=True)


def required_name(name: str | None, registry: Registry) -> str:
    """The NAME, checked to be given."""
    if name is None:
        raise SalgenError(f"give the NAME of a {registry.kind}: {', '.join(registry.names())}")
    return name


def write_parameters(formatter: click.HelpFormatter, title: str, cls: type) -> None:
    """Write meaning, type and default of every parameter, and what each scale sets, within the terminal's width."""
    rows = [(p.name, f"{p.help}  [{p.type}; default: {_plain(p.default)}]") for p in describe(cls)]
    scales = {scale: getattr(values, "parameters", values) for scale, values in getattr(cls, "scales", {}).items()}
    for scale, changed in scales.items():
        if isinstance(changed, Mapping) and changed:
            rows.append((f"at scale {scale}", "; ".join(f"{key}={_plain(value)}" for key, value in changed.items())))
    with formatter.section(title):
        write_rows(formatter, rows or [("(none)", "")])


def write_rows(formatter: click.HelpFormatter, rows: Sequence[tuple[str, str]]) -> None:
    """Write names and what they mean in two columns."""
    formatter.write_dl([(name, text.replace("-", HYPHEN)) for name, text in rows], col_max=32)


def show(formatter: click.HelpFormatter) -> None:
    """Print what was written."""
    click.echo(formatter.getvalue().lstrip().replace(HYPHEN, "-"), nl=False)


def leave_low_accuracy_to_the_summary() -> None:
    """Ignore the warning of a model that has not learnt its task: the summary that follows names it too."""
    warnings.filterwarnings("ignore", ".*has not learnt the task", SalgenWarning)


def split_names(text: str | None, option: str) -> list[str]:
    """Names separated by commas."""
    if text is None:
        return []
    names = [name.strip() for name in text.split(",")]
    if "" in names:
        raise SalgenError(f"{option} {text!r}: give names separated by commas")
    return names


def split_calls(text: str | None) -> list[str]:
    """Metrics separated by commas; a ``key=value`` without a name belongs to the metric before it."""
    calls: list[str] = []
    for piece in split_names(text, "--metrics"):
        if calls and "=" in piece and ":" not in piece:
            calls[-1] += f",{piece}"
        else:
            calls.append(piece)
    return calls


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return (", " if any(isinstance(part, str) for part in value) else ",").join(map(str, value))
    return str(value).lower() if value in (True, False, None) else str(value)


def pictures_as_dataset(
    pictures: str, masks: Sequence[str], model: str, labels: str | None, parameters: Mapping[str, Any], place: str = ""
) -> str:
    """The data set of pictures with masks, all for testing, at the size and crop of the network; else as given.

    `parameters` are those of the importer `images`. It is made in the current folder by default, as pictures may lie
    where nothing can be written.
    """
    from salgen.datasets.format.manifest import FILE
    from salgen.datasets.importing import import_images
    from salgen.datasets.layouts.own_images.open_images import refuse_several_levels
    from salgen.evaluation.runs.given_models import given_inputs

    if not masks:
        return pictures
    if (Path(pictures) / FILE).exists():
        raise SalgenError(f"--masks is for a folder of pictures, and {pictures} is a data set")
    stated = {key.replace("-", "_"): value for key, value in parameters.items()}
    chosen = {"shares": (0, 0, 1), **given_inputs(model), **stated}
    if not chosen.get("mask_values"):
        refuse_several_levels(masks)
    made = Path(place, f"{Path(pictures).resolve().name}-salgen")
    return str(import_images(pictures, made, masks=masks, labels=labels, parameters=chosen))
