"""What a classifier answers: classes and probabilities from the values of its model, and how many terms classes have."""

from collections.abc import Callable
from functools import update_wrapper
from types import MethodType
from typing import Any, Final, NoReturn

import numpy as np
import scipy  # whose parts are imported when they are used
from numpy.typing import NDArray

from budgetsvm._common.checks import check_truth
from budgetsvm._common.threads import count_threads
from budgetsvm._estimators.fitting.two_phases import BudgetMachine
from budgetsvm._model.decisions import (
    near_each_other,
    near_zero,
    precise_decision,
    sure_decision,
)
from budgetsvm._polish.polish import Outcome
from budgetsvm._problem.pair_targets import (
    PairTargets,
    first_winners,
    head_to_head,
    near_head_to_head,
    pairs_of,
    rows_at_once,
    votes,
)
from budgetsvm._problem.targets import Targets
from budgetsvm.losses import BY_NAME, Logistic

#: Classes that win equally many pairs are compared with each other.
HEAD_TO_HEAD: Final = "head_to_head"
_RIDGE = 1e-12  # shares of 0 and 1 leave some of them undecided
_SYSTEMS = 1 << 20  # numbers of linear systems that are solved together
_NO_SIGMOID = (
    "probabilities of a BudgetSVC come from loss='log_loss', or from "
    "sklearn.calibration.CalibratedClassifierCV(BudgetSVC(...)): there is no sigmoid with probA_ and probB_"
)


class OfProbabilities:
    """A method that needs the logistic loss; without it, there is none, and the message says what to do.

    scikit-learn's ``available_if`` would show that message as the cause of another one, which says nothing.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        update_wrapper(self, method)  # type: ignore[arg-type]

    def __get__(self, machine: Any, owner: Any = None) -> Callable[..., Any]:
        if machine is None:
            return self._method
        machine._needs_logistic(self._method.__name__)
        return MethodType(self._method, machine)


class ClassPrediction(BudgetMachine):
    """The methods of a classifier that look at new rows."""

    loss: Any
    decision_function_shape: str = "ovr"  # of a pickle that is older than this
    break_ties: bool | str = True  # the same
    classes_: NDArray[Any]
    _n_support: NDArray[np.int32]
    #: The order in which ties go to classes, of a model of LIBSVM; None: that of `classes_`.
    _tie_order: NDArray[np.int64] | None = None
    #: Whether outputs are pairs of classes, and whether they are log odds: as parameters were in training. None: not
    #: known, of what is older than this.
    _pairwise: bool = False
    _logistic: bool | None = None

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """How many of the terms are rows of each class."""
        self.support_  # noqa: B018 - says so if they are no rows
        return self._n_support

    @property
    def probA_(self) -> NoReturn:
        """There is none: probabilities come from a loss, and not from a sigmoid that is fitted afterwards."""
        raise AttributeError(_NO_SIGMOID)

    @property
    def probB_(self) -> NoReturn:
        """There is none: see `probA_`."""
        raise AttributeError(_NO_SIGMOID)

    def _count_terms(self, encoded: NDArray[Any]) -> None:
        counts = np.bincount(encoded, minlength=len(self.classes_))
        self._n_support = counts.astype(np.int32)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return the values of the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        values : ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            Two classes: positive for ``classes_[1]``. More: the largest is that of the class predicted; with
            ``multi_class="ovo"`` that is how many other classes it wins against, and a little more or less by
            how clearly. With ``decision_function_shape="ovo"``, too, the values of all pairs (a, b) of classes,
            positive for a. They are off by 1e-5 at most: where single precision would lose more, all is computed
            in double.
        """
        self._check_fitted()
        X = self._validate(X, reset=False)
        if self._pairwise and self.decision_function_shape == "ovr":
            return self._of_blocks(X, self._values_of_classes, self._precise)
        values = self._precise(X)
        return values if values.shape[1] > 1 else values[:, 0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        self._check_fitted()
        X = self._validate(X, reset=False)
        labels: NDArray[Any] = self.classes_[self._of_blocks(X, self._codes_of, self._sure)]
        return labels

    @OfProbabilities
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the probability of every class; with ``loss="log_loss"`` only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Of more than two classes, each against the rest, scaled to sum up to 1; with
            ``multi_class="ovo"``, those that agree best with all pairs of classes (Wu, Lin & Weng 2004). Where
            another class than the predicted one had the largest, the two are exchanged.
        """
        if self._pairwise:
            self._check_fitted()
            X = self._validate(X, reset=False)
            return self._of_blocks(X, self._shares_of_pairs, self._precise)
        values = self.decision_function(X)
        if values.ndim == 1:
            return np.column_stack([scipy.special.expit(-values), scipy.special.expit(values)])
        shares: NDArray[np.float64] = scipy.special.expit(values)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return shares

    @OfProbabilities
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the logarithm of the probability of every class; with ``loss="log_loss"`` only.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
        """
        probabilities: NDArray[np.float64] = self.predict_proba(X)
        return np.log(np.maximum(probabilities, np.finfo(float).tiny))

    def _precise(self, X: Any) -> NDArray[np.float64]:
        """Return values of which all digits count."""
        threads = count_threads(self.n_jobs)
        return precise_decision(self._expansion, X, threads, self._doubtful)

    def _sure(self, X: Any) -> NDArray[np.float64]:
        """Return values of the right classes."""
        return sure_decision(self._expansion, X, self._doubtful, count_threads(self.n_jobs))

    def _doubtful(
        self, values: NDArray[np.float64], errors: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Say of which rows the class may be another, if values are off by so much."""
        if not self._pairwise and values.shape[1] > 1:
            return near_each_other(values, errors)
        found = near_zero(values, errors)
        n_classes = len(self.classes_)
        if self._pairwise and self.break_ties == HEAD_TO_HEAD:
            found |= near_head_to_head(values, n_classes, errors)
        elif self._pairwise and self.break_ties:  # by sums of values of fewer pairs than classes
            found |= near_each_other(votes(values, n_classes), n_classes * errors)
        return found

    def _of_blocks(
        self,
        X: Any,
        make: Callable[[NDArray[np.float64]], NDArray[Any]],
        values_of: Callable[[Any], NDArray[np.float64]],
    ) -> NDArray[Any]:
        """Return what is made of the values of rows: not of all rows × outputs at once."""
        step = rows_at_once(len(self._expansion.coef))
        parts = [make(values_of(X[i : i + step])) for i in range(0, X.shape[0], step)]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _codes_of(self, values: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the classes that values stand for."""
        if values.shape[1] == 1:
            return (values[:, 0] > 0).astype(np.intp)
        check_truth("break_ties", self.break_ties, HEAD_TO_HEAD)
        if self._pairwise and not self.break_ties:
            return first_winners(values, len(self.classes_), self._tie_order)
        if self._pairwise and self.break_ties == HEAD_TO_HEAD:
            return head_to_head(values, len(self.classes_))
        if self._pairwise:
            values = votes(values, len(self.classes_))
        return np.asarray(values.argmax(axis=1))

    def _shares_of_pairs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probabilities of classes; the class that is predicted, by votes, is the most probable one."""
        return _with_largest(
            coupled(scipy.special.expit(values), len(self.classes_)), self._codes_of(values)
        )

    def _values_of_classes(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return values of classes from those of pairs; that of the predicted class is the largest."""
        found = votes(values, len(self.classes_))
        if self.break_ties and self.break_ties != HEAD_TO_HEAD:
            return found
        return _with_largest(found, self._codes_of(values))

    def _remember_outputs(self, targets: Targets) -> None:
        self._pairwise = isinstance(targets, PairTargets)
        self._logistic = isinstance(targets.loss, Logistic)

    def _take_over(self, outcome: Outcome) -> None:
        super()._take_over(outcome)
        self._logistic = isinstance(outcome.problem.targets.loss, Logistic)

    @property
    def _has_shares(self) -> bool:
        """Whether values are log odds; of a machine that is not fitted, whether they will be."""
        if self._logistic is not None and hasattr(self, "_expansion"):
            return self._logistic
        loss = BY_NAME.get(self.loss) if isinstance(self.loss, str) else self.loss
        return isinstance(loss, Logistic)

    def _needs_logistic(self, method: str) -> None:
        if self._has_shares:
            return
        given = f"this is {self.loss!r}"
        if self._logistic is False and hasattr(self, "_expansion"):
            given = "as this was fitted with"
        message = (
            f"{method} needs loss='log_loss'; for other losses ({given}) fit "
            "sklearn.calibration.CalibratedClassifierCV(BudgetSVC(...))"
        )
        raise AttributeError(message)


def _with_largest(found: NDArray[np.float64], won: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return numbers of classes, the largest of which is exchanged for that of the class that has won; it is made the only largest."""
    every, largest = np.arange(len(found)), found.argmax(axis=1)
    found[every, won], found[every, largest] = found[every, largest], found[every, won]
    equal = np.flatnonzero(found.argmax(axis=1) != won)
    found[equal, won[equal]] = np.nextafter(found[equal, won[equal]], np.inf)
    return found


def coupled(shares: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Return probabilities of classes from those of pairs: `shares` are of a against b, (rows, pairs).

    The p that minimise Σ_a Σ_b (r_ba p_a - r_ab p_b)², Σ_a p_a = 1: a linear system for every row, whose solution is
    positive (T.-F. Wu, C.-J. Lin, R. C. Weng: Probability Estimates for Multi-class Classification by Pairwise
    Coupling. JMLR 5, 2004; their second approach).
    """
    first, second = pairs_of(n_classes).T
    step = max(1, _SYSTEMS // (n_classes + 1) ** 2)
    found = np.empty((len(shares), n_classes))
    for start in range(0, len(shares), step):
        own = shares[start : start + step]
        r = np.zeros((len(own), n_classes, n_classes))
        r[:, first, second], r[:, second, first] = own, 1 - own
        system = np.zeros((len(own), n_classes + 1, n_classes + 1))
        system[:, :n_classes, :n_classes] = -r * r.transpose(0, 2, 1)
        every = np.arange(n_classes)
        system[:, every, every] = (r**2).sum(axis=1)
        system[:, every, every] += _RIDGE
        system[:, n_classes, :n_classes] = system[:, :n_classes, n_classes] = 1
        wanted = np.zeros((len(own), n_classes + 1, 1))
        wanted[:, n_classes] = 1
        found[start : start + step] = np.linalg.solve(system, wanted)[:, :n_classes, 0]
    found = np.maximum(found, 0.0)
    found /= found.sum(axis=1, keepdims=True)
    return found
