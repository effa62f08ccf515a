"""`salgen list`: what exists."""

from __future__ import annotations

import click

from salgen.cli.options import parameter_table
from salgen.errors import unknown_name
from salgen.registry import REGISTRIES


@click.command("list")
@click.argument("kind", required=False, metavar="[" + "|".join(REGISTRIES) + "]")
@click.argument("name", required=False)
def command(kind: str | None, name: str | None) -> None:
    """List what exists; with a NAME, show its parameters."""
    if kind is not None and kind not in REGISTRIES:
        raise unknown_name("kind", kind, REGISTRIES)
    if kind is not None and name is not None:
        plugin = REGISTRIES[kind].load(name)
        click.echo(f"{name}: {REGISTRIES[kind].entries[name].summary}\n{parameter_table(plugin)}")
        for scale, values in getattr(plugin, "scales", {}).items():
            if isinstance(values, dict) and values:
                click.echo(f"  at scale {scale}: " + ", ".join(f"{key}={value}" for key, value in values.items()))
        return
    for shown in [kind] if kind else REGISTRIES:
        registry = REGISTRIES[shown]
        registry.check()
        width = max((len(entry) for entry in registry.names()), default=0)
        click.echo(f"{shown}:")
        for entry in registry.entries.values():
            click.echo(f"  {entry.name:<{width}}  {entry.summary}")
