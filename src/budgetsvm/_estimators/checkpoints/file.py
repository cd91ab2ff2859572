"""The file of a checkpoint: read once, written now and then, removed in the end."""

import os
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any, NoReturn, Self

from budgetsvm._common.checks import check_number
from budgetsvm._common.files.complete import new_beside, replacing
from budgetsvm._common.saying import say
from budgetsvm._estimators.checkpoints.contents import Contents, load_checkpoint

# How many times as long as putting together and writing a checkpoint takes the run goes on before the next one.
_REST = 200
_PART = ".part"  # behind the name of a file that is being written
_PROBE = bytes(4096)
_FIRST_BYTES = 9  # that tell whether it is worth while to read a file


class CheckpointFile:
    """Where a run leaves its state: the file is complete or not there, whenever the process is killed."""

    def __init__(self, path: Any, every: Any = 60.0, *, kept: bool = False) -> None:
        """Take note; `kept` says that whoever made this removes it, and not the fit that is done."""
        if not isinstance(path, str | os.PathLike):
            message = f"checkpoint must be the path of a file, not {path!r}"
            raise TypeError(message)
        self.path = Path(os.fsdecode(path)).expanduser().absolute()
        self.every = check_number("checkpoint_every", every, at_least=0)
        self.kept = kept
        self._last, self._took = perf_counter(), 0.0
        self._begun: float | None = (
            None  # when a state that is to be written began to be put together
        )
        self._own: Any = None  # the file that we have read or written, and no other
        self._complained = False

    @classmethod
    def of(cls, checkpoint: Any, every: Any) -> Self:
        """Return a file for the arguments of fit."""
        return checkpoint if isinstance(checkpoint, cls) else cls(checkpoint, every)

    def check_place(self) -> None:
        """Complain about a place where no file can be written, before any work is done."""
        path, folder = self.path, self.path.parent
        if not folder.is_dir():
            message = f"there is no folder {str(folder)!r} for the checkpoint: make it, or give another path"
            raise FileNotFoundError(message)
        if path.exists() and not path.is_file():
            message = f"checkpoint must be the path of a file, and {str(path)!r} is something else"
            raise ValueError(message)
        try:
            with new_beside(path.resolve(), _PART) as stream:
                stream.write(_PROBE)
        except OSError as error:
            problem = f"no checkpoint can be written to {str(path)!r} ({error.strerror or error})"
            message = f"{problem}; give another path"
            raise OSError(error.errno, message) from error
        finally:
            with suppress(OSError):
                self._part().unlink(missing_ok=True)

    def open(self) -> Contents | None:
        """Return what an earlier run has left, if it has; complains about a place that cannot be written to."""
        self.check_place()
        self._last, self._own = perf_counter(), self._mark()
        if self._own is None:
            return None
        with self.path.open("rb") as stream:
            buffer = stream.read(_FIRST_BYTES)
            if buffer.endswith(b"{"):
                buffer += stream.read()
        try:
            return load_checkpoint(buffer, f"the checkpoint {str(self.path)!r}")
        except ValueError as error:
            message = f"{error}; {self._way_out()}"
            raise ValueError(message) from error

    def refuse(self, problem: str, cause: Exception | None = None) -> NoReturn:
        """Say why a run cannot go on from this file, and what to do."""
        message = f"the checkpoint {str(self.path)!r} {problem}; {self._way_out()}"
        raise ValueError(message) from cause

    def expect(self, seconds: float) -> None:
        """Hear how long the first time will take beyond writing."""
        self._took = seconds

    def due(self) -> bool:
        """Whether to write again: after so many seconds, and later where that would take long."""
        wait = max(self.every, _REST * self._took) if self.every > 0 else 0.0
        now = perf_counter()
        self._begun = now if now - self._last >= wait else None
        return self._begun is not None

    def write(self, contents: Contents) -> None:
        """Write the file anew; a run goes on if that fails, and the file that was there stays."""
        begin = perf_counter() if self._begun is None else self._begun
        try:
            if self._mark() not in (None, self._own):
                self._complain(
                    "was changed by somebody else, and is left as it is; training goes on"
                )
                return
            with replacing(self.path, durable=True, suffix=_PART) as stream:
                for part in contents.to_bytes():
                    stream.write(part)
            self._own, self._complained = self._mark(), False
        except OSError as error:
            there = "; the one before is still there" if self._own else ""
            self._complain(
                f"could not be written ({error.strerror or error}){there}; training goes on"
            )
        finally:
            self._last = perf_counter()
            self._took = self._last - begin

    def remove(self) -> None:
        """Remove the file, if it is ours, and what a process that was killed has left of one."""
        try:
            self._part().unlink(missing_ok=True)
            if self._own is not None and self._mark() == self._own:
                self.path.resolve().unlink()
        except OSError as error:
            self._complain(f"could not be removed ({error.strerror or error}): delete it")
        self._own = None

    def _part(self) -> Path:
        path = self.path.resolve()
        return path.with_name(path.name + _PART)

    def _mark(self) -> Any:
        """Return what tells a file from another one in the same place; None: there is none."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _complain(self, problem: str) -> None:
        """Warn, but not again and again."""
        if not self._complained:
            say(f"the checkpoint {str(self.path)!r} {problem}", RuntimeWarning)
        self._complained = True

    def _way_out(self) -> str:
        return "give another path or, to begin anew, delete this file"
