"""What checkpoints cost: fits of ten seconds and more, with and without them."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Any

import numpy as np

from benchmarks.measuring.timing import alternate, limited_threads, load_average
from benchmarks.options import Options
from benchmarks.problems import made_stream, synthetic
from benchmarks.problems.data_sets import Problem, Spec
from benchmarks.report.record import Column, Record
from budgetsvm import BudgetSVC
from budgetsvm._estimators.checkpoints.contents import Contents
from budgetsvm._estimators.checkpoints.file import CheckpointFile

TITLE = "Checkpoints"
_EVERY, _SECONDS = 1.0, 10.0
_MOST, _MOST_SHARE = 1.02, 0.02
_ROWS, _BLOCK, _BUDGET, _CLASSES = 200_000, 10_000, 500, 10
_COLUMNS = (
    Column("fit", "fit", width=12, left=True),
    Column("rows", "rows", width=8),
    Column("CPU s without", "without", ".2f", width=7),
    Column("with", "seconds", ".2f", width=7),
    Column("ratio", "ratio", ".3f"),
    Column("at most", "target"),
    Column("", "verdict", width=6, left=True),
    Column("written", "count"),
    Column("MB each", "megabytes", ".1f"),
    Column("share of time", "share", ".2%"),
    Column("load", "load", ".1f", width=4),
)
_NOTE = (
    f"BudgetSVC, B = {_BUDGET}, one thread, no polish; a checkpoint every {_EVERY:g} s (the default is 60), or at most "
    "0.5 % of the time. Runs in turn; the fastest counts, in seconds of the processor.\nshare of time: that was spent on "
    f"checkpoints, waiting for the disk included, by the clock; the largest of all runs, at most {_MOST_SHARE:.0%}."
)


def takes(spec: Spec, options: Options) -> bool:  # noqa: ARG001 - all benchmarks are asked alike
    """Whether a data set is measured: none is, as the data are made here."""
    return False


def run(record: Record, problems: Iterator[Problem], options: Options) -> None:  # noqa: ARG001
    """Measure fits of two and of many classes, and a stream."""
    table = record.table(TITLE, _COLUMNS, _NOTE)
    X, y = synthetic.make(_ROWS, 20)
    ranks = np.argsort(np.argsort(X[:, 0]))
    several = (ranks * _CLASSES // _ROWS).astype(int)
    for name, labels in (("two classes", y), (f"{_CLASSES} classes", several)):
        epochs = _enough(partial(_fit, X, labels))
        table.add(_measure(record, name, partial(_fit, X, labels, epochs), epochs, options))
    passes = _enough(_stream)
    table.add(_measure(record, "stream", partial(_stream, passes), passes, options))


def _fit(X: Any, y: Any, epochs: int, **checkpoint: Any) -> BudgetSVC:
    model = BudgetSVC(budget=_BUDGET, epochs=epochs, polish=False, **_COMMON)
    return model.fit(X, y, **checkpoint)


def _stream(passes: int, **checkpoint: Any) -> BudgetSVC:
    blocks = made_stream.blocks(passes * _ROWS, _BLOCK)
    model = BudgetSVC(budget=_BUDGET, polish=False, **_COMMON)
    return model.fit_stream(blocks, classes=[-1, 1], **checkpoint)


_COMMON: dict[str, Any] = {"gamma": synthetic.GAMMA, "n_jobs": 1, "random_state": 0}


def _enough(train: Callable[[int], object]) -> int:
    """Return how often to go through the rows, so that it takes its time."""
    once, more = (
        min(_processor_time(partial(train, passes)) for _ in range(3)) for passes in (1, 4)
    )
    return int(np.ceil(1.2 * _SECONDS / (max(more - once, 0.1 * more) / 3)))


def _processor_time(work: Callable[[], object]) -> float:
    """Return the seconds of the processor that a piece of work takes, in one thread."""
    with limited_threads(1):
        start = process_time()
        work()
        return process_time() - start


class _Timed(CheckpointFile):
    """Takes note of the time that a run spends on checkpoints."""

    spent, count, size = 0.0, 0, 0
    _since = 0.0

    def due(self) -> bool:
        now, due = perf_counter(), super().due()
        if due:
            self._since = now
        return due

    def write(self, contents: Contents) -> None:
        super().write(contents)
        self.spent += perf_counter() - self._since
        self.count += 1
        self.size = self.path.stat().st_size


def _measure(
    record: Record, name: str, train: Callable[..., BudgetSVC], passes: int, options: Options
) -> dict[str, Any]:
    files: list[_Timed] = []
    shares: list[float] = []
    models: dict[str, BudgetSVC] = {}
    with TemporaryDirectory() as folder:

        def without() -> None:
            models["without"] = train()

        def with_them() -> None:
            start = perf_counter()
            files.append(_Timed(Path(folder, "run"), _EVERY))
            models["with"] = train(checkpoint=files[-1])
            shares.append(files[-1].spent / (perf_counter() - start))

        clocks = {
            key: partial(_processor_time, work)
            for key, work in (("without", without), ("with", with_them))
        }
        times = alternate(clocks, options.repeat, name)
    same = np.array_equal(models["with"].dual_coef_, models["without"].dual_coef_)
    record.check(same, f"{name}: another model with checkpoints")
    record.check(files[-1].count > 0, f"{name}: no checkpoint was written")
    row = {
        "fit": name,
        "rows": passes * _ROWS,
        "without": times["without"].best,
        "seconds": times["with"].best,
        "ratio": times["with"].best / times["without"].best,
        "target": _MOST,
        "count": files[-1].count,
        "megabytes": files[-1].size / 1e6,
        "share": max(shares),
        "load": load_average(),
    }
    row["verdict"] = record.target(
        row["ratio"] <= _MOST and row["share"] <= _MOST_SHARE,
        f"{name}: {row['ratio']:.3f} times as long with a checkpoint every {_EVERY:g} s, at most {_MOST}; "
        f"{row['share']:.2%} of the time by the clock",
    )
    return row
