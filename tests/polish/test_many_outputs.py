"""Phase 2 for several outputs, and the matrices behind it."""

import warnings
from typing import Any

import numpy as np
import pytest
from oracles import judge, reference
from oracles.problems import KERNELS, sparse_rows, weights
from sklearn.exceptions import ConvergenceWarning

from budgetsvm import BudgetSVC, BudgetSVR, kernels
from budgetsvm._polish.basis import Basis
from budgetsvm._polish.matrix.kernel_values import FeatureMatrix, KernelMatrix, SomeRows
from budgetsvm._polish.outputs import solve_outputs
from budgetsvm._polish.solve import Limits, Polished, Start, polish_in_span
from budgetsvm._polish.span_problem import SpanProblem
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ManyTargets, OneVsRest, Outputs
from budgetsvm.losses import EpsilonInsensitive, Hinge, Logistic, Loss, SquaredHinge

GAMMA = 0.8
PLENTY, LITTLE = 1e9, 1e4  # bytes: features are held, or kernel values computed in every pass
KINDS: dict[str, Loss] = {
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "logistic": Logistic(),
    "insensitive": EpsilonInsensitive(0.1),
}


def make_problem(name: str = "hinge", n: int = 300, C: float = 1.0) -> Problem:
    """Four classes, or three targets, around the origin."""
    rng = np.random.default_rng(7)
    X, box = rng.standard_normal((n, 2)), C * weights(n, 3)
    loss = KINDS[name]
    outputs: Outputs
    if isinstance(loss, EpsilonInsensitive):
        values = np.column_stack([X[:, 0] ** 2, np.sin(2 * X[:, 1]), X[:, 0] * X[:, 1]])
        outputs = ManyTargets(box, loss, values + 0.2 * rng.standard_normal((n, 3)))
    else:
        noisy = X + 0.3 * rng.standard_normal((n, 2))
        labels = (2 * (noisy[:, 0] > 0) + (noisy[:, 1] > 0)).astype(np.int32)
        outputs = OneVsRest(box, loss, labels, 4)
    return Problem(Rows(X, np.float64, None), outputs)


def basis_of(problem: Problem, constant: bool = True) -> Basis:
    return Basis.of(problem.rows.X[:25].copy(), kernels.Gaussian(GAMMA), constant=constant)


def solve(
    problem: Problem, *, tol: float = 1e-4, memory: float = PLENTY, **options: Any
) -> Polished:
    limits = Limits(tol, 500, np.inf, memory, options.pop("n_threads", 1))
    return polish_in_span(problem, basis_of(problem), limits, np.random.default_rng(0), **options)


def machine_of(problem: Problem, c: int, points: Any) -> tuple[judge.Machine, Any]:
    """The problem of one output in features of plain NumPy, and the Cholesky factor behind them."""
    kernel, targets = reference.Kernel("rbf", GAMMA), problem.outputs.of_output(c)
    lower = np.linalg.cholesky(kernel(points, points))
    G = np.linalg.solve(lower, kernel(problem.rows.X, points).T).T
    G = np.column_stack([G, np.ones(len(G))])
    name, epsilon = targets.loss.core()
    return judge.Machine(name, G, targets.y, targets.target, targets.box, epsilon), lower


# ---- the solver ----


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("C", [0.1, 10.0])
@pytest.mark.parametrize("name", KINDS)
def test_every_output_is_solved(name: str, C: float, memory: float) -> None:
    """Each to the tolerance, as scipy sees it; the certificate is the sum of all."""
    problem, tol = make_problem(name, C=C), 1e-3
    found = solve(problem, tol=tol, memory=memory)
    assert found.converged
    total = 0.0
    for c in range(problem.outputs.count):
        machine, lower = machine_of(problem, c, found.points)
        w = np.append(lower.T @ found.coef[c], found.bias[c])
        best, upper = machine.optimum()
        primal = machine.primal(w)
        assert best * (1 - 1e-9) <= primal <= upper * (1 + tol) + 1e-9
        assert primal == pytest.approx(upper, rel=0.02)
        total += primal
    assert found.primal == pytest.approx(total, rel=1e-9)
    assert found.dual <= found.primal
    assert found.gap == pytest.approx((found.primal - found.dual) / found.primal)


@pytest.mark.parametrize("name", KINDS)
def test_together_as_each_alone(name: str) -> None:
    problem = make_problem(name)
    together = solve(problem)
    for c in range(problem.outputs.count):
        alone = solve(Problem(problem.rows, problem.outputs.of_output(c)))
        machine, lower = machine_of(problem, c, together.points)
        w = np.append(lower.T @ together.coef[c], together.bias[c])
        assert alone.dual * (1 - 1e-9) <= machine.primal(w) <= alone.primal * (1 + 1e-4)
        np.testing.assert_allclose(together.bias[c], alone.bias[0], atol=0.05)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
@pytest.mark.parametrize("name", ["hinge", "insensitive"])
def test_the_number_of_threads_does_not_change_a_bit(name: str, memory: float) -> None:
    problem = make_problem(name)
    results = [solve(problem, memory=memory, tol=1e-2, n_threads=k) for k in (1, 2, 5)]
    for other in results[1:]:
        np.testing.assert_array_equal(other.coef, results[0].coef)
        np.testing.assert_array_equal(other.bias, results[0].bias)
        assert (other.primal, other.dual) == (results[0].primal, results[0].dual)


@pytest.mark.parametrize("name", ["hinge", "logistic", "insensitive"])
def test_a_start_at_the_solution_needs_little(name: str) -> None:
    problem = make_problem(name, C=10.0)
    found = solve(problem)
    kept = basis_of(problem).kept
    coef = np.zeros((problem.outputs.count, 25))
    coef[:, kept] = found.coef
    again = solve(problem, start=Start(coef, found.bias, None))
    assert again.primal <= found.primal * (1 + 1e-12)  # what it is given is never made worse
    assert again.passes <= found.passes + 1


def test_a_sample_comes_first_where_there_are_many_rows() -> None:
    """More rows than four per dimension, and a smaller working set at first."""
    problem = make_problem("hinge", n=2000)
    found = solve(problem, tol=1e-3)
    assert found.converged
    machine, lower = machine_of(problem, 2, found.points)
    w = np.append(lower.T @ found.coef[2], found.bias[2])
    assert machine.primal(w) == pytest.approx(machine.optimum()[1], rel=5e-3)


def test_rows_are_forgotten() -> None:
    """For many outputs there is no room for a number of each row."""
    problem = make_problem()
    matrix = FeatureMatrix(KernelMatrix(problem.rows, basis_of(problem), 1, PLENTY))
    kept = solve_outputs(
        problem.outputs,
        matrix,
        np.random.default_rng(0),
        lambda _, span: span.gap < 0.01,
        tol=0.01,
        n_threads=1,
        settle=lambda span: (span.gap, span.w),
    )
    assert len(kept) == 4
    for gap, w in kept:
        assert gap < 0.01
        assert w.shape == (matrix.width,)


def test_it_stops_when_told_to() -> None:
    problem = make_problem(C=1e4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        limits = Limits(1e-9, 6, np.inf, PLENTY, 1)
        found = polish_in_span(problem, basis_of(problem), limits, np.random.default_rng(0))
    assert not found.converged
    assert found.passes <= 10
    assert 0 <= found.dual <= found.primal


def test_estimators_with_several_outputs() -> None:
    problem = make_problem("insensitive")
    assert isinstance(problem.outputs, ManyTargets)
    X, Y = problem.rows.X, problem.outputs.values
    options: dict[str, Any] = {"basis": X[:25], "gamma": GAMMA, "tol": 1e-4, "random_state": 0}
    options |= {"budget": 25, "fit_intercept": True, "precision": "double"}
    model = BudgetSVR(**options).fit(X, Y)
    assert model.predict(X).shape == Y.shape
    for c in range(3):
        alone = BudgetSVR(**options).fit(X, Y[:, c])
        np.testing.assert_allclose(model.predict(X)[:, c], alone.predict(X), atol=0.05)
    labels = make_problem().outputs.labels  # type: ignore[attr-defined]
    for loss in ("hinge", "squared_hinge", "logistic"):
        several = BudgetSVC(loss=loss, **options).fit(X, labels)
        alone_c = BudgetSVC(loss=loss, **options).fit(X, labels == 2)
        f = several.decision_function(X)
        assert f.shape == (300, 4)
        np.testing.assert_allclose(f[:, 2], alone_c.decision_function(X), atol=0.05)
        if loss == "logistic":
            np.testing.assert_allclose(several.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("multi_class", ["ovr", "weston-watkins"])
def test_warm_start_with_several_classes(multi_class: Any) -> None:
    problem = make_problem()
    X, labels = problem.rows.X, problem.outputs.labels  # type: ignore[attr-defined]
    model = BudgetSVC(
        budget=20, gamma=GAMMA, warm_start=True, random_state=0, multi_class=multi_class
    )
    first = model.fit(X, labels).support_vectors_.copy()
    model.set_params(C=2.0).fit(X, labels)
    np.testing.assert_allclose(np.sort(model.support_vectors_, axis=0), np.sort(first, axis=0))
    assert model.converged_
    fresh = BudgetSVC(2.0, budget=20, gamma=GAMMA, basis=first, multi_class=multi_class)
    fresh.fit(X, labels)
    assert model.objective_[0] == pytest.approx(fresh.objective_[0], rel=0.02)


# ---- matrices ----


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["rbf", "poly"])
def test_features_and_kernel_values_say_the_same(
    name: str, dtype: Any, form: str, constant: bool
) -> None:
    kernel, gram = KERNELS[name]
    X = sparse_rows(200, 6, 5, 0.6)
    basis = Basis.of(X.toarray()[10:25].astype(dtype), kernel, constant=constant)
    rows = Rows(X if form == "csr" else X.toarray(), dtype, None)
    matrix = KernelMatrix(rows, basis, 2, PLENTY)
    features = FeatureMatrix(matrix)
    Z = basis.points.astype(np.float64)
    G = np.linalg.solve(np.linalg.cholesky(gram(Z, Z)), gram(X.toarray(), Z).T).T
    if constant:
        G = np.column_stack([G, np.ones(200)])
    assert matrix.width == features.width == G.shape[1]
    rng = np.random.default_rng(0)
    w, v = rng.standard_normal(matrix.width), rng.standard_normal(200)
    tolerance = (2e-3 if dtype == np.float32 else 1e-8) * abs(G).max()
    for some in (matrix, features):
        np.testing.assert_allclose(some.times(w), G @ w, rtol=0, atol=20 * tolerance)
        np.testing.assert_allclose(some.transposed_times(v), G.T @ v, rtol=0, atol=100 * tolerance)
        chosen = np.array([3, 190, 17, 18])
        block, where = some.feature_rows(chosen)
        np.testing.assert_allclose(block[where], G[chosen], rtol=0, atol=tolerance)
        norms = some.squared_norms(block)[where]
        np.testing.assert_allclose(norms, (G[chosen] ** 2).sum(axis=1), rtol=20 * tolerance)
    part = SomeRows(features, chosen)
    np.testing.assert_allclose(part.times(w), (G @ w)[chosen], rtol=0, atol=20 * tolerance)


@pytest.mark.parametrize("constant", [False, True])
def test_values_need_not_be_held(constant: bool) -> None:
    problem = make_problem()
    basis = basis_of(problem, constant)
    held = KernelMatrix(problem.rows, basis, 1, PLENTY)
    matrix = KernelMatrix(problem.rows, basis, 1, PLENTY, hold=False)
    assert held.at_hand
    assert matrix.fits
    assert not matrix.at_hand
    w = np.random.default_rng(0).standard_normal(matrix.width)
    np.testing.assert_array_equal(matrix.times(w), held.times(w))
    np.testing.assert_allclose(FeatureMatrix(matrix).times(w), held.times(w), atol=1e-9)


@pytest.mark.parametrize("memory", [PLENTY, LITTLE])
def test_a_constant_with_a_python_function_as_kernel(memory: float) -> None:
    problem = make_problem()
    kernel = reference.Kernel("rbf", GAMMA)
    ours = KernelMatrix(problem.rows, basis_of(problem), 1, memory)
    function = Basis.of(problem.rows.X[:25].copy(), kernels.Callback(kernel), constant=True)
    theirs = KernelMatrix(problem.rows, function, 1, memory)
    for chosen in (np.arange(300), np.array([5, 100, 7])):
        np.testing.assert_allclose(ours.features(chosen), theirs.features(chosen), atol=1e-7)
    assert theirs.part(np.arange(4))[0][0, -1] == 1


def test_a_problem_on_features_is_the_same_problem() -> None:
    """Objectives, line searches and offers do not depend on how rows are stored."""
    problem = make_problem()
    matrix = KernelMatrix(problem.rows, basis_of(problem), 1, PLENTY)
    spans = [
        SpanProblem(some, problem.outputs.of_output(1)) for some in (matrix, FeatureMatrix(matrix))
    ]
    rng = np.random.default_rng(0)
    for _ in range(5):
        w, alpha = 0.2 * rng.standard_normal(matrix.width), rng.random(300)
        alpha *= problem.outputs.box
        for span in spans:
            span.offer_primal(w, span.values(w))
            span.offer_dual(alpha, span.point(alpha))
        assert spans[0].primal == pytest.approx(spans[1].primal, rel=1e-8)
        assert spans[0].dual == pytest.approx(spans[1].dual, rel=1e-8)
