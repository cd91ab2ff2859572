"""A picture of calibration: what is predicted, and what is then observed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetsvm._common.checks import check_integer
from budgetsvm._common.class_values import class_values
from budgetsvm._common.public import public_in
from budgetsvm.plots._axes import BLUE, GREEN, GREY, ORANGE, axes_for, plain

_BINS, _FEWEST = 10, 5  # rows of a bin
_COLOURS = (BLUE, ORANGE, GREEN, "#cc79a7", "#56b4e9", "#e69f00")


@public_in("budgetsvm.plots")
def plot_calibration(estimator: Any, X: Any, y: Any, *, bins: int = _BINS, ax: Any = None) -> Any:
    """Draw what is observed over what is predicted, in groups of equally many rows.

    Of a classifier for two classes: the share of rows of the second one over its probability or, where there are none,
    over the decision value. Of more classes: the share of correct predictions over the probability of the class predicted
    or its lead over the second one. Of a regression: the mean target over the mean prediction. What is calibrated lies
    on the dashed line; decision values have none.

    Parameters
    ----------
    estimator : classifier or regressor
        A fitted one, of this package or another.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows, best those that took no part in training.
    y : array-like of shape (n_samples,) or (n_samples, n_targets)
        Labels or targets.
    bins : int, default=10
        The number of groups.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None is a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC
    >>> from budgetsvm.plots import plot_calibration
    >>> X, y = make_moons(500, noise=0.3, random_state=0)
    >>> model = BudgetSVC(loss="log_loss", random_state=0).fit(X[:300], y[:300])
    >>> plot_calibration(model, X[300:], y[300:]).get_xlabel()
    'probability'
    """
    check_integer("bins", bins, least=2)
    y = np.asarray(y)
    if hasattr(estimator, "classes_"):
        told, came, words = told_and_came(estimator, X, y)
        return draw_calibration([("", told, came)], words, bins=bins, ax=ax)
    if hasattr(estimator, "score_samples") or not hasattr(estimator, "predict"):
        message = f"a {type(estimator).__name__} predicts neither classes nor targets"
        raise ValueError(message)
    return draw_targets(y, np.asarray(estimator.predict(X)), bins=bins, ax=ax)


def told_and_came(
    estimator: Any, X: Any, y: NDArray[Any]
) -> tuple[NDArray[np.float64], NDArray[np.float64], tuple[str, str]]:
    """Return what a classifier says, whether it came true, and words for both."""
    classes = estimator.classes_
    if hasattr(estimator, "predict_proba"):
        shares = np.asarray(estimator.predict_proba(X))
        if len(classes) == 2:
            words = ("probability", f"share of class {classes[1]}")
            return shares[:, 1], (y == classes[1]).astype(float), words
        right = (estimator.predict(X) == y).astype(float)
        return (
            shares.max(axis=1),
            right,
            ("probability of the class predicted", "share of correct ones"),
        )
    values = class_values(estimator, X)
    if values.ndim == 1:
        words = ("decision value", f"share of class {classes[1]}")
        return values, (y == classes[1]).astype(float), words
    ordered = np.sort(values, axis=1)
    lead = ordered[:, -1] - ordered[:, -2]
    return (
        lead,
        (estimator.predict(X) == y).astype(float),
        ("lead of the class predicted", "share of correct ones"),
    )


def draw_targets(
    y: NDArray[Any], predicted: NDArray[Any], *, bins: int = _BINS, ax: Any = None
) -> Any:
    """Draw targets over predictions; several of them on a common scale."""
    told, came = (np.atleast_2d(np.asarray(one, float).T) for one in (predicted, y))
    if len(told) == 1:
        return draw_calibration(
            [("", told[0], came[0])], ("prediction", "mean target"), bins=bins, ax=ax
        )
    centre, spread = came.mean(axis=1, keepdims=True), came.std(axis=1, keepdims=True)
    spread[spread == 0] = 1.0
    pairs = zip((told - centre) / spread, (came - centre) / spread, strict=True)
    series = [(f"target {k}", *pair) for k, pair in enumerate(pairs)]
    words = ("prediction, in deviations of the target", "mean target, in its deviations")
    return draw_calibration(series[: len(_COLOURS)], words, bins=bins, ax=ax)


def draw_calibration(
    series: list[tuple[str, NDArray[np.float64], NDArray[np.float64]]],
    words: tuple[str, str],
    *,
    bins: int = _BINS,
    ax: Any = None,
) -> Any:
    """Draw means of what came over means of what was told, with their standard errors."""
    ax = axes_for("plot_calibration", ax)
    for (label, told, came), colour in zip(series, _COLOURS, strict=False):
        x, mean, error = _grouped(told, came, bins)
        if words[0].startswith(("probability", "prediction")):
            ax.plot([x[0], x[-1]], [x[0], x[-1]], "--", color=GREY, lw=1, zorder=0)
        ax.errorbar(
            x, mean, 2 * error, fmt="o-", color=colour, ms=4, lw=1.2, capsize=2, label=label or None
        )
    ax.set(xlabel=plain(words[0], 40), ylabel=plain(words[1], 40))
    if words[1].startswith("share"):
        ax.set_ylim(-0.03, 1.03)
    ax.grid(alpha=0.25, color=GREY)
    if len(series) > 1:
        ax.legend(frameon=False, fontsize="small")
    return ax


def _grouped(
    told: NDArray[np.float64], came: NDArray[np.float64], bins: int
) -> tuple[NDArray[np.float64], ...]:
    """Return means of both, and standard errors, of groups of neighbouring values."""
    order = np.argsort(told, kind="stable")
    count = max(1, min(bins, len(order) // _FEWEST))
    starts = np.linspace(0, len(order), count, endpoint=False).astype(int)
    starts = np.unique(
        np.searchsorted(told[order], told[order][starts])
    )  # equal values are together
    groups = np.split(order, starts[1:])
    x, mean = (np.array([values[group].mean() for group in groups]) for values in (told, came))
    error = np.array([came[group].std() / np.sqrt(len(group)) for group in groups])
    return x, mean, error
