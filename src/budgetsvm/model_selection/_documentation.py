"""What the documentation of both searches has in common."""

from typing import Any, TypeVar

from budgetsvm._estimators.documentation import OF_MACHINES, documented, with_entries

_Class = TypeVar("_Class", bound=type[Any])

_PARAMETERS = """
Cs : int or list of float, default=10
    Values of C to try, or how many between 0.1 and 1,000; "scale" may be among them.
gammas : int, list of float or None, default=10
    Values of gamma to try, or how many between 1/32 and 32 times that of "scale", which is without effect for a
    kernel that has no gamma. None: "scale".
budget : int, list of int or "auto", default="auto"
    The largest number of terms, or several to try. "auto": cells are compared with 500 terms; then more and fewer are
    tried with the best gamma, and the smallest budget is chosen that is as good as the best one, see `budget_curve_`.
cv : int, splitter, iterable or None, default=None
    How rows are held out, as for ``GridSearchCV``; None is 5 folds, stratified for a classifier.
scoring : str, callable or None, default=None
    A scorer of scikit-learn, or its name; None is accuracy, or R².
refit : bool, default=True
    Whether to fit a machine with the best parameters to all rows.
halving : bool, default=True
    Whether to leave out on the way what does badly: every gamma is tried on two folds, and on a sample of the rows where more
    than 4,000 are to be trained on; the better half goes on to four times as many rows, and so on; the best half, four
    at least, with the C near their best one, to all folds. False: all cells on all folds.
time_limit : float or None, default=None
    Seconds after which ``fit`` ends with the best that it has found; with `refit`, the search takes 70 % of them
    at most.
random_state : int, RandomState, Generator or None, default=None
    Determines the order in which training points are visited, and which rows are in samples; the same for all cells.
n_jobs : int or None, default=None
    Threads, each with a gamma and a fold of its own. None is all cores.
verbose : int, default=0
    1 shows a progress bar, with the time left; where stderr is no terminal, a line every five seconds.
"""

_ATTRIBUTES = """
best_params_ : dict
    The best C, gamma and, if several were tried, budget.
best_score_ : float
    Their mean score on rows held out. It is the best of many, and so a little too good to be true: rows that
    took no part tell how good the model is.
best_index_ : int
    Their place in `cv_results_`.
cv_results_ : dict of ndarray
    As ``GridSearchCV`` has them. A cell that was abandoned has scores of the folds that it was tried on, maybe of a sample
    of the rows: ``n_splits`` and ``n_rows`` say of how many folds and training rows. Its rank is behind those that were tried
    on more. Fit times count a part of the terms, which all C share.
search_complete_ : bool
    Whether all was tried that was worth it; False: something was left out for which `time_limit` had no room, and
    more time may find better parameters.
budget_curve_ : dict of ndarray
    Where `budget` is "auto": ``budget``, and of each the best ``C``, ``mean_test_score`` and ``std_test_score``.
n_splits_ : int
    The number of folds.
scorer_ : callable
    The scorer.
refit_time_ : float
    With `refit`: the seconds that the last fit took.
"""


def documented_search(cls: _Class) -> _Class:
    """Complete the docstring of a search."""
    if cls.__doc__ is None:  # python -OO
        return cls
    text = with_entries(cls.__doc__, "Parameters", _PARAMETERS)
    cls.__doc__ = with_entries(text, "Attributes", _ATTRIBUTES)
    return documented(without=OF_MACHINES)(cls)
