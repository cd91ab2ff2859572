"""The user's cache folder, and files in it that are complete whenever they can be seen."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path


def cache_folder(part: str) -> Path:
    """Return a folder of this package in the user's cache, or else in the temporary folder."""
    user = user_cache_path("budgetsvm", appauthor=False)
    for parent in (user, Path(tempfile.gettempdir(), "budgetsvm")):
        folder = parent / part
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    raise OSError("neither the user's cache folder nor the temporary folder can be written to")


@contextmanager
def replacing(path: Path, *, durable: bool = False, suffix: str = "") -> Iterator[Any]:
    """Write a file that appears only when it is complete: another process may be reading.

    A durable one is on the disk before it takes the place of what was there, has the access rights that a new
    file would have, and is written in place where there is a device, say, or what another program has opened
    (/dev/stdout, /dev/fd/3), which would not see what takes its place. With a suffix, the file has
    that behind its name while it is written: what a process that is killed leaves, the next one writes over.
    """
    with _naming(path):
        if durable and path.exists() and not (path.is_file() and _has_a_place(path)):
            with path.open("wb") as stream:
                yield stream
            return
        # The file that a link leads to, not the link.
        with _replaced(path.resolve() if durable else path, durable, suffix) as stream:
            yield stream


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let errors of the system name the file that is meant: those of a stream name none, and others a temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None or (error.filename is not None and not _is_beside(error, path)):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def _is_beside(error: OSError, path: Path) -> bool:
    """Whether an error is about a file that was to be made beside another one."""
    if not isinstance(error.filename, str):  # it may be the number of an open file
        return False
    named = Path(error.filename)
    return named.parent in (path.parent, path.resolve().parent) and not named.exists()


@contextmanager
def _replaced(path: Path, durable: bool, suffix: str) -> Iterator[Any]:
    with new_beside(path, suffix) as stream:
        temporary = Path(stream.name)
        try:
            yield stream
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
            stream.close()
            if durable:
                temporary.chmod(_rights(path))
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    if durable:
        _keep_name(path)


def _has_a_place(path: Path) -> bool:
    """Whether a file is meant by its name, and not by the number under which it is open."""
    folder = f"{path.absolute().parent}/"
    return folder not in ("/dev/", "/dev/fd/") and not folder.startswith("/proc/")


def new_beside(path: Path, suffix: str = "") -> Any:
    """Return a new file in the same folder, of any name or one with this suffix."""
    if not suffix:
        return tempfile.NamedTemporaryFile(dir=path.parent, delete=False)
    temporary = path.with_name(path.name + suffix)
    temporary.unlink(missing_ok=True)
    return temporary.open("xb")  # which follows no link that somebody else has put there


def _rights(path: Path) -> int:
    """Return the access rights of a file, or those that a new one would get."""
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0o022)  # which can only be seen by setting it
        os.umask(mask)
        return 0o666 & ~mask


def _keep_name(path: Path) -> None:
    """Have the name of a file written to the disk, where folders can be opened for that."""
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time work on a file."""
    from filelock import FileLock  # slow to import, and seldom needed

    with FileLock(path.with_name(f".{path.name}.lock")):
        yield
