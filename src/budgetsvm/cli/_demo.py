"""The demonstration behind ``budgetsvm demo``: a spiral, three SVMs, and a picture of the model."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC, LinearSVC

from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm.monitoring import Trace, plot_trace

# Good values for the exact SVM on this problem, so that all kernel models are at their best.
_C = 1.0
_GAMMA = 20.0

_TURNS = 2.5  # of each arm, from the centre to the rim
_CERTAINTY = 8.0  # log odds of the label on the middle of an arm

_EDGE = 1.06  # of the picture; terms may lie a little outside of the disk
_PIXELS = 600
_SHOWN_ROWS = 4000
# Of classes 0 and 1: orange and blue look different to everybody, in the dark and in the light.
_DARK = ("#a83e00", "#00457a")
_LIGHT = ("#f5b26b", "#7fb5dd")

_LOOKS_PER_EPOCH, _EFFORT = 8, 2e7  # of the trace, which should not take longer than training
_TEST_ROWS = 25_000  # at most: the exact SVM is slow to test, too
_FIRST_SUBSET = 500  # where the search for the size of the exact SVM's problem starts


class Sample(NamedTuple):
    """Rows of the problem."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]
    best: NDArray[np.int64]  #: the likelier label of each row: nothing predicts better


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


def run(rows: int, budget: int, out: Path, seed: int, say: Callable[[str], None]) -> None:
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


def make_spiral(rows: int, rng: np.random.Generator) -> Sample:
    """Draw rows evenly from the unit disk, with labels that follow two interleaved spiral arms.

    The probability of a label is a function of the place, so the best possible rule is known. Turning
    the plane by half a turn swaps the labels: the problem does not need a bias.
    """
    radius = np.sqrt(rng.random(rows))
    angle = 2 * np.pi * rng.random(rows)
    log_odds = _CERTAINTY * np.cos(angle - 2 * np.pi * _TURNS * radius)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    y = (rng.logistic(size=rows) < log_odds).astype(np.int64)
    return Sample(X, y, (log_odds > 0).astype(np.int64))


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
    return _measure("exact SVM, same time", SVC(C=_C, gamma=_GAMMA), _head(train, size), test)


def _time_exact(train: Sample, size: int) -> float:
    part = _head(train, size)
    start = perf_counter()
    SVC(C=_C, gamma=_GAMMA).fit(part.X, part.y)
    return perf_counter() - start


def _head(sample: Sample, size: int) -> Sample:
    return Sample(sample.X[:size], sample.y[:size], sample.best[:size])


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
    draw(model, result, train, out)
    say(f"Picture of the model: {out}")
    course = out.with_stem(f"{out.stem}-training")
    plot_trace(model).savefig(course, dpi=140)
    say(f"Picture of its training: {course}")


def draw(model: BudgetSVC, result: Result, train: Sample, out: Path) -> None:
    """Draw the decision function, some training rows, and the terms on top."""
    from matplotlib.figure import Figure  # not pyplot: needs no display and leaves no state behind

    figure: Any = Figure(figsize=(8.0, 8.0), layout="constrained")
    figure.get_layout_engine().set(h_pad=0.12, w_pad=0.08)
    axes = figure.add_subplot()
    axes.set(aspect="equal", xlim=(-_EDGE, _EDGE), ylim=(-_EDGE, _EDGE))
    axes.set_axis_off()
    shading = _draw_decision(axes, model)
    _draw_rows(axes, train)
    _draw_terms(axes, model)
    rows = f"{result.rows:,} training rows in {result.seconds:.2f} s"
    axes.set_title(
        f"{result.accuracy:.1%} of test rows right with {result.terms:,} terms ({rows})",
        fontsize=13,
        pad=12,
    )
    bar = figure.colorbar(shading, ax=axes, shrink=0.7, pad=0.01, extend="both")
    bar.set_label("decision value f(x)")
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=10)
    figure.savefig(out, dpi=140)


def _draw_decision(axes: Any, model: BudgetSVC) -> Any:
    """Shade the disk by f, with the boundary f = 0 and the margins f = -1 and f = 1 as lines."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.patches import Circle

    ticks = np.linspace(-1, 1, _PIXELS)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1)
    values = model.decision_function(grid.reshape(-1, 2)).reshape(_PIXELS, _PIXELS)
    limit = np.percentile(np.abs(values), 80)  # the extremes would leave the rest pale
    # There are no rows outside the disk, and so nothing to see in what the model says there.
    disk = Circle((0, 0), 1, transform=axes.transData)
    shading = axes.imshow(
        values,
        extent=(-1, 1, -1, 1),
        origin="lower",
        cmap=LinearSegmentedColormap.from_list("classes", [_LIGHT[0], "white", _LIGHT[1]]),
        vmin=-limit,
        vmax=limit,
        interpolation="bilinear",
        clip_path=disk,
    )
    lines = axes.contour(
        ticks,
        ticks,
        values,
        levels=[-1, 0, 1],
        colors=["0.35", "black", "0.35"],
        linewidths=[0.6, 1.8, 0.6],
        linestyles=["dashed", "solid", "dashed"],
    )
    lines.set_clip_path(disk)
    axes.plot([], [], color="black", linewidth=1.8, label="boundary f = 0")
    axes.plot([], [], color="0.35", linewidth=0.6, linestyle="dashed", label="margins f = ±1")
    return shading


def _draw_rows(axes: Any, train: Sample) -> None:
    """Draw some of the rows, small, coloured by label."""
    some = _head(train, _SHOWN_ROWS)
    for label, colour in enumerate(_DARK):
        axes.scatter(*some.X[some.y == label].T, s=4, color=colour, linewidths=0)
        axes.scatter([], [], s=12, color=colour, linewidths=0, label=f"rows of class {label}")


def _draw_terms(axes: Any, model: BudgetSVC) -> None:
    """Draw the terms: the sign of a coefficient as colour, its size as area."""
    coef = model.dual_coef_[0]
    sizes = 20 + 180 * np.abs(coef) / max(float(np.abs(coef).max()), 1e-300)
    look = {"edgecolors": "white", "linewidths": 1.2, "zorder": 3}
    for label, (colour, sign) in enumerate(zip(_DARK, "<>", strict=True)):
        chosen = (coef > 0) == bool(label)
        points = model.support_vectors_[chosen]
        axes.scatter(*points.T, s=sizes[chosen], color=colour, **look)
        axes.scatter([], [], s=90, color=colour, label=f"terms with β {sign} 0 (area: |β|)", **look)
