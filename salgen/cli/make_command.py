"""`salgen make`: a data set from a generator's name."""

import json
import tomllib
from pathlib import Path
from typing import Any
import click
from click.core import ParameterSource
from salgen.cli.options import help_with, plugin_name, required_name, scale, settings
from salgen.datasets.execution.executors import EXECUTORS
from salgen.errors import SalgenError, reason, unknown_name
from salgen.parameters import parse_pairs
from salgen.registry import GENERATORS, IMPORTERS
from salgen.typed_json import from_json

CONFIG = {
    "scale": str,
    "splits": dict[str, int],
    "seed": int,
    "parameters": dict[str, Any],
    "source": str,
    "workers": int,
    "executor": str,
    "ray_address": str,
    "twins": bool,
    "recipes_only": bool,
}


def _tables(params: dict[str, Any]) -> dict[str, type]:
    """The parameters of the generator or importer."""
    name = params.get("name")
    from salgen.generators.factory import plugin_class

    if not name:
        return {}
    cls = plugin_class(name)
    takes = getattr(cls, "takes", "PATH, your own copy" if name in IMPORTERS.entries else "")
    return {f"Parameters of {name}" + (f"; source={takes}" if takes else ""): cls}


@click.command("make", add_help_option=False, epilog="Example: salgen make perlin-lesions lesions --set diameter=8")
@plugin_name
@click.argument("out", required=False, type=click.Path())
@scale
@click.option("--train", type=int, metavar="N", help="Training samples.")
@click.option("--val", type=int, metavar="N", help="Validation samples.")
@click.option("--test", type=int, metavar="N", help="Test samples.")
@click.option("--seed", type=int, default=0, help="Seed of every random choice.")
@settings
@click.option(
    "--config", type=click.Path(), metavar="FILE", help="TOML or JSON file with any of: " + ", ".join(CONFIG) + "."
)
@click.option("--workers", type=int, metavar="N", help="Processes.  [default: one per core]")
@click.option("--executor", type=click.Choice(EXECUTORS), default="local", help="Where to run them.")
@click.option(
    "--ray-address",
    metavar="ADDRESS",
    help="HOST:PORT of a running Ray, or auto; all its machines must share the folder OUT, under one path.  "
    "[default: start Ray here]",
)
@click.option("--twins/--no-twins", default=True, help="Store each sample's counterfactual twin.")
@click.option(
    "--recipes-only",
    is_flag=True,
    help="Store recipes instead of pictures: images, twins and masks are rendered as they are read.",
)
@help_with(_tables)
@click.pass_context
def command(
    ctx: click.Context, /, name: str | None, out: str | None, config: str | None, pairs: tuple[str, ...], **options: Any
) -> None:
    """Make the data set NAME, in ./NAME or the folder OUT.

    With --train, --val or --test, only the splits named so are made; without them, the scale's.
    An interrupted make resumes when the same command runs again. The command line overrides the
    file of --config. Show the parameters of a generator and their defaults with: salgen make NAME --help
    """
    from salgen.datasets.making import make

    stated = [key for key in options if ctx.get_parameter_source(key) is not ParameterSource.DEFAULT]
    values = {key: options[key] for key in stated}
    splits = {split: values.pop(split) for split in ("train", "val", "test") if split in values}
    parameters = parse_pairs(pairs)
    arguments = _read_config(config) if config else {}
    source = parameters.pop("source", arguments.get("source"))
    arguments |= values
    arguments["splits"] = {**arguments.get("splits", {}), **splits} or None
    arguments["parameters"] = {**arguments.get("parameters", {}), **parameters}
    arguments["source"] = source
    say_made(make(required_name(name, GENERATORS), out, **arguments))


def say_made(folder: Path) -> None:
    """Print what a data set is, and the command that shows it."""
    from salgen.datasets.format.manifest import read_manifest

    described = read_manifest(folder)
    click.echo("\n".join(filter(None, (described.summary, described.notes))))
    click.echo(f"{folder}: look at it with  salgen show {folder}")


def _read_config(path: str) -> dict[str, Any]:
    """The settings of a TOML or JSON file."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        values = from_json(json.loads(text) if path.endswith(".json") else tomllib.loads(text), dict[str, Any])
        if unknown := sorted(values.keys() - CONFIG):
            raise unknown_name("key", unknown[0], CONFIG)
        return {key: from_json(value, CONFIG[key], key) for key, value in values.items()}
    except (SalgenError, OSError, ValueError, RecursionError) as error:
        raise SalgenError(f"--config {path}: {reason(error)}") from None
