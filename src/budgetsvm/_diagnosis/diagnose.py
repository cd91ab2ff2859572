"""diagnose: all checks, one after the other."""

from collections.abc import Callable
from typing import Any, TypeAlias

from budgetsvm._common.public import public_in
from budgetsvm._diagnosis.budget import check_budget
from budgetsvm._diagnosis.data import check_balance, check_features, check_labels
from budgetsvm._diagnosis.finding import Diagnosis, Finding
from budgetsvm._diagnosis.kernel import check_gamma, check_sight
from budgetsvm._diagnosis.solution import check_convergence, check_precision
from budgetsvm._diagnosis.subject import Subject, subject_of

_Check: TypeAlias = Callable[[Subject], Finding | str]

#: Each measures something, or says why it cannot.
CHECKS: dict[str, _Check] = {
    "features": check_features,
    "balance": check_balance,
    "labels": check_labels,
    "gamma": check_gamma,
    "sight": check_sight,
    "budget": check_budget,
    "convergence": check_convergence,
    "precision": check_precision,
}


@public_in("budgetsvm")
def diagnose(estimator: Any, X: Any, y: Any = None) -> Diagnosis:
    """Say in words what would help a fitted model.

    Parameters
    ----------
    estimator : BudgetSVC, BudgetSVR or BudgetOneClassSVM
        A fitted machine, a search for one, or a pipeline that ends with one; maybe loaded from a file.
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows, best those that took no part in training; some thousands are enough.
    y : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
        What is to be predicted for them. A one-class machine needs none, or labels 1 and -1.

    Returns
    -------
    diagnosis : Diagnosis
        Print it to read it. `advice` has what would help, `findings` all that was measured; each has a `number`,
        a `sentence`, and a `remedy` where something is wrong.

    Notes
    -----
    It looks at: *features* that were not scaled; *balance*, classes that are rare and hardly ever found, or have
    fewer than ten rows; wrong *labels*; *gamma* so small or so large that all kernel values are 1 or 0; *sight*, rows
    that no term sees; a *budget* that is too small, by the curve of a search or else by a trial: up to 6,000 of the rows, in two folds, with these terms and with
    several times as many; *convergence*; and *precision*, where single precision is at its end. It takes some seconds at
    most: the trial is four fits of 3,000 rows, and neighbours are looked for among 8,000.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC, diagnose
    >>> X, y = make_moons(1000, noise=0.2, random_state=0)
    >>> X[:, 1] *= 1000  # in millimetres
    >>> model = BudgetSVC(gamma=1.0, budget=50, random_state=0).fit(X[:800], y[:800])
    >>> [finding.about for finding in diagnose(model, X[800:], y[800:]).advice]
    ['features', 'gamma', 'sight']
    """
    return diagnosis_of(subject_of(estimator, X, y))


def diagnosis_of(subject: Subject) -> Diagnosis:
    """Make all checks."""
    found = {about: check(subject) for about, check in CHECKS.items()}
    findings = tuple(one for one in found.values() if isinstance(one, Finding))
    skipped = tuple((about, why) for about, why in found.items() if isinstance(why, str))
    return Diagnosis(findings, skipped)
