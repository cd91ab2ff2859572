"""Estimators of this package from models of LIBSVM, and back."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError

from budgetsvm._common.public import public_in
from budgetsvm._estimators.one_class.estimator import BudgetOneClassSVM
from budgetsvm._estimators.snapshots import machine_of, snapshot_of
from budgetsvm._estimators.svc import BudgetSVC
from budgetsvm._estimators.svr import BudgetSVR
from budgetsvm._formats.libsvm.model import CLASSIFIERS, KERNELS, ONE_CLASS, LibsvmModel
from budgetsvm._formats.libsvm.pairs import by_rank, libsvm_layout, pair_coefficients
from budgetsvm._formats.libsvm.read import read_libsvm, warn_of_probabilities
from budgetsvm._formats.libsvm.write import libsvm_text
from budgetsvm._formats.scalers import is_pipeline
from budgetsvm._formats.sums import sums_of
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._problem.target_scale import TargetScale
from budgetsvm.kernels import KernelInPython

_TIES = (
    "where several classes win equally many pairs, LIBSVM takes the first of them, and this model goes by values "
    "(break_ties={!r}): its labels differ there; set_params(break_ties=False) makes them the same"
)

# ---- from LIBSVM ----


def of_libsvm(text: bytes, where: str, n_features: int | None = None) -> Any:
    """Return the estimator of a text, which predicts as LIBSVM does."""
    model = read_libsvm(text, where, n_features)
    parameters = _parameters(model)
    if model.kind in CLASSIFIERS:
        machine = _classifier(model, parameters, where)
    elif model.kind == ONE_CLASS:
        machine = BudgetOneClassSVM(**parameters)
        _set(machine, _expansion(model, model.coef, np.zeros(1)))
        machine._level = machine._scale = machine._weight_seen = 1.0
        machine._trained_nu, machine._offset = machine.nu, float(model.rho[0])
    else:
        machine = BudgetSVR(**parameters)
        _set(machine, _expansion(model, model.coef, -model.rho))
        machine._flat = True
        machine._take_scale(TargetScale(np.zeros(1), np.ones(1), np.ones(1, np.bool_), 0.0))
    try:
        return machine_of(snapshot_of(machine))  # which checks all of it
    except ValueError as error:
        message = f"{where}: {error}"
        raise ValueError(message) from error


def _parameters(model: LibsvmModel) -> dict[str, Any]:
    numbers = next(names for kind, names in KERNELS.values() if type(model.kernel) is kind)
    return {
        "kernel": model.kernel.name,
        **{name: getattr(model.kernel, name) for name in numbers},
        "budget": max(1, model.points.shape[0]),
        "maintenance": "merge" if model.kernel.mergeable else "project",
    }


def _classifier(model: LibsvmModel, parameters: dict[str, Any], where: str) -> BudgetSVC:
    assert model.labels is not None
    assert model.counts is not None
    n_classes = len(model.labels)
    classes, ranks = np.unique(model.labels, return_inverse=True)
    coef, bias = pair_coefficients(model.coef, model.counts), -model.rho
    if n_classes == 2:  # LIBSVM is positive for the first label, we are for the larger one
        sign = 1.0 if ranks[0] == 1 else -1.0
        coef, bias = coef * sign, bias * sign
    else:
        coef, bias = by_rank(coef, ranks), by_rank(bias[:, np.newaxis], ranks)[:, 0]
        parameters = parameters | {"multi_class": "ovo", "break_ties": False}
    loss = "hinge"
    if model.slopes is not None and model.shifts is not None:
        if (model.slopes == -1).all() and not model.shifts.any():
            loss = "logistic"
        else:
            warn_of_probabilities(where)
    machine = BudgetSVC(fit_intercept=True, loss=loss, **parameters)
    _set(machine, _expansion(model, coef, bias))
    if n_classes > 2:
        machine._pairwise, machine._tie_order = True, ranks.astype(np.int64)
    machine.classes_, machine._logistic = classes, loss == "logistic"
    return machine


def _expansion(
    model: LibsvmModel, coef: NDArray[np.float64], bias: NDArray[np.float64]
) -> KernelExpansion:
    return KernelExpansion(model.kernel, model.points, np.ascontiguousarray(coef), bias, None)


def _set(machine: Any, model: KernelExpansion) -> None:
    """Give a machine a model, as if it had been trained without a certificate."""
    machine._expansion, machine.kernel_, machine._kernel_wanted = model, model.kernel, model.kernel
    machine.n_features_in_ = model.points.shape[1]
    machine.budget_ = machine.budget
    machine._rows_seen = machine._visits = machine.n_iter_ = 0
    machine.history_ = []
    machine._dual = machine._origin = machine._reservoir = None


# ---- to LIBSVM ----


@public_in("budgetsvm")
def to_libsvm(estimator: Any) -> str:
    """Return a fitted estimator as a model of LIBSVM: the text that ``svm-predict`` reads.

    Decision values and labels are the same there, but where several classes win equally many pairs: LIBSVM takes the
    first of them, as ``break_ties=False`` does, and a warning says so for others. A classifier trained with ``loss="logistic"`` has its probabilities
    there, too (``svm-predict -b 1``).

    Parameters
    ----------
    estimator : BudgetSVC, BudgetSVR or BudgetOneClassSVM
        A fitted estimator whose kernel LIBSVM has: linear, polynomial, Gaussian or sigmoid. A classifier has two
        classes, or was trained with ``multi_class="ovo"``, and its labels are integers. Where a term counts for
        several pairs of classes, LIBSVM needs it several times.

    Returns
    -------
    text : str
        The file.

    Raises
    ------
    ValueError
        If LIBSVM has no such models.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from budgetsvm import BudgetSVC, to_libsvm
    >>> X, y = make_moons(300, noise=0.2, random_state=0)
    >>> model = BudgetSVC(gamma=2, budget=20, random_state=0).fit(X, y)
    >>> print(to_libsvm(model))
    svm_type c_svc
    kernel_type rbf
    gamma 2
    nr_class 2
    total_sv 20
    ...
    """
    model = _model_of(estimator)
    if (
        model.points.shape[0] == 0
    ):  # a support vector that counts for nothing, and says how many features there are
        points, coef = np.zeros((1, estimator.n_features_in_)), np.zeros((len(model.coef), 1))
        counts = None if model.counts is None else np.eye(1, len(model.counts), dtype=np.int64)[0]
        model = replace(model, points=points, coef=coef, counts=counts)
    return libsvm_text(model)


def _model_of(estimator: Any) -> LibsvmModel:
    if is_pipeline(estimator):
        steps = [step for _, step in estimator.steps if step not in (None, "passthrough")]
        if len(steps) != 1:
            message = (
                f"a model of LIBSVM has no place for steps before it ({type(steps[0]).__name__}): write the last step alone, for "
                "rows that have been through the others (budgetsvm scale and svm-scale scale files), or use ONNX or C"
            )
            raise ValueError(message)
        estimator = steps[0]
    if type(estimator) not in (BudgetSVC, BudgetSVR, BudgetOneClassSVM):
        message = f"LIBSVM has no models like a {type(estimator).__name__}: use ONNX or C"
        raise ValueError(message)
    if not hasattr(estimator, "_expansion"):
        message = f"this {type(estimator).__name__} is not fitted yet: there is nothing to write"
        raise NotFittedError(message)
    if type(estimator._expansion.kernel) not in [kind for kind, _ in KERNELS.values()]:
        kernel = estimator._expansion.kernel
        hint = "use a pickle" if isinstance(kernel, KernelInPython) else "use ONNX or C"
        message = f"LIBSVM does not have the kernel {kernel!r}: {hint}"
        raise ValueError(message)
    if isinstance(estimator, BudgetSVC):
        return _of_classifier(estimator)
    return _of_sums(estimator)


def _of_sums(estimator: BudgetSVR | BudgetOneClassSVM) -> LibsvmModel:
    """Regression, or a detector: a single sum."""
    if isinstance(estimator, BudgetSVR) and len(estimator.target_scale_) > 1:
        message = (
            f"LIBSVM has regression of a single target, and this model has {len(estimator.target_scale_)}: train one "
            "for each of them, or use ONNX or C"
        )
        raise ValueError(message)
    model = sums_of(estimator)
    kind = ONE_CLASS if isinstance(estimator, BudgetOneClassSVM) else "epsilon_svr"
    return LibsvmModel(kind, model.kernel, model.coef, model.original_points(), -model.bias)


def _of_classifier(estimator: BudgetSVC) -> LibsvmModel:
    model, labels = estimator._expansion, _labels(estimator.classes_)
    coef, bias = model.coef, model.bias
    if len(labels) == 2:
        labels = labels[::-1]  # of which LIBSVM is positive for the first
    elif not estimator._pairwise:
        message = (
            "this model has one output per class, and LIBSVM one per pair of classes: train "
            "with multi_class='ovo', or use ONNX or C"
        )
        raise ValueError(message)
    elif estimator._tie_order is not None:
        ranks = np.argsort(estimator._tie_order)  # places of the sorted labels in the file
        labels = labels[estimator._tie_order]
        coef, bias = by_rank(coef, ranks), by_rank(bias[:, np.newaxis], ranks)[:, 0]
    if len(labels) > 2 and estimator.break_ties:
        warnings.warn(_TIES.format(estimator.break_ties), UserWarning, stacklevel=4)
    layout = libsvm_layout(coef, len(labels))
    logistic = estimator._has_shares
    return LibsvmModel(
        "c_svc",
        model.kernel,
        layout.coef,
        model.original_points()[layout.terms],
        -bias,
        labels,
        layout.counts,
        -np.ones_like(bias) if logistic else None,
        np.zeros_like(bias) if logistic else None,
    )


def _labels(classes: NDArray[Any]) -> NDArray[np.int64]:
    """Return labels as LIBSVM has them: integers of 32 bits."""
    numbers = classes.dtype.kind in "biuf"
    if (
        not numbers
        or not (np.round(classes) == classes).all()
        or abs(classes.astype(float)).max() >= 2**31
    ):
        message = (
            f"labels of LIBSVM are integers of 32 bits, and these are {', '.join(map(repr, classes.tolist()[:5]))}: train with "
            "integers, e.g. from LabelEncoder, or use ONNX or C"
        )
        raise ValueError(message)
    return classes.astype(np.int64)
