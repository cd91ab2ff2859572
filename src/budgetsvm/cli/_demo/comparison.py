"""Three SVMs on one problem: a table, and a picture of the one on a budget."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.svm import SVC, LinearSVC

from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm.cli._demo.picture import draw
from budgetsvm.cli._demo.spiral import Sample, make_spiral
from budgetsvm.monitoring import Trace, plot_trace

# Good values for the exact SVM on this problem, so that all kernel models are at their best.
_C = 1.0
_GAMMA = 20.0

_LOOKS_PER_EPOCH, _EFFORT = 8, 2e7  # of the trace, which should not take longer than training
_TEST_ROWS = 25_000  # at most: the exact SVM is slow to test, too
_FIRST_SUBSET = 500  # where the search for the size of the exact SVM's problem starts


@dataclass(frozen=True)
class Result:
    """A line of the table; what does not apply is None."""

    name: str
    accuracy: float
    rows: int | None = None
    seconds: float | None = None
    terms: int | None = None
    test_seconds: float | None = None

    def cells(self) -> list[str]:
        """Return the line's entries as text."""
        return [
            self.name,
            _or_dash(self.rows, ",d"),
            _or_dash(self.seconds, ".2f"),
            _or_dash(self.terms, ",d"),
            _or_dash(self.test_seconds, ".3f"),
            f"{self.accuracy:.2%}",
        ]


def _or_dash(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


_HEADER = ["", "rows", "training s", "terms", "test s", "test accuracy"]


def compare(rows: int, budget: int, out: Path, seed: int, say: Callable[[str], None]) -> None:
    """Train, compare and draw; `say` gets every line of text."""
    train = make_spiral(rows, np.random.default_rng([seed, 0]))
    test = make_spiral(min(rows, _TEST_ROWS), np.random.default_rng([seed, 1]))
    say(f"Two interleaved, blurred spiral arms: {rows:,} rows to train, {len(test.y):,} to test.")
    say(f"Gaussian kernel, C={_C:g}, gamma={_GAMMA:g}, at most {budget:,} terms.")
    say("")

    model, budgeted = _budgeted(train, test, budget, seed)
    assert budgeted.seconds is not None
    say("Now the same with other SVMs ...")
    linear = _measure("linear SVM", LinearSVC(C=_C, random_state=seed), train, test)
    exact = _exact(train, test, budgeted.seconds)
    best = Result("best possible", float(np.mean(test.best == test.y)))
    say("")
    for line in format_table([linear, exact, budgeted, best]):
        say(line)

    say("")
    _picture(model, budgeted, train, out, say)
    say("")
    say("Next, with your own data:")
    say("    from budgetsvm import BudgetSVC")
    say(f"    model = BudgetSVC(C=1, gamma='scale', budget={budget}, verbose=1).fit(X, y)")
    say("    labels = model.predict(X_new)")


def _budgeted(train: Sample, test: Sample, budget: int, seed: int) -> tuple[BudgetSVC, Result]:
    import tqdm  # noqa: F401  # the progress bar's import is not training time

    every = max(1, len(train.y) // _LOOKS_PER_EPOCH)
    trace = Trace(every, X_test=test.X, y_test=test.y, effort=_EFFORT)
    model = BudgetSVC(
        C=_C, gamma=_GAMMA, budget=budget, random_state=seed, monitor=trace, verbose=1
    )
    result = _measure("budgeted SVM", model, train, test)
    # The time of looking does not count.
    return model, replace(result, seconds=float(model.monitor_["seconds"][-1]))


def _exact(train: Sample, test: Sample, seconds: float) -> Result:
    """Train the exact SVM on as many rows as take it about `seconds`."""
    size = least = min(_FIRST_SUBSET, len(train.y))
    needed = _time_exact(train, size)
    # Its time grows with the square of the rows.
    while size < len(train.y) and 4 * needed < seconds:
        size = min(2 * size, len(train.y))
        needed = _time_exact(train, size)
    size = int(np.clip(size * np.sqrt(seconds / needed), least, len(train.y)))
    return _measure("exact SVM, same time", SVC(C=_C, gamma=_GAMMA), train.head(size), test)


def _time_exact(train: Sample, size: int) -> float:
    part = train.head(size)
    start = perf_counter()
    SVC(C=_C, gamma=_GAMMA).fit(part.X, part.y)
    return perf_counter() - start


def _measure(name: str, model: Any, train: Sample, test: Sample) -> Result:
    """Train and test a model, and count its terms."""
    start = perf_counter()
    model.fit(train.X, train.y)
    trained = perf_counter()
    accuracy = float(model.score(test.X, test.y))
    tested = perf_counter()
    points = getattr(model, "support_vectors_", None)
    terms = None if points is None else len(points)
    return Result(name, accuracy, len(train.y), trained - start, terms, tested - trained)


def format_table(results: list[Result]) -> list[str]:
    """Return the lines of a table with a header: names to the left, numbers to the right."""
    table = [_HEADER, *(result.cells() for result in results)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    form = f"{{:<{widths[0]}}}" + "".join(f"  {{:>{width}}}" for width in widths[1:])
    header, *lines = (form.format(*row) for row in table)
    return [header, "-" * len(header), *lines]


def _picture(
    model: BudgetSVC, result: Result, train: Sample, out: Path, say: Callable[[str], None]
) -> None:
    """Draw the model into `out` if matplotlib is there."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        say('For a picture of the model: pip install "budgetsvm[plot]", and run this again.')
        return
    rows = f"{result.rows:,} training rows in {result.seconds:.2f} s"
    title = f"{result.accuracy:.1%} of test rows right with {result.terms:,} terms ({rows})"
    draw(model, title, train, out)
    say(f"Picture of the model: {out}")
    course = out.with_stem(f"{out.stem}-training")
    plot_trace(model).savefig(course, dpi=140)
    say(f"Picture of its training: {course}")
