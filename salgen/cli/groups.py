"""Commands that have subcommands: what they say when none is given, or one that does not exist."""

from __future__ import annotations

import click

from salgen.errors import unknown_name


class Group(click.Group):
    """Shows its help without a subcommand, and names the nearest for an unknown one."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does, but help is no fault."""
        if not args and not ctx.resilient_parsing:
            click.echo(ctx.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The subcommand, or an error with the nearest one."""
        known = self.list_commands(ctx)
        if cmd_name not in known:
            raise unknown_name("command", cmd_name, known)
        return self.load(cmd_name)

    def load(self, name: str) -> click.Command:
        """The subcommand of a name that is known."""
        return self.commands[name]
