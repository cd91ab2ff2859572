"""What the documentation of all estimators has in common, written once."""

import inspect
import re
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from budgetsvm import kernels, maintenance, solvers

_Class = TypeVar("_Class", bound=type[Any])

_PARAMETERS = """
kernel : {[kernels]}, Kernel or callable, default="rbf"
    The kernel: a name, an object of :mod:`budgetsvm.kernels`, or a function ``k(X, Z)`` (slow), of rows or of
    sequences of strings or other objects. "precomputed": ``fit`` takes the kernel values of all pairs of training
    rows in the place of X, ``predict`` those of new rows with all training rows.
gamma : {"scale", "auto", "tune"} or float, default="scale"
    Coefficient of all kernels but "linear", as for ``SVC``. "tune": of classifier and regressor, ``fit`` finds it by
    cross-validation.
degree : int, default=3
    Degree of the kernel "poly".
coef0 : float, default=0.0
    Constant of the kernels "poly" and "sigmoid".
budget : int, "auto" or None, default="auto"
    The largest number of terms that the model may have; "auto" lets the data decide, see `budget_`, and where C or
    gamma are "tune" so do scores on rows held out, see `budget_curve_`. None is no limit: training then approaches
    the exact machine, at its cost.
solver : {[solvers]} or Solver, default="bsca"
    Budgeted stochastic coordinate ascent on the dual problem (Algorithm 1 of the paper), or
    budgeted stochastic gradient descent on the primal one (eq. 4). See :mod:`budgetsvm.solvers`.
maintenance : {"auto", [strategies]} or Maintenance, default="auto"
    What to do when the budget is exceeded. See :mod:`budgetsvm.maintenance`. "auto" is "merge" for the
    Gaussian kernel, the only one for which that works, and "project" for all others.
epochs : "auto" or float, default="auto"
    How many times phase 1 goes through the training data. "auto" is five without a polish. Before
    one it is two, up to a million visits, after a trial: where the budget is too small for the
    kernel, phase 1 goes on with a smaller C, which then gives better terms. Of more than a thousand
    terms it is two for each thousand, without a trial, as long as the loss falls.
polish : bool, default=True
    Whether to solve the problem in the span of the terms after they are learned. False leaves the
    paper's solver as it is. Without a budget there is no polish.
basis : {"learned", "random", "kmeans"} or array of shape (n_terms, n_features), default="learned"
    Where the terms come from: phase 1, random rows, cluster centres, or these points. With a
    polish, all but the first are Nyström's method.
fit_intercept : bool or "auto", default=[fit_intercept]
    Whether the model has a bias, which does not count for its norm, as LIBSVM has it. In phase 1 and with
    ``multi_class="weston-watkins"``, it is the coefficient of a constant feature, and counts like all others.
    "auto": with a polish, which finds the best one; the paper's solvers have none.
tol : float, default=[tol]
    The relative duality gap (P - D) / P at which the polish is done.
max_passes : int, default=500
    The polish gives up after so many passes over the data, with a ``ConvergenceWarning``.
time_limit : float or None, default=None
    Seconds after which ``fit`` ends with the best model it has; phase 1 takes half of them at most.
memory_limit : float or None, default=None
    Bytes that kernel values may take; beyond, they are computed again in every pass. None is 8 GiB,
    or half of the memory that is free if that is less.
early_stopping : bool, default=False
    Whether to hold rows out, and to end phase 1 when the score on them (the accuracy of a classifier, else the
    loss) does not get better; the best model so far is kept. Allow for enough `epochs`.
validation_fraction : float, default=0.1
    The share of rows that is held out.
n_iter_no_change : int, default=5
    Epochs without an improvement after which phase 1 ends.
reservoir : int, default=50000
    Rows that ``partial_fit`` keeps, a sample of all it has seen, for ``polish_now``.
warm_start : bool, default=False
    Whether ``fit`` starts from the terms, and the dual variables, of the fit before: for another C,
    loss or weights, say. Other rows, targets, kernels or budgets need other terms, and a fit from scratch.
precision : {"auto", "single", "double"}, default="auto"
    Arithmetic for kernel values. "auto" takes single precision unless too many digits would be lost
    in it: by distances in the (centred) data, a small `tol`, or a C so large that it makes use of
    terms which single precision cannot tell from each other. "single" refuses rows whose squares it has no
    room for.
random_state : int, RandomState, Generator or None, default=None
    Determines the order in which training points are visited.
n_jobs : int or None, default=None
    Threads. None is all cores.
monitor : Monitor or None, default=None
    Watches the fit, e.g. a :class:`budgetsvm.monitoring.Trace`; see `monitor_`.
verbose : int, default=0
    1 shows a progress bar for each phase, with the time left; where stderr is no terminal, a line every five seconds.
"""

_ATTRIBUTES = """
support_vectors_ : ndarray or sparse array of shape (n_terms, n_features)
    The points z_j of the model. After merging these are not training points any more. Sparse if X is, and wide: of
    more than 1,024 features, rows have 3 % at most, and none has a quarter.
support_ : ndarray of shape (n_terms,)
    The numbers of the training rows that are terms. Only where terms are such rows: not after merging, nor after
    ``partial_fit``. With ``kernel="precomputed"`` this takes the place of `support_vectors_`.
n_support_ : ndarray of shape (1,)
    The number of terms.
coef_ : ndarray of shape (n_outputs, n_features)
    With the linear kernel: the weights of the features.
budget_ : int or None
    The budget. Where `budget` is "auto": as many terms as there are rows, so that the exact machine fits, if it takes
    little time: up to 5,000 rows, more where there are pairs of classes, and up to 20,000 if 500 terms have too
    little of the kernel (85 % of it, where they are random rows). Otherwise 500 or, where that is too little, 2,000. At most 500 of
    a one-class machine, of a stream, of other losses than the hinge and the epsilon-insensitive one, with early stopping or
    another basis than a learned one, and without a polish or a bias.
duality_gap_ : float
    After a polish: (P - D) / P. The model's objective is within this share of the best possible
    with its terms, or of all, as `certifies_` says. Infinity: nothing is certified.
objective_ : tuple of float
    After a polish: P of the model and D of the dual point that proves the gap.
converged_ : bool
    After a polish: whether `duality_gap_` is at most `tol` (and, where even the best model saves little
    of what a constant one costs, the gap is little beside that), and the costs of a sample of the rows,
    computed anew in float64 by other formulas, agree with it. False, too, where rounding errors of
    distances, of rows far from each other or from the origin, are too large to tell.
certifies_ : {"full problem", "span"}
    After a polish: which problem `duality_gap_` and `objective_` are about. Where the budget is a quarter of the
    rows or more, the exact machine is tried first: "full problem" says that it, or a model as good up to
    `tol`, fits into the budget, so that no model of any size has a smaller P than D. "span": no model with
    the same terms has.
C_ : float
    After a polish: the C of `objective_`. It is `C`, but for "scale": then 1 / s, where s = Σ ‖g(x)‖² / Σ k(x, x) is
    the share of the kernel that lies in the span of the terms, on a sample of the rows (at least 0.1). A machine
    with s k and C / s is that with k and C. Where `certifies_` is "full problem", or `basis` are points, s is 1.
fit_status_ : int
    After a polish: 0 if `converged_`, else 1.
shape_fit_ : tuple of int
    Training rows of positive weight, and features.
validation_scores_ : ndarray of shape (n_epochs,)
    With `early_stopping`: the score on the rows held out, after every epoch.
n_iter_ : int
    Epochs done by the last call of ``fit`` or ``partial_fit``, counting one begun.
history_ : list of dict
    Per epoch: visits, steps, violations, mistakes, merges, degradation (sum of the ‖Δw‖² that maintenance
    caused), loss (the mean over the visits, before the step), size, seconds.
kernel_ : Kernel
    The kernel with its numbers resolved.
monitor_ : Monitor
    With `monitor`: a copy of it that has watched this fit.
n_features_in_ : int
    Number of features seen during fit.
feature_names_in_ : ndarray of str
    Their names, where X had any.
"""


_TUNED = """
best_params_ : dict
    Where C or gamma are "tune": what was chosen for them and, where `budget` is "auto", for that. It is what a machine has that
    is not tuned (C is "scale") unless something else is better by more than noise.
best_score_ : float
    The mean score (accuracy, or R²) of that on rows held out: the best of many, and so a little too good to be true.
cv_results_ : dict of ndarray
    All cells that were looked at, as :class:`budgetsvm.model_selection.BudgetSVCCV` has them.
search_complete_ : bool
    Where C or gamma are "tune": whether all was tried that was worth it; False: something was left out for which `time_limit` had no
    room, and more time may find better parameters.
budget_curve_ : dict of ndarray
    Where `budget` is "auto", too: the budgets that were tried, the best C of each, and its scores.
"""

_VARYING = ("fit_intercept", "tol")  # parameters whose defaults differ
_NAMES = {
    kind: ", ".join(f'"{name}"' for name in names)
    for kind, names in (
        ("kernels", kernels.NAMES),
        ("solvers", solvers.BY_NAME),
        ("strategies", maintenance.BY_NAME),
    )
}


def documented(*, without: Collection[str] = (), tuned: bool = False) -> Callable[[_Class], _Class]:
    """Complete the docstring of an estimator by what all have in common.

    The class itself documents parameters and attributes that are its own, or whose meaning differs. `without` are
    common attributes that it does not have; `tuned`: its parameters may be "tune".
    """

    def complete(cls: _Class) -> _Class:
        if cls.__doc__ is None:  # python -OO
            return cls
        signature = inspect.signature(cls)
        names = list(signature.parameters)
        text = inspect.cleandoc(cls.__doc__)
        entries = _entries(_PARAMETERS) | _entries(_section(text, "Parameters"))
        parameters = "\n".join(entries[name] for name in names)
        known = {
            name: repr(signature.parameters[name].default) for name in _VARYING if name in names
        }
        for name, value in {**_NAMES, **known}.items():
            parameters = parameters.replace(f"[{name}]", value)
        own = _entries(_section(text, "Attributes"))
        common = {
            name: entry
            for name, entry in _entries(_ATTRIBUTES + (_TUNED if tuned else "")).items()
            if name not in without
        }
        first = {k: v for k, v in common.items() if k == "support_vectors_"}
        attributes = "\n".join(
            (first | own | {k: v for k, v in common.items() if k not in own}).values()
        )
        text = text.replace(_section(text, "Parameters"), parameters)
        cls.__doc__ = text.replace(_section(text, "Attributes"), attributes)
        return cls

    return complete


def _section(text: str, name: str) -> str:
    """Return what a section of a docstring holds."""
    found = re.search(rf"\n{name}\n-+\n(.+?)(?=\n\n|\Z)", text, re.DOTALL)
    assert found is not None, f"a docstring without {name}"
    return found[1]


def _entries(section: str) -> dict[str, str]:
    """Split a section into what it says of each name; entries begin where a line is not indented."""
    entries = re.split(r"\n(?=\S)", section.strip("\n"))
    return {entry.partition(" :")[0]: entry for entry in entries}


#: The attributes that all fitted machines have.
OF_MACHINES = tuple(_entries(_ATTRIBUTES))


def with_entries(text: str, name: str, more: str) -> str:
    """Return a docstring with more entries behind those of a section."""
    text = inspect.cleandoc(text)
    section = _section(text, name)
    return text.replace(section, section + "\n" + more.strip("\n"))
