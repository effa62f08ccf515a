"""The `salgen` command: its subcommands, and the output of errors."""

import errno
import os
import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any
import click
from salgen.cli.groups import CommandGroup
from salgen.command_line import COMMAND
from salgen.errors import SalgenError, SalgenWarning, reason

COMMANDS = (
    *("list", "make", "import", "annotate", "show", "verify", "publish", "unpack"),
    *("train", "evaluate", "choose", "explain", "score", "report", "rate", "leaderboard"),
    *("reproduce", "sweep", "bench", "metrics", "find"),
)
STOPPED = 130
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


class Commands(CommandGroup):
    """The subcommands, each imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The subcommands in the order in which one uses them."""
        return list(COMMANDS)

    def load(self, name: str) -> click.Command:
        """The subcommand, imported."""
        command = import_module(f"salgen.cli.{name}_command").command
        assert isinstance(command, click.Command)
        return command


@click.command(cls=Commands, context_settings=CONTEXT)
@click.version_option(package_name="salgen", message="salgen %(version)s")
def salgen() -> None:
    """Find out which saliency methods to believe.

    Make images whose cause is known exactly, train on them, and score saliency methods:

    \b
        salgen make perlin-lesions
        salgen evaluate perlin-lesions
    """


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and turn every fault into one line and an exit status."""
    typed = COMMAND.set(["salgen", *(sys.argv[1:] if arguments is None else arguments)])
    warnings.showwarning = _show_warning(warnings.showwarning)
    try:
        salgen.main(arguments, prog_name="salgen", standalone_mode=False)
    except (SalgenError, click.ClickException) as error:
        return _fail(error.format_message() if isinstance(error, click.ClickException) else str(error))
    except (KeyboardInterrupt, click.Abort):
        print("stopped: run the same command again to continue", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:  # the reader of a pipe, such as head, has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        return _fail(_describe(error))
    except MemoryError as error:
        return _fail(f"not enough memory ({reason(error)}): ask for smaller images, or for fewer at once")
    finally:
        COMMAND.reset(typed)
    return 0


def _show_warning(usual: Callable[..., None]) -> Callable[..., None]:
    """A `warnings.showwarning` that prints salgen's own warnings in one line and passes others to `usual`."""

    def show(message: Warning | str, category: type[Warning], *details: Any, **named: Any) -> None:
        if issubclass(category, SalgenWarning):
            print(f"warning: {' '.join(str(message).split())}", file=sys.stderr)
        else:
            usual(message, category, *details, **named)

    return show


def _fail(message: str) -> int:
    print(f"error: {' '.join(message.split())}", file=sys.stderr)
    return 2


def _describe(error: OSError) -> str:
    place = f" ({error.filename})" if error.filename else ""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"the disk is full{place}: make room and run the same command again to continue"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"no permission{place}: allow to read and write there, or choose another folder"
    return f"{error.strerror or error}{place}"


if __name__ == "__main__":
    sys.exit(main())
