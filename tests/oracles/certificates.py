"""Whether a certificate is honest: P and D of a fitted model, checked against their definitions in float64."""

from typing import Any

import numpy as np
from oracles.judge import Machine
from oracles.model_math import Model, Wanted, kernel_matrix, primal, wanted_by_classes
from sklearn.utils.class_weight import compute_class_weight

from budgetsvm import BudgetSVC, BudgetSVR


def check_certificate(model: Any) -> None:
    """P and D are finite, in order, and as far from each other as is said; or not converged."""
    (P, D), gap = model.objective_, model.duality_gap_
    if not model.converged_:
        return
    assert np.isfinite([P, D, gap]).all(), (P, D, gap)
    assert P + 1e-6 * max(abs(P), abs(D)) >= D, f"D = {D} exceeds P = {P}, converged"
    assert gap <= model.tol, (gap, model.tol)
    assert abs(gap * P - (P - D)) <= 1e-6 * abs(P), (P, D, gap)


def check_primal(model: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
    """P of a model that is said to be optimal for these rows is as it says, and no multiple beats D.

    X is dense float64. The units of a one-class machine's objective are its own: nothing to compare with.
    """
    if not model.converged_ or model.early_stopping or not isinstance(model, BudgetSVC | BudgetSVR):
        return
    expansion = Model.of(model)
    if not expansion.is_positive():
        return
    X, wanted = _problem(model, X, y, sample_weight)
    (P, D), tolerance = model.objective_, max(model.tol, 1e-3)
    with np.errstate(over="ignore"):  # infinity is a wrong answer, too
        found, error = primal(expansion, wanted, X), expansion.norm_error()
    assert abs(found - P) <= tolerance * abs(found) + error, f"P is {found}, not {P}"
    for factor in (0.0, 0.5, 0.9, 1.1):
        other = primal(expansion, wanted, X, factor)
        slack = 1e-6 * max(abs(other), abs(D)) + error
        assert other + slack >= D, f"{factor} of the model has P = {other}, below D = {D}"


def check_optimal(model: Any, X: Any, y: Any, sample_weight: Any = None) -> None:
    """All of the above, and that scipy finds an optimum between D and P in the span of the terms."""
    assert model.converged_, model.duality_gap_
    check_certificate(model)
    check_primal(model, X, y, sample_weight)
    expansion, (P, D) = Model.of(model), model.objective_
    X, wanted = _problem(model, X, y, sample_weight)
    assert not wanted.coupled  # one output is like the next, but for these
    lower, upper = _optimum(model, expansion, X, wanted, 1e-10)
    assert upper - lower <= 0.05 * upper  # else this says nothing
    assert upper * (1 + 1e-4) >= D, f"D = {D}, but there is a model with P = {upper}"
    if (
        lower * (1 - 1e-4) > P
    ):  # pivots say what a polish keeps, and eigenvalues may be much smaller than these
        lower, _ = _optimum(model, expansion, X, wanted, 1e-13)
    assert lower * (1 - 1e-4) <= P, f"P = {P}, but no model has less than {lower}"


def _optimum(
    model: Any, expansion: Model, X: Any, wanted: Wanted, least: float
) -> tuple[float, float]:
    """Return bounds of the optimum of all outputs, in the span of the terms but for the least eigenvalues."""
    lower = upper = 0.0
    for c in range(len(expansion.coef)):
        rows = wanted.signs[:, c] != 0
        signs, targets = wanted.signs[rows, c], wanted.targets[rows, c]
        G, free = _features(model, expansion, X[rows], least), model.fit_intercept
        one = Machine(wanted.loss, G, signs, targets, wanted.box[rows], wanted.epsilon, free=free)
        bounds = one.optimum()
        lower, upper = lower + bounds[0], upper + bounds[1]
    return lower, upper


def _features(model: Any, expansion: Model, X: Any, least: float) -> Any:
    """Return orthonormal coordinates of the rows in the span of the terms."""
    values, vectors = np.linalg.eigh(expansion.gram())
    kept = values > least * values[-1]
    K = kernel_matrix(expansion.kernel, X, expansion.points)
    G = K @ vectors[:, kept] / np.sqrt(values[kept])
    return np.column_stack([G, np.ones(len(G))]) if model.fit_intercept else G


def _problem(model: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, Wanted]:
    """Return the rows that count, and what they ask for."""
    weights = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight)
    kept = weights > 0
    X, y, weights = X[kept], np.asarray(y)[kept], weights[kept]
    if isinstance(model, BudgetSVC):
        return X, _wanted_classes(model, y, weights)
    targets = (y.reshape(len(y), -1) - model.target_mean_) / model.target_scale_
    # As documented.
    C = 1.0 if model.C == "scale" else model.C
    reach = (
        max(1.0, float(C * weights.sum())) if model.kernel_.name in ("rbf", "laplacian") else 1e60
    )
    targets = np.clip(targets, -1e6 * reach, 1e6 * reach)
    signs = np.ones_like(targets)
    wanted = Wanted("epsilon_insensitive", model.C_ * weights, signs, targets, model.epsilon)
    return X, wanted


def _wanted_classes(model: Any, y: Any, weights: Any) -> Wanted:
    per_class = compute_class_weight(model.class_weight, classes=model.classes_, y=y)
    box = model.C_ * weights * per_class[np.searchsorted(model.classes_, y)]
    coupled = model.multi_class == "weston-watkins" and len(model.classes_) > 2
    pairs = model.multi_class == "ovo"
    return wanted_by_classes(model.loss, box, y, model.classes_, coupled=coupled, pairs=pairs)
