"""Work on several threads: its order, its errors, and what it leaves behind."""

import os
import signal
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
import threadpoolctl
from oracles.problems import noisy_xor
from tools.machines import make
from tools.threads import blas_threads

from budgetsvm import BudgetSVC
from budgetsvm._common import threads
from budgetsvm._common.threads import abandoned, map_in_order, single_threaded_blas

pytestmark = pytest.mark.alone  # BLAS has one thread where several processes share the tests

# ---- the threads that fits share ----


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 40])
def test_results_come_in_the_order_of_the_items(count: int, n_threads: int) -> None:
    def slow_at_first(k: int) -> int:
        time.sleep(0.001 * (k < 3))
        return k * k

    assert map_in_order(slow_at_first, iter(range(count)), n_threads) == [
        k * k for k in range(count)
    ]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("bad", [0, 5, 39])
def test_an_exception_comes_through_and_ends_the_work(bad: int, n_threads: int) -> None:
    done = []

    def fragile(k: int) -> None:
        if k == bad:
            raise ArithmeticError(k)
        done.append(k)

    with pytest.raises(ArithmeticError, match=str(bad)):
        map_in_order(fragile, range(1000), n_threads)
    assert len(done) < 999
    count = len(done)
    assert map_in_order(lambda k: k, range(9), n_threads) == list(range(9))  # it goes on
    assert len(done) == count  # and nobody is still at work


def test_work_within_work_and_from_many_threads() -> None:
    """No call waits for threads that wait for it."""

    def inner(k: int) -> int:
        return sum(map_in_order(lambda j: j + k, range(4), 2))

    expected = [6 + 4 * k for k in range(20)]
    results: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: results.append(map_in_order(inner, range(20), 2)))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert results == [expected] * 6


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_after_a_fork() -> None:
    """The threads of the parent do not exist in the child: it must not wait for them."""
    assert map_in_order(abs, range(10), 2) == list(range(10))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks with threads
        child = os.fork()
    if child == 0:
        os._exit(0 if map_in_order(abs, range(10), 2) == list(range(10)) else 1)
    deadline = time.monotonic() + 60
    while (status := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < deadline:
        time.sleep(0.01)
    if status == (0, 0):
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert status == (child, 0)


def test_a_failure_is_known_to_all_threads():
    """Whoever works long can ask whether it is still wanted."""
    both = threading.Barrier(2)

    def work(item):
        both.wait(30)
        if item == 0:
            raise ArithmeticError("no more")
        deadline = time.monotonic() + 60
        while not abandoned() and time.monotonic() < deadline:
            time.sleep(0.001)
        seen.append(abandoned())

    seen = []
    with pytest.raises(ArithmeticError, match="no more"):
        map_in_order(work, [0, 1], 2)
    assert seen == [True]
    assert not abandoned()


# ---- fits ----


@pytest.mark.parametrize("precision", ["single", "double"])
def test_the_number_of_threads_does_not_change_a_bit(precision: str) -> None:
    X, y = noisy_xor(40_000, 15)
    options: dict[str, Any] = {"budget": 60, "epochs": 0.1, "precision": precision, "tol": 2e-3}
    options["memory_limit"] = 1e9
    one = make(n_jobs=1, **options).fit(X, y)
    for n_jobs in (2, 3):
        other = make(n_jobs=n_jobs, **options).fit(X, y)
        np.testing.assert_array_equal(other.dual_coef_, one.dual_coef_)
        np.testing.assert_array_equal(other.support_vectors_, one.support_vectors_)
        assert other.objective_ == one.objective_


def test_threads_with_little_memory_agree() -> None:
    X, y = noisy_xor(8000, 16)
    fits = [make(n_jobs=n, memory_limit=1e5, tol=1e-4, basis=X[:30]).fit(X, y) for n in (1, 2, 3)]
    for model in fits[1:]:
        assert model.objective_[0] == pytest.approx(fits[0].objective_[0], rel=1e-4)


def test_concurrent_fits_leave_blas_as_it_was() -> None:
    before = blas_threads()
    assert before
    problems = [noisy_xor(3000, seed) for seed in range(6)]
    alone = [make(tol=1e-3, n_jobs=1).fit(X, y) for X, y in problems]
    assert blas_threads() == before
    results: dict[int, BudgetSVC] = {}

    def fit(k: int) -> None:
        for _ in range(2):
            results[k] = make(tol=1e-3, n_jobs=1 + k % 2).fit(*problems[k])

    threads = [threading.Thread(target=fit, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert blas_threads() == before
    for k, model in enumerate(alone):
        np.testing.assert_array_equal(results[k].dual_coef_, model.dual_coef_)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_exceptions_leave_blas_as_it_was(n_jobs: int) -> None:
    before = blas_threads()
    calls = []

    def fragile(X: Any, Z: Any) -> Any:
        calls.append(len(X))
        if len(calls) > 6:
            raise ArithmeticError("no more")
        return X @ Z.T

    X, y = noisy_xor(4000, 17)
    model = make(kernel=fragile, maintenance="remove", basis=X[:10], n_jobs=n_jobs)
    model.set_params(memory_limit=1e4)
    with pytest.raises(ArithmeticError, match="no more"):
        model.fit(X, y)
    assert len(calls) >= 7
    assert blas_threads() == before
    make().fit(X, y)
    assert blas_threads() == before


def test_any_thread_limits_blas_and_any_other_lifts_that() -> None:
    """The first one in and the last one out may be two threads, and both alive; the user's own limit stays."""
    with threadpoolctl.threadpool_limits(2, user_api="blas"):  # of this thread
        before = blas_threads()
        inside, go_on, seen = threading.Event(), threading.Event(), []

        def first() -> None:
            with single_threaded_blas():
                seen.append(blas_threads())
                inside.set()
                go_on.wait(10)

        thread = threading.Thread(target=first)
        thread.start()
        inside.wait(10)
        with single_threaded_blas():
            go_on.set()
            thread.join()
            seen.append(blas_threads())
        assert blas_threads() == before
    assert all(set(threads) <= {1} for threads in seen)
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert set(blas_threads()) <= {1}  # which this thread may still set


def test_a_thread_that_lives_on_leaves_no_limit() -> None:
    before = blas_threads()
    inside, go_on, end = threading.Event(), threading.Event(), threading.Event()

    def first() -> None:
        with single_threaded_blas():
            inside.set()
            go_on.wait(10)
        end.wait(10)

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait(10)
    with single_threaded_blas():
        go_on.set()
        while len(threads._blas_users) > 1:
            time.sleep(0.001)
    after = blas_threads()
    end.set()
    thread.join()
    assert after == before
