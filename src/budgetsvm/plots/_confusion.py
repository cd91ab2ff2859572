"""A picture of the confusion of classes."""

from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.utils import get_tags

from budgetsvm._common.public import public_in
from budgetsvm.plots._axes import axes_for, draw_cells, ink_on, plain

_ANNOTATED = 26  # classes: of more, numbers cannot be read
_CELL, _LARGEST, _LETTER = 0.42, 7.2, 0.07  # inches
_LETTERS = 18  # of a label
#: Classes: of more, cells cannot be told apart.
MOST = 100


@public_in("budgetsvm.plots")
def plot_confusion(estimator: Any, X: Any, y: Any, *, ax: Any = None) -> Any:
    """Draw which classes are taken for which: a row for each label, a column for each prediction.

    Parameters
    ----------
    estimator : classifier
        A fitted one, of this package or another; or a one-class machine.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows, best those that took no part in training.
    y : array-like of shape (n_samples,)
        Their labels; of a one-class machine 1 and -1.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None is a new figure.

    Returns
    -------
    ax : matplotlib.axes.Axes

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from budgetsvm import BudgetSVC
    >>> from budgetsvm.plots import plot_confusion
    >>> X, y = load_iris(return_X_y=True)
    >>> plot_confusion(BudgetSVC(random_state=0).fit(X, y), X, y).get_ylabel()
    'label'
    """
    tags = get_tags(estimator) if hasattr(estimator, "__sklearn_tags__") else None
    regresses = tags is not None and tags.estimator_type == "regressor"
    if regresses or not hasattr(estimator, "predict"):
        message = f"a {type(estimator).__name__} predicts no classes: there is no confusion of them"
        raise ValueError(message)
    return draw_confusion(np.asarray(y), np.asarray(estimator.predict(X)), ax=ax)


def draw_confusion(y: Any, predicted: Any, *, ax: Any = None) -> Any:
    """Draw the confusion of labels and predictions."""
    labels = np.union1d(y, predicted)
    if len(labels) > MOST:
        message = f"there are {len(labels)} classes, too many for a picture of their confusion"
        raise ValueError(message)
    counts = confusion_matrix(y, predicted, labels=labels)
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    step = -(-len(labels) // _ANNOTATED)
    places, texts = (
        np.arange(0, len(labels), step),
        [plain(one, _LETTERS) for one in labels[::step]],
    )
    longest = max(map(len, texts))
    side = min(_LARGEST, 1.1 + _CELL * max(3, len(labels))) + _LETTER * longest
    ax = axes_for("plot_confusion", ax, (side, side - 0.2))
    draw_cells(ax, shares, 0.0, 1.0)
    ax.invert_yaxis()
    if len(labels) <= _ANNOTATED:
        size = 8 if len(labels) <= 12 else 5.5
        for (i, j), count in np.ndenumerate(counts):
            if count:
                ink = ink_on(shares[i, j])
                ax.text(j, i, f"{count:,}", ha="center", va="center", color=ink, fontsize=size)
    turned = 90 if longest > (6 if len(texts) <= 3 else 3) else 0
    ax.set_xticks(places, labels=texts, fontsize=8, rotation=turned)
    ax.set_yticks(places, labels=texts, fontsize=8)
    ax.tick_params(length=0)
    ax.set(xlabel="prediction", ylabel="label")
    return ax
