"""The user's cache folder, and files in it that are complete whenever they can be seen."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
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
def replacing(path: Path) -> Iterator[Any]:
    """Write a file that appears only when it is complete: another process may be reading."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream:
        temporary = Path(stream.name)
        try:
            yield stream
            stream.close()
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one process at a time work on a file."""
    from filelock import FileLock  # slow to import, and seldom needed

    with FileLock(path.with_name(f".{path.name}.lock")):
        yield
