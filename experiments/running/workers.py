"""Processes that do jobs: one thread each, and if one dies, the others go on."""

import json
import os
import signal
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from operator import attrgetter
from time import perf_counter
from typing import Any, TypeAlias

from experiments.running.jobs import Job

_POOLS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB", "NUMEXPR")
_PATIENCE = 0.5  # seconds between two calls of `watch`
_FAREWELL = 10.0  # seconds that an idle process may take to end


@dataclass(frozen=True)
class Done:
    """What became of a job: its result as JSON, or the traceback of its error."""

    job: Job
    seconds: float
    text: str
    failed: bool = False


_Answer: TypeAlias = tuple[bool, float, str]


@dataclass(frozen=True)
class _Worker:
    process: Any
    connection: Any

    def answer(self, job: Job) -> Done:
        """Receive what became of a job; a process that is gone has failed."""
        try:
            failed, seconds, text = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            code = self.process.exitcode
            hint = " (out of memory?)" if code == -getattr(signal, "SIGKILL", 9) else ""
            return Done(job, 0.0, f"the process ended with code {code}{hint}", failed=True)
        return Done(job, seconds, text, failed)

    def dismiss(self) -> None:
        """Let the process end by itself: killed, it would leave semaphores behind, and a warning of them."""
        self.connection.close()
        self.process.join(_FAREWELL)
        self.process.kill()
        self.process.join()


def do_jobs(
    jobs: Iterable[Job], workers: int, watch: Callable[[Sequence[Job]], None]
) -> Generator[Done, None, None]:
    """Do jobs in so many processes, and yield them as they are done.

    `watch` is called about twice a second with the jobs under way. When the caller stops, for whatever
    reason, the processes that are busy are ended at once.
    """
    waiting = list(jobs)[::-1]
    idle = [_start() for _ in range(min(workers, len(waiting)))]
    busy: dict[Any, tuple[_Worker, Job]] = {}
    try:
        while waiting or busy:
            while waiting and idle:
                worker, job = idle.pop(), waiting.pop()
                busy[worker.connection] = worker, job
                with suppress(OSError):  # it is gone; waiting for its answer tells
                    worker.connection.send(_order(job))
            watch([job for _, job in busy.values()])
            for connection in wait(list(busy), _PATIENCE):
                worker, job = busy.pop(connection)
                done = worker.answer(job)
                alive = worker.process.is_alive()
                idle += [worker if alive else _start()] if alive or waiting else []
                yield done
    finally:
        for worker, _ in busy.values():
            worker.process.kill()
            worker.process.join()
            worker.connection.close()
        for worker in idle:
            worker.dismiss()


def _start() -> _Worker:
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_work, args=(theirs,), daemon=True)
    with _one_thread(), _deaf_to_interrupts():
        process.start()
    theirs.close()
    return _Worker(process, ours)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Set what BLAS and OpenMP read when they are loaded; processes started here inherit it."""
    names = [f"{pool}_NUM_THREADS" for pool in _POOLS]
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Block Ctrl-C, which processes started here inherit: we end them, and they need not complain."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # otherwise the first start begins with it, and unblocks Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _work(connection: "Connection[_Answer, Any]") -> None:
    """Do jobs until the other side is gone."""
    with suppress(EOFError, OSError):
        while True:
            connection.send(_call(*connection.recv()))


def _order(job: Job) -> tuple[str, str, dict[str, Any]]:
    """Name a function: if it cannot be found, that is an error of the job, not of the process."""
    return job.function.__module__, job.function.__qualname__, job.arguments


def _call(module: str, name: str, arguments: dict[str, Any]) -> _Answer:
    start = perf_counter()
    try:
        function = attrgetter(name)(import_module(module))
        start = perf_counter()  # imports are not the job's time
        result = function(**arguments)
        seconds = perf_counter() - start
        return False, seconds, json.dumps(result, allow_nan=False)
    except Exception:  # noqa: BLE001  # whatever it is, the other jobs go on
        return True, perf_counter() - start, traceback.format_exc()
