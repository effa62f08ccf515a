"""`salgen list`: the registered plug-ins."""

import click
from salgen.cli.options import parameter_table, scale_lines
from salgen.errors import unknown_name
from salgen.registry import REGISTRIES


@click.command("list", epilog="Example: salgen list methods grad-cam")
@click.argument("kind", required=False, metavar="[" + "|".join(REGISTRIES) + "]")
@click.argument("name", required=False)
def command(kind: str | None, name: str | None) -> None:
    """List generators, importers, methods, metrics, models and protocols; with a NAME, show its parameters."""
    if kind is not None and kind not in REGISTRIES:
        raise unknown_name("kind", kind, REGISTRIES)
    if kind is not None and name is not None:
        plugin = REGISTRIES[kind].load(name)
        lines = [f"{name}: {REGISTRIES[kind].entries[name].summary}", parameter_table(plugin), *scale_lines(plugin)]
        click.echo("\n".join(lines))
        return
    for listed_kind in [kind] if kind else REGISTRIES:
        registry = REGISTRIES[listed_kind]
        registry.check()
        width = max((len(entry) for entry in registry.names()), default=0)
        click.echo(f"{listed_kind}:")
        for entry in registry.entries.values():
            click.echo(f"  {entry.name:<{width}}  {entry.summary}")
