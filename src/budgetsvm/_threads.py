"""How many threads to use, and how to run work in them."""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import joblib

from budgetsvm._validation import check_integer

_Item = TypeVar("_Item")


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that n_jobs stands for.

    None means all cores, as for scikit-learn's own native code, but no more than OMP_NUM_THREADS,
    which joblib sets in its worker processes: so nested parallelism does not oversubscribe.
    """
    cores = int(joblib.cpu_count())
    if n_jobs is None:
        limit = os.environ.get("OMP_NUM_THREADS", "")
        return min(cores, int(limit)) if limit.isdigit() and int(limit) > 0 else cores
    if n_jobs == 0:
        raise ValueError("n_jobs must be a positive or negative integer or None, not 0")
    wanted = check_integer("n_jobs", n_jobs, least=-(1 << 30))
    return wanted if wanted > 0 else max(1, cores + 1 + wanted)


def for_each(action: Callable[[_Item], None], items: Iterable[_Item], n_threads: int) -> None:
    """Run action(item) for all items, in up to n_threads threads; exceptions come through."""
    work = list(items)
    if n_threads == 1 or len(work) <= 1:
        for item in work:
            action(item)
        return
    with ThreadPoolExecutor(min(n_threads, len(work))) as pool:
        for _ in pool.map(action, work):
            pass
