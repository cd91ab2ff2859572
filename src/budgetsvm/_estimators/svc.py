"""BudgetSVC: the classifier."""

from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight

from budgetsvm._common.checks import check_choice, check_truth
from budgetsvm._common.public import public_in
from budgetsvm._estimators.checkpoints.fit_run import fit_run
from budgetsvm._estimators.documentation import documented
from budgetsvm._estimators.fitting.warm_start import Origin
from budgetsvm._estimators.machine import all_or_nothing, watched
from budgetsvm._estimators.streaming.machine import StreamingMachine
from budgetsvm._estimators.svc_prediction import HEAD_TO_HEAD, ClassPrediction
from budgetsvm._estimators.tuning.tune import tune
from budgetsvm._estimators.user_input import (
    Bias,
    Budget,
    Epochs,
    Penalty,
    PrecisionName,
    check_budget,
    check_class_weight,
    check_penalty,
    find_classes,
    weighted_rows,
)
from budgetsvm._exact.budget import LEARNED
from budgetsvm._learn.settings import Settings
from budgetsvm._problem.pair_targets import PairTargets, check_room
from budgetsvm._problem.targets import ClassTargets, SingleTarget, Targets
from budgetsvm.kernels._interface import Gamma
from budgetsvm.losses import Hinge, make_loss
from budgetsvm.monitoring._interface import Monitor


@public_in("budgetsvm")
@documented(tuned=True)
class BudgetSVC(ClassPrediction, ClassifierMixin, StreamingMachine):
    """Kernel support vector classifier with at most `budget` support vectors.

    Solves the problem of scikit-learn's ``SVC`` (hinge loss, a bias, one class against one) in a time that grows
    linearly with the number of rows, in two phases: the methods of "Dual SVM Training on a Budget"
    (Qaadan, Schüler & Glasmachers 2018) learn the terms; then the SVM is solved in their span, up to
    a duality gap that is known (`duality_gap_`). Any number of classes, which share their terms: the
    budget is the size of the whole model.

    Parameters
    ----------
    C : float, "scale" or "tune", default="scale"
        Weight of the training errors against the norm of the model, as for ``SVC``. Infinity, or 1e10, is a hard
        margin, if the classes can be separated. "scale" is ``C=1.0`` of ``SVC``: 1 divided by the share of the kernel
        that learned terms span, as a small span regularises by itself; see `C_`. "tune": ``fit`` finds it by
        cross-validation.
    loss : {"hinge", "squared_hinge", "log_loss"} or Loss, default="hinge"
        What an error costs; see :mod:`budgetsvm.losses`. "log_loss" (or "logistic") gives ``predict_proba``. With
        the hinge loss, wrap the classifier in scikit-learn's ``CalibratedClassifierCV`` for probabilities.
    multi_class : {"ovo", "ovr", "weston-watkins"}, default="ovo"
        More than two classes: each pair of them, as ``SVC`` has it; each against the rest; or the joint problem of
        Weston & Watkins (hinge loss only). None is the best on all data. "ovo" is as accurate as ``SVC``; the
        others have K outputs in the place of K (K - 1) / 2 and predict faster; C means less regularisation for
        the last one. Without a polish, "ovo" trains all classes jointly, and compares them in pairs.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        What ``decision_function`` returns where `multi_class` is "ovo": a value for each class, or for each pair
        of classes. Otherwise it has no effect.
    break_ties : {"head_to_head", True, False}, default="head_to_head"
        What decides where `multi_class` is "ovo" and several classes win equally many pairs: the values of the pairs of
        these classes; True: the values of all their pairs, as for ``SVC``. False: it is the first of these classes, as by
        default for ``SVC``, and for LIBSVM (of whose models it is the one that comes first there).
    class_weight : dict, "balanced" or None, default=None
        C of a class is multiplied by its weight.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    dual_coef_ : ndarray of shape (n_outputs, n_terms)
        The coefficients β_j; the decision function is Σ_j β_j k(x, z_j) + intercept. There is one output for two
        classes; for more, one for each pair (a, b), positive for a, in the order (0, 1), (0, 2), ..., or one for
        each class, as `multi_class` says.
    intercept_ : ndarray of shape (n_outputs,)
        The bias; zero where there is none.
    n_support_ : ndarray of shape (n_classes,)
        Where terms are training rows, how many are of each class.
    class_weight_ : ndarray of shape (n_classes,)
        What C is multiplied with for every class.

    References
    ----------
    S. Qaadan, M. Schüler, T. Glasmachers: Dual SVM Training on a Budget. 2018. arXiv:1806.10182.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC
    >>> X, y = make_moons(2000, noise=0.1, random_state=0)
    >>> model = BudgetSVC(C=10, gamma=2, budget=30, random_state=0).fit(X, y)
    >>> len(model.support_vectors_) <= 30, model.duality_gap_ <= 0.01
    (True, True)
    >>> bool(model.score(X, y) > 0.99)
    True
    """

    C: Penalty
    multi_class: str
    decision_function_shape: str
    break_ties: bool | Literal["head_to_head"]
    class_weight: dict[Any, float] | Literal["balanced"] | None

    _may_be_tuned: ClassVar[bool] = True

    def __init__(
        self,
        C: Penalty = "scale",
        *,
        loss: Any = "hinge",
        multi_class: Literal["ovo", "ovr", "weston-watkins"] = "ovo",
        decision_function_shape: Literal["ovr", "ovo"] = "ovr",
        break_ties: bool | Literal["head_to_head"] = HEAD_TO_HEAD,
        kernel: Any = "rbf",
        gamma: Gamma = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        budget: Budget = "auto",
        solver: Any = "bsca",
        maintenance: Any = "auto",
        epochs: Epochs = "auto",
        polish: bool = True,
        basis: Any = "learned",
        fit_intercept: Bias = "auto",
        tol: float = 1e-2,
        max_passes: int = 500,
        time_limit: float | None = None,
        memory_limit: float | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        reservoir: int = 50_000,
        warm_start: bool = False,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        precision: PrecisionName = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        monitor: Monitor | None = None,
        verbose: int = 0,
    ) -> None:
        self._set_parameters(locals())

    @watched
    @all_or_nothing
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> Self:
        """Train on all rows, from scratch.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels of two classes or more.
        sample_weight : array-like of shape (n_samples,), default=None
            C of a row is multiplied by its weight. Weight 0 is as good as leaving the row out.
        checkpoint : path-like, default=None
            A file to leave the state in while training. If it is there when the call begins, the run that has left it
            goes on, and ends in the same model, bit for bit: parameters and data must be the same. It is removed when
            the fit is done. See the section *Runs that may be killed* of the guide.
        checkpoint_every : float, default=60.0
            Seconds between two checkpoints, at least; more where writing them would take more than half a percent
            of the time. 0: whenever it is possible.

        Returns
        -------
        self : BudgetSVC
        """
        if self._tuned:
            return tune(self, X, y, sample_weight, checkpoint)
        with fit_run(self, checkpoint, checkpoint_every) as run:
            self._fit(X, y, sample_weight, run)
        return self

    @all_or_nothing
    def partial_fit(
        self,
        X: Any,
        y: Any = None,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go through new rows once, continuing with the terms of earlier calls.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New rows. The first call also fixes gamma="scale", the centre and the precision.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels; needed in the first call unless its y has all.
        sample_weight : array-like of shape (n_samples,), default=None
            C of a row is multiplied by its weight.

        Returns
        -------
        self : BudgetSVC
        """
        settings = self._stream_settings()
        if isinstance(self.class_weight, str):
            message = (
                "class_weight='balanced' needs all labels at once, which partial_fit does not have; "
                "give the weights as a dict, e.g. from sklearn.utils.compute_class_weight"
            )
            raise ValueError(message)
        first = not hasattr(self, "_expansion")
        X, y = self._validate(X, y, reset=first)
        if first:
            self.classes_ = find_classes(y if classes is None else np.asarray(classes))
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            message = f"classes={classes!r} differ from those of the first call, {self.classes_!r}"
            raise ValueError(message)
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            message = f"y has labels {unknown.tolist()} that are not among {self.classes_.tolist()}"
            raise ValueError(message)
        X, y, weights = weighted_rows(X, y, sample_weight, None)
        self._learn_block(X, self._codes(y), weights, settings)
        return self

    def _encode(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        settings: Settings,  # noqa: ARG002
    ) -> tuple[Any, NDArray[Any], NDArray[np.float64]]:
        X, y = self._validate(X, y, reset=True)
        self.classes_ = find_classes(y)
        X, y, weights = weighted_rows(X, y, sample_weight, self.classes_)
        return X, self._codes(y), weights

    def _settings(self) -> Settings:
        check_penalty(self.C, may_be_tuned=True)
        check_choice("multi_class", self.multi_class, ("ovo", "ovr", "weston-watkins"))
        check_choice("decision_function_shape", self.decision_function_shape, ("ovr", "ovo"))
        check_truth("break_ties", self.break_ties, HEAD_TO_HEAD)
        check_class_weight(self.class_weight)
        if self.multi_class == "weston-watkins" and not isinstance(make_loss(self.loss), Hinge):
            message = f"multi_class='weston-watkins' needs loss='hinge', not {self.loss!r}"
            raise ValueError(message)
        return super()._settings()

    def _begin(
        self, X: Any, encoded: NDArray[Any], targets: Targets, settings: Settings
    ) -> Origin | None:
        origin = super()._begin(X, encoded, targets, settings)
        self._remember_outputs(targets)
        self._tie_order = None
        model = self._expansion
        if len(model.coef) != targets.count:  # a warm start with other outputs knows the terms
            coef, bias = np.zeros((targets.count, len(model))), np.zeros(targets.count)
            self._expansion = replace(model, coef=coef, bias=bias)
        return origin

    def _go_on(self, X: Any, targets: Targets, settings: Settings) -> None:
        if hasattr(self, "_expansion"):
            self._check_outputs(targets)
        else:
            self._tie_order = None
        super()._go_on(X, targets, settings)
        self._remember_outputs(targets)

    def _check_outputs(self, targets: Targets) -> None:
        if isinstance(targets, PairTargets) != self._pairwise:
            message = (
                f"multi_class is {self.multi_class!r} now, and was not when training began, which leads to a "
                "model of other outputs: set it back, or train anew by fit or fit_stream"
            )
            raise ValueError(message)

    @property
    def _bias_helps_terms(self) -> bool:
        return False  # that of phase 1 costs something: the terms are a little better without it

    def _codes(self, y: NDArray[Any]) -> NDArray[np.int32]:
        return np.searchsorted(self.classes_, y).astype(np.int32)

    def _targets(self, encoded: NDArray[Any], weights: NDArray[np.float64]) -> Targets:
        loss = make_loss(self.loss)
        box = check_penalty(self.C) * weights * self._class_weights(encoded)
        if len(self.classes_) == 2:
            return SingleTarget.of_labels(np.where(encoded == 1, 1.0, -1.0), box, loss)
        if self.multi_class == "ovo":
            check_room(len(self.classes_), min(len(encoded), check_budget(self.budget) or LEARNED))
            return PairTargets(box, loss, encoded, len(self.classes_))
        coupled = self.multi_class == "weston-watkins"
        return ClassTargets(box, loss, encoded, len(self.classes_), coupled)

    def _class_weights(self, codes: NDArray[np.int32]) -> NDArray[np.float64]:
        if self.class_weight is None:
            self.class_weight_ = np.ones(len(self.classes_))
            return np.ones(len(codes))
        weights = compute_class_weight(
            self.class_weight, classes=self.classes_, y=self.classes_[codes]
        )
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            message = f"class weights must be positive, not {self.class_weight!r}"
            raise ValueError(message)
        self.class_weight_ = weights
        per_row: NDArray[np.float64] = weights[codes]
        return per_row
