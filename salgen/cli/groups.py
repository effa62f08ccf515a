"""Commands that have subcommands or many options, with their help and errors."""

import click
from salgen.errors import unknown_name


class CommandGroup(click.Group):
    """A command that shows its help without a subcommand, and suggests the nearest for an unknown one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as click does, but show the help without an error."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The subcommand, or an error with the nearest one."""
        names = self.list_commands(ctx)
        if cmd_name not in names:
            raise unknown_name("command", cmd_name, names)
        return self.load(cmd_name)

    def load(self, name: str) -> click.Command:
        """The subcommand of a known name."""
        return self.commands[name]


SECTIONS = {
    "Model": ("model", "classes", "paired_model", "paired_task"),
    "Methods and maps": ("method_calls", "method_names", "maps", "from_maps", "keep_maps", "target", "reduce", "score"),
    "Metrics": ("metrics", "mask", "redraws", "shape"),
    "Data": ("masks", "labels", "dose", "train", "val", "test", "split", "limit", "source"),
    "Training": ("scale", "pairs", "training_pairs", "n_trainings", "reliance"),
    "Output": ("out", "replace"),
    "Machine": ("max_memory", "executor", "ray_address", "workers", "compile"),
}


class SectionedCommand(click.Command):
    """A command whose help lists its many options by subject."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each subject, and one for the other options."""
        options = [option for option in self.get_params(ctx) if isinstance(option, click.Option)]
        records = {option.name: record for option in options if (record := option.get_help_record(ctx))}
        others = [name for name in records if name not in {known for names in SECTIONS.values() for known in names}]
        for title, names in {**SECTIONS, "Other": others}.items():
            if rows := [records[name] for name in names if name in records]:
                with formatter.section(title):
                    formatter.write_dl(rows, col_max=20)
