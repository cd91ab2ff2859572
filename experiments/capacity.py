"""Capacity plan of training on Dask: what a round costs, how many there are, and what that means for a billion rows.

    python -m experiments.capacity

Measures real fits on a cluster of two worker processes on this machine, with 2 to 64 partitions of the same rows, and
extrapolates by a model whose assumptions are printed with it.
"""

from time import perf_counter
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client

from budgetsvm.distributed import DaskBudgetSVC, _cluster, _input

ROWS, FEATURES, BUDGET = 100_000, 10, 200
PARTITIONS = (2, 4, 8, 16, 32, 64)
# What is asked for: rows, workers of one thread each, terms, partitions per worker.
BILLION, WORKERS, TERMS, PER_WORKER = 10**9, 100, 500, 4
NETWORK = 1e9  # bytes a second, through the client
VECTORS = 10  # numbers per row in the client


def problem() -> tuple[Any, Any]:
    """Return rows of two classes that overlap."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROWS, FEATURES))
    noise = 0.5 * rng.standard_normal(ROWS)
    return X, np.where(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + noise > 0, 1, -1)


class Stopwatch:
    """Seconds of all rounds in which workers had something to do."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._fetch = _cluster.Cluster.fetch

    def __call__(self, cluster: Any, futures: Any) -> Any:
        """Fetch, and take the time."""
        start = perf_counter()
        try:
            return self._fetch(cluster, futures)
        finally:
            self.seconds += perf_counter() - start


def measure(client: Any, X: Any, y: Any, n_partitions: int) -> tuple[float, float, Any]:
    """Return the seconds of a fit, those of its rounds, and the model."""
    size = -(-ROWS // n_partitions)
    rows = client.persist(da.from_array(X, chunks=(size, FEATURES)))
    watch = Stopwatch()

    def fetch(self: Any, futures: Any) -> Any:
        return watch(self, futures)

    _cluster.Cluster.fetch = fetch  # type: ignore[method-assign]
    try:
        start = perf_counter()
        model = DaskBudgetSVC(C=1.0, budget=BUDGET, random_state=0).fit(rows, y, client=client)
        return perf_counter() - start, watch.seconds, model
    finally:
        _cluster.Cluster.fetch = watch._fetch  # type: ignore[method-assign]


def extrapolate(rounds: float, per_task: float, per_value: float, traffic: float) -> None:
    """Print time and traffic for a billion rows, and what that takes for granted."""
    tasks, share = WORKERS * PER_WORKER, BILLION / WORKERS
    compute = rounds * share * TERMS * per_value
    overhead, moved = rounds * tasks * per_task, traffic * BILLION
    print(
        f"\n{BILLION:.0e} rows, {WORKERS} workers of one thread, {TERMS} terms, {tasks} partitions:"
    )
    print(
        f"  {compute:,.0f} s of products, at {1e9 * per_value:.2f} ns per kernel value and round, all cores alike"
    )
    print(
        f"  {overhead:,.0f} s in the scheduler, at {1e3 * per_task:.1f} ms per task, one after the other"
    )
    print(
        f"  {moved / NETWORK:,.0f} s for {moved / 1e9:,.0f} GB through the client, at {NETWORK / 1e9:g} GB/s"
    )
    print(f"  {8 * VECTORS * BILLION / 1e9:,.0f} GB in the client, for {VECTORS} numbers per row")
    print(
        f"  {4 * TERMS * share / 1e9:,.0f} GB of kernel values per worker, or they are computed in every round"
    )
    print(
        "taken for granted: as many rounds as here, whatever the number of rows (the mean of the fits above); every round "
        "looks at all rows, which is more than it does; no worker is slower than the others; nothing overlaps"
    )


def main() -> None:
    """Measure, fit a line, extrapolate."""
    _input._CELL_VALUES = 0.0  # partitions stay apart
    X, y = problem()
    seconds, rounds, bytes_per_row = [], [], []
    print("partitions   fit, s   rounds   ms per round   sent, MB   received, MB   gap")
    with Client(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as client:
        measure(client, X, y, 2)  # workers import what they need
        for n_partitions in PARTITIONS:
            whole, of_rounds, model = measure(client, X, y, n_partitions)
            traffic = model.traffic_
            seconds.append(of_rounds / traffic.rounds)
            rounds.append(traffic.rounds)
            bytes_per_row.append((traffic.sent + traffic.received) / ROWS)
            print(
                f"{n_partitions:10d} {whole:8.1f} {traffic.rounds:8d} {1e3 * seconds[-1]:14.1f} "
                f"{traffic.sent / 1e6:10.1f} {traffic.received / 1e6:14.1f}   {model.duality_gap_:.4f}"
            )
    per_task, at_rest = np.polyfit(PARTITIONS, seconds, 1)
    per_value = max(0.0, float(at_rest)) * 2 / (ROWS * BUDGET)  # two workers share the work
    print(f"a round takes {1e3 * at_rest:.1f} ms and {1e3 * per_task:.2f} ms per partition")
    extrapolate(float(np.mean(rounds)), float(per_task), per_value, float(min(bytes_per_row)))


if __name__ == "__main__":
    main()
