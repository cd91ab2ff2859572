"""The files of a command: standard input, and outputs that would destroy an input."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import click

STANDARD_INPUT = "-"


class _FileThatIsThere(click.Path):
    """A file to read: where there is none, the command has failed, as for data, and was not misused."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            raise click.ClickException(error.message) from error


class _FileToWrite(click.Path):
    """A file to write: where there is no folder for it, that is known before any work is done."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path = Path(str(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            message = f"there is no folder {str(path.parent)!r} for {path.name!r}"
            raise click.ClickException(message)
        return path


#: Data may also be a folder, a pattern, or standard input: shells complete the names of files.
DATA = click.Path(readable=False)

FILE_TO_READ = _FileThatIsThere(exists=True, dir_okay=False, path_type=Path)
FILE_TO_WRITE = _FileToWrite(dir_okay=False, path_type=Path)


@contextmanager
def as_file(path: str) -> Iterator[str]:
    """Make a file of standard input or a pipe, which can be read but once."""
    if path == STANDARD_INPUT and sys.stdin is None:
        raise OSError("there is no standard input: it was closed")
    if path != STANDARD_INPUT and not Path(path).is_fifo():
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="stdin-") as copy:
        with (
            nullcontext(sys.stdin.buffer)
            if path == STANDARD_INPUT
            else Path(path).open("rb") as pipe
        ):
            shutil.copyfileobj(pipe, copy)
        copy.flush()
        try:
            yield copy.name
        except (OSError, ValueError) as error:  # nobody knows the copy by its name
            if copy.name not in str(error):
                raise
            name = "standard input" if path == STANDARD_INPUT else path
            raise type(error)(str(error).replace(copy.name, name)) from error


def keep_apart(out: Path | None, what: str, **inputs: str | Path | None) -> None:
    """Refuse an output that is one of the inputs, which would be lost."""
    if out is None or not out.exists():
        return
    for name, given in inputs.items():
        if given is not None and any(out.samefile(path) for path in _files(str(given))):
            message = f"{what} {str(out)!r} is the file of {name.upper()}, which would be lost: give another name"
            raise click.UsageError(message)


def _files(given: str) -> list[Path]:
    """Return the files that are there; a folder or a pattern may stand for many."""
    from budgetsvm.streams._find_files import find_files

    if given == STANDARD_INPUT:
        return []
    try:
        return find_files(given)
    except (OSError, ValueError):  # whoever reads it complains in better words
        return [Path(given)] if Path(given).exists() else []
