"""The table of figures with targets, and the clocks behind them."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from benchmarks.measuring.timing import load_average
from benchmarks.measuring.yardstick import KernelBlocks, single, some_rows
from benchmarks.report.record import Column, Record, Table, status

_COLUMNS = (
    Column("figure", "what", width=52, left=True),
    Column("value", "value", ".3g", width=6),
    Column("target", "target", width=8),
    Column("", "verdict", width=6, left=True),
    Column("s", "seconds", ".2f", width=7),
    Column("against s", "against", ".2f"),
    Column("score", "score", ".4f"),
    Column("terms", "terms"),
    Column("gap", "gap", ".1e", width=7),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    "value: seconds over 'against s', unless the figure says otherwise; all in one thread, in seconds of the processor, "
    "which do not depend on other work as much as those of a clock.\nNumPy: the n×B kernel values, evaluated once in "
    "float32. SVC, SVR: of scikit-learn, cache_size=1000. score: accuracy, or R² of a regression."
)


@dataclass(frozen=True)
class Target:
    """What a value should be at most, or at least."""

    bound: float
    at_least: bool = False

    def is_met(self, value: float) -> bool:
        """Whether a value is good enough."""
        return value >= self.bound if self.at_least else value <= self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:g}"


class Figures:
    """Adds figures to a table, and marks them as met or missed."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._table: Table = record.table("Large budgets", _COLUMNS, _NOTE)

    def add(self, what: str, value: float, target: Target, **more: Any) -> None:
        """Add a figure."""
        message = f"{what}: {value:.3g}, target {target}"
        verdict = self._record.target(target.is_met(value), message)
        row = {"what": what, "value": value, "target": str(target), "verdict": verdict}
        self._table.add({**row, "load": load_average(), **more})

    def compare(self, what: str, fit: "Fitted", against: float, target: Target) -> None:
        """Add how many times as long as something else a fit takes."""
        self.add(what, fit.seconds / against, target, against=against, **fit.row())


@dataclass(frozen=True)
class Fitted:
    """A fit, its processor time, and how good it is."""

    model: Any
    seconds: float
    score: float

    def row(self) -> dict[str, Any]:
        """Return what a table tells of it."""
        model = self.model
        return {
            "seconds": self.seconds,
            "score": self.score,
            "terms": len(model.support_vectors_),
            "gap": getattr(model, "duality_gap_", None),
        }


def fit_in_one_thread(model: Any, problem: Any, repeat: int = 1) -> Fitted:
    """Fit and test; the fastest of several fits counts."""
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=1)
    status(f"{type(model).__name__}: {problem.name}, {len(problem.y)} rows")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gap says it
        seconds = min(cpu(lambda: model.fit(problem.X, problem.y)) for _ in range(repeat))
    return Fitted(model, seconds, float(model.score(problem.X_test, problem.y_test)))


def numpy_block(rows: Any, budget: int, gamma: float, repeat: int) -> float:
    """Return the seconds of NumPy for all kernel values of rows and so many points."""
    X = single(rows)
    blocks = KernelBlocks(X, some_rows(X, budget), gamma)
    return min(cpu(blocks.evaluate) for _ in range(repeat))


def cpu(work: Callable[[], object]) -> float:
    """Return the seconds of the processor that a piece of work takes."""
    start = process_time()
    work()
    return process_time() - start
