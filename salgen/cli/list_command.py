"""`salgen list`: the registered plug-ins."""

from fnmatch import filter
import click
from salgen.cli.options import HYPHEN, show, write_parameters, write_rows
from salgen.errors import unknown_name
from salgen.registry import REGISTRIES, list_methods


@click.command("list", epilog="Example: salgen list methods grad-cam")
@click.argument("kind", required=False, metavar="[" + "|".join(REGISTRIES) + "]")
@click.argument("name", required=False)
def command(kind: str | None, name: str | None) -> None:
    """List generators, importers, methods, metrics and models.

    Protocols too. With a NAME, show its parameters; "*cam*" lists those that match. Methods come with their family,
    source, and cost in forward passes an image.
    """
    if kind is not None and kind not in REGISTRIES:
        raise unknown_name("kind", kind, REGISTRIES)
    formatter = click.get_current_context().make_formatter()
    if kind is not None and name is not None and "*" not in name:
        plugin = REGISTRIES[kind].load(name)
        formatter.write_text(f"{name}: {REGISTRIES[kind].entries[name].summary}".replace("-", HYPHEN))
        write_parameters(formatter, "Parameters", plugin)
    else:
        for listed_kind in [kind] if kind else REGISTRIES:
            registry = REGISTRIES[listed_kind]
            registry.check()
            with formatter.section(listed_kind):
                if kind == "methods":  # their classes load torch, so `salgen list` alone shows summaries
                    table = list_methods(name or "*", table=True)
                    rows = [
                        (name, f"{summary} [{family}; {source}; passes: {cost}]" if family else summary)
                        for name, summary, family, source, cost in table.itertuples()
                    ]
                else:
                    rows = [(entry, registry.entries[entry].summary) for entry in filter(registry.entries, name or "*")]
                write_rows(formatter, rows)
    show(formatter)
