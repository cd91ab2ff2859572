"""Several outputs with one set of terms in phase 1: against plain NumPy, step by step."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import reference
from oracles.problems import blobs, moons, sparse_rows, weights
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from budgetsvm import BudgetSVC, BudgetSVR, _core, kernels
from budgetsvm._common.progress import Progress
from budgetsvm._estimators.user_input import generator
from budgetsvm._learn.early_stopping import EarlyStopping
from budgetsvm._learn.joint_trainer import JointTrainer
from budgetsvm._learn.learn import learn_terms
from budgetsvm._learn.settings import Settings
from budgetsvm._learn.trainer import Trainer
from budgetsvm._model.expansion import KernelExpansion
from budgetsvm._model.term_store import TermStore
from budgetsvm._problem.problem import Problem
from budgetsvm._problem.rows import Rows
from budgetsvm._problem.targets import ManyTargets, OneVsRest, Outputs, Targets
from budgetsvm.losses import EpsilonInsensitive, Hinge, Logistic, Loss, SquaredHinge
from budgetsvm.maintenance import Maintenance, Merge, Project, Remove
from budgetsvm.solvers import BSCA, BSGD, Solver

MAINTENANCE: dict[str, Maintenance] = {"merge": Merge(), "project": Project(), "remove": Remove()}
SOLVERS: dict[str, Solver] = {"bsca": BSCA(), "bsgd": BSGD()}
GAMMA = 0.15
N = 80

# ---- where to merge ----


def rows_degradation(rho: Any, t: Any, L: Any, h: Any) -> Any:
    """‖Δw‖² / |β_b|² from its definition, for two rows in a plane."""
    a, b, kappa = np.exp(-L * (1 - h) ** 2), np.exp(-L * h**2), np.exp(-L)
    before = rho**2 + 1 + 2 * t * rho * kappa
    return before - ((rho * a) ** 2 + b**2 + 2 * t * rho * a * b)


RATIOS = [1e-4, 0.1, 0.4, 0.8, 0.99, 1.0]
COSINES = [-1.0, -0.999, -0.9, -0.6, -0.2, 0.0, 0.3, 0.7, 0.95, 1.0]
DISTANCES = np.geomspace(1e-4, 40, 20)


@pytest.mark.parametrize(("iterations", "excess"), [(4, 0.02), (40, 1e-5)])
def test_merge_points_are_the_best(iterations: int, excess: float) -> None:
    """Everywhere in the cube; a few iterations are enough to choose a partner."""
    rho, t, L = (a.ravel() for a in np.meshgrid(RATIOS, COSINES, DISTANCES, indexing="ij"))
    found = np.array([_core.joint_merge_point(*x, iterations) for x in zip(rho, t, L, strict=True)])
    reach = 1 / np.sqrt(2 * L)
    grid = np.concatenate([np.linspace(-1.3, 0, 800), np.linspace(0, 1, 800)])[:, np.newaxis]
    costs = rows_degradation(rho, t, L, np.where(grid < 0, grid * reach, grid))
    best, rounding = costs.min(axis=0), 1e-14 * (1 + rho**2)
    assert (found[:, 1] <= (1 + excess) * best + rounding).all()
    at_found = rows_degradation(rho, t, L, found[:, 0])
    np.testing.assert_allclose(found[:, 1], at_found, rtol=1e-6, atol=1e-14)


@given(st.floats(1e-3, 1), st.floats(1e-4, 30), st.sampled_from([-1.0, 1.0]))
def test_parallel_rows_are_single_coefficients(rho: float, L: float, sign: float) -> None:
    h, degradation = _core.joint_merge_point(rho, sign, L)
    expected = _core.merge_point(sign * rho, L)
    assert degradation == pytest.approx(expected[2], rel=1e-5, abs=1e-13)
    if not (rho > 0.9 and sign * L > 1):  # next to the tie of two equal maxima
        assert h == pytest.approx(expected[0], abs=1e-3 * (1 + abs(expected[0])))


@pytest.mark.parametrize("L", [0.0, 1e-300, -1e-9, 650.0, 1e6, np.inf])
def test_merge_points_at_the_ends(L: float) -> None:
    for t in (-1.0, 0.0, 0.7):
        h, degradation = _core.joint_merge_point(0.5, t, L)
        assert h == 0
        assert degradation == pytest.approx(0.25 if L > 1 else 0.0, abs=1e-8)


def test_the_reference_finds_the_best_merge_point() -> None:
    rho, t, L = (a.ravel() for a in np.meshgrid(RATIOS, COSINES, DISTANCES, indexing="ij"))
    h = reference.joint_merge(rho, t, L)
    grid = np.linspace(-1, 1, 1001)[:, np.newaxis] * (1 / np.sqrt(2 * L) + 1)
    best = rows_degradation(rho, t, L, grid).min(axis=0)
    assert (rows_degradation(rho, t, L, h) <= best * (1 + 1e-9) + 1e-14).all()


# ---- step by step ----


def outputs_of(kind: str, loss: Loss | None, scale: float) -> Outputs:
    """Five classes or three targets, for eighty points."""
    rng, box = np.random.default_rng(2), scale * weights(N, 1)
    if kind == "regression":
        return ManyTargets(box, loss or EpsilonInsensitive(0.2), rng.standard_normal((N, 3)))
    labels = rng.integers(5, size=N).astype(np.int32)
    return OneVsRest(box, loss or Hinge(), labels, 5, kind == "coupled")


def make_trainer(
    outputs: Outputs,
    *,
    X: Any = None,
    solver: str = "bsca",
    maintenance: str = "merge",
    budget: int = 12,
    bias: bool = False,
    dtype: Any = np.float64,
    kernel: kernels.Kernel | None = None,
) -> JointTrainer:
    X = blobs(N, 4, 3, 0.6)[0] if X is None else X
    return JointTrainer(
        Settings(
            kernel or kernels.Gaussian(GAMMA), SOLVERS[solver], MAINTENANCE[maintenance], budget
        ),
        Problem(Rows(X, dtype, None), outputs),
        TermStore(budget + 1, X.shape[1], dtype),
        np.random.default_rng(0),
        bias=np.zeros(outputs.count) if bias else np.empty(0),
    )


def plain_of(trainer: JointTrainer, kernel: reference.Kernel) -> reference.Joint:
    """The same problem in plain NumPy."""
    outputs, X = trainer.problem.outputs, trainer.problem.rows.X
    X = X.toarray() if sparse.issparse(X) else X
    X = X.astype(trainer.terms.dtype).astype(float)
    loss, epsilon = outputs.loss.core()
    if isinstance(outputs, ManyTargets):
        return reference.Joint(kernel, X, None, outputs.values, outputs.box, loss, epsilon)
    assert isinstance(outputs, OneVsRest)
    targets = np.full((len(X), outputs.count), outputs.loss.target)
    return reference.Joint(
        kernel, X, outputs.labels, targets, outputs.box, loss, epsilon, outputs.coupled
    )


def apart(rows: Any, points: Any, other_rows: Any, other_points: Any) -> float:
    """How far two sets of terms are apart, whatever their order; light terms count less."""
    if len(rows) != len(other_rows):
        return np.inf
    scale = max(float(np.linalg.norm(other_rows, axis=1).max(initial=0)), 1e-300)
    light = np.minimum(1, np.linalg.norm(rows, axis=1) / scale)[:, np.newaxis]
    distance = light * abs(points[:, np.newaxis] - other_points).max(axis=2)
    distance = np.maximum(distance, abs(rows[:, np.newaxis] - other_rows).max(axis=2) / scale)
    return float(distance[linear_sum_assignment(distance)].max(initial=0))


def degradation_of(before: Any, after: Any, kernel: reference.Kernel) -> float:
    """‖Δw‖² of two lists (rows, points), from the definition and summed over the outputs."""
    rows, points = np.vstack([before[0], -after[0]]), np.vstack([before[1], after[1]])
    return float(np.vdot(rows, kernel(points, points) @ rows))


def visit_and_compare(
    trainer: JointTrainer, plain: reference.Joint, i: int, *, tolerance: float, excess: float
) -> bool:
    """One visit by both, from the same state. Returns whether there was maintenance."""
    bsgd = isinstance(trainer.settings.solver, BSGD)
    t, size = trainer.t, trainer.terms.size
    stored = 1 / max(1, t) if bsgd else 1.0
    rows, points = trainer.coef[:size] * stored, trainer.terms.points().astype(float)
    bias = trainer.bias * stored
    f = plain.kernel(plain.X[i], points)[0] @ rows + (bias if len(bias) else 0.0)
    alpha = trainer.alpha[i].astype(float)
    steps, _, mistakes, merges, degradation, loss = trainer._visit(np.array([i]))
    q = float(plain.kernel(plain.X[i], plain.X[i])[0, 0]) + (len(bias) > 0)
    if bsgd:
        row = plain.bsgd(i, f, t + 1, q)
        rows, bias = rows * (t / (t + 1)), bias * (t / (t + 1))
    else:
        row, new = plain.bsca(i, f, alpha, q)
        np.testing.assert_allclose(trainer.alpha[i], new, atol=tolerance * plain.C[i])
    assert bool(steps) == row.any()
    if len(bias):
        scale = trainer.t if bsgd else 1
        np.testing.assert_allclose(trainer.bias / scale, bias + row, atol=tolerance)
    if steps:
        rows, points = np.vstack([rows, row]), np.vstack([points, plain.X[i]])
    cost = float(degradation) if merges else None
    _compare_terms(trainer, plain.kernel, (rows, points), cost, tolerance=tolerance, excess=excess)
    if not plain.coupled:
        slack = plain.targets[i] - plain.signs(i) * f
        values = trainer.problem.outputs.loss.value(slack)
        assert loss == pytest.approx(values.sum(), abs=10 * tolerance)
    if plain.labels is not None and np.ptp(np.partition(f, -2)[-2:]) > 10 * tolerance:
        assert mistakes == (f.argmax() != plain.labels[i])
    return bool(merges)


def _compare_terms(
    trainer: JointTrainer,
    kernel: reference.Kernel,
    before: tuple[Any, Any],
    degradation: float | None,
    *,
    tolerance: float,
    excess: float,
) -> None:
    """The terms must be what one of the reductions leads to, and it must be as cheap as the best."""
    size, bsgd = trainer.terms.size, isinstance(trainer.settings.solver, BSGD)
    scale, budget = 1 / trainer.t if bsgd else 1.0, trainer.settings.budget or 0
    own = trainer.coef[:size] * scale, trainer.terms.points().astype(float)
    norms = np.linalg.norm(trainer.coef[:size], axis=1)
    np.testing.assert_allclose(trainer.terms.coef[:size], norms, rtol=1e-9)
    assert (degradation is not None) == (len(before[0]) > budget)
    if degradation is None:
        assert apart(*own, *before) <= tolerance
        return
    name = trainer.settings.maintenance.core()[0]
    outcomes = reference.joint_reductions(*before, kernel, name)
    distances = [apart(*own, *outcome) for outcome in outcomes]
    chosen = int(np.argmin(distances))
    assert distances[chosen] <= tolerance
    costs = [degradation_of(before, outcome, kernel) for outcome in outcomes]
    rounding = 10 * tolerance * tolerance + 1e-12 * float(abs(before[0]).sum()) ** 2
    assert costs[chosen] <= (1 + excess) * min(costs) + rounding
    assert degradation == pytest.approx(costs[chosen], rel=1e-3, abs=rounding)


def run_and_compare(
    trainer: JointTrainer,
    plain: reference.Joint,
    visits: int,
    tolerance: float = 1e-5,
    excess: float = 0.03,
) -> int:
    """Visit points one by one; returns how often there was maintenance."""
    order = np.random.default_rng(5).integers(N, size=visits)
    order = order[np.append(True, np.diff(order) != 0)]  # a second visit would find rounding errors
    merges = [
        visit_and_compare(trainer, plain, int(i), tolerance=tolerance, excess=excess) for i in order
    ]
    assert trainer.terms.size <= trainer.settings.budget
    return sum(merges)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize(
    ("kind", "solver"),
    [
        ("classes", "bsca"),
        ("classes", "bsgd"),
        ("coupled", "bsca"),
        ("coupled", "bsgd"),
        ("regression", "bsca"),
        ("regression", "bsgd"),
    ],
)
def test_visits_agree_with_the_reference(
    kind: str, solver: str, maintenance: str, bias: bool
) -> None:
    outputs = outputs_of(kind, None, 2.0 if solver == "bsca" else 2.0 / N)
    trainer = make_trainer(outputs, solver=solver, maintenance=maintenance, bias=bias)
    plain = plain_of(trainer, reference.Kernel("rbf", GAMMA))
    assert run_and_compare(trainer, plain, 80) >= 30


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("loss", [SquaredHinge(), Logistic()])
def test_other_losses_agree_with_the_reference(loss: Loss, solver: str) -> None:
    outputs = outputs_of("classes", loss, 2.0 if solver == "bsca" else 2.0 / N)
    trainer = make_trainer(outputs, solver=solver, bias=True)
    plain = plain_of(trainer, reference.Kernel("rbf", GAMMA))
    assert run_and_compare(trainer, plain, 80) >= 30


@pytest.mark.parametrize("kind", ["classes", "coupled"])
def test_sparse_rows_and_single_precision(kind: str) -> None:
    for X, dtype in (
        (sparse_rows(N, 6, 4, 0.6), np.float64),
        (sparse_rows(N, 6, 4, 0.6), np.float32),
        (blobs(N, 4, 3, 0.6)[0], np.float32),
    ):
        trainer = make_trainer(outputs_of(kind, None, 2.0), X=X, dtype=dtype)
        plain = plain_of(trainer, reference.Kernel("rbf", GAMMA))
        tolerance = 1e-5 if dtype == np.float64 else 1e-3
        assert run_and_compare(trainer, plain, 50, tolerance) >= 15


@pytest.mark.parametrize("maintenance", ["project", "remove"])
def test_other_kernels_agree_with_the_reference(maintenance: str) -> None:
    kernel = kernels.Laplacian(0.5)
    trainer = make_trainer(
        outputs_of("classes", None, 2.0), maintenance=maintenance, kernel=kernel, budget=6
    )
    plain = plain_of(trainer, reference.Kernel("laplacian", 0.5))
    assert run_and_compare(trainer, plain, 80) >= 40


def test_many_terms_only_near_partners() -> None:
    """Sixteen candidates of thirty: the best of them costs not much more than the best of all."""
    trainer = make_trainer(outputs_of("classes", None, 2.0), budget=30)
    plain = plain_of(trainer, reference.Kernel("rbf", GAMMA))
    assert run_and_compare(trainer, plain, 70, excess=0.5) >= 20


def test_the_comparison_notices_a_small_difference() -> None:
    trainer = make_trainer(outputs_of("classes", None, 2.0))
    plain = plain_of(trainer, reference.Kernel("rbf", GAMMA * (1 + 1e-3)))
    with pytest.raises(AssertionError):
        run_and_compare(trainer, plain, 60)


@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("kind", ["classes", "coupled", "regression"])
@pytest.mark.parametrize("budget", [1, 2, 5])
def test_small_budgets(budget: int, kind: str, maintenance: str) -> None:
    trainer = make_trainer(outputs_of(kind, None, 2.0), maintenance=maintenance, budget=budget)
    trainer._visit(np.arange(N))
    assert trainer.terms.size == budget
    assert np.isfinite(trainer.coef).all()
    assert (abs(trainer.alpha) <= trainer.problem.outputs.box[:, np.newaxis] * (1 + 1e-6)).all()


@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_length_of_a_call_does_not_matter(solver: str, maintenance: str) -> None:
    results = []
    for length in (1, 7, 3 * N):
        outputs = outputs_of("classes", None, 2.0 if solver == "bsca" else 2.0 / N)
        trainer = make_trainer(outputs, solver=solver, maintenance=maintenance, bias=True)
        order = np.concatenate([np.random.default_rng(k).permutation(N) for k in range(3)])
        counts = sum(trainer._visit(order[k : k + length]) for k in range(0, len(order), length))
        f = trainer.coef[: trainer.terms.size], trainer.terms.points(), trainer.bias
        results.append((counts, f))
    for counts, f in results[1:]:
        np.testing.assert_allclose(counts, results[0][0], rtol=1e-5)
        for found, expected in zip(f, results[0][1], strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5 * abs(expected).max())


# ---- two outputs of opposite sign are one ----


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("maintenance", MAINTENANCE)
@pytest.mark.parametrize("solver", SOLVERS)
def test_two_classes_are_a_binary_problem(solver: str, maintenance: str, bias: bool) -> None:
    """The rows are (−β, β): merging and all else is as for β alone, up to near-ties of partners."""
    X, y = moons(60, 4, noise=0.3)
    box = (3.0 if solver == "bsca" else 3.0 / 60) * weights(60, 1)
    labels = (y > 0).astype(np.int32)
    joint = make_trainer(
        OneVsRest(box, Hinge(), labels, 2),
        X=X,
        solver=solver,
        maintenance=maintenance,
        bias=bias,
        budget=20,
    )
    single = Trainer(
        joint.settings,
        Problem(joint.problem.rows, Targets.of_labels(y, box)),
        TermStore(21, 2, np.float64),
        np.random.default_rng(0),
        bias=np.zeros(1) if bias else np.empty(0),
    )
    order = np.random.default_rng(1).permutation(60)[:48]
    counts, expected = joint._visit(order), single._visit(order)
    rows = joint.coef[: joint.terms.size]
    np.testing.assert_allclose(rows[:, 0], -rows[:, 1], atol=1e-9)
    np.testing.assert_allclose(counts[[0, 2, 3]], expected[[0, 2, 3]])
    assert counts[3] >= 5
    np.testing.assert_allclose(counts[4:], 2 * expected[4:], rtol=2e-2)
    models = [
        KernelExpansion(
            joint.settings.kernel, terms.points(), coef[:, np.newaxis].T, np.zeros(1), None
        ).decision(X)
        for terms, coef in (
            (joint.terms, rows[:, 1]),
            (single.terms, single.terms.coef[: single.terms.size]),
        )
    ]
    np.testing.assert_allclose(*models, atol=2e-2 * abs(models[1]).max())
    if bias:
        np.testing.assert_allclose(joint.bias, [-1, 1] * single.bias, rtol=1e-2)


def test_two_coupled_classes_are_a_binary_problem_with_half_the_steps() -> None:
    """f_1 − f_0 is to exceed 1: α moves both outputs, so that k(x, x) counts twice."""
    X, y = moons(60, 4, noise=0.3)
    labels = (y > 0).astype(np.int32)
    joint = make_trainer(OneVsRest(np.full(60, 0.5), Hinge(), labels, 2, True), X=X, budget=59)
    single = Trainer(
        joint.settings,
        Problem(joint.problem.rows, Targets.of_labels(y, np.full(60, 1.0))),
        TermStore(60, 2, np.float64),
        np.random.default_rng(0),
    )
    order = np.random.default_rng(1).permutation(60)[:50]
    joint._visit(order)
    single._visit(order)
    np.testing.assert_allclose(2 * joint.alpha.sum(axis=1), single.alpha, atol=1e-6)


# ---- the trainer ----


def test_bad_arguments() -> None:
    trainer = make_trainer(outputs_of("classes", None, 1.0))
    outputs = trainer.problem.outputs
    assert isinstance(outputs, OneVsRest)
    trainer.problem = replace(trainer.problem, outputs=replace(outputs, labels=outputs.labels + 1))
    with pytest.raises(ValueError, match="label is out of range"):
        trainer._visit(np.arange(3))
    trainer = make_trainer(outputs_of("classes", None, 1.0), kernel=kernels.Laplacian(1.0))
    with pytest.raises(ValueError, match="Gaussian"):
        trainer._visit(np.arange(3))
    trainer = make_trainer(outputs_of("classes", None, 1.0))
    trainer.coef = trainer.coef[:, :4].copy()
    with pytest.raises(ValueError, match="differ in length"):
        trainer._visit(np.arange(3))
    trainer = make_trainer(outputs_of("regression", None, 1.0))
    arguments = (trainer.problem.rows.source(np.arange(2)), np.arange(2), np.ones(2))
    values = trainer.problem.outputs.values  # type: ignore[attr-defined]
    wanted = (("hinge", 0.0), True, np.empty(0, np.int32), values, np.ones(N), trainer.alpha)
    with pytest.raises(ValueError, match="coupled"):
        _core.joint(
            *arguments,
            wanted,
            trainer.terms.arrays,
            0,
            trainer.coef,
            trainer.bias,
            12,
            kernels.Gaussian(1.0).core(),
            Merge().core(),
            0,
            0.0,
        )


@pytest.mark.parametrize("solver", SOLVERS)
def test_training_goes_on_from_a_model(solver: str) -> None:
    """Two runs are one, with the coefficients of a model in between."""
    X, labels = blobs(N, 4, 3)[0], outputs_of("classes", None, 0.5)
    kernel = kernels.Gaussian(GAMMA)
    settings = Settings(kernel, SOLVERS[solver], Merge(), 10)
    problem = Problem(Rows(X, np.float64, None), labels)
    empty = KernelExpansion(kernel, np.zeros((0, 4)), np.zeros((5, 0)), np.zeros(5), None)
    options: dict[str, Any] = {"n_threads": 1, "intercept": True, "adapt": False}
    options |= {"stopping": None, "verbose": False}
    first = learn_terms(empty, problem, settings, 50, np.random.default_rng(0), done=0, **options)
    again = learn_terms(
        first.model, problem, settings, 30, np.random.default_rng(1), done=50, **options
    )
    assert again.visits == 80
    trainer = make_trainer(labels, X=X, solver=solver, bias=True, budget=10)
    orders = [np.random.default_rng(k).permutation(N)[:m] for k, m in ((0, 50), (1, 30))]
    trainer._visit(orders[0])
    trainer.alpha[:] = 0
    trainer._visit(orders[1])
    scale = 1 / trainer.t if solver == "bsgd" else 1.0
    np.testing.assert_allclose(again.model.bias, scale * trainer.bias, rtol=1e-9)
    rows = scale * trainer.coef[: trainer.terms.size]
    assert apart(again.model.coef.T, again.model.points, rows, trainer.terms.points()) < 1e-9


def test_terms_are_learned_from_the_joint_problem() -> None:
    outputs = outputs_of("classes", Logistic(), 4.0)
    trainer = make_trainer(outputs)
    with Progress("", 0, shown=False) as progress:
        trainer.learn_basis(2 * N, progress)
    joint = trainer.problem.outputs
    assert isinstance(joint, OneVsRest)
    assert joint.coupled
    assert joint.loss == Hinge()
    assert np.median(joint.box) == pytest.approx(0.4)
    rows = trainer.coef[: trainer.terms.size]
    np.testing.assert_allclose(rows.sum(axis=1), 0, atol=1e-6)  # what one class gains others lose


# ---- without a budget, and early stopping ----


@pytest.mark.parametrize("intercept", [False, True])
def test_without_a_budget_every_class_is_trained_by_itself(intercept: bool) -> None:
    X = blobs(N, 4, 3)[0]
    labels = np.random.default_rng(2).integers(3, size=N)
    options: dict[str, Any] = {"budget": None, "gamma": GAMMA, "precision": "double", "C": 0.5}
    options |= {"epochs": 400, "fit_intercept": intercept, "random_state": 0}
    model = BudgetSVC(**options).fit(X, labels)
    assert model.dual_coef_.shape[0] == 3
    for c in range(3):
        alone = BudgetSVC(**options).fit(X, labels == c)
        np.testing.assert_allclose(
            model.decision_function(X)[:, c], alone.decision_function(X), atol=1e-3
        )
        assert model.intercept_[c] == pytest.approx(alone.intercept_[0], abs=1e-3)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_first_step_without_a_budget(intercept: bool) -> None:
    """δ = 1 / k(x, x), with 1 more for a constant, however many outputs there are."""
    X = 100.0 * np.eye(4)
    options: dict[str, Any] = {"budget": None, "gamma": 1.0, "C": 10.0, "epochs": 0.25}
    model = BudgetSVC(**options, fit_intercept=intercept, random_state=0)
    model.fit(X, [0, 1, 2, 3])
    expected = 1 / (1 + intercept)
    np.testing.assert_allclose(abs(model.dual_coef_).max(axis=1), expected)
    np.testing.assert_allclose(abs(model.intercept_), intercept * expected)


@pytest.mark.parametrize("budget", [None, 200])
def test_partial_fit_keeps_what_it_has_learned(budget: int | None) -> None:
    """Also without a budget: far from new rows the values of the model stay."""
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((60, 2)), rng.integers(3, size=60)
    model = BudgetSVC(budget=budget, gamma=1.0, precision="double", random_state=0)
    model.partial_fit(X, labels)
    before = model.decision_function(X)
    model.partial_fit(X + 50.0, labels)
    assert abs(before).max() > 0.3
    np.testing.assert_allclose(model.decision_function(X), before, atol=1e-9)
    assert len(model.support_vectors_) > 60


def test_early_stopping_keeps_the_best_model() -> None:
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((200, 2)), rng.integers(3, size=200).astype(np.int32)
    outputs = OneVsRest(np.ones(200), Hinge(), labels, 3)
    problem = Problem(Rows(X, np.float64, None), outputs)
    rest, stopping = EarlyStopping.hold_out(problem, 0.25, 2, np.random.default_rng(1))
    assert (len(rest.rows), len(stopping.held.rows), len(rest.outputs)) == (150, 50, 150)
    together = np.vstack([rest.rows.X, stopping.held.rows.X])
    np.testing.assert_array_equal(np.sort(together, axis=0), np.sort(X, axis=0))
    own = stopping.held.outputs.labels  # type: ignore[attr-defined]

    def model_with(right: int) -> KernelExpansion:
        """A model that has so many of the rows held out right."""
        coef = np.zeros((3, 50))
        coef[np.where(np.arange(50) < right, own, (own + 1) % 3), np.arange(50)] = 1
        points = stopping.held.rows.X
        return KernelExpansion(kernels.Gaussian(1e6), points, coef, np.zeros(3), None)

    models = [model_with(k) for k in (10, 30, 20, 40, 40, 39, 50)]
    stops = [stopping.after_epoch(model) for model in models]
    assert stopping.scores[:6] == [0.2, 0.6, 0.4, 0.8, 0.8, 0.78]
    assert stops[:6] == [False] * 5 + [True]
    assert stopping.best is models[6]  # the last one was better still


@pytest.mark.parametrize("share", [0.001, 0.9999])
def test_nothing_to_hold_out_or_to_train_on(share: float) -> None:
    problem = Problem(Rows(np.eye(5), np.float64, None), outputs_of("classes", None, 1.0))
    with pytest.raises(ValueError, match="early_stopping=False"):
        EarlyStopping.hold_out(problem, share, 2, np.random.default_rng(1))


@pytest.mark.parametrize("solver", SOLVERS)
def test_early_stopping_of_an_estimator(solver: str) -> None:
    """Scores are those of the model after each epoch, also in the middle of gradient descent."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 2))
    Y = np.column_stack([X[:, 0] ** 2, X[:, 1]])
    model = BudgetSVR(
        C=1.0 if solver == "bsca" else 0.01,
        budget=20,
        gamma=0.5,
        solver=solver,
        epochs=30,
        polish=False,
        early_stopping=True,
        n_iter_no_change=3,
        random_state=0,
        fit_intercept=True,
    ).fit(X, Y)
    scores = model.validation_scores_
    assert len(scores) == model.n_iter_ <= 30
    held = generator(0).permutation(300)[:30]
    errors = (Y - model.predict(X))[held] / model.target_scale_
    loss = np.maximum(0, abs(errors) - model.epsilon).mean()
    assert -loss == pytest.approx(scores.max(), rel=1e-4)
