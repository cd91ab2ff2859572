"""Find the command that is asked for, run it, and say in one line what went wrong."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Protocol

from budgetsvm import __version__
from budgetsvm._common.public import public_in
from budgetsvm.cli import _demo, _info

_FAILED = 1
_INTERRUPTED = 130  # 128 + SIGINT, as shells report it


class Command(Protocol):
    """A module that is a command.

    Whatever is slow to import is imported by `run`, so that help and usage errors are not kept waiting.
    """

    SUMMARY: str  #: for the list of commands

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Declare the command's options."""

    def run(self, arguments: argparse.Namespace) -> None:
        """Do what the options ask for."""


COMMANDS: dict[str, Command] = {"demo": _demo, "info": _info}


@public_in("budgetsvm.cli")
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` (or else the program's arguments) asks for; return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        The words behind the name of the program.

    Returns
    -------
    code : int
        0, or 1 if the command failed, or 130 if it was interrupted.

    Examples
    --------
    >>> from budgetsvm.cli import main
    >>> main(["info"])
    budgetsvm     ...
    0
    """
    arguments = _parser().parse_args(argv)
    try:
        arguments.command.run(arguments)
        if sys.stdout is not None:  # it was closed by whoever called
            sys.stdout.flush()
    except KeyboardInterrupt:
        _complain("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (as in `| head`); what is still buffered must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except (ImportError, MemoryError, OSError, ValueError) as error:
        _complain(str(error) or type(error).__name__)
        return _FAILED
    return 0


def _complain(message: str) -> None:
    print("budgetsvm:", " ".join(message.split()), file=sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="budgetsvm",
        description="Kernel support vector machines with a hard limit on the number of terms.",
    )
    parser.add_argument("--version", action="version", version=f"budgetsvm {__version__}")
    subparsers = parser.add_subparsers(title="commands", metavar="command", required=True)
    for name, command in COMMANDS.items():
        subparser = subparsers.add_parser(
            name,
            help=command.SUMMARY,
            description=f"{command.SUMMARY[0].upper()}{command.SUMMARY[1:]}.",
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        command.add_options(subparser)
        subparser.set_defaults(command=command)
    return parser
