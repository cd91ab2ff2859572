"""Find the command that is asked for, run it, and say in one line what went wrong."""

import io
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module

import click

from budgetsvm._common.public import public_in
from budgetsvm.cli._options.shell_words import in_words_of_the_shell

_FAILED, _MISUSED = 1, 2
_INTERRUPTED = 130  # 128 + SIGINT, as shells report it

#: The commands, each a module of its own; what is slow to import is imported when it runs.
COMMANDS = ("train", "predict", "evaluate", "report", "cv", "scale", "convert", "info", "demo")


class _Commands(click.Group):
    """Commands whose modules are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"budgetsvm.cli._{cmd_name}").command
        return command


def _print_version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        from budgetsvm import __version__

        click.echo(f"budgetsvm {__version__}")
        ctx.exit()


@click.command(cls=_Commands, context_settings={"max_content_width": 100})
@click.option("--version", is_flag=True, expose_value=False, callback=_print_version, is_eager=True)
def program() -> None:
    """Kernel support vector machines with a hard limit on the number of terms.

    \b
      budgetsvm train -c 32 -g 2 -B 500 ijcnn1 ijcnn1.bsvm
      budgetsvm predict ijcnn1.t ijcnn1.bsvm predictions
      budgetsvm cv -v 5 --scale standard data.csv --target income
      budgetsvm convert ijcnn1.bsvm ijcnn1.onnx

    Results go to standard output, messages to standard error. Exit codes: 0, or 1 if the command failed, 2 if it was
    misused, 130 if it was interrupted.
    """


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Write warnings in a line: where in the program they arise says nothing to those who run it."""
    before = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"budgetsvm: warning: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = before


@contextmanager
def _whole_writes() -> Iterator[None]:
    """Let everything that is printed be written, or fail: with PYTHONUNBUFFERED, Python does not look how much was."""
    before = sys.stdout
    if not isinstance(getattr(before, "buffer", None), io.FileIO):
        yield
        return
    stream = io.BufferedWriter(io.FileIO(os.dup(before.fileno()), "w"))
    sys.stdout = io.TextIOWrapper(stream, before.encoding, before.errors, line_buffering=True)
    try:
        yield
    finally:
        own, sys.stdout = sys.stdout, before
        with suppress(BrokenPipeError):  # click has ended the program already
            own.close()


@public_in("budgetsvm.cli")
@_plain_warnings()
@_whole_writes()
def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that `argv` (or else the program's arguments) asks for; return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        The words behind the name of the program.

    Returns
    -------
    code : int
        0, or 1 if the command failed, 2 if it was misused, 130 if it was interrupted.

    Examples
    --------
    >>> from budgetsvm.cli import main
    >>> main(["info"])
    budgetsvm     ...
    0
    """
    try:
        code = program.main(argv, prog_name="budgetsvm", standalone_mode=False)
        if sys.stdout is not None:  # it was closed by whoever called
            sys.stdout.flush()
    except click.UsageError as error:
        error.show()
        return _MISUSED
    except click.ClickException as error:
        _complain(error.format_message())
        return _FAILED
    except (KeyboardInterrupt, click.Abort):
        _complain("interrupted")
        return _INTERRUPTED
    except BrokenPipeError:  # the reader has gone, as in `| head`
        _let_go_of_output()
        return _FAILED
    except (ImportError, MemoryError, OSError, ValueError) as error:
        _complain(_in_words(error))
        _let_go_of_output()
        return _FAILED
    return code if isinstance(code, int) else 0


def _in_words(error: Exception) -> str:
    """Return what has gone wrong, without the numbers of the operating system."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.strerror}: {os.fsdecode(error.filename)!r}"
    return str(error) or type(error).__name__


def _let_go_of_output() -> None:
    """Forget what could not be written: it must not raise again at exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(message: str) -> None:
    text = in_words_of_the_shell(" ".join(message.split()))
    print("budgetsvm:", text, file=sys.stderr)
