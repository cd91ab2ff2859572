"""Fits on a Dask cluster of this machine and the ordinary fit, each in a process of its own."""

import importlib
import resource
from functools import partial
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, wait
from sklearn.preprocessing import StandardScaler

from benchmarks.measuring.timing import clock
from benchmarks.problems.data_sets import SPECS, data_folder, find_file, load
from budgetsvm import BudgetSVC
from budgetsvm.distributed import DaskBudgetSVC
from budgetsvm.streams import read_blocks

FLIGHTS = "FLIGHTS"
_FLIGHTS_FILE, _TEST = "flights-3m", 100_000
_FLIGHTS_PARAMETERS = {"C": 1.0, "gamma": 1.0}  # of scaled features
_PARTITIONS = 16
_FITS = 4  # where a virtual machine gets its memory when it is touched first, that takes longer than a fit
_MADE_FEATURES, _MADE_BUDGET, _ROWS_OF_A_PART = 400, 50, 10_000


def fit(*, name: str, budget: int, workers: int, threads: int) -> dict[str, Any]:
    """Fit on so many workers of one thread each, or by the ordinary estimator if there are none; and test."""
    X, y, X_test, y_test, parameters = _problem(name)
    parameters = {**parameters, "budget": budget, "random_state": 0}
    if not workers:
        model = BudgetSVC(n_jobs=threads, **parameters)
        seconds = min(clock(lambda: model.fit(X, y)) for _ in range(_FITS))
        return _figures(model, seconds, X_test, y_test)
    with _cluster(workers) as client:
        size = -(-len(X) // _PARTITIONS)
        rows = client.persist(da.from_array(X, chunks=(size, X.shape[1])))
        labels = client.persist(da.from_array(y, chunks=size))
        wait([rows, labels])
        client.run(_import_all)  # as this process has, whose ordinary fit is measured
        model = DaskBudgetSVC(**parameters)
        fit = partial(model.fit, rows, labels, client=client)
        seconds = min(clock(fit) for _ in range(_FITS))
        traffic = model.traffic_
        figures = _figures(model.to_local(), seconds, X_test, y_test)
    return {
        **figures,
        "rounds": traffic.rounds,
        "sent": traffic.sent / 1e6,
        "received": traffic.received / 1e6,
    }


def fit_in_little_memory(*, workers: int, limit: int, times: int, threads: int) -> dict[str, Any]:
    """Fit on rows that are so many times as large as the limits of all workers; returns what these took at most."""
    del threads
    count = times * workers * limit // (4 * _MADE_FEATURES * _ROWS_OF_A_PART)
    blocks = [dask.delayed(_made)(number) for number in range(count)]
    with _cluster(workers, memory_limit=limit) as client:
        model = DaskBudgetSVC(C=1.0, budget=_MADE_BUDGET, random_state=0, n_jobs=1)
        seconds = clock(lambda: model.fit(blocks, client=client))
        peaks = client.run(_peak).values()
    X, y = _made(count)
    return {
        **_figures(model.to_local(), seconds, X, y),
        "rows": count * _ROWS_OF_A_PART,
        "peak": max(peaks) / 1e6,
        "rounds": model.traffic_.rounds,
    }


def _import_all() -> None:
    """Import what tasks need."""
    importlib.import_module("budgetsvm.distributed")


def _made(number: int) -> tuple[Any, Any]:
    """Return a block of rows; it is the same whoever asks for it."""
    rng = np.random.default_rng(number)
    X = rng.standard_normal((_ROWS_OF_A_PART, _MADE_FEATURES), dtype=np.float32)
    return X, np.where(X[:, 0] + X[:, 1] * X[:, 2] > 0, 1, -1)


def _peak() -> int:
    """Return the most memory that this process had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _cluster(workers: int, **options: Any) -> Client:
    return Client(
        n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0", **options
    )


def _problem(name: str) -> tuple[Any, Any, Any, Any, dict[str, float]]:
    folder = data_folder()
    if name != FLIGHTS:
        problem = load(folder, next(spec for spec in SPECS if spec.name == name))
        parameters = {"C": problem.C, "gamma": problem.gamma}
        return problem.X, problem.y, problem.X_test, problem.y_test, parameters
    X, y = read_blocks(find_file(folder, _FLIGHTS_FILE)).whole()
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(0).permutation(len(X))  # the file is in the order of time
    test, train = order[:_TEST], order[_TEST:]
    return X[train], y[train], X[test], y[test], _FLIGHTS_PARAMETERS


def _figures(model: BudgetSVC, seconds: float, X: Any, y: Any) -> dict[str, Any]:
    return {
        "seconds": seconds,
        "primal": float(model.objective_[0]),
        "gap": float(model.duality_gap_),
        "accuracy": float(model.score(X, y)),
    }
