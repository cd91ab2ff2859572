"""What the threads of BLAS, and those that fits share, are up to."""

import threading

from threadpoolctl import threadpool_info

from budgetsvm._common.threads import _pool, count_threads


def blas_threads() -> list[int]:
    """How many every BLAS library may use."""
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def assert_threads_are_free() -> None:
    """None of the threads that fits share is still at work: they all come to a barrier."""
    n = count_threads(None)
    barrier = threading.Barrier(n)
    meeting = [_pool(n).submit(barrier.wait, 30) for _ in range(n)]
    assert sorted(each.result(timeout=60) for each in meeting) == list(range(n))
