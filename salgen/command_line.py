"""The command line, for records of runs and logs of data sets."""

from contextvars import ContextVar

COMMAND: ContextVar[list[str] | None] = ContextVar("command", default=None)  # set by `salgen.cli.main` alone
