"""How many threads to use, and how to run work in them."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, lru_cache
from time import monotonic
from typing import Any, TypeVar

import joblib
import threadpoolctl

from budgetsvm._common.checks import check_integer

_SECONDS = 5  # after which the number of cores is looked up again

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that n_jobs stands for.

    None means all cores, as for scikit-learn's own native code, but no more than OMP_NUM_THREADS,
    which joblib sets in its worker processes: so nested parallelism does not oversubscribe.
    """
    if isinstance(n_jobs, int) and n_jobs > 0:
        return int(check_integer("n_jobs", n_jobs, least=1))
    cores = _cores(int(monotonic() / _SECONDS))
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("n_jobs must be a positive or negative integer or None, not 0")
    wanted = check_integer("n_jobs", n_jobs, least=-(1 << 30))
    return wanted if wanted > 0 else max(1, cores + 1 + wanted)


@lru_cache(maxsize=1)
def _cores(period: int) -> int:  # noqa: ARG001
    """Return how many cores this process may use; to find that out takes as long as to predict a row."""
    return int(joblib.cpu_count())


def map_in_order(
    function: Callable[[_Item], _Result], items: Iterable[_Item], n_threads: int
) -> list[_Result]:
    """Return function(item) in the order of the items, computed in up to n_threads threads.

    The calling thread is one of them. The others take what is next from a common queue: so a call
    wakes them up once, however many items there are. After an exception or an interrupt, functions that
    take long should end when `abandoned` says so.
    """
    work = list(items)
    helpers = min(n_threads, len(work)) - 1
    if helpers < 1:
        return [function(item) for item in work]
    results: dict[int, _Result] = {}
    queue, failed = iter(range(len(work))), threading.Event()

    def run() -> None:
        before, _own.failed = getattr(_own, "failed", None), failed
        try:
            for i in queue:
                results[i] = function(work[i])
        except BaseException:
            failed.set()
            raise
        finally:
            _own.failed = before
            for _ in queue:  # after an exception or an interrupt the rest is not wanted
                pass

    others = [_pool(n_threads).submit(run) for _ in range(helpers)]
    try:
        run()
    finally:
        _finish(others, failed)
    return [results[i] for i in range(len(work))]


_own = threading.local()


def abandoned() -> bool:
    """Return whether another thread of the call of `map_in_order` that this is part of has failed."""
    failed = getattr(_own, "failed", None)
    return failed is not None and failed.is_set()


def _finish(others: list[Future[None]], failed: threading.Event) -> None:
    """Wait for threads that have begun."""
    begun = [other for other in others if not other.cancel()]
    try:
        for other in begun:
            other.result()
    except BaseException:  # of theirs, or an interrupt while waiting
        failed.set()
        wait(begun)
        raise


@cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Return threads that stay: to start them takes longer than many a call has work for."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="budgetsvm")


if hasattr(os, "register_at_fork"):  # threads do not live on in a forked process
    os.register_at_fork(after_in_child=_pool.cache_clear)


def for_each(action: Callable[[_Item], None], items: Iterable[_Item], n_threads: int) -> None:
    """Run action(item) for all items, in up to n_threads threads; exceptions come through."""
    for _ in map_in_order(action, items, n_threads):
        pass


# Re-entrant: an exception between acquiring and releasing must not lock its own thread out for ever.
_blas_lock = threading.RLock()
_blas_users: set[object] = set()
_blas_limits: Any = None


@cache
def _controller() -> threadpoolctl.ThreadpoolController:
    """Look up the BLAS libraries of this process, once: that takes longer than a small fit."""
    return threadpoolctl.ThreadpoolController()


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS to one thread each: the parallelism is ours, over chunks of rows.

    Nested pools would oversubscribe the cores, and BLAS's own threads spin where a core is taken by
    someone else. The limit is global to the process, so concurrent fits share it; the last one out
    lifts it.
    """
    user = object()
    try:
        _blas_users.add(user)
        _limit_blas()
        yield
    finally:
        _blas_users.discard(user)
        _limit_blas()


def _limit_blas() -> None:
    """Limit the threads of BLAS if there are users, and no longer; an earlier call may have been broken off."""
    global _blas_limits  # noqa: PLW0603 - the limit is global, too
    # Most calls change nothing, and need not wait for a thread that does. What another one has undone
    # meanwhile is done again.
    while bool(_blas_users) != (_blas_limits is not None):
        with _blas_lock:
            if _blas_users and _blas_limits is None:
                _let_any_thread_limit()
                _blas_limits = _controller().limit(limits=1, user_api="blas")
            elif not _blas_users and _blas_limits is not None:
                _let_any_thread_limit()
                _blas_limits.restore_original_limits()
                _blas_limits = None
                _let_any_thread_limit()


def _let_any_thread_limit() -> None:
    """Have threadpoolctl listen to this thread: from 3.8 on, it ignores all but the first one that sets a limit.

    Of our users, the first one in sets it and the last one out lifts it, and these may be two threads.
    """
    clear = getattr(
        getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", None
    )
    if clear is not None:
        clear(force=True)
