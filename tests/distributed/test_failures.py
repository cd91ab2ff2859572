"""Workers that are killed, schedulers that are gone, and Ctrl-C: the same model, or a clear error, and never a hang."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import make_moons

from budgetsvm.distributed import ClusterError, DaskBudgetSVC, _cluster, _matrix

OPTIONS: dict[str, Any] = {"C": 10.0, "gamma": 8.0, "budget": 150, "random_state": 0}


def data(n: int = 4000, chunk: int = 700) -> tuple[Any, Any]:
    X, y = make_moons(n, noise=0.3, random_state=0)
    return da.from_array(X, chunks=(chunk, 2)), da.from_array(y, chunks=chunk)


def numbers(model: Any) -> tuple[Any, ...]:
    return model.dual_coef_.tolist(), model.support_vectors_.tolist(), model.objective_


@pytest.fixture(scope="module")
def processes() -> Iterator[Any]:
    """Two worker processes, which are started again when they die."""
    with (
        LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=50,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module", autouse=True)
def all_rows_stay_where_they_are() -> Iterator[None]:
    """The rows of these problems are so few that most products would be the client's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_matrix, "_HERE", 0)
        yield


@pytest.fixture(scope="module")
def undisturbed(processes: Any) -> tuple[Any, ...]:
    return numbers(DaskBudgetSVC(**OPTIONS).fit(*data(), client=processes))


def at_round(
    monkeypatch: pytest.MonkeyPatch, what: str, which: int, act: Callable[[], None]
) -> Any:
    """Let something happen right after tasks of this kind were handed over for the n-th time."""
    seen: list[int] = []
    keep = _cluster.Cluster.keep

    def kept(self: Any, name: str, *columns: Any, **common: Any) -> Any:
        futures = keep(self, name, *columns, **common)
        if name == what:
            seen.append(1)
            if len(seen) == which:
                act()
        return futures

    monkeypatch.setattr(_cluster.Cluster, "keep", kept)
    return seen


def worker_pids(client: Any) -> list[int]:
    """Return two processes at least: one that was killed is started again, as a rule."""
    try:
        client.wait_for_workers(2, timeout=20)
    except TimeoutError:
        client.cluster.scale(len(client.cluster.worker_spec) + 1)
        client.wait_for_workers(2, timeout=60)
    return sorted(client.run(os.getpid).values())


# Phase 1 gathers its sample in the first round of "rows"; the others are of phase 2.
MOMENTS = [
    ("look", 1),
    ("rows", 1),
    ("kernel_values", 1),
    ("some_rows", 1),
    ("values", 1),
    ("values", 4),
    ("gradient", 2),
    ("weights", 2),
    ("hessian_product", 3),
    ("gram_matrix", 1),
]


@pytest.mark.slow
@pytest.mark.parametrize(("what", "which"), MOMENTS)
def test_a_killed_worker_changes_no_bit(
    processes: Any,
    undisturbed: tuple[Any, ...],
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    which: int,
) -> None:
    pids = worker_pids(processes)
    victim = pids[which % len(pids)]
    seen = at_round(monkeypatch, what, which, lambda: os.kill(victim, signal.SIGKILL))
    model = DaskBudgetSVC(**OPTIONS).fit(*data(), client=processes)
    assert len(seen) >= which
    assert numbers(model) == undisturbed


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_workers_killed_at_any_time(
    processes: Any, undisturbed: tuple[Any, ...], seed: int
) -> None:
    victim = worker_pids(processes)[seed % 2]
    wait = float(np.random.default_rng(seed).uniform(0.0, 2.0))
    timer = threading.Timer(wait, os.kill, (victim, signal.SIGKILL))
    timer.start()
    model = DaskBudgetSVC(**OPTIONS).fit(*data(), client=processes)
    timer.join()
    assert numbers(model) == undisturbed


def test_ctrl_c_leaves_no_task_and_a_cluster_that_works(
    make_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_client(2) as client:
        before = DaskBudgetSVC(**OPTIONS).fit(*data(), client=client)

        def interrupt() -> None:
            threading.Timer(0.01, signal.raise_signal, (signal.SIGINT,)).start()

        with monkeypatch.context() as patch:
            at_round(patch, "hessian_product", 2, interrupt)
            with pytest.raises(KeyboardInterrupt):
                DaskBudgetSVC(**OPTIONS).fit(*data(), client=client)
        tasks = client.cluster.scheduler.tasks
        for _ in range(100):
            if not tasks:
                break
            time.sleep(0.1)
        assert not tasks
        after = DaskBudgetSVC(**OPTIONS).fit(*data(), client=client)
        assert numbers(after) == numbers(before)


def test_no_workers_is_told(make_client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_cluster.Cluster.__init__, "__defaults__", (None, 0.5))
    with (
        make_client(0) as client,
        pytest.raises(ClusterError, match=r"no worker for 0\.5 seconds"),
    ):
        DaskBudgetSVC(**OPTIONS).fit(*data(), client=client)


def test_workers_that_end_meanwhile_are_told(
    make_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_cluster.Cluster.__init__, "__defaults__", (None, 1.0))
    monkeypatch.setattr(_cluster, "_LOOK", 0.2)
    with make_client(1) as client:
        at_round(monkeypatch, "values", 2, lambda: client.cluster.scale(0))
        with pytest.raises(ClusterError, match="no worker for 1 seconds"):
            DaskBudgetSVC(**OPTIONS).fit(*data(), client=client)


@pytest.fixture
def other_program(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Client]]:
    """A scheduler and a worker that are programs of their own; gives the scheduler and a client."""
    place, dask = tmp_path / "scheduler.json", [sys.executable, "-m", "dask"]
    where = ["--scheduler-file", str(place), "--no-dashboard"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", *where], cwd=tmp_path, **quiet
    )
    worker = subprocess.Popen(
        [*dask, "worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", *where],
        cwd=tmp_path,
        **quiet,
    )
    try:
        while not place.exists():
            assert scheduler.poll() is None
            time.sleep(0.1)
        client = Client(scheduler_file=str(place), timeout=5, set_as_default=False)
        yield scheduler, client
        with suppress(TimeoutError):
            client.close(timeout=5)
    finally:
        for program in (worker, scheduler):
            program.kill()
            program.wait()


@pytest.mark.slow
def test_a_scheduler_that_is_killed_is_told(
    other_program: tuple[subprocess.Popen[bytes], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler, client = other_program
    at_round(monkeypatch, "values", 2, scheduler.kill)
    with pytest.raises(ClusterError, match="scheduler of the Dask cluster"):
        DaskBudgetSVC(**OPTIONS).fit(*data(), client=client)
    with pytest.raises(ClusterError, match="scheduler of the Dask cluster"):
        DaskBudgetSVC(**OPTIONS).fit(*data(), client=client)
