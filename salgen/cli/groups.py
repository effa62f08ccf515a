"""Commands that have subcommands, with their help and errors."""

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
