"""Runs that leave checkpoints, or go on from one; and those of fit."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, ClassVar, Literal

from sklearn.utils import check_random_state

from budgetsvm._common.records import Fields, Record
from budgetsvm._estimators.checkpoints.contents import Contents
from budgetsvm._estimators.checkpoints.file import CheckpointFile
from budgetsvm._estimators.checkpoints.fingerprint import Digest, differences, parameter_texts
from budgetsvm._learn.keeper import Keeper

_BYTES_PER_SECOND = 5e9  # of a digest; a guess


class Run:
    """A run and its file; what was found there is of the same parameters."""

    kind: ClassVar[Literal["fit", "stream"]]

    def __init__(self, file: CheckpointFile, machine: Any, others: dict[str, Any]) -> None:
        self.file = file
        self.found = found = file.open()
        self._parameters = parameter_texts(machine, others)
        self._began, self._before = perf_counter(), 0.0
        self.seed: int | None = None  #: in the place of no random_state
        if machine.random_state is None:
            self.seed = int(check_random_state(None).randint(2**31 - 1))
        if found is None:
            return
        if found.kind != self.kind or (found.seed is None) != (self.seed is None):
            file.refuse("is not of this method of this estimator")
        differing = differences(found.parameters, self._parameters)
        if differing:
            file.refuse(f"is of a run with other parameters: {differing}")
        self.seed, self._before = found.seed, found.seconds

    def write(self, digest: str, state: Record) -> None:
        """Keep a state; `digest` is that of the data."""
        seconds = self._before + perf_counter() - self._began
        self.file.write(Contents(self.kind, self._parameters, digest, self.seed, seconds, state))

    def read(self, read: Callable[[Fields], None]) -> None:
        """Let somebody read the state that was found, which is checked as it is read."""
        if self.found is not None:
            try:
                read(Fields(self.found.state, "its state"))
            except ValueError as error:
                self.file.refuse(f"is damaged: {error}", error)


class FitRun(Run, Keeper):
    """A run of fit: keeps the state of phase 1."""

    kind = "fit"
    _data: tuple[Any, ...] = ()
    _digits = ""

    def meet(self, *data: Any, started: float) -> float:
        """Hear of the data; returns when the run began, had it not been broken off."""
        self._data, self._began = data, started
        if self.found is None:  # the sum is not needed before the first checkpoint
            self.file.expect(sum(_bytes_of(part) for part in data) / _BYTES_PER_SECOND)
        elif self._digest() != self.found.data:
            self.file.refuse("is of a run with other data: rows, targets or weights differ")
        return started - self._before

    @property
    def goes_on(self) -> bool:
        """Whether there is the state of a run that was broken off in phase 1."""
        return self.found is not None

    def due(self) -> bool:
        """Whether it is time to keep a state."""
        return self.file.due()

    def keep(self, state: Record) -> None:
        """Keep a state in the place of the one before."""
        self.write(self._digest(), state)

    def resume(self, read: Callable[[Fields], None]) -> None:
        """Let `read` take over the state that was found, if there is one."""
        self.read(read)

    def _digest(self) -> str:
        if not self._digits:
            digest = Digest()
            for part in self._data:
                digest.add(part)
            self._digits = digest.text()
        return self._digits


def _bytes_of(part: Any) -> int:
    return int(part.nbytes if hasattr(part, "nbytes") else part.data.nbytes + part.indices.nbytes)


@contextmanager
def fit_run(machine: Any, checkpoint: Any, every: Any) -> Iterator[FitRun | None]:
    """Give what leaves checkpoints of a fit, if they are wanted; after a fit that is done there are none."""
    if checkpoint is not None:
        _check_whole(machine)
    with begun(FitRun, machine, checkpoint, every, {}) as run:
        yield run


@contextmanager
def begun(
    kind: Callable[..., Any], machine: Any, checkpoint: Any, every: Any, others: dict[str, Any]
) -> Iterator[Any]:
    """Give a run of this kind, or None without a checkpoint; a run that is done leaves no file."""
    if checkpoint is None:
        yield None
        return
    given = machine.random_state
    run = kind(CheckpointFile.of(checkpoint, every), machine, others)
    if given is None:  # what is done once more draws the same numbers
        machine.random_state = run.seed
    try:
        yield run
    finally:
        machine.random_state = given
    if not run.file.kept:
        run.file.remove()


def _check_whole(machine: Any) -> None:
    """Complain about what a fit that goes on in another process has no part of."""
    if machine.warm_start:
        message = (
            "warm_start begins with the fit before, of which a checkpoint knows nothing: "
            "set warm_start=False, or leave out checkpoint"
        )
        raise ValueError(message)
    if machine.monitor is not None:
        message = (
            "a monitor watches a whole fit, and one that goes on from a checkpoint is but a part: "
            "set monitor=None, or leave out checkpoint"
        )
        raise ValueError(message)
